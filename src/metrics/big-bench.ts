/** Scores of a run by the names and definitions of BIG-bench (bigbench.api.task_metrics), from finished items. */
import type { ItemRecord } from '../shared/results.ts';
import { type CorpusMetric, corpusScore } from './translation/corpus-metric.ts';
import { rouge1, rouge2, rougeLsum } from './translation/rouge.ts';

export interface BigBenchRow {
  record: Pick<ItemRecord, 'strict' | 'right' | 'choices'>;
  /** The item's targets. */
  references: readonly string[];
}

const mean = (values: readonly number[]): number | null =>
  values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null;

/** Mean of the target scores of the likeliest choices; the first of equals. Null where no item has graded choices. */
export function multipleChoiceGrade(rows: readonly BigBenchRow[]): number | null {
  return mean(
    rows.flatMap(({ record: { choices } }) => {
      if (!choices?.scores) return [];
      let best = 0;
      for (const [at, value] of choices.logLikelihoods.entries())
        if (value > (choices.logLikelihoods[best] ?? Number.NEGATIVE_INFINITY)) best = at;
      return choices.scores[best] ?? 0;
    }),
  );
}

const shareRight = (rows: readonly BigBenchRow[]): number | null =>
  mean(rows.map(({ record }) => Number(record.right)));

const ofTexts =
  (metric: CorpusMetric) =>
  (rows: readonly BigBenchRow[]): number | null =>
    rows.length > 0
      ? corpusScore(
          metric,
          rows.map(({ record, references }) => ({ output: record.strict.answer ?? '', references })),
        )
      : null;

/** One row a score. What calls single answers right is what the items were judged by. */
export const bigBenchScores: ReadonlyMap<string, (rows: readonly BigBenchRow[]) => number | null> = new Map([
  ['exact_str_match', shareRight],
  ['case_insensitive_str_match', shareRight],
  ['numeric_match_with_0_1_relative_error', shareRight],
  ['multiple_choice_grade', multipleChoiceGrade],
  ['rouge1', ofTexts(rouge1)],
  ['rouge2', ofTexts(rouge2)],
  ['rougeLsum', ofTexts(rougeLsum)],
]);
