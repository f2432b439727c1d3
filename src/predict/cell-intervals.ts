/**
 * Predicted scores with 90 % intervals by split-conformal residuals (Papadopoulos et al. 2002; Lei et al. 2018): how far the
 * predictor was off on held-out records in the same situation. The situation is what the records have of the model's family.
 */
import { CancelledError, HumanError } from '../shared/errors.ts';
import { evaluatePredictors } from './evaluate.ts';
import type { SplitName } from './splits.ts';
import type { Configuration, Prediction, Predictor, ScoreRecord } from './types.ts';

export interface IntervalOptions {
  seed: number;
  /** Default: 5. */
  folds?: number;
  signal?: AbortSignal;
  /** From 0 to 1. */
  progress?(done: number): void;
}

/** Share of true scores that are to lie within. */
const confidence = 0.9;
/** Fewer errors of the metric itself than these are no distribution: those of all metrics are taken then. */
const ownErrors = 50;

interface Situation {
  /** Holds out what the situation lacks. */
  split: SplitName;
  /** Why the interval need not hold; null: it should. */
  extrapolates: string | null;
}

/** Learns from all records; the order of the answers is that of the configurations. */
export async function predictWithIntervals(
  records: readonly ScoreRecord[],
  configurations: readonly Configuration[],
  predictor: Predictor,
  { seed, folds = 5, signal, progress }: IntervalOptions,
): Promise<Prediction[]> {
  const situationOf = situations(records);
  const found = configurations.map(situationOf);
  const splits = [...new Set(found.map(({ split }) => split))];
  const errors = new Map<SplitName, { metric: string; error: number }[]>();
  for (const [at, split] of splits.entries())
    errors.set(
      split,
      await heldOutErrors(records, predictor, split, {
        seed,
        folds,
        ...(signal && { signal }),
        progress: (share) => progress?.((at + share) / (splits.length + 1)),
      }),
    );
  const fitted = await predictor.fit(records, { seed, ...(signal && { signal }) });
  progress?.(1);
  return [...fitted.predict(configurations)].map((value, at): Prediction => {
    const { split, extrapolates } = found[at] as Situation;
    const all = errors.get(split) ?? [];
    const own = all.filter(({ metric }) => metric === configurations[at]?.metric);
    const error = conformalQuantile((own.length >= ownErrors ? own : all).map((one) => one.error));
    return {
      value,
      low: error === null ? 0 : Math.max(0, value - error),
      high: error === null ? 1 : Math.min(1, value + error),
      extrapolates: error === null ? 'There are too few records to measure how far off predictions are.' : extrapolates,
    };
  });
}

/** The error that `confidence` of new ones stay below: of n errors the ⌈confidence (n + 1)⌉-th; null where n is too small. */
export function conformalQuantile(errors: readonly number[]): number | null {
  const sorted = [...errors].sort((a, b) => a - b);
  return sorted[Math.ceil(confidence * (sorted.length + 1)) - 1] ?? null;
}

function situations(records: readonly ScoreRecord[]): (of: Configuration) => Situation {
  const families = new Set(records.map(({ family }) => family));
  const subtasks = new Set(records.map(({ task, subtask, metric }) => `${task}\n${subtask}\n${metric}`));
  const seen = new Set(records.map(({ family, task, subtask }) => `${family}\n${task}\n${subtask}`));
  return ({ family, task, subtask, metric }) => {
    if (!subtasks.has(`${task}\n${subtask}\n${metric}`))
      return { split: 'task', extrapolates: `No record is of ${subtask} by ${metric}.` };
    if (!families.has(family))
      return { split: 'family', extrapolates: `No model of the family ${family} is among the records.` };
    if (!seen.has(`${family}\n${task}\n${subtask}`))
      return { split: 'L3', extrapolates: `No model of the family ${family} has a score on ${subtask}.` };
    return { split: 'L2.1', extrapolates: null };
  };
}

/** Empty where the records are too few to hold any out. */
async function heldOutErrors(
  records: readonly ScoreRecord[],
  predictor: Predictor,
  split: SplitName,
  options: { seed: number; folds: number; signal?: AbortSignal; progress(share: number): void },
): Promise<{ metric: string; error: number }[]> {
  try {
    const { predictors } = await evaluatePredictors(records, [predictor], split, {
      ...options,
      fitSeed: options.seed,
    });
    return (predictors[0]?.heldOut ?? []).flatMap(({ record, predicted }) => {
      const one = records[record];
      return one ? [{ metric: one.metric, error: Math.abs(one.score - predicted) }] : [];
    });
  } catch (thrown) {
    if (thrown instanceof HumanError && !(thrown instanceof CancelledError)) return [];
    throw thrown;
  }
}
