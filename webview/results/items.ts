/** The item table: every item × run, filtered and sorted, drawn only where it is seen. */

import { failureCauses } from '../../src/shared/failure-causes.ts';
import { debounced, h, onNextFrame } from '../dom.ts';
import { count } from '../format.ts';
import { shownVerdicts, verdicts } from '../terms.ts';
import { button, dropdown, textField } from '../ui.ts';
import type { CauseFilter } from './causes.ts';
import { type ColumnMark, isByMode } from './columns.ts';
import { parseFilter, valueGiven, withValue } from './filter.ts';
import { filterHelp, headCells, nameRunColumn, rowElement } from './item-row.ts';
import { isSortKey, keyOf, type Row, type RowTable, type Sorting, type SortKey, sortRows } from './rows.ts';

/** Must agree with `--row-height` of frame.css. */
const rowHeight = 26;
/** Rows drawn beyond the visible ones, so that a quick scroll does not show gaps. */
const overscan = 8;
/** Browsers clip elements above some 30 million pixels: longer tables scroll in proportion. */
const tallest = 15_000_000;

const anyValue = 'any';

export interface ItemsState {
  filter: string;
  sorting: Sorting;
  selected: string | null;
  scroll: number;
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
  readonly #errors = h('div', { class: 'filter-errors', id: 'filter-errors', role: 'alert' });
  readonly #text = textField(
    'Filter items',
    'Filter: mode:zero-shot cause:"ran on" lenient:right strict:wrong "text"',
    () => {
      this.#syncDropdowns();
      this.#filterSoon();
    },
  );
  readonly #runChoice = dropdown<string>('Run', (value) => this.#choose(this.#runKey, value));
  readonly #verdictChoice = dropdown<string>('Verdict', (value) => this.#choose('verdict', value));
  readonly #causeChoice = dropdown<string>('Cause', (value) => this.#choose('cause', value));
  readonly #filterSoon = debounced(() => this.#apply(true), 20);
  readonly #drawSoon = onNextFrame(() => this.#draw());
  readonly #drawn = new Map<number, { element: HTMLElement; row: Row; selected: boolean; stamp: string }>();
  readonly #compact: HTMLElement;
  #rows: Row[] = [];
  #sorting: Sorting = { key: 'item', descending: false };
  #selected: string | null = null;

  constructor(
    private readonly table: RowTable,
    private readonly on: { select(row: Row | null, byUser: boolean): void; enter(): void; stateChanged(): void },
  ) {
    this.#head.append(...headCells((key) => this.#sortBy(key)));
    this.#grid.append(h('div', { role: 'rowgroup', class: 'grid-head-group' }, this.#head), this.#body, this.#empty);
    this.#compact = h('div', { class: 'items' }, this.#grid, this.aside);
    this.element = h(
      'section',
      { 'aria-labelledby': 'items-heading', class: 'items-section' },
      h('div', { class: 'heading-row' }, h('h2', { id: 'items-heading' }, 'Items'), this.#count),
      h(
        'div',
        { class: 'filter-bar', role: 'search', 'aria-label': 'Filter items' },
        this.#runChoice.element,
        this.#verdictChoice.element,
        this.#causeChoice.element,
        this.#text.element,
        button({ label: 'Clear', onClick: () => this.setFilter('') }),
      ),
      this.#errors,
      this.#compact,
      filterHelp(),
    );
    this.#grid.addEventListener('scroll', () => {
      this.#drawSoon();
      this.on.stateChanged();
    });
    this.#grid.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(() => this.#drawSoon()).observe(this.#grid);
    this.#text.element.addEventListener('keydown', (event) => {
      if ((event as KeyboardEvent).key === 'Enter' || (event as KeyboardEvent).key === 'ArrowDown') {
        event.preventDefault();
        this.focus();
        if (!this.selectedRow) this.#selectAt(0);
      }
    });
    this.#syncDropdowns();
  }

  get state(): ItemsState {
    return { filter: this.#text.value, sorting: this.#sorting, selected: this.#selected, scroll: this.#grid.scrollTop };
  }

  /** Takes up the state of an earlier showing; call it before the rows come. */
  restore(state: Partial<ItemsState>): void {
    if (typeof state.filter === 'string') this.#text.value = state.filter;
    if (state.sorting && isSortKey(state.sorting.key))
      this.#sorting = { key: state.sorting.key, descending: state.sorting.descending === true };
    if (typeof state.selected === 'string') this.#selected = state.selected;
    if (typeof state.scroll === 'number') this.#pendingScroll = state.scroll;
    this.#syncDropdowns();
    this.#apply(false);
  }
  #pendingScroll: number | null = null;

  get selectedRow(): Row | null {
    return this.#rows[this.#placeOf(this.#selected)] ?? null;
  }

  /** Where the row stands in the table as it is filtered and sorted; -1 where it does not. */
  #placeOf(key: string | null): number {
    if (key === null) return -1;
    const row = this.table.byItem.get(Number.parseInt(key, 10))?.find((one) => keyOf(one) === key);
    return row ? this.#rows.indexOf(row) : -1;
  }

  focus(): void {
    this.#grid.focus({ preventScroll: true });
  }

  focusFilter(): void {
    this.#text.focus();
  }

  setFilter(text: string): void {
    this.#text.value = text;
    this.#syncDropdowns();
    this.#apply(true);
  }

  /** Shows what a click in the breakdown asked for. */
  show({ mark, verdict, cause }: CauseFilter): void {
    let text = withValue('', this.#runKey, mark.label);
    if (verdict) text = `${text} ${withValue('', 'verdict', verdict)}`;
    if (cause) text = `${text} ${withValue('', 'cause', cause)}`;
    this.setFilter(text);
    this.element.scrollIntoView({ block: 'start' });
    this.focus();
  }

  /** The rows have changed (live): filters again and keeps scroll and selection where they are. */
  refresh(): void {
    this.#syncDropdowns();
    this.#apply(false);
  }

  /** Moves the selection by so many rows. */
  step(by: number): void {
    const at = this.#placeOf(this.#selected);
    this.#selectAt(Math.max(0, Math.min(this.#rows.length - 1, at < 0 ? 0 : at + by)));
  }

  /** Moves the selection to the next row (or the one before) whose item has not the same verdict in all runs. */
  stepToDifference(direction: 1 | -1): void {
    const item = this.selectedRow?.record.index;
    let at = this.#placeOf(this.#selected);
    if (at < 0) at = direction > 0 ? -1 : this.#rows.length;
    for (at += direction; at >= 0 && at < this.#rows.length; at += direction) {
      const row = this.#rows[at];
      // The other runs of the item that is shown are no next difference.
      if (row?.differs && row.record.index !== item) {
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

  /** The key of the filter language that columns are told apart by. */
  get #runKey(): 'mode' | 'run' {
    return isByMode(this.table.marks.filter(Boolean)) ? 'mode' : 'run';
  }

  #choose(key: string, value: string): void {
    this.setFilter(withValue(this.#text.value, key, value === anyValue ? null : value));
  }

  /** The dropdowns show what the text says: one truth. */
  #syncDropdowns(): void {
    const text = this.#text.value;
    const { marks, causes } = this.table;
    const fill = (
      choice: { set(options: { value: string; label: string }[], value: string): void },
      all: string,
      key: string,
      options: { value: string; label: string }[],
    ): void => {
      const value = valueGiven(text, key) ?? anyValue;
      choice.set(
        [{ value: anyValue, label: all }, ...options],
        options.some((option) => option.value === value) ? value : anyValue,
      );
    };
    const word = this.#runKey === 'mode' ? 'Mode' : 'Run';
    this.#runChoice.name(word);
    nameRunColumn(this.#head, word);
    fill(
      this.#runChoice,
      this.#runKey === 'mode' ? 'All modes' : 'All runs',
      this.#runKey,
      marks.flatMap((mark: ColumnMark | undefined) => (mark ? [{ value: mark.label, label: mark.label }] : [])),
    );
    fill(
      this.#verdictChoice,
      'All verdicts',
      'verdict',
      shownVerdicts(this.table.verdicts).map((name) => ({ value: name, label: verdicts[name].label })),
    );
    fill(
      this.#causeChoice,
      'All causes',
      'cause',
      failureCauses.filter((cause) => causes.has(cause)).map((cause) => ({ value: cause, label: cause })),
    );
  }

  #sortBy(key: SortKey): void {
    this.#sorting = { key, descending: this.#sorting.key === key && !this.#sorting.descending };
    this.#apply(true);
  }

  #apply(byUser: boolean): void {
    const text = this.#text.value;
    const filter = parseFilter(text);
    this.#errors.replaceChildren(
      ...filter.errors.map(({ start, end, message }) =>
        h(
          'p',
          {},
          h(
            'span',
            { class: 'filter-echo' },
            text.slice(0, start),
            h('mark', {}, text.slice(start, end) || ' '),
            text.slice(end),
          ),
          h('span', {}, message),
        ),
      ),
    );
    this.#text.setInvalid(filter.errors.length ? 'filter-errors' : null);
    const anchor = byUser ? null : this.#anchor();
    this.#rows = sortRows(
      this.table.inItemOrder.filter((row) => filter.matches(row)),
      this.#sorting,
    );
    for (const cell of this.#head.children) {
      const key = cell.getAttribute('data-sort');
      if (!key) continue;
      const direction = key !== this.#sorting.key ? 'none' : this.#sorting.descending ? 'descending' : 'ascending';
      cell.setAttribute('aria-sort', direction);
    }
    const all = this.table.rows.length;
    this.#count.textContent =
      this.#rows.length === all ? `${count(all)} outputs` : `${count(this.#rows.length)} of ${count(all)} outputs`;
    this.#empty.hidden = this.#rows.length > 0;
    this.#empty.textContent = all === 0 ? 'No item is finished yet.' : 'No output matches the filter.';
    this.#grid.setAttribute('aria-rowcount', String(this.#rows.length + 1));
    this.#body.style.blockSize = `${Math.min(tallest, this.#rows.length * rowHeight)}px`;
    if (anchor) {
      const at = this.#placeOf(anchor.key);
      if (at >= 0) this.#grid.scrollTop = this.#offset(at) + anchor.shift;
    } else if (byUser) {
      const at = this.#placeOf(this.#selected);
      this.#grid.scrollTop = at < 0 ? 0 : Math.max(0, this.#offset(at) - 3 * rowHeight);
    }
    if (this.#pendingScroll !== null && this.#rows.length > 0) {
      this.#grid.scrollTop = this.#pendingScroll;
      this.#pendingScroll = null;
    }
    this.#draw();
    this.on.stateChanged();
  }

  /** Pixels per row of scrolling: `rowHeight`, but for tables that are too tall for a browser. */
  #pitch(): number {
    return this.#rows.length * rowHeight <= tallest ? rowHeight : tallest / this.#rows.length;
  }

  #offset(at: number): number {
    return at * this.#pitch();
  }

  /** The first row in sight, so that a live update does not move what the user reads. At the top, new rows may show. */
  #anchor(): { key: string; shift: number } | null {
    const top = this.#grid.scrollTop;
    if (top < 1) return null;
    const at = Math.floor(top / this.#pitch());
    const row = this.#rows[at];
    return row ? { key: keyOf(row), shift: top - this.#offset(at) } : null;
  }

  #selectAt(at: number): void {
    const row = this.#rows[at];
    if (!row) return;
    this.#selected = keyOf(row);
    const view = this.#grid.clientHeight - this.#head.offsetHeight;
    const top = this.#offset(at);
    if (top < this.#grid.scrollTop) this.#grid.scrollTop = top;
    else if (top + rowHeight > this.#grid.scrollTop + view) this.#grid.scrollTop = top + rowHeight - view;
    this.#draw();
    this.on.select(row, true);
    this.on.stateChanged();
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.#grid.clientHeight / rowHeight) - 2);
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
      End: () => this.#selectAt(this.#rows.length - 1),
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
    const pitch = this.#pitch();
    const top = this.#grid.scrollTop;
    const visibleRows = Math.ceil(this.#grid.clientHeight / rowHeight);
    const first = Math.max(0, Math.floor(top / pitch) - overscan);
    const last = Math.min(this.#rows.length, Math.floor(top / pitch) + visibleRows + overscan);
    for (const [at, { element }] of this.#drawn)
      if (at < first || at >= last) {
        element.remove();
        this.#drawn.delete(at);
      }
    let active: HTMLElement | null = null;
    // Compressed scrolling puts the rows at their own pitch around the place in sight.
    const base = pitch === rowHeight ? 0 : top - (top / pitch) * rowHeight;
    for (let at = first; at < last; at++) {
      const row = this.#rows[at];
      if (!row) continue;
      const selected = keyOf(row) === this.#selected;
      const siblings = this.table.byItem.get(row.record.index) ?? [];
      const stamp = siblings.map(({ verdict }) => verdict).join();
      let drawn = this.#drawn.get(at);
      if (!drawn || drawn.row !== row || drawn.selected !== selected || drawn.stamp !== stamp) {
        const previous = this.#rows[at - 1];
        const element = rowElement(row, at, {
          selected,
          startsItem: previous !== undefined && previous.record.index !== row.record.index,
          siblings,
          onClick: () => {
            this.focus();
            this.#selectAt(at);
          },
        });
        if (drawn) drawn.element.replaceWith(element);
        else this.#body.append(element);
        drawn = { element, row, selected, stamp };
        this.#drawn.set(at, drawn);
      }
      drawn.element.style.transform = `translateY(${base + at * rowHeight}px)`;
      if (selected) active = drawn.element;
    }
    // A screen reader is told of the selected row only while it exists.
    if (active) this.#grid.setAttribute('aria-activedescendant', active.id);
    else this.#grid.removeAttribute('aria-activedescendant');
  }
}
