/**
 * The ranges of metrics, to bring all scores to 0 … 1. Names are those of BIG-bench (bigbench/api/json_task.py) and of
 * lm-evaluation-harness 0.4.13 (api/metrics.py), without the filter behind a comma.
 */

export interface MetricRange {
  low: number;
  high: number;
  /** A score of `low` is the best. */
  lowerIsBetter?: true;
  /** Written by some as percents and by others as shares. */
  share?: true;
}

const share: MetricRange = { low: 0, high: 1, share: true };
const percent: MetricRange = { low: 0, high: 100 };
const error: MetricRange = { low: 0, high: 1, lowerIsBetter: true };

/** A row for each metric whose range is known. */
const ranges: ReadonlyMap<string, MetricRange> = new Map<string, MetricRange>([
  // Softbench
  ...['S', 'F', 'K', 'L', 'LL'].map((name) => [name, share] as const),
  // lm-evaluation-harness
  ...['acc', 'acc_norm', 'acc_bytes', 'acc_mutual_info', 'exact_match', 'em', 'f1', 'accuracy', 'score', 'pass@1'].map(
    (name) => [name, share] as const,
  ),
  ['mcc', { low: -1, high: 1 }],
  ['matthews_corrcoef', { low: -1, high: 1 }],
  ['brier_score', { low: 0, high: 2, lowerIsBetter: true }],
  ['bleu', percent],
  ['chrf', percent],
  ['chrf++', percent],
  // BIG-bench
  ...[
    'exact_str_match',
    'case_insensitive_str_match',
    'multiple_choice_grade',
    'numeric_match_with_0_1_relative_error',
    'macro_f1',
    'full',
  ].map((name) => [name, share] as const),
  ['calibration_multiple_choice_brier_score', error],
  ['expected_calibration_error', error],
  ['sequence_f1', percent],
  ['rouge1', percent],
  ['rouge2', percent],
  ['rougeL', percent],
  ['rougeLsum', percent],
  // BLEURT-20 is calibrated roughly to 0 … 1 (google-research/bleurt).
  ['bleurt', { low: -0.1, high: 1.1 }],
  ['weighted_probabilities', { low: -1, high: 1 }],
]);

/** Null where nobody says, or where there are no ends: perplexities, log-likelihoods. */
export const rangeOf = (metric: string): MetricRange | null => ranges.get(metric.split(',')[0]?.trim() ?? '') ?? null;
