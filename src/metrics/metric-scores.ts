/**
 * The metrics of a benchmark file over a run: from what each item adds ({@link MetricValue}) to score and standard error,
 * by the aggregations of lm-evaluation-harness 0.4.13 (api/metrics.py, evaluator_utils.py). One row an aggregation.
 */
import type { MetricScore, MetricValue } from '../shared/results.ts';
import {
  bitsPerUnit,
  bootstrapStandardError,
  brierScore,
  type Classified,
  f1,
  matthewsCorrelation,
  mean,
  meanStandardError,
  median,
  type Pause,
  perplexity,
  type WeightedLogLikelihood,
  weightedPerplexity,
} from './aggregation.ts';
import { added, bleu, type CorpusMetric, chrf, chrfPlusPlus, ter } from './translation/index.ts';

/** Draws samples for the bootstrap: uniform numbers in [0, 1) for a seed. */
export type RandomOf = (seed: number) => () => number;

/** Score of a sample of the items, given as their positions; null where it is not defined. */
type Scorer = (sample: readonly number[]) => number | null;

interface Aggregation {
  /** Reads what the items add, once; the scorer is asked for all items and for each bootstrap sample. */
  scorer(values: readonly MetricValue[]): Scorer;
  /** Where the standard error comes from; absent where lm-evaluation-harness gives none. */
  error?: 'mean' | 'bootstrap';
  /** Most bootstrap samples. */
  iterations?: number;
  /** Why there is no score of these values; null where that is not known. */
  missing?(values: readonly MetricValue[]): string | null;
}

/** NaN for what is no number, as a broken value must not pass for a 0. */
const asNumber = (value: unknown): number =>
  typeof value === 'number' ? value : typeof value === 'boolean' ? Number(value) : Number.NaN;
const pairOf = (value: MetricValue): readonly unknown[] => (Array.isArray(value) ? value : [null, null]);

/** Picks a sample out of what was read of the items. */
const picker = <Entry>(entries: readonly Entry[]): ((sample: readonly number[]) => Entry[]) => {
  const out: Entry[] = [];
  // Samples are of one size, and no score keeps the list.
  return (sample) => {
    out.length = sample.length;
    for (let at = 0; at < sample.length; at++) out[at] = entries[sample[at] ?? 0] as Entry;
    return out;
  };
};

function ofNumbers(score: (values: readonly number[]) => number): Aggregation['scorer'] {
  return (values) => {
    const pick = picker(values.map(asNumber));
    return (sample) => score(pick(sample));
  };
}

/** Values [gold, found]. Equal pairs are counted first: there are few kinds of them, and many samples. */
function ofClasses(score: (items: readonly Classified[]) => number | null): Aggregation['scorer'] {
  return (values) => {
    const kinds = new Map<string, number>();
    const classes: Classified[] = [];
    const kindOf = values.map((value) => {
      const [gold, found] = pairOf(value).map(asNumber);
      const key = `${gold} ${found}`;
      const known = kinds.get(key) ?? classes.push({ gold: gold ?? Number.NaN, found: found ?? Number.NaN }) - 1;
      kinds.set(key, known);
      return known;
    });
    return (sample) => {
      const counts = new Array<number>(classes.length).fill(0);
      for (const at of sample) {
        const kind = kindOf[at] ?? 0;
        counts[kind] = (counts[kind] ?? 0) + 1;
      }
      return score(classes.flatMap((pair, kind) => (counts[kind] ? [{ ...pair, count: counts[kind] }] : [])));
    };
  };
}

function ofWeights(score: (items: readonly WeightedLogLikelihood[]) => number): Aggregation['scorer'] {
  return (values) => {
    const pick = picker(
      values.map((value) => {
        const [logLikelihood, weight] = pairOf(value);
        return { logLikelihood: asNumber(logLikelihood), weight: asNumber(weight) };
      }),
    );
    return (sample) => score(pick(sample));
  };
}

/** Values [gold or golds, output]. What is counted of an output adds up, so that samples are sums. */
function ofTexts(metric: CorpusMetric): Aggregation['scorer'] {
  return (values) => {
    const counts = values.map((value) => {
      const [gold, output] = pairOf(value);
      const texts = (of: unknown): string[] => (Array.isArray(of) ? of.map(String) : [String(of ?? '')]);
      return metric.statistics(texts(output)[0] ?? '', texts(gold));
    });
    const pick = picker(counts);
    return (sample) => metric.score(added(pick(sample)));
  };
}

/** Mean of what is a number; NaN where nothing is. */
const meanOfNumbers = (values: readonly number[]): number => mean(values.filter((value) => !Number.isNaN(value)));

/** Classes that are right or chosen somewhere, in order. */
const classesOf = (values: readonly MetricValue[]): number[] =>
  [...new Set(values.flatMap((value) => pairOf(value).map(asNumber)))].sort((a, b) => a - b);

/** What scikit-learn takes for two classes of which the second is number 1. */
const isBinary = (labels: readonly number[]): boolean =>
  labels.length < 2 || (labels.length === 2 && labels.includes(1) && !labels.some(Number.isNaN));

/** F1 of class 1. Null where scikit-learn refuses it. */
const binaryF1 = (items: readonly Classified[]): number | null =>
  isBinary([...new Set(items.flatMap(({ gold, found }) => [gold, found]))]) ? f1(items) : null;

/** Why there is no F1: scikit-learn raises an error, and with it the harness ends. */
function withoutF1(values: readonly MetricValue[]): string | null {
  const labels = classesOf(values);
  if (isBinary(labels)) return null;
  const what = labels.some(Number.isNaN)
    ? 'the right answers of an item are a list'
    : labels.length > 2
      ? `${labels.length} occur among right and chosen ones (${labels.slice(0, 6).join(', ')}${labels.length > 6 ? ', …' : ''})`
      : `those that occur are ${labels.join(' and ')}`;
  return `it is of two candidates, 0 and 1, and ${what}. lm-evaluation-harness ends with an error there; \`acc\` and \`mcc\` are for any number of candidates`;
}

export const aggregations: ReadonlyMap<string, Aggregation> = new Map<string, Aggregation>([
  ['mean', { scorer: ofNumbers(mean), error: 'mean' }],
  ['nanmean', { scorer: ofNumbers(meanOfNumbers), error: 'bootstrap' }],
  ['median', { scorer: ofNumbers(median), error: 'bootstrap' }],
  ['perplexity', { scorer: ofNumbers(perplexity), error: 'bootstrap' }],
  ['weighted_perplexity', { scorer: ofWeights(weightedPerplexity) }],
  ['bits_per_byte', { scorer: ofWeights(bitsPerUnit) }],
  ['f1', { scorer: ofClasses(binaryF1), error: 'bootstrap', missing: withoutF1 }],
  ['matthews_corrcoef', { scorer: ofClasses(matthewsCorrelation), error: 'bootstrap' }],
  [
    'brier_score',
    {
      scorer(values) {
        const pick = picker(
          values.map((value) => {
            const [gold, probabilities] = pairOf(value);
            return {
              gold: asNumber(gold),
              probabilities: Array.isArray(probabilities) ? probabilities.map(asNumber) : [],
            };
          }),
        );
        return (sample) => brierScore(pick(sample));
      },
    },
  ],
  ['bleu', { scorer: ofTexts(bleu), error: 'bootstrap', iterations: 100 }],
  ['chrf', { scorer: ofTexts(chrf), error: 'bootstrap', iterations: 100 }],
  ['chrf++', { scorer: ofTexts(chrfPlusPlus), error: 'bootstrap', iterations: 100 }],
  ['ter', { scorer: ofTexts(ter), error: 'bootstrap', iterations: 100 }],
  // Nothing is measured; lm-evaluation-harness writes this number.
  ['bypass', { scorer: () => () => 999 }],
]);

/** Bootstrap samples where the command says nothing, as lm-evaluation-harness. */
export const bootstrapIterations = 100_000;

/** A metric by one filter, and what each item adds to it. */
export interface MetricColumn {
  metric: string;
  filter: string;
  aggregation: string;
  higherIsBetter: boolean;
  values: readonly MetricValue[];
}

/**
 * Score of a metric and its standard error.
 * @param iterations bootstrap samples; 0: no standard errors
 * @param pause between bootstrap samples, which can take minutes where there are thousands of items
 */
export async function metricScore(
  { metric, filter, aggregation, higherIsBetter, values }: MetricColumn,
  randomOf: RandomOf,
  iterations = bootstrapIterations,
  pause?: Pause,
): Promise<MetricScore> {
  const row = aggregations.get(aggregation);
  const n = values.length;
  const scorer = row && n > 0 ? row.scorer(values) : () => null;
  const finite = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);
  const value = finite(scorer(values.map((_, at) => at)));
  return {
    metric,
    filter,
    value,
    standardError:
      value !== null && n > 1 && iterations > 0
        ? finite(await standardError(row, values, scorer, randomOf, iterations, pause))
        : null,
    higherIsBetter,
    n,
    ...(value === null && n > 0 && { missing: row?.missing?.(values) ?? 'it is not finite' }),
  };
}

async function standardError(
  row: Aggregation | undefined,
  values: readonly MetricValue[],
  scorer: Scorer,
  randomOf: RandomOf,
  iterations: number,
  pause: Pause | undefined,
): Promise<number | null> {
  if (row?.error === 'mean') return meanStandardError(values.map(asNumber));
  if (row?.error !== 'bootstrap') return null;
  const most = Math.min(iterations, row.iterations ?? iterations);
  return bootstrapStandardError((sample) => scorer(sample) ?? Number.NaN, values.length, most, randomOf, pause);
}
