/**
 * Rows of which parts are missing, by a few principal components (iterated, with ridge scores: Josse and Husson 2012): for
 * tables too wide for a normal distribution with a full covariance.
 */
import { cholesky, dot, solveCholesky } from '../linear-algebra.ts';
import { directionSteps } from '../small-bench/task-covariance.ts';
import { inTurns, turnsAt } from '../turn.ts';
import type { Pace } from './pace.ts';

export interface ComponentSettings {
  components: number;
  rounds: number;
  /** Of a row's scores on the components towards 0, in values. */
  penalty: number;
}

/** @param values [rows, columns], standardised; NaN where missing */
export async function fitComponents(
  values: Float64Array,
  rows: number,
  columns: number,
  { components, rounds, penalty }: ComponentSettings,
  pace: Pace,
): Promise<{ complete(row: Float64Array): Float64Array }> {
  let centre = new Float64Array(columns);
  let directions: Float64Array[] = [];
  const complete = (row: Float64Array): Float64Array => {
    const known = Array.from({ length: columns }, (_, k) => k).filter((k) => !Number.isNaN(row[k]));
    const count = directions.length;
    const system = new Float64Array(count * count);
    const scores = new Float64Array(count);
    // A direction of unit length has entries of about 1 / √columns: the penalty is in that unit.
    const ridge = penalty / columns;
    for (const [i, a] of directions.entries()) {
      for (let j = 0; j <= i; j++) {
        const b = directions[j] as Float64Array;
        for (const k of known)
          system[i * count + j] = (system[i * count + j] as number) + (a[k] as number) * (b[k] as number);
      }
      system[i * count + i] = (system[i * count + i] as number) + ridge;
      for (const k of known)
        scores[i] = (scores[i] as number) + (a[k] as number) * ((row[k] as number) - (centre[k] as number));
    }
    cholesky(system, count);
    solveCholesky(system, count, scores);
    return row.map((value, k) => {
      if (!Number.isNaN(value)) return value;
      let sum = centre[k] as number;
      for (const [i, direction] of directions.entries()) sum += (scores[i] as number) * (direction[k] as number);
      return sum;
    });
  };
  for (let round = 0; round < rounds; round++) {
    const filled = new Float64Array(rows * columns);
    for (let row = 0; row < rows; row++) {
      if (pace.due()) await pace.pause();
      filled.set(complete(values.subarray(row * columns, (row + 1) * columns)), row * columns);
    }
    const mean = new Float64Array(columns);
    for (let at = 0; at < filled.length; at++)
      mean[at % columns] = (mean[at % columns] as number) + (filled[at] as number) / rows;
    centre = mean;
    const centred = filled.map((value, at) => value - (mean[at % columns] as number));
    if (pace.due()) await pace.pause();
    const total = dot(centred, centred);
    const count = Math.min(components, rows - 1, columns);
    directions = total > 0 ? await inTurns(directionSteps(centred, rows, columns, count), turnsAt(pace)) : [];
  }
  return { complete };
}
