/** Ranks models by one metric of one mode, on one benchmark or over all. */
import type { PromptMode } from '../../src/shared/modes.ts';
import type { LeaderboardCell, LeaderboardView } from '../../src/shared/protocol.ts';
import type { RunStatus, Share } from '../../src/shared/results.ts';
import { type MetricName, shareOf } from '../terms.ts';

export interface Score {
  value: number;
  low: number;
  high: number;
}

export interface RankedModel {
  model: string;
  /** 1 is best; equal values share a rank. Null where the model lacks a benchmark that counts. */
  rank: number | null;
  tied: boolean;
  score: Score | null;
  /** Scores by benchmark, in the order of the view. */
  parts: {
    task: string;
    score: Score;
    n: number;
    status: RunStatus;
    unreliable: boolean;
    /** Where the soft prompt stands, where that is not in front of the text. */
    softPromptPosition?: 'suffix';
    commonest: { answer: string; share: Share } | null;
    imported?: LeaderboardCell['imported'];
  }[];
  /** All its results were imported. */
  imported: boolean;
  /** Benchmarks that it lacks, where all are averaged. */
  missing: string[];
}

/** The tasks to count: the chosen one, or (for null) all that some model has in this mode. */
export function tasksOf(view: LeaderboardView, task: string | null, mode: PromptMode): string[] {
  return task !== null
    ? [task]
    : view.benchmarks
        .map((benchmark) => benchmark.task)
        .filter((each) => view.cells.some((cell) => cell.task === each && cell.mode === mode));
}

/**
 * Over several benchmarks the score is the plain mean of the benchmarks' values; its interval takes the benchmarks as
 * independent (half-widths add in squares). A model that lacks one of them is listed without a rank, since means over
 * different benchmarks do not compare.
 */
export function rank(view: LeaderboardView, task: string | null, mode: PromptMode, metric: MetricName): RankedModel[] {
  const tasks = tasksOf(view, task, mode);
  const names = [...new Set([...view.models.map(({ name }) => name), ...view.cells.map(({ model }) => model)])];
  const models = names.map((model): RankedModel => {
    const parts = tasks.flatMap((each): RankedModel['parts'] => {
      const cell = view.cells.find(
        (candidate) => candidate.model === model && candidate.task === each && candidate.mode === mode,
      )?.cell;
      const share = cell && shareOf(cell.summary.scores, metric);
      if (!cell || !share || share.value === null) return [];
      const { commonest, K } = cell.summary.scores;
      return [
        {
          task: each,
          score: { value: share.value, low: share.low, high: share.high },
          n: share.n,
          status: cell.status,
          softPromptPosition: cell.softPromptPosition,
          unreliable: metric === 'K' && K.unreliable,
          commonest,
          ...(cell.imported && { imported: cell.imported }),
        },
      ];
    });
    const imported = parts.length > 0 && parts.every((part) => part.imported);
    const missing = tasks.filter((each) => !parts.some((part) => part.task === each));
    return { model, rank: null, tied: false, score: mean(parts.map(({ score }) => score)), parts, missing, imported };
  });
  const complete = models
    .filter(({ score, missing }) => score !== null && missing.length === 0)
    .sort((a, b) => (b.score?.value ?? 0) - (a.score?.value ?? 0) || a.model.localeCompare(b.model));
  for (const [position, model] of complete.entries()) {
    const previous = complete[position - 1];
    // Means of equal shares may differ in their last bits.
    if (previous && Math.abs((previous.score?.value ?? 0) - (model.score?.value ?? 0)) < 1e-9) {
      model.rank = previous.rank;
      model.tied = previous.tied = true;
    } else model.rank = position + 1;
  }
  const rest = models.filter((model) => model.rank === null && model.score !== null);
  rest.sort((a, b) => a.missing.length - b.missing.length || a.model.localeCompare(b.model));
  return [...complete, ...rest, ...models.filter(({ score }) => score === null)];
}

function mean(scores: Score[]): Score | null {
  if (scores.length === 0) return null;
  const average = (of: (score: Score) => number): number =>
    scores.reduce((sum, score) => sum + of(score), 0) / scores.length;
  const value = average(({ value: each }) => each);
  const root = (of: (score: Score) => number): number =>
    Math.sqrt(scores.reduce((sum, score) => sum + of(score) ** 2, 0)) / scores.length;
  return {
    value,
    low: Math.max(0, value - root((score) => score.value - score.low)),
    high: Math.min(1, value + root((score) => score.high - score.value)),
  };
}
