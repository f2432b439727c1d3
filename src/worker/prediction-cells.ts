/** Scores of the leaderboard's empty cells. */
import {
  baseline,
  type Configuration,
  metricRange,
  type Predictor,
  predictWithIntervals,
  type ScoreRecord,
} from '../predict/index.ts';
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

/** Predicted scores with intervals, on the metric's own scale. */
export async function predictCells(
  cells: readonly EmptyCell[],
  records: readonly ScoreRecord[],
  chosen: Predictor,
  { metric, seed }: { metric: string; seed: number },
  hooks: { signal: AbortSignal; progress(progress: { message: string; fraction: number | null }): void },
): Promise<PredictedCell[]> {
  if (cells.length === 0) return [];
  const predictor = yielding(records.length < fewRecords ? baseline : chosen);
  const predictions = await predictWithIntervals(
    records,
    cells.map(({ configuration }) => configuration),
    predictor,
    {
      seed,
      signal: hooks.signal,
      progress: (fraction) => hooks.progress({ message: `Predicting: ${predictor.title}`, fraction }),
    },
  );
  const by = `${predictor.title} of ${records.length.toLocaleString('en-US')} records`;
  return cells.flatMap(({ model, task, mode }, at): PredictedCell[] => {
    const prediction = predictions[at];
    if (!prediction) return [];
    const ends = [inOwnScale(metric, prediction.low), inOwnScale(metric, prediction.high)] as const;
    return [
      {
        model,
        task,
        mode,
        metric,
        prediction: {
          value: inOwnScale(metric, prediction.value),
          // Where less is better the ends change places.
          low: Math.min(...ends),
          high: Math.max(...ends),
          extrapolates: prediction.extrapolates,
        },
        by,
      },
    ];
  });
}
