/** How well small benches rank models. */
import { kendallTauB, spearmanRho } from '../../metrics/rank-correlation.ts';
import type { ScoreTable } from './table.ts';

/** How the models rank by what is foretold of all subtasks, against how they rank by what was measured. */
export interface RankingRecovery {
  models: number;
  tau: number;
  rho: number;
}

/**
 * Rank correlations of the rows' mean scores, foretold and measured, for any number of foretold tables. With gaps, a row's mean
 * is that of its differences from the subtasks' means, so that a row with hard subtasks only is not below others.
 */
export function rankingOf(
  table: ScoreTable,
  groups: readonly (readonly number[])[],
): (predicted: (group: number) => Float64Array) => RankingRecovery | null {
  const width = table.subtasks.length;
  const means = Float64Array.from({ length: width }, (_, k) => {
    const known = table.rows
      .flatMap((_, row) => table.scores[row * width + k] ?? [])
      .filter((score) => !Number.isNaN(score));
    return known.reduce((sum, score) => sum + score, 0) / known.length;
  });
  return (predicted) => {
    const said: number[] = [];
    const measured: number[] = [];
    for (const [group, rows] of groups.entries()) {
      const scores = predicted(group);
      for (const [at, row] of rows.entries()) {
        let [a, b, n] = [0, 0, 0];
        for (let k = 0; k < width; k++) {
          const score = table.scores[row * width + k] as number;
          if (Number.isNaN(score)) continue;
          a += (scores[at * width + k] as number) - (means[k] as number);
          b += score - (means[k] as number);
          n++;
        }
        said.push(a / n);
        measured.push(b / n);
      }
    }
    const tau = kendallTauB(said, measured);
    return Number.isNaN(tau) ? null : { models: said.length, tau, rho: spearmanRho(said, measured) };
  };
}
