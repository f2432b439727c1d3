/** Rows of the item table: one an item and run, with what filtering and sorting need. */
import type { ItemRow } from '../../src/shared/protocol.ts';
import { type Verdict, verdictNames, verdictOf } from '../terms.ts';
import type { ColumnMark } from './columns.ts';

export interface Row {
  run: string;
  /** Position of the run among the columns. */
  order: number;
  mark: ColumnMark;
  record: ItemRow;
  verdict: Verdict;
  /** The verdict of this item is not the same in all runs that have it. */
  differs: boolean;
}

/** Names a row across updates. */
export const keyOf = (row: { run: string; record: { index: number } }): string => `${row.record.index}\n${row.run}`;

/** All rows of the runs, and per item its rows in the order of the columns. */
export class RowTable {
  readonly rows: Row[] = [];
  readonly byItem = new Map<number, Row[]>();
  /** What occurs, for the choices above the table. */
  readonly marks: ColumnMark[] = [];
  readonly causes = new Set<ItemRow['cause']>();
  readonly verdicts = new Set<Verdict>();
  #inItemOrder: Row[] | null = null;

  /** All rows by item, then by column: sorted once, however often they are filtered. */
  get inItemOrder(): readonly Row[] {
    this.#inItemOrder ??= [...this.rows].sort(byItem);
    return this.#inItemOrder;
  }

  /** Adds finished items of a run, and says of the item's other rows whether they still agree. */
  add(mark: ColumnMark, order: number, records: readonly ItemRow[]): void {
    this.#inItemOrder = null;
    this.marks[order] = mark;
    for (const record of records) {
      this.causes.add(record.cause);
      const row: Row = { run: mark.run, order, mark, record, verdict: verdictOf(record), differs: false };
      this.verdicts.add(row.verdict);
      this.rows.push(row);
      const siblings = this.byItem.get(record.index);
      if (!siblings) {
        this.byItem.set(record.index, [row]);
        continue;
      }
      siblings.push(row);
      siblings.sort((a, b) => a.order - b.order);
      const differs = siblings.some((sibling) => sibling.verdict !== row.verdict);
      for (const sibling of siblings) sibling.differs = differs;
    }
  }

  clear(): void {
    this.rows.length = 0;
    this.byItem.clear();
    this.marks.length = 0;
    this.causes.clear();
    this.verdicts.clear();
    this.#inItemOrder = null;
  }
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byItem = (a: Row, b: Row): number => a.record.index - b.record.index || a.order - b.order;

/** One row a sortable column; ties stand in item order. */
const sortings = {
  item: byItem,
  run: (a: Row, b: Row) => a.order - b.order,
  verdict: (a: Row, b: Row) => verdictNames.indexOf(a.verdict) - verdictNames.indexOf(b.verdict),
  // rows without a cause come last
  cause: (a: Row, b: Row) => byText(a.record.cause ?? '\uffff', b.record.cause ?? '\uffff'),
  gold: (a: Row, b: Row) => byText(a.record.gold, b.record.gold),
  read: (a: Row, b: Row) => byText(a.record.lenient.answer ?? '\uffff', b.record.lenient.answer ?? '\uffff'),
  tokens: (a: Row, b: Row) => a.record.outputTokens - b.record.outputTokens,
} as const;
export type SortKey = keyof typeof sortings;
export const isSortKey = (value: unknown): value is SortKey =>
  typeof value === 'string' && Object.hasOwn(sortings, value);

export interface Sorting {
  key: SortKey;
  descending: boolean;
}

/** Sorts in place; quick where the rows are in item order already. */
export function sortRows(rows: Row[], { key, descending }: Sorting): Row[] {
  const compare = sortings[key];
  const sign = descending ? -1 : 1;
  return rows.sort((a, b) => sign * compare(a, b) || byItem(a, b));
}
