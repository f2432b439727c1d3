/**
 * Python's `random.Random`, as far as lm-evaluation-harness draws few-shot examples and bootstrap samples with it: the
 * Mersenne Twister seeded as CPython seeds it from an integer, `random` and `sample`.
 */
import { MersenneTwister } from './mersenne-twister.ts';

export class PythonRandom {
  private readonly twister = new MersenneTwister();

  /** @param seed a whole number; its absolute value counts, as in CPython */
  constructor(seed: number) {
    const words: number[] = [];
    for (let rest = BigInt(Math.abs(Math.trunc(seed))); rest > 0n; rest >>= 32n) words.push(Number(rest & 0xffffffffn));
    this.twister.seedByArray(words.length > 0 ? words : [0]);
  }

  /** The next 32 random bits. */
  next32(): number {
    return this.twister.next32();
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
