/** Vectors that say what subtasks are like. */
import type { ScoreTable } from './table.ts';
import { filledRows, leadingDirections } from './task-covariance.ts';

const components = 10;

/**
 * Of each subtask its loadings on the leading components of the score table: subtasks on which the same models are good lie
 * near each other. Principal components of the rows, each scaled by its singular value.
 * @param rows positions of the rows to learn of
 * @returns [subtasks] vectors
 */
export function spectralVectors(table: ScoreTable, rows: readonly number[]): Float64Array[] {
  const width = table.subtasks.length;
  const n = rows.length;
  const centred = filledRows(table, rows);
  for (let k = 0; k < width; k++) {
    let mean = 0;
    for (let i = 0; i < n; i++) mean += (centred[i * width + k] as number) / n;
    for (let i = 0; i < n; i++) centred[i * width + k] = (centred[i * width + k] as number) - mean;
  }
  const basis = leadingDirections(centred, n, width, Math.min(components, n - 1, width - 1));
  const singular = basis.map((direction) => {
    let squares = 0;
    for (let i = 0; i < n; i++) {
      let along = 0;
      for (let k = 0; k < width; k++) along += (centred[i * width + k] as number) * (direction[k] as number);
      squares += along * along;
    }
    return Math.sqrt(squares);
  });
  return Array.from({ length: width }, (_, k) =>
    Float64Array.from(basis, (direction, at) => (direction[k] as number) * (singular[at] as number)),
  );
}
