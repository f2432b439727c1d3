/**
 * Rows of the item table: one an item and run. There may be several 100,000: what filtering and sorting look at stands in
 * typed columns by row number, and a row as an object is made for those that are drawn.
 */
import { failureCauses } from '../../src/shared/failure-causes.ts';
import type { MarkedItem } from '../../src/shared/marks.ts';
import type { ItemRow } from '../../src/shared/protocol.ts';
import { type Verdict, verdictNames, verdictOf } from '../terms.ts';
import type { ColumnMark } from './columns.ts';
import { Haystack } from './haystack.ts';

export interface Row {
  run: string;
  /** Position of the run among the columns. */
  order: number;
  mark: ColumnMark;
  record: ItemRow;
  verdict: Verdict;
  /** The verdict of this item is not the same in all runs that have it. */
  differs: boolean;
  /** What somebody found wrong with the item. */
  marked: MarkedItem | null;
}

/** Names a row across updates. */
export const keyOf = (row: { run: string; record: { index: number } }): string => `${row.record.index}\n${row.run}`;

type Column = Uint8Array | Uint16Array | Int32Array;

/** The column with room for `length` numbers; twice as many where it has to grow. */
function withRoom<T extends Column>(column: T, length: number): T {
  if (length <= column.length) return column;
  const larger = new (column.constructor as new (length: number) => T)(Math.max(1024, 2 * column.length, length));
  larger.set(column as never);
  return larger;
}

/** All rows of the runs. */
export class RowTable {
  /** The columns of the page, by their position. */
  readonly marks: ColumnMark[] = [];
  readonly haystack = new Haystack((id) => {
    const record = this.records[id];
    return {
      output: record?.output ?? '',
      gold: record?.gold ?? '',
      strict: record?.strict.answer ?? '',
      lenient: record?.lenient.answer ?? '',
    };
  });
  /** Changes whenever row numbers lose their meaning. */
  generation = 0;
  /** Items that people have marked, by index; another map where they have changed. */
  itemMarks: ReadonlyMap<number, MarkedItem> = new Map();
  readonly records: ItemRow[] = [];
  /** By row: the column, the verdict and the cause by their place in their tables (cause 0: none), the item's place. */
  orders = new Uint16Array(0);
  verdictNumbers = new Uint8Array(0);
  causeNumbers = new Uint8Array(0);
  places = new Int32Array(0);
  /** By item, in the order they came: its index, and whether its verdict is not the same in all runs. */
  #indexes = new Int32Array(0);
  #differs = new Uint8Array(0);
  #items = 0;
  /** Whether the items came in the order of their indexes. */
  #inOrder = true;
  /** By column and item: row number + 1; 0 where the run has not finished the item. */
  readonly #rowOf: Int32Array[] = [];
  readonly #placeOf = new Map<number, number>();
  readonly #verdictCounts = new Uint32Array(verdictNames.length);
  readonly #causeCounts = new Uint32Array(failureCauses.length + 1);

  get length(): number {
    return this.records.length;
  }

  /** Which verdicts and causes occur, for the choices above the table. */
  get verdicts(): ReadonlySet<Verdict> {
    return new Set(verdictNames.filter((_, number) => this.#verdictCounts[number]));
  }
  get causes(): ReadonlySet<ItemRow['cause']> {
    return new Set(failureCauses.filter((_, number) => this.#causeCounts[number + 1]));
  }

  /** Adds finished items of a run, and says of the item's other rows whether they still agree. */
  add(mark: ColumnMark, order: number, records: readonly ItemRow[]): void {
    this.marks[order] = mark;
    const length = this.length + records.length;
    this.orders = withRoom(this.orders, length);
    this.verdictNumbers = withRoom(this.verdictNumbers, length);
    this.causeNumbers = withRoom(this.causeNumbers, length);
    this.places = withRoom(this.places, length);
    const items = this.#items + records.length;
    this.#indexes = withRoom(this.#indexes, items);
    this.#differs = withRoom(this.#differs, items);
    const rows = withRoom(this.#rowOf[order] ?? new Int32Array(0), items);
    this.#rowOf[order] = rows;
    const others = this.#rowOf.filter((each) => each !== rows);
    for (const record of records) {
      const id = this.records.push(record) - 1;
      const verdict = verdictNames.indexOf(verdictOf(record));
      const cause = record.cause === null ? 0 : failureCauses.indexOf(record.cause) + 1;
      const place = this.#placeFor(record.index);
      this.orders[id] = order;
      this.verdictNumbers[id] = verdict;
      this.causeNumbers[id] = cause;
      this.places[id] = place;
      this.#verdictCounts[verdict] = (this.#verdictCounts[verdict] ?? 0) + 1;
      this.#causeCounts[cause] = (this.#causeCounts[cause] ?? 0) + 1;
      for (const other of others) {
        const sibling = (other[place] ?? 0) - 1;
        if (sibling >= 0 && this.verdictNumbers[sibling] !== verdict) this.#differs[place] = 1;
      }
      rows[place] = id + 1;
    }
  }

  #placeFor(index: number): number {
    const known = this.#placeOf.get(index);
    if (known !== undefined) return known;
    const place = this.#items++;
    // Items mostly come in their order.
    if (place > 0 && index < (this.#indexes[place - 1] ?? 0)) this.#inOrder = false;
    this.#indexes[place] = index;
    this.#placeOf.set(index, place);
    return place;
  }

  clear(): void {
    this.generation++;
    this.records.length = 0;
    this.marks.length = 0;
    this.#rowOf.length = 0;
    this.#placeOf.clear();
    this.#items = 0;
    this.#inOrder = true;
    this.#differs.fill(0);
    this.#verdictCounts.fill(0);
    this.#causeCounts.fill(0);
    this.haystack.clear();
  }

  /** The row of this number. Throws where there is none. */
  row(id: number): Row {
    const record = this.records[id];
    const order = this.orders[id] ?? 0;
    const mark = this.marks[order];
    if (!record || !mark) throw new RangeError(`There is no row ${id}.`);
    return {
      run: mark.run,
      order,
      mark,
      record,
      verdict: this.verdictOf(id),
      differs: this.differs(id),
      marked: this.itemMarks.get(record.index) ?? null,
    };
  }

  verdictOf(id: number): Verdict {
    return verdictNames[this.verdictNumbers[id] ?? 0] ?? 'unscored';
  }

  differs(id: number): boolean {
    return this.#differs[this.places[id] ?? 0] === 1;
  }

  /** The number of the row that {@link keyOf} names; -1 where there is none. */
  idOf(key: string): number {
    const [index, run] = key.split('\n');
    const place = this.#placeOf.get(Number(index));
    const order = this.marks.findIndex((mark) => mark?.run === run);
    return place === undefined ? -1 : (this.#rowOf[order]?.[place] ?? 0) - 1;
  }

  /** The number of the row of the same item in another column; -1 where there is none. */
  inColumn(id: number, order: number): number {
    return (this.#rowOf[order]?.[this.places[id] ?? 0] ?? 0) - 1;
  }

  /** An item's rows in the order of the columns. */
  ofItem(index: number): Row[] {
    const place = this.#placeOf.get(index);
    if (place === undefined) return [];
    return this.#rowOf.flatMap((rows) => (rows?.[place] ? [this.row(rows[place] - 1)] : []));
  }

  /** The records of every run that has a column, in the order they came. */
  recordsByRun(): Map<string, ItemRow[]> {
    const found = this.marks.map((): ItemRow[] => []);
    for (const [id, record] of this.records.entries()) found[this.orders[id] ?? 0]?.push(record);
    // A column without items yet leaves a hole.
    return new Map(this.marks.flatMap((mark, order) => (mark ? [[mark.run, found[order] ?? []] as const] : [])));
  }

  /** Row numbers by item, then by column. */
  inItemOrder(): Int32Array {
    const places = new Int32Array(this.#items);
    for (let place = 0; place < places.length; place++) places[place] = place;
    if (!this.#inOrder) places.sort((a, b) => (this.#indexes[a] ?? 0) - (this.#indexes[b] ?? 0));
    const columns = this.#rowOf.filter(Boolean);
    const ids = new Int32Array(this.length);
    let at = 0;
    for (const place of places)
      for (const rows of columns) {
        const id = (rows[place] ?? 0) - 1;
        if (id >= 0) ids[at++] = id;
      }
    return ids.subarray(0, at);
  }
}
