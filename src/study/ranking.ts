/** Ranks of models, with ties as ties and with the ranks that their intervals allow. */
import { type Figure, figureOf, isBetter, isSurelyBetter, type ShareName } from '../metrics/index.ts';
import { type PromptMode, promptModes } from '../shared/modes.ts';
import type { LeaderboardCell, LeaderboardView } from '../shared/protocol.ts';

/** F, S, K, L, LL, or a metric of the benchmark files by its key or name. */
export type RankedMetric = ShareName | (string & {});

export interface RankedModel {
  model: string;
  share: Figure;
  /** 1 for the best; models of the same score share a rank and the next one counts them all (1, 1, 3). */
  rank: number;
  /** Ranks that the score could have within the 95 % intervals: who is surely better, who is surely worse. */
  bestRank: number;
  worstRank: number;
  run: string;
  /** Where the soft prompt stands, where that is not in front of the text. */
  softPromptPosition?: 'suffix';
  /** From what it was imported, where it was. */
  imported?: LeaderboardCell['imported'];
}

/** Models of a leaderboard by one metric in one mode on one benchmark, best first; those without a value are left out. */
export function rankModels(
  view: LeaderboardView,
  { task, mode, metric }: { task: string; mode: PromptMode; metric: RankedMetric },
): RankedModel[] {
  const scored = view.cells.flatMap(({ model, cell, ...at }) => {
    const share = at.task === task && at.mode === mode ? figureOf(cell.summary, metric) : null;
    return share ? [{ model, share, run: cell.run, at: cell.softPromptPosition, imported: cell.imported }] : [];
  });
  return scored
    .map(({ model, share, run, at, imported }) => ({
      model,
      share,
      run,
      ...(at && { softPromptPosition: at }),
      ...(imported && { imported }),
      rank: 1 + scored.filter((other) => isBetter(other.share, share)).length,
      bestRank: 1 + scored.filter((other) => isSurelyBetter(other.share, share)).length,
      worstRank: scored.length - scored.filter((other) => isSurelyBetter(share, other.share)).length,
    }))
    .sort((a, b) => a.rank - b.rank || a.model.localeCompare(b.model));
}

/** Modes in the order in which they are shown everywhere. */
export const byMode = (a: { mode: PromptMode }, b: { mode: PromptMode }): number =>
  promptModes.indexOf(a.mode) - promptModes.indexOf(b.mode);
