/**
 * The generator behind Python's `random.Random` and numpy's `RandomState`: the Mersenne Twister MT19937 (Matsumoto and
 * Nishimura 1998), which both seed in a way of their own.
 */
const size = 624;
const shift = 397;

export class MersenneTwister {
  private readonly state = new Uint32Array(size);
  private position = size;

  /** The authors' `init_genrand`: from one number of 32 bits. */
  seedByInteger(seed: number): void {
    this.state[0] = seed;
    for (let i = 1; i < size; i++) {
      const before = this.word(i - 1);
      this.state[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
    }
    this.position = size;
  }

  /** The authors' `init_by_array`: from one or more numbers of 32 bits. */
  seedByArray(key: readonly number[]): void {
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
    // Three stretches rather than a remainder for every word: bootstraps draw a hundred million numbers.
    for (let k = 0; k < size - shift; k++) this.twist(k, k + 1, k + shift);
    for (let k = size - shift; k < size - 1; k++) this.twist(k, k + 1, k + shift - size);
    this.twist(size - 1, 0, shift - 1);
    this.position = 0;
  }

  private twist(k: number, next: number, far: number): void {
    const y = (this.word(k) & 0x80000000) | (this.word(next) & 0x7fffffff);
    this.state[k] = this.word(far) ^ (y >>> 1) ^ (-(y & 1) & 0x9908b0df);
  }
}
