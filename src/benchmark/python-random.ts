/**
 * Python's `random.Random`, as far as lm-evaluation-harness draws few-shot examples and bootstrap samples with it: the Mersenne Twister
 * (Matsumoto and Nishimura 1998, MT19937) seeded as CPython seeds it from an integer, `random` and `sample`.
 */
const size = 624;
const shift = 397;

export class PythonRandom {
  private readonly state = new Uint32Array(size);
  private position = size;

  /** @param seed a whole number; its absolute value counts, as in CPython */
  constructor(seed: number) {
    const words: number[] = [];
    for (let rest = BigInt(Math.abs(Math.trunc(seed))); rest > 0n; rest >>= 32n) words.push(Number(rest & 0xffffffffn));
    this.seedByArray(words.length > 0 ? words : [0]);
  }

  private seedByInteger(seed: number): void {
    this.state[0] = seed;
    for (let i = 1; i < size; i++) {
      const before = this.word(i - 1);
      this.state[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
    }
  }

  private seedByArray(key: readonly number[]): void {
    this.seedByInteger(19650218);
    let i = 1;
    let j = 0;
    const next = (): void => {
      if (++i < size) return;
      this.state[0] = this.word(size - 1);
      i = 1;
    };
    for (let k = Math.max(size, key.length); k > 0; k--) {
      const before = this.word(i - 1);
      this.state[i] = (this.word(i) ^ Math.imul(before ^ (before >>> 30), 1664525)) + (key[j] ?? 0) + j;
      next();
      j = (j + 1) % key.length;
    }
    for (let k = size - 1; k > 0; k--) {
      const before = this.word(i - 1);
      this.state[i] = (this.word(i) ^ Math.imul(before ^ (before >>> 30), 1566083941)) - i;
      next();
    }
    this.state[0] = 0x80000000;
    this.position = size;
  }

  private word(index: number): number {
    return this.state[index] ?? 0;
  }

  /** The next 32 random bits. */
  next32(): number {
    if (this.position >= size) this.refill();
    let y = this.word(this.position++);
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  private refill(): void {
    for (let k = 0; k < size; k++) {
      const y = (this.word(k) & 0x80000000) | (this.word((k + 1) % size) & 0x7fffffff);
      this.state[k] = this.word((k + shift) % size) ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.position = 0;
  }

  /** A number in [0, 1) of 53 random bits. */
  random(): number {
    const high = this.next32() >>> 5;
    return (high * 0x4000000 + (this.next32() >>> 6)) / 0x20000000000000;
  }

  /** A whole number in [0, n), n at most 2³². */
  below(n: number): number {
    const bits = n.toString(2).length;
    let value: number;
    do value = bits > 32 ? this.next32() : this.next32() >>> (32 - bits);
    while (value >= n);
    return value;
  }

  /**
   * Positions that `random.sample(population, count)` takes from a population of `n`: a shuffled list for small
   * populations, drawing anew on a repeat for large ones, with CPython's border between them.
   * @throws RangeError where count > n
   */
  sample(n: number, count: number): number[] {
    if (count > n || count < 0) throw new RangeError('Sample larger than population or is negative');
    let border = 21;
    if (count > 5) border += 4 ** Math.ceil(Math.log(count * 3) / Math.log(4));
    const taken: number[] = [];
    if (n <= border) {
      const pool = Array.from({ length: n }, (_, i) => i);
      for (let i = 0; i < count; i++) {
        const j = this.below(n - i);
        taken.push(pool[j] ?? 0);
        pool[j] = pool[n - i - 1] ?? 0;
      }
      return taken;
    }
    const seen = new Set<number>();
    while (taken.length < count) {
      const j = this.below(n);
      if (seen.has(j)) continue;
      seen.add(j);
      taken.push(j);
    }
    return taken;
  }
}
