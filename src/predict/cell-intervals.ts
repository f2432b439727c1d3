/**
 * Predicted scores with 90 % intervals (intervals.ts): how far the predictor was off on held-out records in the same
 * situation. The situation is what the records have of the model's family.
 */
import { CancelledError, HumanError } from '../shared/errors.ts';
import { evaluatePredictors } from './evaluate.ts';
import { type HeldOutError, type Intervals, intervalSteps } from './intervals.ts';
import type { SplitName } from './splits.ts';
import { inTurns, predictInTurns, type Steps, stepwise, turns } from './turn.ts';
import type { Configuration, Prediction, Predictor, ScoreRecord } from './types.ts';

export interface IntervalOptions {
  seed: number;
  /** Default: 5. */
  folds?: number;
  signal?: AbortSignal;
  /** From 0 to 1. */
  progress?(done: number): void;
}

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
  if (configurations.length === 0) return [];
  const turn = turns(signal);
  const situationOf = await inTurns(situations(records), turn);
  const found = configurations.map(situationOf);
  const splits = [...new Set(found.map(({ split }) => split))];
  const errors = new Map<SplitName, HeldOutError[]>();
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
  const intervals = new Map<string, Intervals>();
  const intervalsOf = async (split: SplitName, metric: string): Promise<Intervals> => {
    const key = `${split}\n${metric}`;
    const known = intervals.get(key);
    if (known) return known;
    const all = errors.get(split) ?? [];
    const own = all.filter(({ configuration }) => configuration.metric === metric);
    const made = await inTurns(intervalSteps(own.length >= ownErrors ? own : all), turn);
    intervals.set(key, made);
    return made;
  };
  const values = await predictInTurns(fitted, configurations, turn);
  const predictions: Prediction[] = [];
  for (const [at, value] of values.entries()) {
    const { split, extrapolates } = found[at] as Situation;
    const configuration = configurations[at] as Configuration;
    const error = (await intervalsOf(split, configuration.metric)).halfWidth(configuration);
    predictions.push({
      value,
      low: error === null ? 0 : Math.max(0, value - error),
      high: error === null ? 1 : Math.min(1, value + error),
      extrapolates: error === null ? 'There are too few records to measure how far off predictions are.' : extrapolates,
    });
  }
  return predictions;
}

function* situations(records: readonly ScoreRecord[]): Steps<(of: Configuration) => Situation> {
  const [families, subtasks, seen] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let [smallest, largest] = [Number.POSITIVE_INFINITY, 0];
  yield* stepwise(records, ({ family, task, subtask, metric, parameters: { total } }) => {
    families.add(family);
    subtasks.add(`${task}\n${subtask}\n${metric}`);
    seen.add(`${family}\n${task}\n${subtask}`);
    if (total === null) return;
    smallest = Math.min(smallest, total);
    largest = Math.max(largest, total);
  });
  return ({ family, task, subtask, metric, parameters: { total } }) => {
    if (!subtasks.has(`${task}\n${subtask}\n${metric}`))
      return { split: 'task', extrapolates: `No record is of ${subtask} by ${metric}.` };
    if (!families.has(family))
      return { split: 'family', extrapolates: `No model of the family ${family} is among the records.` };
    if (!seen.has(`${family}\n${task}\n${subtask}`))
      return { split: 'L3', extrapolates: `No model of the family ${family} has a score on ${subtask}.` };
    if (total !== null && largest > 0 && (total < smallest || total > largest))
      return {
        split: 'L2.1',
        extrapolates: `A size of ${billions(total)} lies outside of the records' ${billions(smallest)} to ${billions(largest)}.`,
      };
    return { split: 'L2.1', extrapolates: null };
  };
}

const billions = (parameters: number): string => `${Number((parameters / 1e9).toPrecision(3))} B parameters`;

/** Empty where the records are too few to hold any out. */
async function heldOutErrors(
  records: readonly ScoreRecord[],
  predictor: Predictor,
  split: SplitName,
  options: { seed: number; folds: number; signal?: AbortSignal; progress(share: number): void },
): Promise<HeldOutError[]> {
  try {
    const { predictors } = await evaluatePredictors(records, [predictor], split, {
      ...options,
      fitSeed: options.seed,
    });
    return (predictors[0]?.heldOut ?? []).flatMap(({ record, predicted }) => {
      const one = records[record];
      return one ? [{ configuration: one, error: Math.abs(one.score - predicted) }] : [];
    });
  } catch (thrown) {
    if (thrown instanceof HumanError && !(thrown instanceof CancelledError)) return [];
    throw thrown;
  }
}
