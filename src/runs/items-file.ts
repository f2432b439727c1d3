/**
 * Items of a run, read from anywhere in its items.jsonl without being kept: where each record's line begins is noted
 * once (12 bytes an item), so that a part of the items, or one of them, is read alone, and of a growing file only what is
 * new.
 */
import { open } from 'node:fs/promises';
import { asError, HumanError } from '../shared/errors.ts';
import type { ItemRecord } from '../shared/results.ts';
import { parseItem } from './shapes.ts';

/** Bytes read at a time; a longer line is read as a whole. */
const blockBytes = 1 << 20;
const newline = 0x0a;

export interface ItemsPart {
  /** At most so many items. */
  limit?: number;
  /** No further items once the lines read so far are as long as this, in bytes: for callers that pass items on. */
  bytes?: number;
}

export class ItemsFile {
  /** Of each record, in file order: first byte of its line, and the item's index. */
  #starts = new Float64Array(256);
  #indexes = new Int32Array(256);
  #count = 0;
  /** Behind the last line that was a record, or one of a newer version: what follows is looked at again. */
  #scanned = 0;

  constructor(readonly path: string) {}

  /**
   * Records from position `from` on. Half a line at the end is one that is being written; broken lines are skipped and
   * do not count. A file that is not there has none.
   */
  async read(
    from = 0,
    { limit = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY }: ItemsPart = {},
  ): Promise<ItemRecord[]> {
    const records: ItemRecord[] = [];
    let taken = 0;
    if (limit < 1) return records;
    await this.#scan(from, (position, record, length) => {
      if (position < from) return true;
      records.push(record);
      taken += length;
      return records.length < limit && taken < bytes;
    });
    return records;
  }

  /** How many records there are. */
  async count(): Promise<number> {
    await this.#scan(Number.POSITIVE_INFINITY, () => true);
    return this.#count;
  }

  /** The record of an item, the last where it was written several times; null where it is not finished. */
  async find(index: number): Promise<ItemRecord | null> {
    await this.count();
    const position = this.#indexes.subarray(0, this.#count).lastIndexOf(index);
    if (position < 0) return null;
    const [record] = await this.read(position, { limit: 1 });
    return record?.index === index ? record : null;
  }

  /**
   * One reading after the other: what one has noted of the lines, the next need not go through. Several parts that are
   * asked for at once are read without a gap, each once.
   */
  #scan(from: number, each: (position: number, record: ItemRecord, length: number) => boolean): Promise<void> {
    const scan = this.#reading.then(() => this.#scanNow(from, each));
    this.#reading = scan.catch(() => {});
    return scan;
  }
  #reading: Promise<void> = Promise.resolve();

  /** Goes through the records, beginning at position `from` or, where that is not known yet, before it. */
  async #scanNow(from: number, each: (position: number, record: ItemRecord, length: number) => boolean): Promise<void> {
    const handle = await open(this.path, 'r').catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOENT') return null;
      throw new HumanError('disk', `Cannot read ${this.path}: ${thrown.message}.`, { cause: thrown });
    });
    if (!handle) return;
    try {
      // A file that has become shorter is another one.
      if ((await handle.stat()).size < this.#scanned) {
        this.#count = 0;
        this.#scanned = 0;
      }
      let position = Math.min(from, this.#count);
      let start = position < this.#count ? (this.#starts[position] ?? 0) : this.#scanned;
      // Few items are asked for one at a time: a small block does for them.
      let block = Buffer.allocUnsafe(from < this.#count ? blockBytes >> 4 : blockBytes);
      for (let held = 0; ; ) {
        const { bytesRead } = await handle.read(block, held, block.length - held, start + held);
        const filled = held + bytesRead;
        let line = 0;
        const whole = block.subarray(0, filled);
        for (let end = whole.indexOf(newline); end >= 0; end = whole.indexOf(newline, line)) {
          const record = this.#take(start + line, block.toString('utf8', line, end), start + end + 1);
          const length = end + 1 - line;
          line = end + 1;
          if (record && !each(position++, record, length)) return;
        }
        if (bytesRead === 0) return;
        held = filled - line;
        start += line;
        if (line > 0) block.copyWithin(0, line, filled);
        else if (filled === block.length) block = Buffer.concat([block, Buffer.allocUnsafe(block.length)]);
        if (block.length < blockBytes && line > 0) block = Buffer.concat([block, Buffer.allocUnsafe(blockBytes)]);
      }
    } finally {
      await handle.close();
    }
  }

  /** Parses a line and notes where it stands, where that is new. Null for a line that is no record. */
  #take(start: number, text: string, end: number): ItemRecord | null {
    if (text.trim() === '') return null;
    let record: ItemRecord | null = null;
    try {
      record = parseItem(text);
    } catch (thrown) {
      // Garbage at the end is cut off when the run is resumed: something else will stand in its place.
      if (asError(thrown) instanceof SyntaxError) return null;
    }
    if (start < this.#scanned) return record;
    this.#scanned = end;
    if (record) this.#note(start, record.index);
    return record;
  }

  #note(start: number, index: number): void {
    if (this.#count === this.#starts.length) {
      const [starts, indexes] = [this.#starts, this.#indexes];
      this.#starts = new Float64Array(2 * this.#count);
      this.#indexes = new Int32Array(2 * this.#count);
      this.#starts.set(starts);
      this.#indexes.set(indexes);
    }
    this.#starts[this.#count] = start;
    this.#indexes[this.#count++] = index;
  }
}
