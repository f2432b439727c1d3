/** Gains between runs in words; each run by the label of its column. */
import {
  formatPoints,
  type PairedComparison,
  smallestDetectableDifference,
  type splitGain,
} from '../../src/metrics/index.ts';
import { count } from '../format.ts';

type Gain = NonNullable<ReturnType<typeof splitGain>>;

/** The gain in words, the larger part first. */
export function gainInWords(base: string, other: string, gain: Gain): string {
  const parts = [
    { name: 'format', value: gain.format },
    { name: 'knowledge', value: gain.knowledge },
  ].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const said = parts.map(({ name, value }) => `${formatPoints(value)} from ${name}`).join(', ');
  const size = Math.abs(100 * gain.total).toFixed(1);
  const change = Number(size) === 0 ? 'the same as' : `${size} points ${gain.total > 0 ? 'more' : 'less'} than`;
  // Where K of one run is unknown, a split would be an assumption: say that in place of it.
  return gain.knowledgeMeasured
    ? `${other} scores ${change} ${base}: ${said}.`
    : `${other} scores ${change} ${base}. One of the two has nothing in the required format, so its knowledge given format is unknown; all of the difference is counted as format.`;
}

/**
 * The paired comparison in words; `onlyA` are items that only the base got right.
 * @param among the comparisons that are looked at together, and this one's p-value corrected for that (Holm)
 */
export function pairedInWords(
  base: string,
  other: string,
  paired: PairedComparison,
  among: { comparisons: number; corrected: number } = { comparisons: 1, corrected: paired.pValue },
): string {
  const { difference, low, high, onlyA, onlyB, n } = paired;
  const { comparisons, corrected } = among;
  const p = corrected < 0.001 ? 'p < 0.001' : `p = ${corrected.toFixed(3)}`;
  const correction = comparisons > 1 ? `, corrected for ${comparisons} comparisons (Holm)` : '';
  const clear = corrected < 0.05;
  return [
    `On the ${count(n)} items of both: ${formatPoints(difference)} points (95 % interval ${formatPoints(low)} to ${formatPoints(high)}).`,
    `${count(onlyB)} only ${other} has right, ${count(onlyA)} only ${base}: ${clear ? 'a real difference' : 'no clear difference'} (exact McNemar test, ${p}${correction}).`,
    ...(clear ? [] : [detectableInWords(paired)]),
  ].join(' ');
}

/** What "no clear difference" is worth: how small a difference these items could have shown. */
function detectableInWords({ n, onlyA, onlyB }: PairedComparison): string {
  const least = smallestDetectableDifference(n, (onlyA + onlyB) / n);
  return least === null
    ? 'So few items that differ show no difference reliably.'
    : `So many items show a difference of ${(100 * least).toFixed(1)} points or more reliably (4 times in 5).`;
}
