/** What each item of a run adds to a figure by which models are ranked, so that items can be drawn again. */
import type { ItemRecord } from '../shared/results.ts';
import { isShareName, metricKey, type ShareName } from './metric-words.ts';
import type { ItemScores } from './rank-intervals.ts';
import { likelihoodVerdict } from './scores.ts';

type CountedItem = Pick<
  ItemRecord,
  'inFormat' | 'right' | 'lenientRight' | 'choices' | 'generated' | 'likelihoods' | 'metrics'
>;

/** By share: whether the item counts, and whether it is among those counted. The share is the one by the other. */
const shares: Record<ShareName, (item: CountedItem) => [numerator: boolean, denominator: boolean]> = {
  F: (item) => [item.inFormat, item.generated !== false],
  S: (item) => [item.inFormat && item.right, item.generated !== false],
  K: (item) => [item.inFormat && item.right, item.inFormat],
  L: (item) => [item.lenientRight, item.generated !== false],
  LL(item) {
    const verdict = likelihoodVerdict(item);
    return [verdict === true, verdict !== null];
  },
};

/**
 * The items of a run as they add up to a figure.
 * @param metric as for `figureOf`
 * @param items which items these are: equal for runs on the same items
 * @param value of the run's summary: what the items must add up to
 * @returns null where the figure is no mean of what the items add (an F1, a BLEU, a perplexity), or where items are missing
 */
export function itemScores(
  records: readonly CountedItem[],
  metric: string,
  { items, value }: { items: string; value: number },
): ItemScores | null {
  const n = records.length;
  if (n === 0) return null;
  const numerators = new Float64Array(n);
  const denominators = new Float64Array(n);
  if (isShareName(metric))
    for (const [at, record] of records.entries()) {
      const [numerator, denominator] = shares[metric](record);
      numerators[at] = denominator && numerator ? 1 : 0;
      denominators[at] = denominator ? 1 : 0;
    }
  else
    for (const [at, record] of records.entries()) {
      const added = addedTo(record, metric);
      if (added === null) return null;
      numerators[at] = added;
      denominators[at] = 1;
    }
  const sum = (of: Float64Array): number => of.reduce((total, one) => total + one, 0);
  const below = sum(denominators);
  // Also false for NaN: nothing was counted.
  if (!(Math.abs(sum(numerators) / below - value) <= 1e-6 * Math.max(1, Math.abs(value)))) return null;
  return { items, numerators, denominators: below === n ? null : denominators };
}

/** What an item adds to a metric of its benchmark file; null where that is no number. */
function addedTo({ metrics = [] }: CountedItem, name: string): number | null {
  for (const { filter, values } of metrics)
    for (const [metric, value] of Object.entries(values)) {
      if (metric !== name && metricKey({ metric, filter }) !== name) continue;
      if (typeof value === 'boolean') return Number(value);
      return typeof value === 'number' && Number.isFinite(value) ? value : null;
    }
  return null;
}
