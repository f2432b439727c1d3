/** Shares with their intervals. Pure functions; they run in pages too. */
import type { Share } from '../shared/results.ts';

/** Quantile of the standard normal for a two-sided 95 % interval. */
const z95 = 1.959963984540054;

/** Distribution function of the standard normal by its power series (Abramowitz and Stegun 26.2.11); for |x| < 6. */
function normalBelow(x: number): number {
  let [term, sum] = [x, x];
  for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) {
    term *= (x * x) / (2 * k + 1);
    sum += term;
  }
  return 0.5 + (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * sum;
}

/**
 * The z of a two-sided interval: the share `confidence` of a standard normal lies within ±z.
 * @param confidence above 0, at most 0.999999
 */
export function normalQuantile(confidence: number): number {
  if (!(confidence > 0 && confidence <= 0.999999))
    throw new RangeError(`No interval has the confidence ${confidence}.`);
  if (confidence === 0.95) return z95;
  let [low, high] = [0, 6];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (2 * normalBelow(middle) - 1 < confidence) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * Wilson's score interval for a binomial share (Wilson 1927, without continuity correction): right in small samples and
 * at 0 and 1, where the usual normal interval has width 0.
 * @returns [low, high]; [0, 1] where n is 0
 */
export function wilson(count: number, n: number, confidence = 0.95): [number, number] {
  if (n === 0) return [0, 1];
  const z = normalQuantile(confidence);
  const p = count / n;
  const z2 = z * z;
  const centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (z / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return [count === 0 ? 0 : Math.max(0, centre - half), count === n ? 1 : Math.min(1, centre + half)];
}

/** `count` of `n` with its 95 % interval; the value is null where n is 0. */
export function share(count: number, n: number): Share {
  const [low, high] = wilson(count, n);
  return { value: n === 0 ? null : count / n, low, high, count, n };
}
