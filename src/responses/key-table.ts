/**
 * Which responses are on disk and where: an open-addressing hash table of numbers, so that a million of them take some
 * 60 MB and not the several hundred of a Map of strings and objects.
 */

/** Hexadecimal digits of a key: the first half of a SHA-256, far more than telling billions of responses apart needs. */
export const keyDigits = 32;

/** The number that eight lower-case hexadecimal digits write. */
function wordOf(key: string, from: number): number {
  let word = 0;
  for (let i = from; i < from + 8; i++) {
    const code = key.charCodeAt(i);
    word = (word << 4) | (code < 58 ? code - 48 : code - 87);
  }
  return word >>> 0;
}

export interface Place {
  shard: number;
  /** Of the line in its file, in bytes. */
  offset: number;
  /** Of the line without its newline, in bytes. */
  length: number;
}

/** Numbers of a slot: four of the key, shard, offset, length. A length of 0 marks an empty slot. */
const width = 7;

export class KeyTable {
  #slots: Uint32Array;
  #count = 0;

  constructor(capacity = 1024) {
    this.#slots = new Uint32Array(width * capacity);
  }

  get size(): number {
    return this.#count;
  }

  get #capacity(): number {
    return this.#slots.length / width;
  }

  /** Start of the key's slot, or of the empty one where it belongs. */
  #find(slots: Uint32Array, a: number, b: number, c: number, d: number): number {
    const capacity = slots.length / width;
    // Keys are digests: any four bytes of them are as good as a hash.
    for (let slot = a & (capacity - 1); ; slot = (slot + 1) & (capacity - 1)) {
      const at = slot * width;
      if (slots[at + 6] === 0) return at;
      if (slots[at] === a && slots[at + 1] === b && slots[at + 2] === c && slots[at + 3] === d) return at;
    }
  }

  /** The newer place of a key wins. @param key {@link keyDigits} hexadecimal digits */
  set(key: string, { shard, offset, length }: Place): void {
    // Half empty at least: runs of full slots stay short.
    if (2 * (this.#count + 1) > this.#capacity) this.#grow();
    const slots = this.#slots;
    const [a, b, c, d] = [wordOf(key, 0), wordOf(key, 8), wordOf(key, 16), wordOf(key, 24)];
    const at = this.#find(slots, a, b, c, d);
    if (slots[at + 6] === 0) this.#count++;
    slots[at] = a;
    slots[at + 1] = b;
    slots[at + 2] = c;
    slots[at + 3] = d;
    slots[at + 4] = shard;
    slots[at + 5] = offset;
    slots[at + 6] = length;
  }

  get(key: string): Place | null {
    const slots = this.#slots;
    const at = this.#find(slots, wordOf(key, 0), wordOf(key, 8), wordOf(key, 16), wordOf(key, 24));
    const length = slots[at + 6] ?? 0;
    return length === 0 ? null : { shard: slots[at + 4] ?? 0, offset: slots[at + 5] ?? 0, length };
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += width)
      if (old[at + 6] !== 0) {
        const to = this.#find(slots, old[at] ?? 0, old[at + 1] ?? 0, old[at + 2] ?? 0, old[at + 3] ?? 0);
        for (let i = 0; i < width; i++) slots[to + i] = old[at + i] ?? 0;
      }
    this.#slots = slots;
  }
}
