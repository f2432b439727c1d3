/**
 * Which responses are on disk and where: an open-addressing hash table of numbers, so that a million of them take some
 * 60 MB and not the several hundred of a Map of strings and objects.
 */

/** Bytes of a key: the first half of a SHA-256, far more than telling billions of responses apart needs. */
export const keyBytes = 16;

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

  /** The newer place of a key wins. @param key at least {@link keyBytes} bytes */
  set(key: Buffer, { shard, offset, length }: Place): void {
    // Half empty at least: runs of full slots stay short.
    if (2 * (this.#count + 1) > this.#capacity) this.#grow();
    const words = [key.readUInt32LE(0), key.readUInt32LE(4), key.readUInt32LE(8), key.readUInt32LE(12)] as const;
    const at = this.#find(this.#slots, ...words);
    if (this.#slots[at + 6] === 0) this.#count++;
    this.#slots.set([...words, shard, offset, length], at);
  }

  get(key: Buffer): Place | null {
    const slots = this.#slots;
    const at = this.#find(slots, key.readUInt32LE(0), key.readUInt32LE(4), key.readUInt32LE(8), key.readUInt32LE(12));
    const length = slots[at + 6] ?? 0;
    return length === 0 ? null : { shard: slots[at + 4] ?? 0, offset: slots[at + 5] ?? 0, length };
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += width)
      if (old[at + 6] !== 0) {
        const entry = old.subarray(at, at + width);
        const [a = 0, b = 0, c = 0, d = 0] = entry;
        slots.set(entry, this.#find(slots, a, b, c, d));
      }
    this.#slots = slots;
  }
}
