/** Scores of the leaderboard's empty cells. */
import {
  baseline,
  type Configuration,
  evaluatePredictors,
  metricRange,
  type Predictor,
  type ScoreRecord,
  type SplitName,
} from '../predict/index.ts';
import { CancelledError, HumanError } from '../shared/errors.ts';
import type { PromptMode } from '../shared/modes.ts';
import type { LeaderboardView, PredictedCell } from '../shared/protocol.ts';
import { yielding } from './prediction-fit.ts';

export interface EmptyCell {
  model: string;
  task: string;
  mode: PromptMode;
  configuration: Configuration;
}

/**
 * Cells without a run, in the modes that the leaderboard has runs of. A cell of a model or a benchmark without any record has
 * nothing to be predicted from, and is left out.
 * @param records of all metrics; models and tasks named as in the view
 */
export function emptyCells(
  { models, benchmarks, cells }: LeaderboardView,
  records: readonly ScoreRecord[],
  metric: string,
): EmptyCell[] {
  const taken = new Set(cells.map(({ model, task, mode }) => key(model, task, mode)));
  const modes = [...new Set(cells.map(({ mode }) => mode))];
  const ofModel = firstBy(records, ({ model }) => model);
  const ofTask = firstBy(
    records.filter((record) => record.metric === metric),
    ({ task }) => task,
  );
  const shotsOf = firstBy(
    records.filter(({ mode }) => mode !== null),
    ({ task, mode }) => key(task, mode ?? ''),
  );
  const usualShots = firstBy(
    records.filter(({ mode }) => mode !== null),
    ({ mode }) => mode ?? '',
  );
  return models.flatMap(({ name: model }) =>
    benchmarks.flatMap(({ task }) =>
      modes.flatMap((mode): EmptyCell[] => {
        const asModel = ofModel.get(model);
        const asTask = ofTask.get(task);
        if (taken.has(key(model, task, mode)) || !asModel || !asTask) return [];
        const { family, parameters, trainingFlops } = asModel;
        const shots = (shotsOf.get(key(task, mode)) ?? usualShots.get(mode))?.shots ?? 0;
        const { subtask } = asTask;
        return [
          {
            model,
            task,
            mode,
            configuration: { family, model, parameters, trainingFlops, task, subtask, shots, mode, metric },
          },
        ];
      }),
    ),
  );
}

/** A score from 0 to 1 on the metric's own scale. */
export function inOwnScale(metric: string, score: number): number {
  const range = metricRange(metric);
  if (!range) return score;
  const share = range.lowerIsBetter ? 1 - score : score;
  return range.low + share * (range.high - range.low);
}

const key = (...parts: string[]): string => parts.join('\n');

function firstBy(records: readonly ScoreRecord[], of: (record: ScoreRecord) => string): Map<string, ScoreRecord> {
  const found = new Map<string, ScoreRecord>();
  for (const record of records) if (!found.has(of(record))) found.set(of(record), record);
  return found;
}

/** Scores of fewer records than these are left to the baseline: others would learn them by heart. */
const fewRecords = 60;
/** Held-out parts by which intervals are measured. */
const folds = 5;

/**
 * Predicted scores with intervals: split-conformal (Vovk, Gammerman and Shafer 2005; Papadopoulos et al. 2002): the 90 %
 * quantile of the absolute errors on held-out records that were predicted in the same situation, that is with the model's
 * family seen on the task (split L2.1), or never (L3).
 */
export async function predictCells(
  cells: readonly EmptyCell[],
  records: readonly ScoreRecord[],
  chosen: Predictor,
  { metric, seed }: { metric: string; seed: number },
  hooks: { signal: AbortSignal; progress(progress: { message: string; fraction: number | null }): void },
): Promise<PredictedCell[]> {
  if (cells.length === 0) return [];
  const predictor = yielding(records.length < fewRecords ? baseline : chosen);
  const seen = new Set(records.map((record) => key(record.family, record.task, record.metric)));
  const isSeen = ({ configuration: { family, task } }: EmptyCell): boolean => seen.has(key(family, task, metric));
  const quantiles = new Map<SplitName, number | null>();
  const splits = [...new Set(cells.map((cell) => (isSeen(cell) ? 'L2.1' : 'L3') satisfies SplitName))];
  for (const [at, split] of splits.entries())
    quantiles.set(
      split,
      await errorQuantile(records, predictor, split, metric, {
        seed,
        signal: hooks.signal,
        progress: (share) =>
          hooks.progress({ message: `Intervals: ${predictor.title}`, fraction: (at + share) / (splits.length + 1) }),
      }),
    );
  const fitted = await predictor.fit(records, { seed, signal: hooks.signal });
  const predicted = fitted.predict(cells.map(({ configuration }) => configuration));
  return cells.map((cell, at): PredictedCell => {
    const { model, task, mode, configuration } = cell;
    const error = quantiles.get(isSeen(cell) ? 'L2.1' : 'L3') ?? null;
    const value = predicted[at] ?? 0;
    const [low, high] = error === null ? [0, 1] : [Math.max(0, value - error), Math.min(1, value + error)];
    const ends = [inOwnScale(metric, low), inOwnScale(metric, high)].sort((a, b) => a - b) as [number, number];
    return {
      model,
      task,
      mode,
      metric,
      prediction: {
        value: inOwnScale(metric, value),
        low: ends[0],
        high: ends[1],
        extrapolates: whyExtrapolating(configuration, isSeen(cell), error === null),
      },
      by: `${predictor.title} of ${records.length.toLocaleString('en-US')} records`,
    };
  });
}

function whyExtrapolating({ family, task }: Configuration, isSeen: boolean, isUnmeasured: boolean): string | null {
  if (isUnmeasured) return 'There are too few records to measure how far off predictions are.';
  return isSeen ? null : `No model of the family ${family} has a score on ${task}.`;
}

/** Null where too few are held out for a quantile of 90 %. */
async function errorQuantile(
  records: readonly ScoreRecord[],
  predictor: Predictor,
  split: SplitName,
  metric: string,
  options: { seed: number; signal: AbortSignal; progress(share: number): void },
): Promise<number | null> {
  try {
    const { predictors } = await evaluatePredictors(records, [predictor], split, {
      folds,
      seed: options.seed,
      fitSeed: options.seed,
      signal: options.signal,
      progress: options.progress,
    });
    const errors = (predictors[0]?.heldOut ?? [])
      .flatMap(({ record, predicted }) => {
        const one = records[record];
        return one && one.metric === metric ? [Math.abs(one.score - predicted)] : [];
      })
      .sort((a, b) => a - b);
    const rank = Math.ceil(0.9 * (errors.length + 1));
    return rank <= errors.length ? (errors[rank - 1] ?? null) : null;
  } catch (thrown) {
    // Too few groups to hold any out.
    if (thrown instanceof HumanError && !(thrown instanceof CancelledError)) return null;
    throw thrown;
  }
}
