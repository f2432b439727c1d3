/** Runs compared, in words and as the cells of a table; each run by the label of its column. */
import { formatPoints } from './format.ts';
import type { PairedComparison } from './paired.ts';
import type { Among, RunComparison } from './run-comparison.ts';
import type { GainSplit } from './scores.ts';
import { smallestDetectableDifference } from './several.ts';

const count = (value: number): string => value.toLocaleString('en-US');

/** The gain in words, the larger part first. */
export function gainInWords(base: string, other: string, gain: GainSplit): string {
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
  among: Among = { comparisons: 1, corrected: paired.pValue },
): string {
  const { difference, low, high, onlyA, onlyB, n } = paired;
  const { comparisons, corrected } = among;
  const p = `p ${pValueWords(corrected)}`;
  const correction = comparisons > 1 ? `, corrected for ${comparisons} comparisons (Holm)` : '';
  const clear = corrected < 0.05;
  return [
    `On the ${count(n)} items of both: ${formatPoints(difference)} points (95 % interval ${formatPoints(low)} to ${formatPoints(high)}).`,
    `${count(onlyB)} only ${other} has right, ${count(onlyA)} only ${base}: ${clear ? 'a real difference' : 'no clear difference'} (exact McNemar test, ${p}${correction}).`,
    ...(clear ? [] : [detectableInWords(paired)]),
  ].join(' ');
}

const pValueWords = (p: number): string => (p < 0.001 ? '< 0.001' : `= ${p.toFixed(3)}`);

/** What "no clear difference" is worth: how small a difference these items could have shown. */
function detectableInWords({ n, onlyA, onlyB }: PairedComparison): string {
  const least = smallestDetectableDifference(n, (onlyA + onlyB) / n);
  return least === null
    ? 'So few items that differ show no difference reliably.'
    : `So many items show a difference of ${(100 * least).toFixed(1)} points or more reliably (4 times in 5).`;
}

const interval = ([low, high]: readonly [number, number]): string => `${formatPoints(low)} to ${formatPoints(high)}`;

interface Compared {
  comparison: RunComparison;
  among: Among;
}

/** The figures of a comparison, one row a figure: `label` of the column, `title` that says what it is. */
export const comparisonFigures: readonly { label: string; title: string; of(compared: Compared): string }[] = [
  { label: 'Items', title: 'Items that both runs have', of: ({ comparison: { paired } }) => count(paired.n) },
  {
    label: 'Only base',
    title: 'Items that only the base has right',
    of: ({ comparison: { paired } }) => count(paired.onlyA),
  },
  {
    label: 'Only this',
    title: 'Items that only this run has right',
    of: ({ comparison: { paired } }) => count(paired.onlyB),
  },
  {
    label: 'Difference',
    title: 'This run minus the base, in points, over the items of both',
    of: ({ comparison: { paired } }) => formatPoints(paired.difference),
  },
  {
    label: '95 % interval',
    title: 'By the score test of paired shares (Tango)',
    of: ({ comparison: { paired } }) => interval([paired.low, paired.high]),
  },
  {
    label: 'Paired bootstrap',
    title: '95 % percentile interval of the items drawn again, as infinitely many draws give it',
    of: ({ comparison: { bootstrap } }) => interval(bootstrap),
  },
  {
    label: 'McNemar p',
    title: 'Exact two-sided McNemar test',
    of: ({ comparison: { paired } }) => pValueWords(paired.pValue).replace('= ', ''),
  },
  {
    label: 'Holm p',
    title: 'The same, corrected for all comparisons of this table (Holm)',
    of: ({ among }) => pValueWords(among.corrected).replace('= ', ''),
  },
  {
    label: 'Detectable',
    title: 'Smallest difference in points that so many items show in 80 of 100 experiments, at the 5 % level',
    of: ({ comparison: { detectable } }) => (detectable === null ? '–' : (100 * detectable).toFixed(1)),
  },
];
