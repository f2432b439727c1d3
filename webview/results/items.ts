/** The item table: every item × run, filtered and sorted, drawn only where it is seen. */

import { debounced, h, onNextFrame } from '../dom.ts';
import { count } from '../format.ts';
import type { CauseFilter } from './causes.ts';
import { DrawnRows } from './drawn-rows.ts';
import { parseFilter, withValue } from './filter.ts';
import { FilterBar } from './filter-bar.ts';
import { type FilterMemory, memoryOf } from './filter-memory.ts';
import {
  columnChooser,
  type ItemColumnName,
  isColumnName,
  itemColumnNames,
  layoutOf,
  usualColumns,
} from './item-columns.ts';
import { filterHelp, headCells } from './item-row.ts';
import { Matcher } from './matching.ts';
import { keyOf, type Row, type RowTable } from './rows.ts';
import { isSortKey, Orders, type Sorting, type SortKey } from './sorting.ts';

/** Must agree with `--row-height` of frame.css. */
const rowHeight = 26;
/** Rows drawn beyond the visible ones, so that a quick scroll does not show gaps. */
const overscan = 8;
/** Browsers clip elements above some 30 million pixels: longer tables scroll in proportion. */
const tallest = 15_000_000;
/** Milliseconds that filtering may take before the page draws and listens again. */
const patience = 40;

export interface ItemsState {
  filter: string;
  sorting: Sorting;
  selected: string | null;
  scroll: number;
  columns: ItemColumnName[];
}

export class ItemsSection {
  readonly element: HTMLElement;
  /** Beside the table; the detail pane goes in here. */
  readonly aside = h('div', { class: 'detail-place', hidden: true });
  readonly #grid = h('div', { class: 'grid', role: 'grid', tabindex: 0, 'aria-labelledby': 'items-heading' });
  readonly #head = h('div', { class: 'grid-row grid-head', role: 'row', 'aria-rowindex': 1 });
  readonly #body = h('div', { class: 'grid-body', role: 'rowgroup' });
  readonly #empty = h('p', { class: 'grid-empty', hidden: true });
  readonly #count = h('span', { class: 'count', role: 'status' });
  readonly #bar: FilterBar;
  readonly #matcher: Matcher;
  readonly #orders: Orders;
  readonly #filterSoon = onNextFrame(() => this.#apply(true));
  readonly #drawSoon = onNextFrame(() => this.#draw());
  readonly #rememberSoon = debounced(() => {
    if (this.#bar.errors.childElementCount === 0) this.#bar.saved.used(this.#bar.text);
  }, 4000);
  readonly #rows: DrawnRows;
  /** Numbers of the rows shown, in their order. */
  #ids: Int32Array = new Int32Array(0);
  #generation = 0;
  #sorting: Sorting = { key: 'item', descending: false };
  #chosen: ItemColumnName[] = usualColumns;
  #layout = layoutOf(usualColumns, 1000);
  #selected: string | null = null;
  /** Once the page is at rest, the text of the rows is made ready to be searched, a little at a time. */
  readonly #foldSoon = debounced(() => {
    const until = performance.now() + 8;
    // While rows come, the processor is theirs; the last of them call here again.
    if (this.on.isLoading()) return;
    if (this.table.fold(() => performance.now() > until) < this.table.length) this.#foldSoon();
  }, 30);
  #continuing: ReturnType<typeof setTimeout> | undefined;
  /**
   * Where the table stands and how large it is, as its events told: asking the elements while rows are drawn would have
   * the whole page laid out each time.
   */
  #top = 0;
  #size = { width: 0, height: 0, head: 0 };

  constructor(
    private readonly table: RowTable,
    private readonly on: {
      select(row: Row | null, byUser: boolean): void;
      enter(): void;
      stateChanged(): void;
      /** Rows are being read. */
      isLoading(): boolean;
    },
  ) {
    this.#rows = new DrawnRows(this.#body, table);
    this.#matcher = new Matcher(table);
    this.#orders = new Orders(table);
    const chooser = columnChooser(
      () => new Set(this.#chosen),
      (names) => {
        this.#chosen = names;
        this.#layOut(true);
        this.on.stateChanged();
      },
    );
    this.#bar = new FilterBar(
      table,
      this.#matcher,
      {
        changed: () => {
          this.#filterSoon();
          this.#rememberSoon();
        },
        done: () => {
          this.#apply(true);
          this.focus();
          if (!this.selectedRow) this.#selectAt(0);
        },
        memoryChanged: () => this.on.stateChanged(),
      },
      chooser.element,
    );
    this.#grid.append(h('div', { role: 'rowgroup', class: 'grid-head-group' }, this.#head), this.#body, this.#empty);
    this.element = h(
      'section',
      { 'aria-labelledby': 'items-heading', class: 'items-section' },
      h('div', { class: 'heading-row' }, h('h2', { id: 'items-heading' }, 'Items'), this.#count),
      this.#bar.element,
      this.#bar.errors,
      h('div', { class: 'items' }, this.#grid, this.aside),
      filterHelp(),
    );
    this.#grid.addEventListener(
      'scroll',
      () => {
        this.#top = this.#grid.scrollTop;
        this.#drawSoon();
        this.on.stateChanged();
      },
      { passive: true },
    );
    this.#grid.addEventListener('keydown', (event) => this.#key(event));
    this.#body.addEventListener('click', (event) => {
      const at = (event.target as Element).closest<HTMLElement>('[data-at]')?.dataset.at;
      if (at === undefined) return;
      this.focus();
      this.#selectAt(Number(at));
    });
    new ResizeObserver(() => {
      const { clientWidth, clientHeight } = this.#grid;
      this.#size = { width: clientWidth, height: clientHeight, head: this.#head.offsetHeight };
      this.#layOut(false);
      this.#drawSoon();
    }).observe(this.#grid);
    this.#layOut(true);
  }

  get state(): ItemsState {
    return {
      filter: this.#bar.text,
      sorting: this.#sorting,
      selected: this.#selected,
      scroll: this.#top,
      columns: this.#chosen,
    };
  }

  /** Filters kept by name and those used last. */
  get memory(): FilterMemory {
    return this.#bar.saved.memory;
  }
  set memory(memory: unknown) {
    this.#bar.saved.memory = memoryOf(memory);
  }

  /** Takes up the state of an earlier showing; call it before the rows come. */
  restore(state: Partial<ItemsState>): void {
    if (typeof state.filter === 'string') this.#bar.text = state.filter;
    if (state.sorting && isSortKey(state.sorting.key))
      this.#sorting = { key: state.sorting.key, descending: state.sorting.descending === true };
    if (typeof state.selected === 'string') this.#selected = state.selected;
    if (typeof state.scroll === 'number') this.#pendingScroll = state.scroll;
    if (Array.isArray(state.columns)) {
      const chosen = new Set(state.columns.filter(isColumnName));
      this.#chosen = itemColumnNames.filter((name) => chosen.has(name) || name === 'item' || name === 'output');
    }
    this.#layOut(true);
    this.#apply(false);
  }
  #pendingScroll: number | null = null;

  get selectedRow(): Row | null {
    return this.#rowAt(this.#placeOf(this.#selected));
  }

  #rowAt(at: number): Row | null {
    const id = this.#ids[at];
    return id === undefined ? null : this.table.row(id);
  }

  /** Where the row stands in the table as it is filtered and sorted; -1 where it does not. */
  #placeOf(key: string | null): number {
    const id = key === null ? -1 : this.table.idOf(key);
    return id < 0 ? -1 : this.#ids.indexOf(id);
  }

  focus(): void {
    this.#grid.focus({ preventScroll: true });
  }

  focusFilter(): void {
    this.#bar.focus();
  }

  setFilter(text: string): void {
    this.#bar.text = text;
    this.#apply(true);
    this.#bar.saved.used(text);
  }

  /** Shows what a click in the breakdown asked for. */
  show({ mark, verdict, cause }: CauseFilter): void {
    let text = this.#bar.forRun(mark);
    if (verdict) text = `${text} ${withValue('', 'verdict', verdict)}`;
    if (cause) text = `${text} ${withValue('', 'cause', cause)}`;
    this.setFilter(text);
    this.element.scrollIntoView({ block: 'start' });
    this.focus();
  }

  /** The rows have changed (live): filters again and keeps scroll and selection where they are. */
  refresh(): void {
    this.#bar.sync();
    this.#apply(false);
  }

  /** Moves the selection by so many rows. */
  step(by: number): void {
    const at = this.#placeOf(this.#selected);
    this.#selectAt(Math.max(0, Math.min(this.#ids.length - 1, at < 0 ? 0 : at + by)));
  }

  /** Moves the selection to the next row (or the one before) whose item has not the same verdict in all runs. */
  stepToDifference(direction: 1 | -1): void {
    let at = this.#placeOf(this.#selected);
    const place = this.table.places[this.#ids[at] ?? -1];
    if (at < 0) at = direction > 0 ? -1 : this.#ids.length;
    for (at += direction; at >= 0 && at < this.#ids.length; at += direction) {
      const id = this.#ids[at] ?? 0;
      // The other runs of the item that is shown are no next difference.
      if (this.table.differs(id) && this.table.places[id] !== place) {
        this.#selectAt(at);
        return;
      }
    }
  }

  /** Selects a row by key where it is among the rows shown; else leaves the table as it is. */
  select(key: string | null): void {
    const at = this.#placeOf(key);
    if (at >= 0) this.#selectAt(at);
    else {
      this.#selected = key;
      this.#drawSoon();
      this.on.stateChanged();
    }
  }

  #sortBy(key: SortKey): void {
    this.#sorting = { key, descending: this.#sorting.key === key && !this.#sorting.descending };
    this.#layOut(true);
    this.#apply(true);
  }

  /** Chooses the columns that fit, and makes their heads anew where something about them has changed. */
  #layOut(always: boolean): void {
    const layout = layoutOf(this.#chosen, this.#size.width || 1000);
    if (!always && layout.template === this.#layout.template) return;
    this.#layout = layout;
    this.#grid.style.setProperty('--grid-columns', layout.template);
    this.#grid.classList.toggle('compact', layout.compact);
    const focused = this.#head.contains(document.activeElement)
      ? document.activeElement?.getAttribute('data-key')
      : null;
    this.#head.replaceChildren(...headCells(layout, this.#sorting, (name) => this.#sortBy(name)));
    if (focused) this.#head.querySelector<HTMLElement>(`[data-key="${focused}"]`)?.focus({ preventScroll: true });
    this.#rows.forget();
    this.#drawSoon();
  }

  #apply(byUser: boolean): void {
    clearTimeout(this.#continuing);
    const filter = parseFilter(this.#bar.text, this.table.marks);
    const until = performance.now() + patience;
    const { bits: matching, known } = this.#matcher.match(filter.root, () => performance.now() > until);
    this.#bar.showErrors(filter.errors);
    const all = this.table.length;
    const isWhole = known >= all;
    if (!isWhole) this.#continuing = setTimeout(() => this.#apply(byUser), 1);
    // Where nothing is found yet, and in a table that comes anew, the rows of before stay.
    if (!isWhole && !(byUser && matching.subarray(0, known).includes(1))) {
      this.#count.textContent = 'Searching…';
      return;
    }
    const anchor = byUser ? null : this.#anchor();
    const order = this.#orders.of(this.#sorting);
    const ids = new Int32Array(order.length);
    let length = 0;
    for (let at = 0; at < order.length; at++) {
      const id = order[at] ?? 0;
      if (id < known && matching[id]) ids[length++] = id;
    }
    this.#ids = ids.subarray(0, length);
    if (this.#generation !== this.table.generation) {
      this.#generation = this.table.generation;
      this.#rows.forget();
    }
    const text = !isWhole
      ? `Searching… ${count(length)} so far`
      : length === all
        ? `${count(all)} outputs`
        : `${count(length)} of ${count(all)} outputs`;
    if (this.#count.textContent !== text) this.#count.textContent = text;
    this.#empty.hidden = length > 0;
    this.#empty.textContent = all === 0 ? 'No item is finished yet.' : 'No output matches the filter.';
    // For benches and tests: which filter these rows are of.
    if (isWhole) this.#grid.dataset.filter = this.#bar.text;
    this.#grid.setAttribute('aria-rowcount', String(length + 1));
    const tall = Math.min(tallest, length * rowHeight);
    this.#body.style.blockSize = `${tall}px`;
    // A shorter table cannot stand as low; its event comes later.
    this.#top = Math.min(this.#top, Math.max(0, tall + this.#size.head - this.#size.height));
    if (anchor) {
      const at = this.#placeOf(anchor.key);
      if (at >= 0) this.#scrollTo(this.#offset(at) + anchor.shift);
    } else if (byUser) {
      const at = this.#placeOf(this.#selected);
      this.#scrollTo(at < 0 ? 0 : Math.max(0, this.#offset(at) - 3 * rowHeight));
    }
    // As soon as the rows reach as far.
    if (this.#pendingScroll !== null && this.#pendingScroll <= length * rowHeight) {
      this.#scrollTo(this.#pendingScroll);
      this.#pendingScroll = null;
    }
    this.#draw();
    this.#foldSoon();
    this.on.stateChanged();
  }

  #scrollTo(top: number): void {
    if (top === this.#top) return;
    this.#grid.scrollTop = top;
    this.#top = this.#grid.scrollTop;
  }

  /** Pixels per row of scrolling: `rowHeight`, but for tables that are too tall for a browser. */
  #pitch(): number {
    return this.#ids.length * rowHeight <= tallest ? rowHeight : tallest / this.#ids.length;
  }

  #offset(at: number): number {
    return at * this.#pitch();
  }

  /** The first row in sight, so that a live update does not move what the user reads. At the top, new rows may show. */
  #anchor(): { key: string; shift: number } | null {
    const top = this.#top;
    if (top < 1) return null;
    const at = Math.floor(top / this.#pitch());
    // After a change of the columns the numbers mean other rows.
    const row = this.#generation === this.table.generation ? this.#rowAt(at) : null;
    return row ? { key: keyOf(row), shift: top - this.#offset(at) } : null;
  }

  #selectAt(at: number): void {
    const row = this.#rowAt(at);
    if (!row) return;
    this.#selected = keyOf(row);
    const view = this.#size.height - this.#size.head;
    const top = this.#offset(at);
    if (top < this.#top) this.#scrollTo(top);
    else if (top + rowHeight > this.#top + view) this.#scrollTo(top + rowHeight - view);
    this.#draw();
    this.on.select(row, true);
    this.on.stateChanged();
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.#size.height / rowHeight) - 2);
    const moves: Record<string, () => void> = {
      j: () => this.step(1),
      ArrowDown: () => this.step(1),
      k: () => this.step(-1),
      ArrowUp: () => this.step(-1),
      n: () => this.stepToDifference(1),
      p: () => this.stepToDifference(-1),
      PageDown: () => this.step(page),
      PageUp: () => this.step(-page),
      Home: () => this.#selectAt(0),
      End: () => this.#selectAt(this.#ids.length - 1),
      Enter: () => {
        if (!this.selectedRow) this.#selectAt(0);
        this.on.enter();
      },
      Escape: () => this.on.select(null, true),
      '/': () => this.focusFilter(),
    };
    const move = moves[event.key];
    if (!move || event.target !== this.#grid) return;
    event.preventDefault();
    move();
  }

  #draw(): void {
    if (this.#generation !== this.table.generation) return;
    const pitch = this.#pitch();
    const top = this.#top;
    const visibleRows = Math.ceil(this.#size.height / rowHeight);
    // Compressed scrolling puts the rows at their own pitch around the place in sight.
    const base = pitch === rowHeight ? 0 : top - (top / pitch) * rowHeight;
    const active = this.#rows.draw({
      ids: this.#ids,
      first: Math.max(0, Math.floor(top / pitch) - overscan),
      last: Math.min(this.#ids.length, Math.floor(top / pitch) + visibleRows + overscan),
      selectedId: this.#selected === null ? -1 : this.table.idOf(this.#selected),
      columns: this.#layout.names,
      topOf: (at) => base + at * rowHeight,
    });
    // A screen reader is told of the selected row only while it exists.
    if (active) this.#grid.setAttribute('aria-activedescendant', active.id);
    else this.#grid.removeAttribute('aria-activedescendant');
  }
}
