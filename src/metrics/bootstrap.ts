/** Intervals by drawing the same number of things again with replacement (Efron 1979): where no formula is at hand. */
import { Random } from '../shared/random.ts';

export interface BootstrapOptions {
  /** Default: 2000. */
  iterations?: number;
  /** Default: 0. The same seed gives the same interval. */
  seed?: number;
  /** Default: 0.95. */
  confidence?: number;
}

/**
 * The percentile interval of a statistic.
 * @param n things to draw from
 * @param statistic of the things drawn, by their numbers (0 … n − 1); draws of which it is NaN do not count
 * @returns [low, high]; null where more than half of the draws gave nothing
 */
export function bootstrapInterval(
  n: number,
  statistic: (drawn: readonly number[]) => number,
  { iterations = 2000, seed = 0, confidence = 0.95 }: BootstrapOptions = {},
): [number, number] | null {
  const random = new Random(seed);
  const values: number[] = [];
  for (let i = 0; i < iterations; i++) {
    const value = statistic(Array.from({ length: n }, () => random.below(n)));
    if (!Number.isNaN(value)) values.push(value);
  }
  if (n === 0 || values.length * 2 < iterations) return null;
  values.sort((a, b) => a - b);
  return [quantile(values, (1 - confidence) / 2), quantile(values, (1 + confidence) / 2)];
}

/** Of sorted values, linear between neighbours (numpy's default). */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
