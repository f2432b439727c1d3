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
  return percentiles(values, confidence);
}

function percentiles(values: number[], confidence: number): [number, number] {
  const sorted = Float64Array.from(values).sort();
  return [quantile(sorted, (1 - confidence) / 2), quantile(sorted, (1 + confidence) / 2)];
}

/**
 * The same for a statistic of how often each thing was drawn: with the same n, seed and iterations the same samples, which
 * are drawn once for many statistics.
 */
export function weightedInterval(
  n: number,
  statistic: (weights: Uint16Array) => number,
  { iterations = 2000, seed = 0, confidence = 0.95 }: BootstrapOptions = {},
): [number, number] | null {
  if (n === 0) return null;
  const weights = drawnWeights(n, iterations, seed);
  const values: number[] = [];
  for (let i = 0; i < iterations; i++) {
    const value = statistic(weights.subarray(i * n, (i + 1) * n));
    if (!Number.isNaN(value)) values.push(value);
  }
  return values.length * 2 < iterations ? null : percentiles(values, confidence);
}

/** The last samples, by what they were drawn with. */
const lastWeights = new Map<string, Uint16Array>();

function drawnWeights(n: number, iterations: number, seed: number): Uint16Array {
  const key = `${n} ${iterations} ${seed}`;
  const known = lastWeights.get(key);
  if (known) return known;
  const random = new Random(seed);
  const weights = new Uint16Array(n * iterations);
  for (let i = 0; i < iterations; i++)
    for (let drawn = 0; drawn < n; drawn++) {
      const at = i * n + random.below(n);
      weights[at] = (weights[at] as number) + 1;
    }
  for (const old of [...lastWeights.keys()].slice(0, -3)) lastWeights.delete(old);
  lastWeights.set(key, weights);
  return weights;
}

/** Of sorted values, linear between neighbours (numpy's default). */
function quantile(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
