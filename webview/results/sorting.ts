/** Orders of the item table: one row a column that sorts. An order is made once for the rows there are, and kept. */
import { failureCauses } from '../../src/shared/failure-causes.ts';
import { rowBits, stopReasonOf, stopReasons } from '../../src/shared/item-rows.ts';
import { likelihoodMargin } from './margins.ts';
import type { RowTable } from './rows.ts';

/** What a row is sorted by: a number, a text, or nothing (such rows come last, whichever way is sorted). */
type Value = number | string | null;

/** A number that only a generated output has. */
const ofOutput =
  (of: (table: RowTable, id: number) => number) =>
  (table: RowTable) =>
  (id: number): Value =>
    table.isGenerated(id) ? of(table, id) : null;

/** By column; ties stand in item order. */
const sortings = {
  item: (table: RowTable) => (id: number) => table.indexOf(id),
  run: (table: RowTable) => (id: number) => table.orders[id] ?? null,
  verdict: (table: RowTable) => (id: number) => table.verdictNumbers[id] ?? null,
  // items whose verdicts differ first
  across: (table: RowTable) => (id: number) => (table.differs(id) ? 0 : 1),
  cause: (table: RowTable) => (id: number) => failureCauses[(table.causeNumbers[id] ?? 0) - 1] ?? null,
  gold: (table: RowTable) => (id: number) => table.text(id, 'gold'),
  read: (table: RowTable) => (id: number) =>
    (table.flags[id] ?? 0) & rowBits.lenient ? table.text(id, 'lenient') : null,
  output: (table: RowTable) => (id: number) => table.text(id, 'output'),
  stop: ofOutput((table, id) => stopReasons.indexOf(stopReasonOf(table.flags[id] ?? 0))),
  tokens: ofOutput((table, id) => table.tokens[id] ?? 0),
  length: ofOutput((table, id) => table.text(id, 'output').length),
  margin: (table: RowTable) => (id: number) => likelihoodMargin(table.rare(id)),
} satisfies Record<string, (table: RowTable) => (id: number) => Value>;
export type SortKey = keyof typeof sortings;
export const isSortKey = (value: unknown): value is SortKey =>
  typeof value === 'string' && Object.hasOwn(sortings, value);

export interface Sorting {
  key: SortKey;
  descending: boolean;
}

/** Numbers inside of texts count as such: 9 comes before 10. */
const naturally = new Intl.Collator('en', { numeric: true }).compare;
/** Texts are told apart by their beginnings. */
const comparedCharacters = 200;

/** Numbers to sort by; texts by their place among all texts. */
function numbersOf(values: readonly Value[]): Float64Array {
  const texts = new Set(
    values.filter((value) => typeof value === 'string').map((text) => text.slice(0, comparedCharacters)),
  );
  // Many different texts are outputs: their plain order does, and takes a tenth of the time.
  const sorted = texts.size > 10_000 ? [...texts].sort() : [...texts].sort(naturally);
  const ranks = new Map(sorted.map((text, rank) => [text, rank]));
  return Float64Array.from(values, (value) =>
    value === null
      ? Number.NaN
      : typeof value === 'number'
        ? value
        : (ranks.get(value.slice(0, comparedCharacters)) ?? 0),
  );
}

export class Orders {
  #kept: { key: string; generation: number; length: number; ids: Int32Array } | null = null;
  #byItem: { generation: number; length: number; ids: Int32Array } | null = null;

  constructor(private readonly table: RowTable) {}

  /** Numbers of all rows in the order asked for. The array is shared: do not change it. */
  of({ key, descending }: Sorting): Int32Array {
    const { generation, length } = this.table;
    const isOf = (order: { generation: number; length: number } | null): boolean =>
      order !== null && order.generation === generation && order.length === length;
    if (!isOf(this.#byItem)) this.#byItem = { generation, length, ids: this.table.inItemOrder() };
    const byItem = this.#byItem?.ids ?? new Int32Array(0);
    if (key === 'item' && !descending) return byItem;
    const name = `${key} ${descending}`;
    if (!isOf(this.#kept) || this.#kept?.key !== name)
      this.#kept = { key: name, generation, length, ids: this.#sorted(byItem, { key, descending }) };
    return this.#kept?.ids ?? byItem;
  }

  #sorted(byItem: Int32Array, { key, descending }: Sorting): Int32Array {
    const sortedBy: (id: number) => Value = sortings[key](this.table);
    const numbers = numbersOf(Array.from(byItem, sortedBy));
    const sign = descending ? -1 : 1;
    const places = Int32Array.from(byItem, (_, place) => place).sort((a, b) => {
      const [x, y] = [numbers[a] ?? Number.NaN, numbers[b] ?? Number.NaN];
      // NaN is no number: what has none comes last.
      if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
      return sign * (x - y) || a - b;
    });
    return places.map((place) => byItem[place] ?? 0);
  }
}
