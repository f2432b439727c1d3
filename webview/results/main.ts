/** The results page: runs of one benchmark side by side (of one model its prompt modes), down to the single item. */
import { asError } from '../../src/shared/errors.ts';
import { type PackedRows, packRows, unpackRows } from '../../src/shared/item-rows.ts';
import type { ItemRow, ResultsPageApi, ResultsPageEvents, ResultsView } from '../../src/shared/protocol.ts';
import { debounced, h, throttled } from '../dom.ts';
import { embeddedResults } from '../embedded.ts';
import { type Host, openHost } from '../host.ts';
import { notRead, openPage, reading } from '../page.ts';
import { CausesSection } from './causes.ts';
import { columnsOf, type MarkedColumn } from './columns.ts';
import { ComparabilitySection } from './comparability.ts';
import { CostsSection } from './costs.ts';
import { DetailPane } from './detail.ts';
import { GainsSection } from './gains.ts';
import { Header } from './header.ts';
import { ItemMarks } from './item-marks.ts';
import { ItemsSection, type ItemsState } from './items.ts';
import { MarkedScoresSection } from './marked-scores.ts';
import { MeasuresSection } from './measures.ts';
import { ModesSection } from './modes.ts';
import { keyOf, type Row, RowTable } from './rows.ts';
import { TuningSection } from './tuning.ts';

/** Items asked for at first. */
const firstItems = 200;
/** Characters of text that a later part should have: much more takes the host long, much less is mostly waiting. */
const partCharacters = 2_000_000;
const mostItems = 20_000;
/** Parts asked for before those in front of them have come. */
const partsAhead = 2;

/** How many items to ask for, by how long those of a part are. */
const itemsLike = ({ index, narrow, wide }: PackedRows): number =>
  Math.max(
    firstItems,
    Math.min(mostItems, Math.round((partCharacters * index.length) / (narrow.text.length + wide.text.length))),
  );

/** What is kept of how the page was left. */
interface PageState {
  items: Partial<ItemsState>;
  shared: { filters?: unknown };
  /** Label of the column that gains are told against. */
  base: string | null;
  /** Pixels that the page is scrolled by. */
  scroll: number;
  /** The part of the page that is looked at, and where in the window it begins: what stands above may change its height. */
  part?: number;
  partAt?: number;
}

const topOf = (element: Element): number => element.getBoundingClientRect().top;

class ResultsPage {
  readonly #host: Host<ResultsPageApi>;
  readonly #table = new RowTable();
  readonly #fetching = new Set<string>();
  #view: ResultsView | null = null;
  #columns: readonly MarkedColumn[] = [];
  readonly #state = h('div', { class: 'page-state' });
  readonly #content = h('div', { class: 'page-content', hidden: true });
  readonly #header: Header;
  readonly #modes = new ModesSection();
  readonly #comparability = new ComparabilitySection();
  readonly #measures = new MeasuresSection();
  readonly #costs = new CostsSection();
  readonly #gains = new GainsSection(this.#table, () => this.#saveSoon());
  readonly #tuning = new TuningSection();
  readonly #causes: CausesSection;
  readonly #itemTable: ItemsSection;
  readonly #detail: DetailPane;
  readonly #itemMarks: ItemMarks;
  readonly #marked: MarkedScoresSection;
  readonly #empty = h('div', { class: 'page-state', hidden: true });
  /** Many parts of a long run come one behind the other: the rows are gone through now and then. */
  readonly #itemsChanged = throttled(() => this.#showItems(), 50);
  /** Rows when they were shown last, and when that was. */
  #shownRows = 0;
  #shownAt = 0;
  /** Comparisons go through all items: while many come, not at each of them. */
  readonly #figuresSoon = throttled(() => {
    if (this.#fetching.size === 0) this.#showFigures();
  }, 400);
  readonly #saveSoon = debounced(() => this.#save(), 300);

  constructor(root: HTMLElement) {
    this.#host = openHost<ResultsPageApi, ResultsPageEvents>(
      'results',
      {
        viewChanged: (view) => this.#inPlace(() => this.#setView(view)),
        itemsAdded: ({ run, from, items }) => this.#addItems(run, from, packRows(items)),
      },
      embeddedResults,
    );
    const { api, live } = this.#host;
    this.#header = new Header({
      live,
      stop: () => this.#do(api.stop()),
      resume: () => this.#do(api.resume()),
      share: () => this.#do(api.share()),
      openBenchmark: (file) => this.#do(api.openSource({ file, line: 1 })),
    });
    this.#causes = new CausesSection((filter) => this.#itemTable.show(filter));
    this.#itemTable = new ItemsSection(this.#table, {
      select: (row) => (row ? this.#select(row) : this.#close()),
      enter: () => this.#detail.focus(),
      stateChanged: () => this.#saveSoon(),
      isLoading: () => this.#fetching.size > 0,
    });
    this.#itemMarks = new ItemMarks(
      (change) => api.mark(change),
      () => this.#marksChanged(),
    );
    this.#marked = new MarkedScoresSection(this.#table, this.#itemMarks, {
      live,
      show: (filter) => {
        this.#itemTable.setFilter(filter);
        this.#itemTable.element.scrollIntoView({ block: 'start' });
        this.#itemTable.focus();
      },
      undo: () => this.#do(this.#itemMarks.undo()),
    });
    this.#detail = new DetailPane({
      live,
      marks: this.#itemMarks,
      tokens: (of, options) => api.tokens(of, options),
      notice: (text) => this.#notice(text),
      load: (index) => api.detail({ index }),
      step: (by) => this.#itemTable.step(by),
      choose: (row) => {
        this.#itemTable.select(keyOf(row));
        this.#select(row);
      },
      close: () => {
        this.#close();
        this.#itemTable.focus();
      },
      copy: async (text) => {
        await api.copy({ text });
        this.#notice('Copied.');
      },
      openSource: (place) => this.#do(api.openSource(place)),
    });
    this.#itemTable.aside.append(this.#detail.element);
    this.#content.append(
      this.#empty,
      this.#comparability.element,
      this.#modes.element,
      this.#measures.element,
      this.#costs.element,
      h(
        'div',
        { class: 'two-columns' },
        h('div', { class: 'column' }, this.#gains.element, this.#tuning.element),
        this.#causes.element,
      ),
      this.#marked.element,
      this.#itemTable.element,
    );
    root.append(this.#header.element, this.#state, this.#content, this.#toast);
    this.#itemTable.element.addEventListener('keydown', (event) => {
      // A text field has its own use of the key; the details have theirs.
      const inGrid = event.target instanceof HTMLElement && event.target.closest('[role="grid"]') !== null;
      if (event.key !== 'm' || event.ctrlKey || event.metaKey || event.altKey || !inGrid) return;
      if (!this.#detail.shown) return;
      event.preventDefault();
      this.#detail.editMark();
    });
    window.addEventListener('scroll', () => this.#saveSoon(), { passive: true });
    // What was changed a moment before the page is hidden is kept too.
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') this.#save();
    });
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.target !== document.body) return;
      event.preventDefault();
      this.#itemTable.focusFilter();
    });
  }
  readonly #toast = h('div', { class: 'toast', role: 'status' });
  /** Where the page stood before it was hidden or closed. */
  #pendingScroll: Pick<PageState, 'scroll' | 'part' | 'partAt'> | null = null;

  async start(): Promise<void> {
    this.#state.hidden = false;
    this.#state.replaceChildren(...reading('Loading results'));
    try {
      const [view, saved] = await Promise.all([this.#host.api.view(), this.#host.api.loadState().catch(() => null)]);
      const { items, shared, base, scroll, part, partAt } = (saved ?? {}) as Partial<PageState>;
      if (typeof base === 'string') this.#gains.base = base;
      if (typeof scroll === 'number') this.#pendingScroll = { scroll, part, partAt };
      this.#itemTable.memory = shared?.filters;
      if (items) this.#itemTable.restore(items);
      this.#setView(view);
    } catch (error) {
      this.#state.replaceChildren(notRead('The results', error, () => void this.start()));
    }
  }

  #marks(): string {
    return JSON.stringify(this.#columns.map(({ mark }) => mark));
  }

  #setView(view: ResultsView): void {
    const before = this.#marks();
    this.#view = view;
    this.#columns = columnsOf(view);
    this.#state.hidden = true;
    this.#content.hidden = false;
    if (before !== '[]' && before !== this.#marks()) this.#table.arrange(this.#columns.map(({ mark }) => mark));
    // Asked for first: they are read while the rest is drawn.
    for (const { run, done } of view.columns) if (done > this.#table.lengthOf(run.id)) void this.#fetch(run.id);
    this.#itemMarks.update(view.marks ?? []);
    this.#header.update(view);
    this.#comparability.update(view);
    this.#modes.update(view);
    this.#measures.update(view);
    this.#costs.update(view);
    this.#tuning.update(view);
    this.#empty.hidden = view.columns.length > 0;
    if (view.columns.length === 0)
      this.#empty.replaceChildren(
        h('h2', {}, view.job ? 'The first results are on their way' : 'No results yet'),
        h(
          'p',
          {},
          view.job
            ? 'Scores, the tuning curve and each item appear here as soon as they are there.'
            : 'Open the benchmark file and click “Compare prompt modes” or “Tune soft prompt” above its first line.',
        ),
      );
    this.#itemTable.element.hidden = view.columns.length === 0;
    this.#itemsChanged();
  }

  /** Reads the items of a run that are not here yet. */
  async #fetch(run: string): Promise<void> {
    if (this.#fetching.has(run)) return;
    this.#fetching.add(run);
    try {
      // In parts, so that the first rows stand before the last are read; those behind are read while one is taken in.
      const have = (): number => this.#table.lengthOf(run);
      const asked: { from: number; limit: number; answer: Promise<ItemRow[] | PackedRows> }[] = [];
      const ask = (limit: number): void => {
        const last = asked.at(-1);
        const from = last ? last.from + last.limit : have();
        const answer = this.#host.api.items({ run, from, limit });
        // It may never be waited for.
        answer.catch(() => {});
        asked.push({ from, limit, answer });
      };
      ask(firstItems);
      for (let next = asked.shift(); next; next = asked.shift()) {
        const { from, limit } = next;
        const answer = await next.answer;
        const rows = 'index' in answer ? answer : packRows(answer);
        const { length } = rows.index;
        if (length === 0) break;
        this.#addItems(run, from, rows);
        // The run is no longer shown.
        if (have() === from) break;
        // Fewer than were asked for, or what was read before is no longer held: what comes next would not follow.
        if (length < limit || have() < from + length) asked.length = 0;
        while (asked.length < partsAhead) ask(itemsLike(rows));
      }
    } catch (error) {
      this.#notice(`Items of a run could not be read: ${asError(error).message}`);
    } finally {
      this.#fetching.delete(run);
      this.#itemsChanged();
      this.#figuresSoon();
    }
  }

  #addItems(run: string, from: number, rows: PackedRows): void {
    const order = this.#columns.findIndex(({ mark }) => mark.run === run);
    const shown = this.#columns[order];
    // A run that the view does not know yet is read whole when the view comes.
    if (!shown) return;
    const known = this.#table.lengthOf(run);
    if (from > known) {
      void this.#fetch(run);
      return;
    }
    const fresh = from < known ? packRows(unpackRows(rows).slice(known - from)) : rows;
    if (fresh.index.length === 0) return;
    this.#table.add(shown.mark, order, fresh);
    // Drawing goes through all rows: while many come, they are shown at each doubling, else now and then.
    const isDue = this.#table.length >= 2 * this.#shownRows || performance.now() > this.#shownAt + 500;
    if (this.#fetching.size === 0 || isDue) this.#itemsChanged();
  }

  #showItems(): void {
    if (!this.#view) return;
    this.#shownRows = this.#table.length;
    this.#itemTable.refresh();
    this.#shownAt = performance.now();
    this.#figuresSoon();
    // A selection from before a reload opens as soon as its row is there.
    const row = this.#itemTable.selectedRow;
    const shown = this.#detail.shown;
    if (shown) void this.#detail.show(shown, this.#table.ofItem(shown.record.index), this.#view);
    else if (row) this.#select(row);
  }

  #showFigures(): void {
    const view = this.#view;
    if (!view) return;
    this.#inPlace(() => {
      this.#gains.update(view);
      this.#causes.update(view, this.#table);
      this.#marked.update(view);
    });
    // The page has its height now.
    if (this.#pendingScroll !== null && this.#table.length > 0) {
      const { scroll, part, partAt } = this.#pendingScroll;
      const element = part === undefined ? undefined : this.#content.children[part];
      if (scroll > 0 && element && partAt !== undefined) window.scrollBy(0, topOf(element) - partAt);
      else window.scrollTo(0, scroll);
      this.#pendingScroll = null;
    }
  }

  /** What is looked at: the items once they are in the window, else the first part of the page that is. */
  #lookedAt(): Element {
    const items = this.#itemTable.element;
    if (topOf(items) < window.innerHeight) return items;
    return [...this.#content.children].find((part) => part.getBoundingClientRect().bottom > 0) ?? items;
  }

  /** Changes the page without moving what is looked at. */
  #inPlace(change: () => void): void {
    const part = window.scrollY > 0 ? this.#lookedAt() : null;
    const before = part ? topOf(part) : 0;
    change();
    if (part) window.scrollBy(0, topOf(part) - before);
  }

  #marksChanged(): void {
    this.#table.itemMarks = this.#itemMarks.byItem;
    this.#itemTable.refresh();
    this.#detail.marksChanged();
    if (this.#view) this.#marked.update(this.#view);
  }

  #select(row: Row): void {
    if (!this.#view) return;
    this.#itemTable.aside.hidden = false;
    void this.#detail.show(row, this.#table.ofItem(row.record.index), this.#view);
  }

  #close(): void {
    this.#itemTable.aside.hidden = true;
    this.#detail.clear();
    this.#itemTable.select(null);
  }

  #do(call: Promise<unknown>): void {
    call.catch((error) => this.#notice(asError(error).message));
  }

  #notice(text: string): void {
    this.#toast.textContent = text;
    this.#toast.classList.add('shown');
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(() => {
      this.#toast.classList.remove('shown');
      this.#toast.textContent = '';
    }, 4000);
  }
  #toastTimer: ReturnType<typeof setTimeout> | undefined;

  #save(): void {
    if (!this.#view) return;
    const part = this.#lookedAt();
    const place = {
      scroll: window.scrollY,
      part: [...this.#content.children].indexOf(part),
      partAt: topOf(part),
    };
    const state: PageState = {
      items: this.#itemTable.state,
      shared: { filters: this.#itemTable.memory },
      base: this.#gains.base,
      ...(this.#pendingScroll ?? place),
    };
    this.#host.api.saveState({ state }).catch(() => {});
  }
}

openPage((root) => new ResultsPage(root).start(), 'banner error');
