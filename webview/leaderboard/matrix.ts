/**
 * The wide layout: models × benchmarks as a grid. Rows are drawn only where they are seen; the cell that has the focus stays
 * drawn. Keys: arrows, Home, End, Page Up, Page Down; Enter opens a result or sorts by a column; Delete hides, as the
 * button beside a model's name does.
 */
import { h, onNextFrame } from '../dom.ts';
import { visible } from '../text.ts';
import { cellElement, type MatrixContent, stickyClass } from './matrix-cells.ts';
import type { PageState } from './state.ts';
import { benchmarkGroupKey, type Column, type Row } from './table.ts';
import { columnTitle } from './words.ts';

/** Rows drawn beyond the visible ones. */
const overscan = 6;
/** Columns are drawn in strips of so many pixels, so that a small step sideways draws nothing anew. */
const strip = 400;
const rowHeights = { intervals: 40, values: 27 };
type Widths = Record<Column['kind'], number>;
const narrow: Widths = { rank: 74, model: 230, mean: 92, task: 92, group: 92 };
/** Most names of benchmarks fit into one line. */
const roomy: Widths = { ...narrow, mean: 136, task: 136, group: 136 };

const widthOf = (columns: readonly Column[], widths: Widths): number =>
  columns.reduce((sum, { kind }) => sum + widths[kind], 0);

/** A name with places where it may go on in the next line. */
const breakable = (name: string): (string | HTMLElement)[] =>
  name.split(/(?<=[_./:-])/).flatMap((part, at) => (at === 0 ? [part] : [h('wbr'), part]));

export interface MatrixEvents {
  open(model: string, task: string, mode: PageState['mode']): void;
  sort(column: string): void;
  toggle(group: string): void;
  hideModel(model: string): void;
  hideBenchmark(task: string): void;
}

/** Row 0 is the heading. */
interface Place {
  row: number;
  column: number;
}

export class Matrix {
  readonly element = h('div', { class: 'matrix', role: 'grid', 'aria-label': 'Models by benchmarks' });
  readonly #groups = h('div', { class: 'matrix-row matrix-groups', role: 'row', 'aria-rowindex': 1 });
  readonly #head = h('div', { class: 'matrix-row', role: 'row' });
  readonly #body = h('div', { class: 'matrix-body', role: 'rowgroup' });
  readonly #on: MatrixEvents;
  readonly #drawn = new Map<string, { element: HTMLElement; index: number; running: string }>();
  readonly #drawSoon = onNextFrame(() => this.#draw());
  /** Columns drawn: first and behind the last. Those that stay are always drawn. */
  #across: [number, number] = [0, 0];
  #content: MatrixContent | null = null;
  #widths = narrow;
  /** By keys, so that it stays with its model and benchmark when the order changes. */
  #active: { row: string; column: string } = { row: 'head', column: '' };

  constructor(on: MatrixEvents) {
    this.#on = on;
    this.element.append(h('div', { class: 'matrix-head', role: 'rowgroup' }, this.#groups, this.#head), this.#body);
    this.element.addEventListener('scroll', this.#drawSoon);
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.element.addEventListener('click', (event) => this.#click(event));
    new ResizeObserver(this.#drawSoon).observe(this.element);
  }

  /** Shows what has changed; scroll and focus stay. */
  update(content: MatrixContent): void {
    const hadFocus = this.element.contains(document.activeElement);
    const before = this.#content;
    this.#content = content;
    const { table, state } = content;
    if (before && isSameFrame(before, content)) {
      this.#redrawRunning(content);
      return;
    }
    const room = this.element.parentElement?.clientWidth ?? 0;
    this.#widths = widthOf(table.columns, roomy) < room ? roomy : narrow;
    const widths = this.#widths;
    this.element.style.setProperty('--columns', table.columns.map(({ kind }) => `${widths[kind]}px`).join(' '));
    this.element.style.setProperty('--width', `${widthOf(table.columns, widths)}px`);
    this.element.style.setProperty('--rank-width', `${widths.rank}px`);
    this.element.style.setProperty('--row-height', `${this.#rowHeight}px`);
    const hasGroups = table.columns.some(
      (column) => column.kind === 'group' || (column.kind === 'task' && column.group),
    );
    this.#groups.hidden = !hasGroups;
    this.#head.setAttribute('aria-rowindex', hasGroups ? '2' : '1');
    this.element.setAttribute('aria-rowcount', String(table.rows.length + (hasGroups ? 2 : 1)));
    this.element.setAttribute('aria-colcount', String(table.columns.length));
    if (hasGroups) this.#groups.replaceChildren(...this.#groupCells(table.columns, state));
    this.#across = this.#columnsSeen();
    this.#drawHead();
    this.#body.style.blockSize = `${table.rows.length * this.#rowHeight}px`;
    for (const { element } of this.#drawn.values()) element.remove();
    this.#drawn.clear();
    if (!table.columns.some(({ key }) => key === this.#active.column))
      this.#active.column = table.columns[0]?.key ?? '';
    if (this.#active.row !== 'head' && !table.rows.some(({ key }) => key === this.#active.row))
      this.#active.row = 'head';
    this.#draw();
    this.#mark(hadFocus);
  }

  /** Only runs under way have got on: rows without one, and in the same place, stay as they are. */
  #redrawRunning(content: MatrixContent): void {
    const hadFocus = this.element.contains(document.activeElement);
    const places = new Map(content.table.rows.map(({ key }, index) => [key, index]));
    for (const [key, { element, index, running }] of this.#drawn) {
      const row = content.table.rows[index];
      const same = row?.kind === 'model' ? content.running(row.model) === running : true;
      if (places.get(key) === index && same) continue;
      element.remove();
      this.#drawn.delete(key);
    }
    this.#draw();
    this.#mark(hadFocus);
  }

  get #rowHeight(): number {
    return this.#content?.state.intervals === false ? rowHeights.values : rowHeights.intervals;
  }

  #groupCells(columns: readonly Column[], { collapsed }: PageState): HTMLElement[] {
    const cells: HTMLElement[] = [];
    for (let from = 0; from < columns.length; ) {
      const groupOf = (column: Column | undefined): string | null =>
        column?.kind === 'group' || column?.kind === 'task' ? column.group : null;
      const group = groupOf(columns[from]);
      let to = from + 1;
      while (to < columns.length && group !== null && groupOf(columns[to]) === group) to++;
      const key = group === null ? '' : benchmarkGroupKey(group);
      const cell = h(
        'div',
        {
          role: group === null ? 'gridcell' : 'columnheader',
          class: `matrix-cell ${stickyClass(columns[from])}`,
          'aria-colindex': from + 1,
          'aria-colspan': to - from,
        },
        group !== null &&
          h(
            'button',
            {
              type: 'button',
              class: 'group-toggle',
              'aria-expanded': String(!collapsed.includes(key)),
              onclick: () => this.#on.toggle(key),
            },
            visible(group),
          ),
      );
      cell.style.gridColumn = `span ${to - from}`;
      cells.push(cell);
      from = to;
    }
    return cells;
  }

  #headCell(column: Column, at: number): HTMLElement {
    const { state, table } = this.#content as MatrixContent;
    const sorted = state.sort.column === column.key;
    const several = table.ranked.length > 1 && column.kind !== 'model';
    const title = columnTitle(column);
    const mode = column.kind === 'model' ? '' : column.mode;
    const cell = h(
      'div',
      {
        role: 'columnheader',
        class: `matrix-cell head-cell ${column.kind}-cell ${stickyClass(column)}`,
        'aria-colindex': at + 1,
        'aria-sort': sorted ? (state.sort.descending ? 'descending' : 'ascending') : 'none',
        'data-column': column.key,
        tabindex: -1,
        title: `${title}${mode ? `, ${mode}` : ''}. Click to sort${column.kind === 'task' ? '; Delete hides the benchmark' : ''}.`,
      },
      h('span', { class: 'head-title' }, ...breakable(visible(title))),
      several && h('span', { class: 'sub' }, mode),
      sorted && h('span', { class: 'sort-mark', 'aria-hidden': 'true' }, state.sort.descending ? '↓' : '↑'),
    );
    return placed(cell, at);
  }

  #drawHead(): void {
    const { table } = this.#content as MatrixContent;
    this.#head.replaceChildren(
      ...table.columns.flatMap((column, at) => (this.#isDrawn(at) ? [this.#headCell(column, at)] : [])),
    );
  }

  /** The columns in sight, by whole strips. */
  #columnsSeen(): [number, number] {
    const { columns } = (this.#content as MatrixContent).table;
    const left = Math.floor(this.element.scrollLeft / strip) * strip - strip;
    const right = this.element.scrollLeft + (this.element.clientWidth || window.innerWidth) + 2 * strip;
    let x = 0;
    let first = columns.length;
    let last = 0;
    for (const [at, { kind }] of columns.entries()) {
      const end = x + this.#widths[kind];
      if (end >= left && x <= Math.ceil(right / strip) * strip) {
        first = Math.min(first, at);
        last = at + 1;
      }
      x = end;
    }
    return [first, last];
  }

  /** Rank and model stay in sight; the column of the cell that has the focus stays drawn. */
  #isDrawn(at: number): boolean {
    const [first, last] = this.#across;
    return at < 2 || (at >= first && at < last) || this.#content?.table.columns[at]?.key === this.#active.column;
  }

  #draw(): void {
    const content = this.#content;
    if (!content) return;
    const across = this.#columnsSeen();
    if (across[0] !== this.#across[0] || across[1] !== this.#across[1]) {
      this.#across = across;
      const hadFocus = this.element.contains(document.activeElement);
      this.#drawHead();
      for (const { element } of this.#drawn.values()) element.remove();
      this.#drawn.clear();
      queueMicrotask(() => this.#mark(hadFocus));
    }
    const { rows } = content.table;
    const height = this.#rowHeight;
    const top = this.element.scrollTop;
    const shown = this.element.clientHeight || 800;
    const first = Math.max(0, Math.floor(top / height) - overscan);
    const last = Math.min(rows.length, Math.ceil((top + shown) / height) + overscan);
    const wanted = new Set<string>();
    const added: HTMLElement[] = [];
    const place = (index: number): void => {
      const row = rows[index];
      if (!row || wanted.has(row.key)) return;
      wanted.add(row.key);
      if (this.#drawn.has(row.key)) return;
      const element = this.#row(row, index, content);
      element.style.transform = `translateY(${index * height}px)`;
      const running = row.kind === 'model' ? content.running(row.model) : '';
      this.#drawn.set(row.key, { element, index, running });
      added.push(element);
    };
    for (let index = first; index < last; index++) place(index);
    const active = rows.findIndex(({ key }) => key === this.#active.row);
    if (active >= 0) place(active);
    for (const [key, { element }] of this.#drawn)
      if (!wanted.has(key)) {
        element.remove();
        this.#drawn.delete(key);
      }
    this.#body.append(...added);
    if (added.length > 0) this.#mark(false);
  }

  #row(row: Row, index: number, content: MatrixContent): HTMLElement {
    const { table, state } = content;
    const rowIndex = index + (this.#groups.hidden ? 2 : 3);
    if (row.kind === 'group') {
      const element = h(
        'div',
        { class: 'matrix-row model-group', role: 'row', 'aria-rowindex': rowIndex, 'data-row': row.key },
        h(
          'div',
          {
            class: 'matrix-cell',
            role: 'gridcell',
            'aria-colspan': table.columns.length,
            'aria-expanded': String(!row.collapsed),
            'data-column': table.columns[0]?.key ?? '',
            tabindex: -1,
          },
          h('span', { class: 'fold', 'aria-hidden': 'true' }, row.collapsed ? '›' : '⌄'),
          h('bdi', {}, visible(row.label)),
          h('span', { class: 'muted' }, String(row.count)),
        ),
      );
      return element;
    }
    return h(
      'div',
      { class: 'matrix-row', role: 'row', 'aria-rowindex': rowIndex, 'data-row': row.key },
      ...table.columns.flatMap((column, at) =>
        this.#isDrawn(at) ? [placed(cellElement(row.model, column, at, state, content), at)] : [],
      ),
    );
  }

  // ---------------------------------------------------------------- focus and keys

  #place(): Place {
    const { columns, rows } = (this.#content as MatrixContent).table;
    return {
      row: this.#active.row === 'head' ? 0 : rows.findIndex(({ key }) => key === this.#active.row) + 1,
      column: Math.max(
        0,
        columns.findIndex(({ key }) => key === this.#active.column),
      ),
    };
  }

  #elementOf({ row, column }: { row: string; column: string }): HTMLElement | null {
    const element = row === 'head' ? this.#head : this.#drawn.get(row)?.element;
    return (
      element?.querySelector<HTMLElement>(`[data-column="${CSS.escape(column)}"]`) ??
      // A group's row is one cell.
      (element?.classList.contains('model-group') ? element.querySelector<HTMLElement>('[data-column]') : null) ??
      null
    );
  }

  #marked: HTMLElement | null = null;

  /** One cell of the grid is in the order of focus. */
  #mark(focus: boolean): void {
    const cell = this.#elementOf(this.#active);
    if (this.#marked !== cell && this.#marked) this.#marked.tabIndex = -1;
    this.#marked = cell;
    if (!cell) return;
    cell.tabIndex = 0;
    if (focus) cell.focus({ preventScroll: true });
  }

  #move(to: Place): void {
    const { columns, rows } = (this.#content as MatrixContent).table;
    const row = Math.max(0, Math.min(rows.length, to.row));
    const column = Math.max(0, Math.min(columns.length - 1, to.column));
    this.#active = { row: row === 0 ? 'head' : (rows[row - 1]?.key ?? 'head'), column: columns[column]?.key ?? '' };
    this.#reveal(row);
    if (!this.#elementOf(this.#active)) this.#across = [0, 0];
    this.#draw();
    this.#mark(true);
    const cell = this.#elementOf(this.#active);
    if (cell && !cell.classList.contains('sticky')) revealAcross(this.element, cell);
  }

  #reveal(row: number): void {
    if (row === 0) return;
    const height = this.#rowHeight;
    const head = this.#head.parentElement?.offsetHeight ?? 0;
    const top = (row - 1) * height;
    const seen = this.element.clientHeight - head;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + height > this.element.scrollTop + seen) this.element.scrollTop = top + height - seen;
  }

  #key(event: KeyboardEvent): void {
    const content = this.#content;
    const target = event.target as HTMLElement;
    if (!content || !target.matches('[data-column]')) return;
    const { row, column } = this.#place();
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.#rowHeight) - 2);
    const all = event.ctrlKey || event.metaKey;
    const steps: Record<string, () => Place> = {
      ArrowDown: () => ({ row: row + 1, column }),
      ArrowUp: () => ({ row: row - 1, column }),
      ArrowRight: () => ({ row, column: column + 1 }),
      ArrowLeft: () => ({ row, column: column - 1 }),
      PageDown: () => ({ row: row + page, column }),
      PageUp: () => ({ row: Math.max(1, row - page), column }),
      Home: () => ({ row: all ? 1 : row, column: 0 }),
      End: () => ({ row: all ? content.table.rows.length : row, column: content.table.columns.length - 1 }),
    };
    const step = event.altKey ? undefined : steps[event.key];
    if (step) {
      event.preventDefault();
      this.#move(step());
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.#act(target);
    } else if (event.key === 'Delete') {
      const at = content.table.columns[column];
      if (row === 0 && at?.kind === 'task') this.#on.hideBenchmark(at.task);
      else if (row > 0) this.#hideRow(row - 1);
    }
  }

  #hideRow(at: number): void {
    const { rows } = (this.#content as MatrixContent).table;
    const row = rows[at];
    if (row?.kind !== 'model') return;
    // The next model takes the focus.
    this.#active = { ...this.#active, row: rows[at + 1]?.key ?? rows[at - 1]?.key ?? 'head' };
    this.#on.hideModel(row.model);
  }

  #click(event: MouseEvent): void {
    const target = (event.target as HTMLElement).closest<HTMLElement>('[data-column]');
    if (!target || !this.#content) return;
    const row = target.closest<HTMLElement>('[data-row]')?.dataset.row ?? 'head';
    this.#active = { row, column: target.dataset.column ?? '' };
    this.#mark(true);
    if ((event.target as HTMLElement).closest('.hide-button'))
      this.#hideRow(this.#content.table.rows.findIndex(({ key }) => key === row));
    else this.#act(target);
  }

  #act(target: HTMLElement): void {
    const { table } = this.#content as MatrixContent;
    const key = target.dataset.column ?? '';
    const rowKey = target.closest<HTMLElement>('[data-row]')?.dataset.row;
    if (rowKey === undefined) {
      this.#on.sort(key);
      return;
    }
    const row = table.rows.find((each) => each.key === rowKey);
    const column = table.columns.find((each) => each.key === key);
    if (row?.kind === 'group') this.#on.toggle(row.key);
    if (row?.kind !== 'model' || !column) return;
    if (column.kind === 'task') {
      const { cell, running } = table.cell(row.model, column);
      if (cell || running) this.#on.open(row.model, column.task, column.mode);
    }
  }
}

/** The same heading, the same rows in number and kind: what changed, if anything, is in cells. */
const isSameFrame = (before: MatrixContent, after: MatrixContent): boolean =>
  before.version === after.version &&
  before.state === after.state &&
  before.table.rows.length === after.table.rows.length &&
  before.table.columns.map(({ key }) => key).join('\n') === after.table.columns.map(({ key }) => key).join('\n');

/** In its own column of the grid, though others before it are not drawn. */
function placed(cell: HTMLElement, at: number): HTMLElement {
  cell.style.gridColumn = String(at + 1);
  return cell;
}

/** Scrolls sideways until the cell is not behind the columns that stay. */
function revealAcross(frame: HTMLElement, cell: HTMLElement): void {
  const fixed = frame.querySelector<HTMLElement>('.sticky-model');
  const edge = fixed ? fixed.getBoundingClientRect().right : frame.getBoundingClientRect().left;
  const [box, outer] = [cell.getBoundingClientRect(), frame.getBoundingClientRect()];
  if (box.left < edge) frame.scrollLeft -= edge - box.left;
  else if (box.right > outer.right) frame.scrollLeft += box.right - outer.right + 14;
}
