/** Two modes (or runs) on the same items, compared pair by pair. */

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

export interface PairedComparison {
  n: number;
  /** Items that only the one got right. */
  onlyA: number;
  onlyB: number;
  /** Share of B minus share of A, with the 95 % Wald interval of a paired difference. */

  difference: number;
  low: number;
  high: number;
  pValue: number;
}

/**
 * Compares two verdict lists of the same items in the same order.
 * @throws RangeError where the lists differ in length
 */
export function comparePaired(a: readonly boolean[], b: readonly boolean[], z = 1.959963984540054): PairedComparison {
  if (a.length !== b.length) throw new RangeError(`Paired lists differ in length: ${a.length} and ${b.length}.`);
  const n = a.length;
  let onlyA = 0;
  let onlyB = 0;
  a.forEach((right, i) => {
    if (right && !b[i]) onlyA++;
    else if (!right && b[i]) onlyB++;
  });
  const difference = n === 0 ? 0 : (onlyB - onlyA) / n;
  // Variance of a paired difference of shares: ((b + c) − (b − c)² / n) / n².
  const deviation = n === 0 ? 0 : Math.sqrt(Math.max(0, onlyA + onlyB - (onlyB - onlyA) ** 2 / n)) / n;
  return {
    n,
    onlyA,
    onlyB,
    difference,
    low: Math.max(-1, difference - z * deviation),
    high: Math.min(1, difference + z * deviation),
    pValue: mcnemarExact(onlyA, onlyB),
  };
}
