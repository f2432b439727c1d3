/** Scores of a run by the names and definitions of BIG-bench (bigbench.api.task_metrics), from finished items. */
import type { ItemRecord, MetricScore } from '../shared/results.ts';
import { meanStandardError } from './aggregation.ts';
import {
  brierScore,
  expectedCalibrationError,
  gradedOf,
  macroF1,
  meanOrNull,
  multipleChoiceGrade,
  weightedLogProbabilities,
  weightedProbabilities,
} from './big-bench-choices.ts';
import { bleuInternational } from './translation/bleu.ts';
import { type CorpusMetric, corpusScore } from './translation/corpus-metric.ts';
import { rouge1, rouge2, rougeLsum } from './translation/rouge.ts';

export interface BigBenchRow {
  record: Pick<ItemRecord, 'strict' | 'right' | 'choices'>;
  /** The item's targets. */
  references: readonly string[];
}

const shareRight = (rows: readonly BigBenchRow[]): number | null =>
  meanOrNull(rows.map(({ record }) => Number(record.right)));

const ofChoices =
  (score: typeof multipleChoiceGrade) =>
  (rows: readonly BigBenchRow[]): number | null =>
    score(rows.flatMap(({ record }) => gradedOf(record.choices)));

const ofTexts =
  (metric: CorpusMetric) =>
  (rows: readonly BigBenchRow[]): number | null =>
    rows.length > 0
      ? corpusScore(
          metric,
          rows.map(({ record, references }) => ({ output: record.strict.answer ?? '', references })),
        )
      : null;

/**
 * `sequence_f1`: the share of labels, separated by spaces, that are those of the first target place by place, in percent.
 * What the output lacks counts as the label O, and what it has too much is left out.
 */
function sequenceF1(rows: readonly BigBenchRow[]): number | null {
  return meanOrNull(
    rows.map(({ record, references }) => {
      const found = (record.strict.answer ?? '').split(' ');
      const labels = (references[0] ?? '').split(' ');
      return (100 * labels.filter((label, at) => label === (found[at] ?? 'O')).length) / labels.length;
    }),
  );
}

/** One row a score, null where there is nothing to compute it of. What calls single answers right is what the items were judged by. */
export const bigBenchScores: ReadonlyMap<string, (rows: readonly BigBenchRow[]) => number | null> = new Map([
  ['exact_str_match', shareRight],
  ['case_insensitive_str_match', shareRight],
  ['numeric_match_with_0_1_relative_error', shareRight],
  ['multiple_choice_grade', ofChoices(multipleChoiceGrade)],
  ['calibration_multiple_choice_brier_score', ofChoices(brierScore)],
  ['expected_calibration_error', ofChoices(expectedCalibrationError)],
  ['weighted_log_probabilities', ofChoices(weightedLogProbabilities)],
  ['weighted_probabilities', ofChoices(weightedProbabilities)],
  ['macro_f1', ofChoices(macroF1)],
  ['bleu', ofTexts(bleuInternational)],
  ['sequence_f1', sequenceF1],
  ['rouge1', ofTexts(rouge1)],
  ['rouge2', ofTexts(rouge2)],
  ['rougeLsum', ofTexts(rougeLsum)],
]);

/** Scores that are the mean of the items' own: these have a value for each item, and a standard error. */
const meansOfItems = new Set([
  'exact_str_match',
  'case_insensitive_str_match',
  'numeric_match_with_0_1_relative_error',
  'multiple_choice_grade',
  'weighted_log_probabilities',
  'weighted_probabilities',
  'sequence_f1',
  'rouge1',
  'rouge2',
  'rougeLsum',
]);
const lowerIsBetter = new Set(['calibration_multiple_choice_brier_score', 'expected_calibration_error']);

/** What one item adds to the scores that are means. */
export const bigBenchValues = (names: readonly string[], row: BigBenchRow): Record<string, number> =>
  Object.fromEntries(
    names.flatMap((name): [string, number][] => {
      const value = meansOfItems.has(name) ? (bigBenchScores.get(name)?.([row]) ?? null) : null;
      return value === null ? [] : [[name, value]];
    }),
  );

/** The scores as metrics of a benchmark file, in the order of the names. */
export const bigBenchMeasures = (names: readonly string[], rows: readonly BigBenchRow[]): MetricScore[] =>
  names.flatMap((metric): MetricScore[] => {
    const score = bigBenchScores.get(metric);
    if (!score) return [];
    const singles = meansOfItems.has(metric) ? rows.flatMap((row) => score([row]) ?? []) : [];
    const value = score(rows);
    return [
      {
        metric,
        filter: 'none',
        value: value !== null && Number.isFinite(value) ? value : null,
        standardError: singles.length > 1 ? meanStandardError(singles) : null,
        higherIsBetter: !lowerIsBetter.has(metric),
        n: rows.length,
      },
    ];
  });
