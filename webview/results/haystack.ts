/**
 * Text of many rows, folded to lower case once and laid out so that looking for a word in all of them is a few long searches
 * in place of many short ones: 50 MB take some 30 ms.
 */
import {
  type JoinedTexts,
  type PackedRows,
  slotOf,
  startIn,
  type TextField,
  textFields,
} from '../../src/shared/item-rows.ts';

interface Block {
  /** First row, and the one behind the last. */
  from: number;
  to: number;
  texts: JoinedTexts[];
}

const fields = textFields.length;

export class Haystack {
  readonly #blocks: Block[] = [];
  #length = 0;

  /** Rows that have been taken in, from the first on. */
  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#length = 0;
  }

  /** Forgets the rows from `from` on, where a part begins. */
  cut(from: number): void {
    while ((this.#blocks.at(-1)?.from ?? -1) >= from) this.#blocks.pop();
    this.#length = this.#blocks.at(-1)?.to ?? 0;
  }

  /** Takes in the rows that follow. */
  add(packed: PackedRows): void {
    const { narrow, wide } = packed;
    const from = this.#length;
    this.#length += packed.index.length;
    this.#blocks.push({
      ...{ from, to: this.#length },
      // In Latin-1 a letter stays one letter. Elsewhere it may become two: İ does.
      texts: [{ ...narrow, text: narrow.text.toLowerCase() }, ...(wide.ends.length > 0 ? [folded(wide)] : [])],
    });
  }

  /**
   * Marks rows that hold a text, in any field or in one.
   * @param needle in lower case
   * @param into one byte a row: 1 where it is found; from row `from` to row `to`
   */
  find(needle: string, field: TextField | null, into: Uint8Array, from: number, to: number): void {
    for (const block of this.#blocks) {
      if (block.to <= from || block.from >= to) continue;
      const [first, last] = [Math.max(from, block.from) - block.from, Math.min(to, block.to) - block.from];
      for (const texts of block.texts) findIn(texts, needle, field, first, last, into.subarray(block.from));
    }
  }
}

function folded(texts: JoinedTexts): JoinedTexts {
  let text = '';
  const ends = texts.ends.map((end, place) => {
    text += texts.text.slice(startIn(texts, place), end).toLowerCase();
    const { length } = text;
    text += '\u0000';
    return length;
  });
  return { text, ends, slots: texts.slots };
}

/** Rows from `first` to before `last`. */
function findIn(
  texts: JoinedTexts,
  needle: string,
  field: TextField | null,
  first: number,
  last: number,
  into: Uint8Array,
): void {
  const { text, ends, slots } = texts;
  const wanted = field === null ? -1 : textFields.indexOf(field);
  const begin = slots ? lowest(slots, first * fields) : slotOf(first, 'output');
  const stop = slots ? lowest(slots, last * fields) : last * fields;
  for (let place = begin; place < stop; ) {
    const at = text.indexOf(needle, startIn(texts, place));
    if (at < 0) return;
    while (place < stop && (ends[place] ?? 0) < at + needle.length) place++;
    if (place >= stop) return;
    const slot = slots ? (slots[place] ?? 0) : place;
    // It may begin before the text does, where a text has a NUL of its own.
    if (at < startIn(texts, place)) continue;
    if (wanted >= 0 && slot % fields !== wanted) {
      // On to where the field is.
      place += slots ? 1 : (wanted - (slot % fields) + fields) % fields;
      continue;
    }
    const row = Math.floor(slot / fields);
    into[row] = 1;
    // The rest of the row need not be looked through.
    if (slots)
      do place++;
      while (place < stop && (slots[place] ?? 0) < (row + 1) * fields);
    else place = (row + 1) * fields;
  }
}

/** The first place whose number is not below `bound`. */
function lowest(numbers: Uint32Array, bound: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
