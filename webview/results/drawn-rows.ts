/** The rows of the item table that are drawn: those in sight and some around, in elements that are used again and again. */
import { debounced } from '../dom.ts';
import type { ItemColumnName } from './item-columns.ts';
import { RowView } from './item-row.ts';
import type { RowTable } from './rows.ts';

/** A row's element, and what its look was made of. */
interface DrawnRow {
  view: RowView;
  id: number;
  selected: boolean;
  startsItem: boolean;
  /** Of the table: rows that came later may be of the same item. */
  length: number;
  marks: RowTable['itemMarks'];
}

/** What is to be drawn. */
export interface Sight {
  /** Numbers of the rows shown, in their order. */
  ids: Int32Array;
  /** Positions among them: from `first` to before `last`. */
  first: number;
  last: number;
  selectedId: number;
  columns: readonly ItemColumnName[];
  /** Pixels from the top of the body to a row's own. */
  topOf(at: number): number;
}

export class DrawnRows {
  /** By position among the rows shown. */
  readonly #drawn = new Map<number, DrawnRow>();
  /** Once scrolling is at rest, the elements stand in the order of their rows again, as a screen reader goes through them. */
  readonly #orderSoon = debounced(() => {
    let next: Element | null = null;
    for (const at of [...this.#drawn.keys()].sort((a, b) => b - a)) {
      const element = this.#drawn.get(at)?.view.element;
      if (!element) continue;
      if (element.nextElementSibling !== next) this.body.insertBefore(element, next);
      next = element;
    }
  }, 120);

  constructor(
    private readonly body: HTMLElement,
    private readonly table: RowTable,
  ) {}

  /** Takes all away: they do not look as they should any more. */
  forget(): void {
    for (const { view } of this.#drawn.values()) view.element.remove();
    this.#drawn.clear();
  }

  /** @returns the element of the selected row, where it is drawn */
  draw({ ids, first, last, selectedId, columns, topOf }: Sight): HTMLElement | null {
    // Rows that went out of sight come in again with other content.
    const spare: RowView[] = [];
    for (const [at, { view }] of this.#drawn)
      if (at < first || at >= last) {
        spare.push(view);
        this.#drawn.delete(at);
      }
    const { itemMarks: marks, places } = this.table;
    // In a table of one run, rows that come later are of other items.
    const length = this.table.marks.length > 1 ? this.table.length : 0;
    const fresh = document.createDocumentFragment();
    let active: HTMLElement | null = null;
    for (let at = first; at < last; at++) {
      const id = ids[at];
      if (id === undefined) continue;
      const selected = id === selectedId;
      const previous = ids[at - 1];
      const startsItem = previous !== undefined && places[previous] !== places[id];
      let drawn = this.#drawn.get(at);
      if (
        !drawn ||
        drawn.id !== id ||
        drawn.selected !== selected ||
        drawn.startsItem !== startsItem ||
        drawn.length !== length ||
        drawn.marks !== marks
      ) {
        let view = drawn?.view ?? spare.shift();
        if (!view) {
          view = new RowView(columns);
          fresh.append(view.element);
        }
        const row = this.table.row(id);
        view.show(row, at, { selected, startsItem, siblings: this.table.siblingsOf(id) });
        drawn = { view, id, selected, startsItem, length, marks };
        this.#drawn.set(at, drawn);
      }
      drawn.view.place(`translateY(${topOf(at)}px)`);
      if (selected) active = drawn.view.element;
    }
    for (const view of spare) view.element.remove();
    if (fresh.childElementCount > 0) this.body.append(fresh);
    this.#orderSoon();
    return active;
  }
}
