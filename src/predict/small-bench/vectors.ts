/** Vectors that say what subtasks are like. */
import { HumanError } from '../../shared/errors.ts';
import { dot } from '../linear-algebra.ts';
import { atOnce, type Steps } from '../turn.ts';
import type { FitOptions, Predictor, ScoreRecord } from '../types.ts';
import type { ScoreTable } from './table.ts';
import { directionSteps, filledRowSteps } from './task-covariance.ts';

const components = 10;

/**
 * Of each subtask its loadings on the leading components of the score table: subtasks on which the same models are good lie
 * near each other. Principal components of the rows, each scaled by its singular value.
 * @param rows positions of the rows to learn of
 * @returns [subtasks] vectors
 */
export const spectralVectors = (table: ScoreTable, rows: readonly number[]): Float64Array[] =>
  atOnce(spectralSteps(table, rows));

/** The same in steps. */
export function* spectralSteps(table: ScoreTable, rows: readonly number[]): Steps<Float64Array[]> {
  const width = table.subtasks.length;
  const n = rows.length;
  const centred = yield* filledRowSteps(table, rows);
  for (let k = 0; k < width; k++) {
    let mean = 0;
    for (let i = 0; i < n; i++) mean += (centred[i * width + k] as number) / n;
    for (let i = 0; i < n; i++) centred[i * width + k] = (centred[i * width + k] as number) - mean;
  }
  const basis = yield* directionSteps(centred, n, width, Math.min(components, n - 1, width - 1));
  const singular = basis.map((direction) => {
    let squares = 0;
    for (let i = 0; i < n; i++) squares += dot(centred.subarray(i * width, (i + 1) * width), direction) ** 2;
    return Math.sqrt(squares);
  });
  return Array.from({ length: width }, (_, k) =>
    Float64Array.from(basis, (direction, at) => (direction[k] as number) * (singular[at] as number)),
  );
}

/**
 * Vectors that a predictor learns for subtasks. One that it has none for is at the mean of the others.
 * @param records those that the table was made of
 * @throws HumanError where the predictor learns no vectors
 */
export async function learnedVectors(
  table: ScoreTable,
  records: readonly ScoreRecord[],
  predictor: Predictor,
  rows: readonly number[],
  options: FitOptions,
): Promise<Float64Array[]> {
  const width = table.subtasks.length;
  const train = rows.flatMap((row) =>
    Array.from({ length: width }, (_, k) => records[table.records[row * width + k] as number]).filter(
      (record) => record !== undefined,
    ),
  );
  const vectors = (await predictor.fit(train, options)).taskVectors?.();
  const first = vectors?.values().next().value;
  if (!vectors || !first)
    throw new HumanError('bad-input', `The predictor "${predictor.name}" learns no vectors of tasks.`, {
      todo: 'Choose one that does, such as mlp.',
    });
  const mean = new Float64Array(first.length);
  for (const vector of vectors.values())
    for (let i = 0; i < mean.length; i++) mean[i] = (mean[i] as number) + (vector[i] as number) / vectors.size;
  return table.subtasks.map(({ subtask }) => vectors.get(subtask) ?? mean);
}
