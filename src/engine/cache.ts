/**
 * Keys and values of the rows of a batch, kept in the order that the graph wants them: [rows, heads, capacity, head size]
 * per tensor. A row fills its places from 0 on; what is behind its length is masked. So rows of different lengths share
 * a batch without padding in between, rows can come and go, and a step hands over only its new keys and values.
 */
import type { CacheSignature } from '../model/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { Provider } from './providers.ts';
import { runError } from './run-tensors.ts';
import { powerOfTwo } from './shapes.ts';

type Elements = Float32Array | Uint16Array;

/** The keys or the values of a layer. */
interface HeldTensor {
  heads: number;
  headSize: number;
  data: Elements;
}

/** Where the new keys and values of a step stand. */
export interface NewEntries {
  data: Elements;
  /** Positions that the tensor has along its time axis. */
  time: number;
  /** Position along the time axis where the new ones begin; null: behind each row's own entries. */
  start: number | null;
}

const makers: Partial<Record<CacheSignature['dtype'], (size: number) => Elements>> = {
  float32: (size) => new Float32Array(size),
  float16: (size) => new Uint16Array(size),
};

/** Spare places made at a time, so that the entries are moved apart only once in a while. */
const growth = 32;

/**
 * Places that a row of `length` positions takes up, spare ones counted, where rows may differ in length. `few`: powers of
 * two, for devices (see providers.ts).
 */
export const placesFor = (length: number, shapes: Provider['shapes'] = 'many'): number =>
  shapes === 'few' ? powerOfTwo(length + 1, 2 * growth) : Math.ceil((length + 1) / growth) * growth;

/** One row that other caches' rows begin with. */
export interface Prefix {
  cache: KeyValueCache;
  /** The graph takes it beside the rows (shared-prefix.ts). */
  shared: boolean;
}

export class KeyValueCache {
  readonly #buffers: Map<string, HeldTensor>;
  readonly #lengths: number[] = [];
  #rows: number;
  #maximum: number;
  #capacity = 0;

  /**
   * Room for `rows` rows of up to `longest` positions. The memory is touched only as far as it is filled.
   * `exact`: capacity always equals the length, which all rows must share (graphs that take positions from it).
   */
  constructor(
    signature: CacheSignature,
    rows: number,
    longest: number,
    readonly exact: boolean,
    /** What all rows begin with: held once where `prefix.shared`, else copied into every row. */
    private readonly prefix: Prefix | null = null,
    private readonly shapes: Provider['shapes'] = 'many',
  ) {
    const make = makers[signature.dtype];
    if (signature.kind !== 'separate' || !make)
      throw new HumanError(
        'unsupported',
        `This graph keeps its KV cache as ${signature.kind} ${signature.dtype} tensors.`,
        {
          todo: 'Export the model with optimum-cli export onnx --task text-generation-with-past.',
        },
      );
    this.#rows = rows;
    this.#maximum = this.#placesFor(longest);
    try {
      this.#buffers = new Map(
        signature.tensors.map(({ past, heads, headSize }) => [
          past,
          { heads, headSize, data: make(rows * heads * this.#maximum * headSize) },
        ]),
      );
    } catch (error) {
      // RangeError: Array buffer allocation failed.
      throw runError(error, rows, this.#maximum);
    }
  }

  #placesFor(longest: number): number {
    return this.exact ? longest : placesFor(longest, this.shapes);
  }

  /** Forgets its rows, to have room for others behind the same prefix; false where its memory does not suffice for them. */
  reuse(rows: number, longest: number): boolean {
    const maximum = this.#placesFor(longest);
    for (const { heads, headSize, data } of this.#buffers.values())
      if (data.length < rows * heads * maximum * headSize) return false;
    this.#rows = rows;
    this.#maximum = maximum;
    this.#capacity = 0;
    this.#lengths.length = 0;
    return true;
  }

  /** Rows in use: 0 … count - 1. */
  get count(): number {
    return this.#lengths.length;
  }
  get capacity(): number {
    return this.#capacity;
  }
  /** Memory that it has room in, filled or not. */
  get bytes(): number {
    return [...this.#buffers.values()].reduce((sum, { data }) => sum + data.byteLength, 0);
  }
  /** Positions that a row holds itself, a shared prefix not counted. */
  length(row: number): number {
    return this.#lengths[row] ?? 0;
  }
  /** Position that the row's next token has in its text. */
  position(row: number): number {
    return (this.sharedPrefix?.length(0) ?? 0) + this.length(row);
  }
  get sharedPrefix(): KeyValueCache | null {
    return this.prefix?.shared ? this.prefix.cache : null;
  }

  /** Shape and entries of rows [from, to) of every tensor, as the graph wants them. */
  views(from: number, to: number): { name: string; data: Elements; dims: number[] }[] {
    return [...this.#buffers].map(([name, { heads, headSize, data }]) => {
      const row = heads * this.#capacity * headSize;
      return { name, data: data.subarray(from * row, to * row), dims: [to - from, heads, this.#capacity, headSize] };
    });
  }

  /** Changes the spacing of all rows; entries up to each row's length stay. */
  #space(capacity: number): void {
    const old = this.#capacity;
    if (capacity === old) return;
    for (const { heads, headSize, data } of this.#buffers.values()) {
      const blocks = this.count * heads;
      for (let step = 0; step < blocks; step++) {
        // Growing moves the last block first, shrinking the first one first: nothing is overwritten before it has moved.
        const block = capacity > old ? blocks - 1 - step : step;
        const from = block * old * headSize;
        const length = this.length(Math.floor(block / heads)) * headSize;
        data.copyWithin(block * capacity * headSize, from, from + length);
      }
    }
    this.#capacity = capacity;
  }

  /** Makes room for rows of `length` positions, and takes much needless room back. */
  reserve(length: number): void {
    const longest = Math.max(length, ...this.#lengths);
    if (longest > this.#maximum) throw new Error(`The cache has room for ${this.#maximum} positions, not ${longest}.`);
    if (this.exact) {
      this.#space(longest);
      return;
    }
    const wanted = Math.min(this.#maximum, placesFor(longest, this.shapes));
    if (longest > this.#capacity || this.#capacity - wanted > Math.max(growth, this.#capacity / 4)) this.#space(wanted);
  }

  /** Drops spare places, so that row 0 stands without gaps between its heads. */
  trim(): void {
    this.#space(this.length(0));
  }

  /**
   * Adds a row that begins as row `from` of `other` does, by default with the prefix, and gives its number. `positions`:
   * how many of them, all where absent. `other` may be this cache itself.
   */
  addRow(
    other: KeyValueCache | null = this.prefix?.shared ? null : (this.prefix?.cache ?? null),
    from = 0,
    positions?: number,
  ): number {
    const row = this.count;
    if (row >= this.#rows) throw new Error('All rows of the cache are in use.');
    const length = positions ?? other?.length(from) ?? 0;
    this.reserve(length);
    this.#lengths.push(length);
    if (!other) return row;
    for (const [name, { heads, headSize, data }] of this.#buffers) {
      const source = other.#buffers.get(name)?.data;
      if (!source) throw new Error(`The prefix has no tensor ${name}.`);
      for (let head = 0; head < heads; head++) {
        const at = (from * heads + head) * other.#capacity * headSize;
        data.set(source.subarray(at, at + length * headSize), (row * heads + head) * this.#capacity * headSize);
      }
    }
    return row;
  }

  /** Forgets the last `count` positions of a row. */
  shorten(row: number, count: number): void {
    this.#lengths[row] = this.length(row) - count;
  }

  /** Drops a row; the last row takes its number. */
  removeRow(row: number): void {
    const last = this.count - 1;
    if (row !== last) {
      for (const { heads, headSize, data } of this.#buffers.values()) {
        const size = heads * this.#capacity * headSize;
        data.copyWithin(row * size, last * size, (last + 1) * size);
      }
      this.#lengths[row] = this.length(last);
    }
    this.#lengths.pop();
  }

  /** Appends to rows from `from` on: the first `counts[i]` new positions of row `i` of a step's output. */
  append(from: number, counts: readonly number[], entries: ReadonlyMap<string, NewEntries>): void {
    this.reserve(Math.max(...counts.map((count, index) => this.length(from + index) + count)));
    for (const [name, { heads, headSize, data }] of this.#buffers) {
      const entry = entries.get(name);
      if (!entry) throw new Error(`The step gave nothing for ${name}.`);
      for (const [index, count] of counts.entries()) {
        const row = from + index;
        for (let head = 0; head < heads; head++) {
          const start = entry.start ?? this.length(row);
          const source = ((index * heads + head) * entry.time + start) * headSize;
          const target = ((row * heads + head) * this.#capacity + this.length(row)) * headSize;
          data.set(entry.data.subarray(source, source + count * headSize), target);
        }
      }
    }
    for (const [index, count] of counts.entries()) this.#lengths[from + index] = this.length(from + index) + count;
  }
}
