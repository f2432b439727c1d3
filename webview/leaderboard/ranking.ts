/** Ranks models by one metric of one mode, on one benchmark or over all. */
import { figureOf } from '../../src/metrics/index.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { LeaderboardCell, LeaderboardView } from '../../src/shared/protocol.ts';
import type { RunStatus, Share } from '../../src/shared/results.ts';

export interface Score {
  value: number;
  low: number;
  high: number;
  higherIsBetter: boolean;
  /** A share of items, from 0 to 1. */
  isShare: boolean;
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

/** The tasks to count: the chosen one, or (for null) all on which some model has this figure in this mode. */
export function tasksOf(view: LeaderboardView, task: string | null, mode: PromptMode, metric: string): string[] {
  return task !== null
    ? [task]
    : view.benchmarks
        .map((benchmark) => benchmark.task)
        .filter((each) =>
          view.cells.some(
            ({ cell, ...at }) => at.task === each && at.mode === mode && figureOf(cell.summary, metric) !== null,
          ),
        );
}

/**
 * Over several benchmarks the score is the plain mean of the benchmarks' values; its interval takes the benchmarks as
 * independent (half-widths add in squares). A model that lacks one of them is listed without a rank, since means over
 * different benchmarks do not compare.
 */
export function rank(view: LeaderboardView, task: string | null, mode: PromptMode, metric: string): RankedModel[] {
  const tasks = tasksOf(view, task, mode, metric);
  const names = [...new Set([...view.models.map(({ name }) => name), ...view.cells.map(({ model }) => model)])];
  const models = names.map((model): RankedModel => {
    const parts = tasks.flatMap((each): RankedModel['parts'] => {
      const cell = view.cells.find(
        (candidate) => candidate.model === model && candidate.task === each && candidate.mode === mode,
      )?.cell;
      const figure = cell && figureOf(cell.summary, metric);
      if (!cell || !figure) return [];
      const { commonest, K } = cell.summary.scores;
      return [
        {
          task: each,
          score: figure,
          n: figure.n,
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
    .sort((a, b) => {
      const better = (b.score?.value ?? 0) - (a.score?.value ?? 0);
      return (a.score?.higherIsBetter === false ? -better : better) || a.model.localeCompare(b.model);
    });
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
  const [first] = scores;
  if (!first) return null;
  const average = (of: (score: Score) => number): number =>
    scores.reduce((sum, score) => sum + of(score), 0) / scores.length;
  const value = average(({ value: each }) => each);
  const root = (of: (score: Score) => number): number =>
    Math.sqrt(scores.reduce((sum, score) => sum + of(score) ** 2, 0)) / scores.length;
  const low = value - root((score) => score.value - score.low);
  const high = value + root((score) => score.high - score.value);
  const { higherIsBetter, isShare } = first;
  return isShare
    ? { value, low: Math.max(0, low), high: Math.min(1, high), higherIsBetter, isShare }
    : { value, low, high, higherIsBetter, isShare };
}
