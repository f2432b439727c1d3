/**
 * Rows of the item table: one an item and run. There may be several 100,000: they stay packed by columns as they came, what
 * filtering and sorting look at most stands in typed columns by row number, and a row as an object is made for those that
 * are drawn.
 */
import { failureCauses } from '../../src/shared/failure-causes.ts';
import {
  type PackedRows,
  packRows,
  type Rare,
  rowAt,
  rowBits,
  type TextField,
  textIn,
  unpackRows,
} from '../../src/shared/item-rows.ts';
import type { MarkedItem } from '../../src/shared/marks.ts';
import type { ItemRow } from '../../src/shared/protocol.ts';
import { type Judged, type Verdict, verdictNames, verdictOf } from '../terms.ts';
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

/** A row as other rows of its item show it. */
export type Sibling = Pick<Row, 'run' | 'mark' | 'verdict'>;

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

/** Rows of one run that came together. */
interface Part {
  run: string;
  /** Number of the first row. */
  from: number;
  packed: PackedRows;
  rare: ReadonlyMap<number, Rare>;
}

type JudgedRow = Judged & Pick<ItemRow, 'index'>;

/** Characters of parts that are put together: rows that come one by one do not make a part each. */
const shortPart = 1 << 16;
/** Indexes below are looked up in an array, those above in a map. */
const mostDense = 1 << 22;

/** All rows of the runs. */
export class RowTable {
  /** The columns of the page, by their position. */
  readonly marks: ColumnMark[] = [];
  readonly #haystack = new Haystack();
  /** Changes whenever row numbers lose their meaning. */
  generation = 0;
  /** Items that people have marked, by index; another map where they have changed. */
  itemMarks: ReadonlyMap<number, MarkedItem> = new Map();
  /** In the order they came. */
  #parts: Part[] = [];
  /** The part that was looked into last. */
  #part: Part | undefined;
  #length = 0;
  /** By row: the column, the verdict and the cause by their place in their tables (cause 0: none), the item's place. */
  orders = new Uint16Array(0);
  verdictNumbers = new Uint8Array(0);
  causeNumbers = new Uint8Array(0);
  places = new Int32Array(0);
  /** By row: bits as {@link rowBits} has them, and the stop reason; tokens of the output. */
  flags = new Uint16Array(0);
  tokens = new Int32Array(0);
  /** By item, in the order they came: its index, and whether its verdict is not the same in all runs. */
  #indexes = new Int32Array(0);
  #differs = new Uint8Array(0);
  #items = 0;
  /** Whether the items came in the order of their indexes. */
  #inOrder = true;
  /** By column and item: row number + 1; 0 where the run has not finished the item. */
  readonly #rowOf: Int32Array[] = [];
  /** By index of an item: its place + 1. */
  #placeOf = new Int32Array(0);
  readonly #farPlaceOf = new Map<number, number>();
  readonly #verdictCounts = new Uint32Array(verdictNames.length);
  readonly #causeCounts = new Uint32Array(failureCauses.length + 1);

  get length(): number {
    return this.#length;
  }

  /** Which verdicts and causes occur, for the choices above the table. */
  get verdicts(): ReadonlySet<Verdict> {
    return new Set(verdictNames.filter((_, number) => this.#verdictCounts[number]));
  }
  get causes(): ReadonlySet<ItemRow['cause']> {
    return new Set(failureCauses.filter((_, number) => this.#causeCounts[number + 1]));
  }

  /** How many items of a run are here. */
  lengthOf(run: string): number {
    let length = 0;
    for (const part of this.#parts) if (part.run === run) length += part.packed.index.length;
    return length;
  }

  /** Adds finished items of a run, and says of the item's other rows whether they still agree. */
  add(mark: ColumnMark, order: number, rows: PackedRows | readonly ItemRow[]): void {
    const packed = 'index' in rows ? rows : packRows(rows);
    this.marks[order] = mark;
    const before = this.#length;
    const { index: indexes, flags, causes, outputTokens } = packed;
    const length = before + indexes.length;
    const part = this.#append(mark.run, packed);
    this.orders = withRoom(this.orders, length);
    this.verdictNumbers = withRoom(this.verdictNumbers, length);
    this.causeNumbers = withRoom(this.causeNumbers, length);
    this.places = withRoom(this.places, length);
    this.flags = withRoom(this.flags, length);
    this.tokens = withRoom(this.tokens, length);
    this.flags.set(flags, before);
    this.tokens.set(outputTokens, before);
    this.causeNumbers.set(causes, before);
    this.orders.fill(order, before, length);
    const items = this.#items + indexes.length;
    this.#indexes = withRoom(this.#indexes, items);
    this.#differs = withRoom(this.#differs, items);
    const own = withRoom(this.#rowOf[order] ?? new Int32Array(0), items);
    this.#rowOf[order] = own;
    const others = this.#rowOf.filter((each) => each !== own);
    for (let at = 0; at < indexes.length; at++) {
      const id = before + at;
      const verdict = this.#judge(flags[at] ?? 0, part, id);
      const cause = causes[at] ?? 0;
      const place = this.#placeFor(indexes[at] ?? 0);
      this.verdictNumbers[id] = verdict;
      this.places[id] = place;
      this.#verdictCounts[verdict] = (this.#verdictCounts[verdict] ?? 0) + 1;
      this.#causeCounts[cause] = (this.#causeCounts[cause] ?? 0) + 1;
      for (const other of others) {
        const sibling = (other[place] ?? 0) - 1;
        if (sibling >= 0 && this.verdictNumbers[sibling] !== verdict) this.#differs[place] = 1;
      }
      own[place] = id + 1;
    }
  }

  /** Takes rows in, together with the few that came before where these are of the same run. */
  #append(run: string, packed: PackedRows): Part {
    const last = this.#parts.at(-1);
    const size = ({ narrow, wide }: PackedRows): number => narrow.text.length + wide.text.length;
    const joined = last?.run === run && size(last.packed) + size(packed) < shortPart;
    const whole = joined ? packRows([...unpackRows(last.packed), ...unpackRows(packed)]) : packed;
    const part: Part = {
      ...{ run, packed: whole, from: joined ? last.from : this.#length },
      rare: new Map(whole.rare.map(({ at, values }) => [at, values])),
    };
    if (joined) {
      this.#parts.pop();
      this.#haystack.cut(part.from);
    }
    this.#parts.push(part);
    this.#part = part;
    this.#length += packed.index.length;
    return part;
  }

  /** The number of a row's verdict. */
  #judge(flags: number, part: Part, id: number): number {
    // Of outputs that were judged, flags tell.
    if (!(flags & (rowBits.notGenerated | rowBits.notScored)))
      return verdictsByFlags[flags & (rowBits.inFormat | rowBits.right | rowBits.lenientRight)] ?? 0;
    return verdictNames.indexOf(
      verdictOf(judgedRow(flags, part.packed.index[id - part.from] ?? 0, part.rare.get(id - part.from))),
    );
  }

  #placeFor(index: number): number {
    const known = this.#knownPlace(index);
    if (known >= 0) return known;
    const place = this.#items++;
    // Items mostly come in their order.
    if (place > 0 && index < (this.#indexes[place - 1] ?? 0)) this.#inOrder = false;
    this.#indexes[place] = index;
    if (index < mostDense) {
      this.#placeOf = withRoom(this.#placeOf, index + 1);
      this.#placeOf[index] = place + 1;
    } else this.#farPlaceOf.set(index, place + 1);
    return place;
  }

  /** -1 where there is none. */
  #knownPlace(index: number): number {
    return ((index < mostDense ? this.#placeOf[index] : this.#farPlaceOf.get(index)) ?? 0) - 1;
  }

  clear(): void {
    this.generation++;
    this.#parts = [];
    this.#part = undefined;
    this.#length = 0;
    this.marks.length = 0;
    this.#rowOf.length = 0;
    this.#placeOf.fill(0);
    this.#farPlaceOf.clear();
    this.#items = 0;
    this.#inOrder = true;
    this.#differs.fill(0);
    this.#verdictCounts.fill(0);
    this.#causeCounts.fill(0);
    this.#haystack.clear();
  }

  /** The columns are others now, or in another order: keeps the rows of those that are still there. */
  arrange(columns: readonly ColumnMark[]): void {
    const parts = this.#parts;
    this.clear();
    for (const [order, mark] of columns.entries())
      for (const { run, packed } of parts) if (run === mark.run) this.add(mark, order, packed);
  }

  /** Takes rows into what texts are looked for in, until `isLate` says so. @returns how many rows, from the first on */
  fold(isLate: () => boolean = () => false): number {
    for (const part of this.#parts) {
      if (part.from < this.#haystack.length) continue;
      if (isLate()) break;
      this.#haystack.add(part.packed);
    }
    return this.#haystack.length;
  }

  /**
   * Marks rows that hold a text, of those that are taken in.
   * @param needle in lower case
   * @param into one byte a row: 1 where it is found; from row `from` to row `to`
   */
  find(needle: string, field: TextField | null, into: Uint8Array, from: number, to: number): void {
    this.#haystack.find(needle, field, into, from, to);
  }

  #partOf(id: number): Part | undefined {
    const part = this.#part;
    if (part && id >= part.from && id < part.from + part.packed.index.length) return part;
    let [low, high] = [0, this.#parts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#parts[middle]?.from ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    this.#part = this.#parts[low - 1];
    return this.#part;
  }

  /** The record of a row, made now. Throws where there is none. */
  record(id: number): ItemRow {
    const part = this.#partOf(id);
    if (!part || id >= this.#length) throw new RangeError(`There is no row ${id}.`);
    return rowAt(part.packed, id - part.from, part.rare.get(id - part.from));
  }

  /** A text of a row; an answer that was not found is empty. */
  text(id: number, field: TextField): string {
    const part = this.#partOf(id);
    return part ? textIn(part.packed, id - part.from, field) : '';
  }

  /** What few rows have. */
  rare(id: number): Rare {
    const part = this.#partOf(id);
    return part?.rare.get(id - part.from) ?? {};
  }

  /** The index of the row's item. */
  indexOf(id: number): number {
    return this.#indexes[this.places[id] ?? 0] ?? -1;
  }

  isGenerated(id: number): boolean {
    return !((this.flags[id] ?? 0) & rowBits.notGenerated);
  }

  /** The row of this number. Throws where there is none. */
  row(id: number): Row {
    const record = this.record(id);
    const order = this.orders[id] ?? 0;
    const mark = this.marks[order];
    if (!mark) throw new RangeError(`There is no row ${id}.`);
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
    const place = this.#knownPlace(Number(index));
    const order = this.marks.findIndex((mark) => mark?.run === run);
    return place < 0 ? -1 : (this.#rowOf[order]?.[place] ?? 0) - 1;
  }

  /** The number of the row of the same item in another column; -1 where there is none. */
  inColumn(id: number, order: number): number {
    return (this.#rowOf[order]?.[this.places[id] ?? 0] ?? 0) - 1;
  }

  /** An item's rows in the order of the columns. */
  ofItem(index: number): Row[] {
    const place = this.#knownPlace(index);
    if (place < 0) return [];
    return this.#rowOf.flatMap((rows) => (rows?.[place] ? [this.row(rows[place] - 1)] : []));
  }

  /** The items of a run as far as they are judged, in the order they came. */
  *judgedOf(run: string): Generator<JudgedRow> {
    for (const part of this.#parts) {
      if (part.run !== run) continue;
      const { index, flags } = part.packed;
      for (let at = 0; at < index.length; at++) yield judgedRow(flags[at] ?? 0, index[at] ?? 0, part.rare.get(at));
    }
  }

  /** The same without the records: of rows that are drawn. */
  siblingsOf(id: number): Sibling[] {
    const place = this.places[id] ?? 0;
    return this.#rowOf.flatMap((rows, order): Sibling[] => {
      const sibling = (rows[place] ?? 0) - 1;
      const mark = this.marks[order];
      return sibling < 0 || !mark ? [] : [{ run: mark.run, mark, verdict: this.verdictOf(sibling) }];
    });
  }

  /** The records of a run, made now, in the order they came. */
  recordsOf(run: string): ItemRow[] {
    return this.#parts.flatMap((part) => (part.run === run ? unpackRows(part.packed) : []));
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

function judgedRow(flags: number, index: number, rare: Rare | undefined): JudgedRow {
  return {
    ...{ index, inFormat: (flags & rowBits.inFormat) !== 0, right: (flags & rowBits.right) !== 0 },
    lenientRight: (flags & rowBits.lenientRight) !== 0,
    ...(flags & rowBits.notGenerated && { generated: false }),
    ...(flags & rowBits.notScored && { scored: false }),
    ...rare,
  };
}

/** Numbers of the verdicts on outputs, by what the readings found. */
const verdictsByFlags = Array.from({ length: 8 }, (_, flags) =>
  verdictNames.indexOf(verdictOf(judgedRow(flags, 0, undefined))),
);
