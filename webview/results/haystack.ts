/**
 * Text of many rows, laid out so that looking for a word in all of them is a few long searches in place of many short ones:
 * 50 MB take some 30 ms. Letters are folded to lower case once.
 */

/** What a row's text is made of, in this order. */
export const textFields = ['output', 'gold', 'strict', 'lenient'] as const;
export type TextField = (typeof textFields)[number];
export type RowText = Readonly<Record<TextField, string>>;

/** Between the fields, so that nothing is found across two of them. */
const separator = '\u0000';
/** Characters of a block; a search inside a string of this length costs no more than in many short ones. */
const blockLength = 1 << 20;
/** Shorter blocks are taken apart when rows are added. */
const shortBlock = 1 << 16;
const ends = textFields.length;

interface Block {
  /** First row of the block. */
  from: number;
  text: string;
  /** Per row and field: where the field ends in `text`. A row begins where the one before ends, and a separator. */
  ends: Uint32Array;
}

export class Haystack {
  readonly #blocks: Block[] = [];
  #length = 0;

  /** @param rowText the text of row `id`, asked for once a row */
  constructor(private readonly rowText: (id: number) => RowText) {}

  /** Rows that have been taken in. */
  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#length = 0;
  }

  /** Takes in rows up to `length`, or until `isLate` says so: then false. */
  grow(length: number, isLate: () => boolean = () => false): boolean {
    const last = this.#blocks.at(-1);
    // Rows that come one by one do not make a block each.
    if (last && this.#length < length && last.text.length < shortBlock) {
      this.#blocks.pop();
      this.#length = last.from;
    }
    while (this.#length < length) {
      if (isLate()) return false;
      const from = this.#length;
      const parts: string[] = [];
      const places: number[] = [];
      let at = 0;
      while (this.#length < length && at < blockLength) {
        const row = this.rowText(this.#length++);
        for (const field of textFields) {
          const folded = row[field].toLowerCase();
          at += folded.length;
          places.push(at);
          parts.push(folded);
          at += 1;
        }
      }
      this.#blocks.push({ from, text: parts.join(separator) + separator, ends: Uint32Array.from(places) });
    }
    return true;
  }

  /**
   * Marks rows that hold a text, in any field or in one.
   * @param needle in lower case
   * @param into one byte a row: 1 where it is found; from row `from` to row `to`
   */
  find(needle: string, field: TextField | null, into: Uint8Array, from: number, to: number): void {
    for (const block of this.#blocks) {
      const rows = block.ends.length / ends;
      if (block.from + rows <= from || block.from >= to) continue;
      this.#findIn(block, needle, field, into, Math.max(0, from - block.from), Math.min(rows, to - block.from));
    }
  }

  #findIn(block: Block, needle: string, field: TextField | null, into: Uint8Array, from: number, to: number): void {
    const { text, ends: places } = block;
    const [first, last] = field === null ? [0, ends - 1] : [textFields.indexOf(field), textFields.indexOf(field)];
    const startOf = (row: number, at: number): number => {
      const place = row * ends + at;
      return place === 0 ? 0 : (places[place - 1] ?? 0) + 1;
    };
    let row = from;
    for (let at = startOf(row, first); row < to; ) {
      at = text.indexOf(needle, at);
      if (at < 0) return;
      while (row < to && (places[row * ends + last] ?? 0) < at + needle.length) row++;
      if (row >= to) return;
      // Found before the field begins: the next look is where it does.
      const start = startOf(row, first);
      if (at < start) {
        at = start;
        continue;
      }
      into[block.from + row] = 1;
      at = startOf(++row, first);
    }
  }

  /** Whether one row holds a text: for rows that are few. */
  holds(id: number, needle: string, field: TextField | null): boolean {
    const row = this.rowText(id);
    return (field === null ? textFields : [field]).some((name) => row[name].toLowerCase().includes(needle));
  }
}
