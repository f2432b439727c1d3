/** Two modes (or runs) on the same items, compared pair by pair. */
import { normalQuantile } from './intervals.ts';

/**
 * Exact McNemar test: two-sided binomial test of the discordant pairs against one half (McNemar 1947).
 * @param onlyA items that only the first got right
 * @param onlyB items that only the second got right
 * @returns the p-value; 1 where no pair is discordant
 */
export function mcnemarExact(onlyA: number, onlyB: number): number {
  const n = onlyA + onlyB;
  if (n === 0) return 1;
  const smaller = Math.min(onlyA, onlyB);
  let sum = 0;
  // Terms by logarithm: C(n, k) overflows beyond n of about 1000.
  let logChoose = 0;
  for (let k = 0; k <= smaller; k++) {
    if (k > 0) logChoose += Math.log((n - k + 1) / k);
    sum += Math.exp(logChoose - n * Math.LN2);
  }
  return Math.min(1, 2 * sum);
}

/**
 * Tango's score interval for the difference of two paired shares (Tango 1998): the differences that a score test does
 * not reject. Unlike the usual normal interval it keeps its coverage with few items and with no discordant pair.
 * @param onlyA items that only the first got right
 * @param onlyB items that only the second got right
 * @param n all items
 * @returns [low, high] of share B minus share A; [-1, 1] where n is 0
 */
export function pairedInterval(onlyA: number, onlyB: number, n: number, confidence = 0.95): [number, number] {
  if (n === 0) return [-1, 1];
  const z = normalQuantile(confidence);
  // The upper limit of B − A is minus the lower limit of A − B.
  return [lowerLimit(onlyA, onlyB, n, z), -lowerLimit(onlyB, onlyA, n, z)];
}

/** The smallest difference whose score statistic is at most z; the statistic falls as the difference grows. */
function lowerLimit(onlyA: number, onlyB: number, n: number, z: number): number {
  const statistic = (difference: number): number => {
    // Most likely share of "only A" when the shares of the two kinds of pair differ by `difference`.
    const linear = (2 * n - onlyB + onlyA) * difference - onlyA - onlyB;
    const constant = -onlyA * difference * (1 - difference);
    const likely = (Math.sqrt(Math.max(0, linear * linear - 8 * n * constant)) - linear) / (4 * n);
    const variance = n * (2 * likely + difference * (1 - difference));
    const distance = onlyB - onlyA - n * difference;
    return variance > 0 ? distance / Math.sqrt(variance) : distance > 0 ? Number.POSITIVE_INFINITY : 0;
  };
  let [low, high] = [-1, (onlyB - onlyA) / n];
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (statistic(middle) > z) low = middle;
    else high = middle;
  }
  return high;
}

export interface PairedComparison {
  n: number;
  /** Items that only the one got right. */
  onlyA: number;
  onlyB: number;
  /** Share of B minus share of A, with its {@link pairedInterval}. */
  difference: number;
  low: number;
  high: number;
  /** Of {@link mcnemarExact}. */
  pValue: number;
}

/**
 * Compares two verdict lists of the same items in the same order.
 * @throws RangeError where the lists differ in length
 */
export function comparePaired(a: readonly boolean[], b: readonly boolean[], confidence = 0.95): PairedComparison {
  if (a.length !== b.length) throw new RangeError(`Paired lists differ in length: ${a.length} and ${b.length}.`);
  const n = a.length;
  let onlyA = 0;
  let onlyB = 0;
  a.forEach((right, i) => {
    if (right && !b[i]) onlyA++;
    else if (!right && b[i]) onlyB++;
  });
  const [low, high] = pairedInterval(onlyA, onlyB, n, confidence);
  return {
    n,
    onlyA,
    onlyB,
    difference: n === 0 ? 0 : (onlyB - onlyA) / n,
    low,
    high,
    pValue: mcnemarExact(onlyA, onlyB),
  };
}
