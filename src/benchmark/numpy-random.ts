/**
 * numpy's legacy `RandomState`, as far as BIG-bench orders choices and draws few-shot examples with it: seeding from an
 * integer, `permutation`, `choice` without replacement and `choice` of one. numpy keeps this stream fixed for all versions.
 */
import { MersenneTwister } from './mersenne-twister.ts';

export class NumpyRandom {
  private readonly twister = new MersenneTwister();

  /** @param seed a whole number in [0, 2³²) */
  constructor(seed: number) {
    if (!Number.isInteger(seed) || seed < 0 || seed > 0xffffffff)
      throw new RangeError(`A seed must be a whole number from 0 to 4294967295, not ${seed}.`);
    this.twister.seedByInteger(seed);
  }

  /**
   * A whole number in [0, most], most below 2³²: bits under a mask, drawn again while they are too large. Nothing is drawn
   * where there is only one.
   */
  private upTo(most: number): number {
    if (most === 0) return 0;
    const mask = 0xffffffff >>> Math.clz32(most);
    let value: number;
    do value = (this.twister.next32() & mask) >>> 0;
    while (value > most);
    return value;
  }

  /** `permutation(n)`: 0 to n − 1, shuffled from the end on. */
  permutation(n: number): Uint32Array {
    const order = new Uint32Array(n);
    for (let i = 0; i < n; i++) order[i] = i;
    for (let i = n - 1; i > 0; i--) {
      const j = this.upTo(i);
      const held = order[i] ?? 0;
      order[i] = order[j] ?? 0;
      order[j] = held;
    }
    return order;
  }

  /**
   * Positions that `choice(population, count, replace=False)` takes from a population of `n`.
   * @throws RangeError where count > n
   */
  choose(n: number, count: number): number[] {
    if (count > n || count < 0) throw new RangeError('Cannot take a larger sample than population.');
    return [...this.permutation(n).subarray(0, count)];
  }

  /** Position that `choice(population)` takes from a population of `n` (at least 1). */
  chooseOne(n: number): number {
    return this.upTo(n - 1);
  }
}
