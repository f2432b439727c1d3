/** Heads and rows of the item table, and the words that explain its filter and keys. */
import { type Child, h, present } from '../dom.ts';
import { filterKeys } from './filter-keys.ts';
import { columnOf, type ItemColumnName, type Layout } from './item-columns.ts';
import type { Row, Sibling } from './rows.ts';
import type { Sorting, SortKey } from './sorting.ts';

/** Heads of the columns; a click on one sorts. */
export const headCells = (
  { names, compact }: Layout,
  sorting: Sorting,
  sortBy: (key: SortKey) => void,
): HTMLElement[] =>
  names.map((name) => {
    const { label, title } = columnOf[name];
    const direction = name !== sorting.key ? 'none' : sorting.descending ? 'descending' : 'ascending';
    return h(
      'div',
      { role: 'columnheader', class: `cell cell-${name}`, title, 'aria-sort': direction },
      h(
        'button',
        { type: 'button', class: 'head-button', 'data-key': name, onclick: () => sortBy(name) },
        compact && name === 'verdict' ? h('span', { class: 'visually-hidden' }, label) : label,
        h('span', { class: 'sort-mark', 'aria-hidden': 'true' }),
      ),
    );
  });

/** What is drawn of a row, beside the row itself. */
interface RowLook {
  selected: boolean;
  /** Draws a line above: the row before is of another item. */
  startsItem: boolean;
  /** The item's rows in all runs, itself too. */
  siblings: readonly Sibling[];
}

/** A row of the table as elements, which show one row after the other: making them anew costs more than rewriting them. */
export class RowView {
  readonly element = h('div', { role: 'row' });
  readonly #cells: HTMLElement[];
  /** What each cell shows, where its column tells. */
  readonly #shown: (string | null)[];
  #at = -1;
  #look = '';
  #selected: boolean | null = null;
  #place = '';

  constructor(private readonly names: readonly ItemColumnName[]) {
    this.#cells = names.map((name) => h('div', { role: 'gridcell', class: `cell cell-${name}` }));
    this.#shown = names.map(() => null);
    this.element.append(...this.#cells);
  }

  /** @param at its position among the rows shown */
  show(row: Row, at: number, { selected, startsItem, siblings }: RowLook): void {
    const { element } = this;
    if (this.#at !== at) {
      this.#at = at;
      element.id = `row-${at}`;
      element.setAttribute('aria-rowindex', String(at + 2));
      element.dataset.at = String(at);
    }
    if (this.#selected !== selected) {
      this.#selected = selected;
      element.setAttribute('aria-selected', selected ? 'true' : 'false');
    }
    const look = `grid-row${selected ? ' selected' : ''}${startsItem ? ' first-of-item' : ''}`;
    if (this.#look !== look) {
      this.#look = look;
      element.className = look;
    }
    for (let place = 0; place < this.#cells.length; place++) {
      const [cell, name] = [this.#cells[place], this.names[place]];
      if (!cell || !name) continue;
      const column = columnOf[name];
      const shown = column.shows?.(row, siblings) ?? null;
      if (shown !== null && this.#shown[place] === shown) continue;
      this.#shown[place] = shown;
      fill(cell, column.cell(row, siblings));
    }
  }

  /** Moves the row, as `transform` has it. */
  place(transform: string): void {
    if (this.#place === transform) return;
    this.#place = transform;
    this.element.style.transform = transform;
  }
}

/** Gives a cell its content; of a cell that has a text alone, another text. */
function fill(cell: HTMLElement, children: readonly Child[]): void {
  const content = present(children);
  const [only] = content;
  const { firstChild } = cell;
  if (content.length === 1 && typeof only === 'string' && firstChild instanceof Text && !firstChild.nextSibling) {
    if (firstChild.data !== only) firstChild.data = only;
  } else cell.replaceChildren(...content);
}

const code = (text: string): HTMLElement => h('code', {}, text);
const key = (...names: string[]): (HTMLElement | string)[] =>
  names.flatMap((name, at) => (at === 0 ? [h('kbd', {}, name)] : [' ', h('kbd', {}, name)]));

/** The language of the filter, by what is written and what it means. */
const grammar: [string, string][] = [
  [
    '"text"',
    'text in output, gold answer or what was read, in upper or lower case; quotation marks where it has spaces',
  ],
  [
    '/pattern/',
    'a regular expression in place of text, also behind output:, gold: and read:; /pattern/s with flags i, m, s, u',
  ],
  ['a b', 'both'],
  ['a OR b', 'one of them; brackets group: (a OR b) c'],
  ['key:x,y', 'one of the values'],
  ['-', 'in front of a term or a bracket negates it (or NOT)'],
  ['3..10  >5  <=5', 'numbers: tokens>100, item:3..10, margin:-0.5..0.5, tokens:..20'],
  ['changed:A..B', 'the verdict is another in B than in A; A and B are names of columns or their numbers from 1'],
];
const keyboard: [string[], string][] = [
  [['j', 'k'], 'next and previous row (arrow keys, Page Up and Down, Home and End work too)'],
  [['n', 'p'], 'next and previous item whose verdict is not the same in all runs'],
  [['Enter', 'Escape'], 'into the details and back'],
  [['m'], 'marks the item: bad gold, bad reader, ambiguous question, other'],
  [['/'], 'to the filter'],
  [['↓', 'Ctrl+Space'], 'in the filter: what can stand here; Enter or Tab takes it'],
];

/** The keys of the filter language and of the keyboard. */
export function filterHelp(): HTMLElement {
  return h(
    'details',
    { class: 'help', 'data-key': 'filter-help' },
    h('summary', {}, 'Filter language and keys'),
    h(
      'dl',
      { class: 'filter-keys' },
      ...grammar.flatMap(([written, means]) => [h('dt', {}, code(written)), h('dd', {}, means)]),
      ...Object.entries(filterKeys).flatMap(([name, { hint, values, example }]) => {
        const listed = values?.([]) ?? [];
        const shown = listed.length > 0 ? listed.join(', ') : (example ?? '');
        return [
          h('dt', {}, code(`${name}:`)),
          h('dd', {}, hint, shown ? h('span', { class: 'muted' }, ` (${shown})`) : null),
        ];
      }),
      ...keyboard.flatMap(([names, does]) => [h('dt', {}, ...key(...names)), h('dd', {}, does)]),
    ),
  );
}
