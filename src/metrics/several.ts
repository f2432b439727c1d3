/** What has to be said beside a comparison: several at once, and how small a difference the items could show at all. */
import { normalQuantile } from './intervals.ts';

/**
 * Holm's step-down correction of p-values that are looked at together (Holm 1979): the chance of any false alarm stays
 * below the level at which they are compared.
 * @returns corrected p-values in the order given, each at least the one it came from
 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues.map((_, i) => i).sort((i, j) => (pValues[i] ?? 0) - (pValues[j] ?? 0));
  const corrected = new Array<number>(pValues.length).fill(1);
  let largest = 0;
  order.forEach((index, place) => {
    largest = Math.max(largest, Math.min(1, (pValues.length - place) * (pValues[index] ?? 1)));
    corrected[index] = largest;
  });
  return corrected;
}

/**
 * The smallest difference of two paired shares that so many items show in 80 of 100 experiments, at the 5 % level of
 * McNemar's test (Connor 1987, normal approximation).
 * @param n items
 * @param discordant share of items on which the two differ, 0 to 1
 * @returns the difference as a share; null where even the largest one possible, `discordant`, would not be seen
 */
export function smallestDetectableDifference(n: number, discordant: number, power = 0.8, level = 0.05): number | null {
  const zLevel = normalQuantile(1 - level);
  // A one-sided quantile: the share `power` lies below it.
  const zPower = power === 0.5 ? 0 : Math.sign(power - 0.5) * normalQuantile(Math.abs(2 * power - 1));
  const needed = (difference: number): number =>
    (zLevel * Math.sqrt(discordant) + zPower * Math.sqrt(Math.max(0, discordant - difference ** 2))) ** 2 /
    difference ** 2;
  if (!(n > 0 && discordant > 0) || needed(discordant) > n) return null;
  let [low, high] = [0, discordant];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (needed(middle) > n) low = middle;
    else high = middle;
  }
  return high;
}
