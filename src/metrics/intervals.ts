/** Shares with their intervals. Pure functions; they run in pages too. */
import type { Share } from '../shared/results.ts';

/** Quantile of the standard normal for a two-sided 95 % interval. */
export const z95 = 1.959963984540054;

/**
 * Wilson's score interval for a binomial share (Wilson 1927, without continuity correction): right in small samples and
 * at 0 and 1, where the usual normal interval has width 0.
 * @returns [low, high]; [0, 1] where n is 0
 */
export function wilson(count: number, n: number, z = z95): [number, number] {
  if (n === 0) return [0, 1];
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
