/**
 * Seeded random numbers: the same seed gives the same soft prompt, batches, validation slice and bootstrap on every machine.
 * The generator is xoshiro128** (Blackman & Vigna 2018), its state filled from the seed by splitmix32.
 */
export class Random {
  private readonly state: Uint32Array;

  constructor(seed: number) {
    let x = seed >>> 0;
    this.state = Uint32Array.from({ length: 4 }, () => {
      x = (x + 0x9e3779b9) >>> 0;
      let z = x;
      z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
      z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
      return (z ^ (z >>> 16)) >>> 0;
    });
  }

  /** A whole number in 0 … 2³² − 1. */
  next(): number {
    const s = this.state as unknown as [number, number, number, number];
    const product = Math.imul(s[1], 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 11) | (s[3] >>> 21);
    return result;
  }

  /** Uniform in [0, 1). */
  uniform(): number {
    return this.next() / 2 ** 32;
  }

  /** A whole number in 0 … bound − 1. */
  below(bound: number): number {
    return Math.floor(this.uniform() * bound);
  }

  /** Standard normal (Box-Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }

  /** A shuffled copy (Fisher-Yates). */
  shuffle<T>(values: readonly T[]): T[] {
    const result = [...values];
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [result[i], result[j]] = [result[j] as T, result[i] as T];
    }
    return result;
  }
}
