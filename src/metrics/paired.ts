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

/** Compares by the counts of the table of two by two. */
export function comparedByCounts(n: number, onlyA: number, onlyB: number, confidence = 0.95): PairedComparison {
  const [low, high] = pairedInterval(onlyA, onlyB, n, confidence);
  const difference = n === 0 ? 0 : (onlyB - onlyA) / n;
  return { n, onlyA, onlyB, difference, low, high, pValue: mcnemarExact(onlyA, onlyB) };
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
  return comparedByCounts(n, onlyA, onlyB, confidence);
}

/**
 * The percentile interval that drawing the items again with replacement gives for the difference of two paired shares
 * (paired bootstrap, Efron 1979), as infinitely many draws would give it: how often each difference is drawn is known, since
 * a draw of n items holds "only A" and "only B" as a trinomial does. So it has no seed and no noise.
 * @param onlyA items that only the first got right
 * @param onlyB items that only the second got right
 * @param n all items
 * @returns [low, high] of share B minus share A; [-1, 1] where n is 0
 */
export function pairedBootstrapInterval(onlyA: number, onlyB: number, n: number, confidence = 0.95): [number, number] {
  if (n === 0) return [-1, 1];
  const [a, b] = [onlyA / n, onlyB / n];
  const [mean, deviation] = [onlyB - onlyA, Math.sqrt(n * (a + b - (b - a) ** 2))];
  // Differences this far from the mean are never drawn: their chance is below 1e-30.
  const reach = Math.min(2 * n, Math.ceil(14 * deviation + 40));
  const [first, last] = [Math.max(-n, Math.floor(mean) - reach), Math.min(n, Math.ceil(mean) + reach)];
  // The chances are the Fourier coefficients of the characteristic function (b·e^it + a·e^-it + 1 − a − b)^n.
  const size = last - first + 1;
  const chances = new Float64Array(size);
  for (let j = 0; j <= size >> 1; j++) {
    const t = (2 * Math.PI * j) / size;
    const [re, im] = [1 - (a + b) * (1 - Math.cos(t)), (b - a) * Math.sin(t)];
    const modulus = Math.hypot(re, im) ** n;
    if (modulus < 1e-18) continue;
    const angle = n * Math.atan2(im, re);
    // Coefficients of j and −j are conjugates.
    const weight = (j === 0 || 2 * j === size ? 1 : 2) / size;
    for (let k = 0; k < size; k++)
      chances[k] = (chances[k] ?? 0) + weight * modulus * Math.cos(angle - t * (first + k));
  }
  const below = (1 - confidence) / 2;
  return [quantileOf(chances, below, first) / n, quantileOf(chances, 1 - below, first) / n];
}

/** The least difference up to which at least this share of draws lies. */
function quantileOf(chances: Float64Array, share: number, first: number): number {
  let sum = 0;
  for (let k = 0; k < chances.length; k++) {
    sum += chances[k] ?? 0;
    // Rounding of the sum must not turn a hit into a miss.
    if (sum >= share - 1e-12) return first + k;
  }
  return first + chances.length - 1;
}
