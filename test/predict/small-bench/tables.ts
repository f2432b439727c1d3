/** Small score tables for tests: made records of few subtasks. */
import {
  ClosedFormObjective,
  type ClosedFormObjective as Objective,
  prepareFold,
} from '../../../src/predict/small-bench/objective.ts';
import { type ScoreTable, scoreTable } from '../../../src/predict/small-bench/table.ts';
import { syntheticRecords } from '../../../src/predict/synthetic.ts';

export function randomTable(seed: number, subtasks = 12, missing = 0): ScoreTable {
  return scoreTable(syntheticRecords({ seed, subtasks, missing }).records);
}

/** One family held out at a time. */
export function objectiveOf(table: ScoreTable): Objective {
  const families = [...new Set(table.rows.map(({ family }) => family))];
  const rowsOf = (wanted: (family: string) => boolean): number[] =>
    [...table.rows.keys()].filter((at) => wanted(table.rows[at]?.family ?? ''));
  return new ClosedFormObjective(
    table.subtasks.length,
    families.map((held) =>
      prepareFold(table, {
        held: rowsOf((family) => family === held),
        learnFrom: rowsOf((family) => family !== held),
      }),
    ),
  );
}
