/**
 * Ranks the models of a leaderboard by one metric of one mode, on one benchmark or by the mean over several. The same for
 * the page, the editor and the command line.
 */
import type { PromptMode } from '../shared/modes.ts';
import type { LeaderboardCell, LeaderboardView } from '../shared/protocol.ts';
import { type Figure, figureOf } from './metric-words.ts';
import { type DrawnScore, type RankIntervals, sameScore } from './rank-intervals.ts';

export interface RankChoice {
  /** Benchmarks that count, by their names in the view: one, or several whose mean ranks. */
  tasks: readonly string[];
  mode: PromptMode;
  /** F, S, K, L, LL, or a metric of the benchmark files by its key or name. */
  metric: string;
  /** Models that take part, where not all do. */
  models?: ReadonlySet<string>;
}

export type Score = Omit<Figure, 'n'>;

/** A model's result on one of the benchmarks. */
export interface RankedPart {
  task: string;
  figure: Figure;
  cell: LeaderboardCell;
}

export interface RankedModel {
  model: string;
  /** 1 is best; equal scores share a rank and the next one counts them all (1, 1, 3). Null where a benchmark is missing. */
  rank: number | null;
  tied: boolean;
  /** The value on the one benchmark, or the mean; null where there is none. */
  score: Score | null;
  /** Results by benchmark, in the order of `tasks`. */
  parts: RankedPart[];
  /** Benchmarks that it lacks. */
  missing: string[];
  /** All its results were imported. */
  imported: boolean;
}

/** The benchmarks on which some model has this figure in this mode, in the order of the view. */
export function tasksWith(view: LeaderboardView, mode: PromptMode, metric: string): string[] {
  const some = new Set(
    view.cells.flatMap(({ task, mode: of, cell }) => (of === mode && figureOf(cell.summary, metric) ? [task] : [])),
  );
  return view.benchmarks.map(({ task }) => task).filter((task) => some.has(task));
}

/**
 * Over several benchmarks the score is the plain mean of the benchmarks' values; its interval takes the benchmarks as
 * independent (half-widths add in squares). A model that lacks one of them is listed without a rank, since means over
 * different benchmarks do not compare. Predicted scores never count.
 * @returns ranked models, best first; then those that lack benchmarks, the most complete first; then those without any
 */
export function rankModels(view: LeaderboardView, { tasks, mode, metric, models }: RankChoice): RankedModel[] {
  const cells = new Map<string, Map<string, LeaderboardCell>>();
  for (const { model, task, mode: of, cell } of view.cells) {
    if (of !== mode) continue;
    const ofModel = cells.get(model) ?? new Map<string, LeaderboardCell>();
    cells.set(model, ofModel);
    if (!ofModel.has(task)) ofModel.set(task, cell);
  }
  const names = [...new Set([...view.models.map(({ name }) => name), ...cells.keys()])];
  const entries = names
    .filter((name) => !models || models.has(name))
    .map((model): RankedModel => {
      const parts = tasks.flatMap((task): RankedPart[] => {
        const cell = cells.get(model)?.get(task);
        const figure = cell && figureOf(cell.summary, metric);
        return cell && figure ? [{ task, figure, cell }] : [];
      });
      const has = new Set(parts.map(({ task }) => task));
      return {
        model,
        rank: null,
        tied: false,
        score: meanScore(parts.map(({ figure }) => figure)),
        parts,
        missing: tasks.filter((task) => !has.has(task)),
        imported: parts.length > 0 && parts.every(({ cell }) => cell.imported),
      };
    });
  const complete = entries
    .filter(({ score, missing }) => score !== null && missing.length === 0)
    .sort((a, b) => byScore(a.score, b.score) || a.model.localeCompare(b.model));
  for (const [position, entry] of complete.entries()) {
    const previous = complete[position - 1];
    if (previous && isSame(previous.score, entry.score)) {
      entry.rank = previous.rank;
      entry.tied = previous.tied = true;
    } else entry.rank = position + 1;
  }
  const partial = entries
    .filter(({ score, missing }) => score !== null && missing.length > 0)
    .sort((a, b) => a.missing.length - b.missing.length || a.model.localeCompare(b.model));
  return [...complete, ...partial, ...entries.filter(({ score }) => score === null)];
}

/** Better scores first. */
export function byScore(a: Score | null, b: Score | null): number {
  if (!a || !b) return a ? -1 : b ? 1 : 0;
  const better = b.value - a.value;
  if (Math.abs(better) < sameScore) return 0;
  return a.higherIsBetter ? better : -better;
}

const isSame = (a: Score | null, b: Score | null): boolean =>
  a !== null && b !== null && Math.abs(a.value - b.value) < sameScore;

export function meanScore(scores: readonly Score[]): Score | null {
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

/** What the ranks of the ranked models are drawn from; items are filled in by whoever has them. */
export const drawnScores = (
  ranked: readonly RankedModel[],
  itemsOf: (part: RankedPart) => DrawnScore['items'] | null = () => null,
): DrawnScore[][] =>
  ranked
    .filter(({ rank }) => rank !== null)
    .map(({ parts }) =>
      parts.map((part) => {
        const { value, low, high } = part.figure;
        const items = itemsOf(part);
        return { value, low, high, ...(items && { items }) };
      }),
    );

/** `3–5`, or `3` where nothing else is likely. */
export const rankWords = ({ low, high }: RankIntervals['ranks'][number]): string =>
  low === high ? String(low) : `${low}–${high}`;

/** What the ranks in brackets mean, as a sentence. */
export const drawnWords: Record<RankIntervals['drawn'], string> = {
  items: 'Ranks in brackets: 95 % of the ranks when the items are drawn again, the same for all models.',
  intervals: 'Ranks in brackets: 95 % of the ranks when each score is drawn from its interval; no items are at hand.',
  both: 'Ranks in brackets: 95 % of the ranks when the items are drawn again, the same for all models that have them; scores without items are drawn from their intervals.',
  benchmarks: 'Ranks in brackets: 95 % of the ranks when the benchmarks are drawn again.',
};
