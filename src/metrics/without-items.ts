/** Figures of runs with all their items, and without some of them (those that people have marked as bad). */
import type { Scores } from '../shared/results.ts';
import { type ComparedBy, compareRuns, type RunComparison, type VerdictCodes } from './run-comparison.ts';
import { type JudgedItem, scores } from './scores.ts';

export interface Both<T> {
  all: T;
  without: T;
}

/** What depends on the benchmark and not on the items alone is left out: constant answer, chance. */
const plain = { constantCandidates: [], isRight: () => false, chance: null };

/** @param left indexes of the items that are left out */
export function scoresWithout(
  records: readonly (JudgedItem & { index: number; scored?: false })[],
  left: ReadonlySet<number>,
): Both<Scores> {
  const judged = records.filter(({ scored }) => scored !== false);
  const without = (items: readonly JudgedItem[]): Scores => ({ ...scores(items, plain), constant: null });
  return { all: without(judged), without: without(judged.filter(({ index }) => !left.has(index))) };
}

/** The paired comparison of two runs with and without items. */
export function compareWithout(
  base: VerdictCodes,
  other: VerdictCodes,
  left: ReadonlySet<number>,
  by: ComparedBy,
): Both<RunComparison | null> {
  const rest = base.slice();
  for (const index of left) if (index < rest.length) rest[index] = 0;
  return { all: compareRuns(base, other, by), without: compareRuns(rest, other, by) };
}
