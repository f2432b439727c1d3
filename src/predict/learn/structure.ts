/**
 * What a covariance of scores is drawn to where there are about as many rows as columns: a few principal components that all
 * columns share, and a rest whose correlations are those that columns of like names have on average. Drawn to that in place of
 * the identity (Ledoit and Wolf 2004), a covariance keeps that a model is good at all tasks of one kind.
 */
import { dot } from '../linear-algebra.ts';
import { directionSteps } from '../small-bench/task-covariance.ts';
import { atOnce, type Steps } from '../turn.ts';

/** Components of the shared part. */
const sharedComponents = 2;
const directionRounds = 40;
/** Least variance of the rest, of a standardised column. */
const leastRest = 0.02;
/** Correlations of columns of the same names stay below 1, and the matrix positive definite. */
const mostAlike = 0.95;
const coefficientRounds = 200;

export interface Structure {
  /** [width, width]: the shared part, and the rest by the likeness of columns. */
  target: Float64Array;
  /** One for each likeness, at least 0: the correlation of columns of the same names. */
  coefficients: Float64Array;
}

/**
 * @param covariance [width, width]; columns beyond those of the likenesses are alike to none
 * @param likenesses [columns, columns] each
 */
export const structureOf = (
  covariance: Float64Array,
  width: number,
  likenesses: readonly Float64Array[],
  columns: number,
): Structure => atOnce(structureSteps(covariance, width, likenesses, columns));

/** The same in steps. */
export function* structureSteps(
  covariance: Float64Array,
  width: number,
  likenesses: readonly Float64Array[],
  columns: number,
): Steps<Structure> {
  const shared = sharedPart(covariance, width, yield* sharedDirectionSteps(covariance, width));
  yield;
  const scale = Float64Array.from({ length: width }, (_, k) =>
    Math.sqrt(Math.max(leastRest, (covariance[k * width + k] as number) - (shared[k * width + k] as number))),
  );
  const correlation = (i: number, j: number): number =>
    ((covariance[i * width + j] as number) - (shared[i * width + j] as number)) /
    ((scale[i] as number) * (scale[j] as number));
  const coefficients = yield* leastSquares(likenesses, columns, correlation);
  const target = shared;
  for (let i = 0; i < width; i++) {
    yield;
    for (let j = 0; j <= i; j++) {
      let alike = i === j ? 1 : 0;
      if (i !== j && i < columns)
        for (const [k, likeness] of likenesses.entries())
          alike += (coefficients[k] as number) * (likeness[i * columns + j] as number);
      const value = (target[i * width + j] as number) + (scale[i] as number) * (scale[j] as number) * alike;
      target[i * width + j] = value;
      target[j * width + i] = value;
    }
  }
  return { target, coefficients };
}

/** The leading eigenvectors of a covariance: what all columns share. */
export const sharedDirections = (covariance: Float64Array, width: number): Float64Array[] =>
  atOnce(sharedDirectionSteps(covariance, width));

const sharedDirectionSteps = (covariance: Float64Array, width: number): Steps<Float64Array[]> =>
  directionSteps(covariance, width, width, Math.min(sharedComponents, width), directionRounds);

/** Σ λ v vᵀ over the leading eigenvectors v of a covariance, [width, width]. */
export function sharedPart(
  covariance: Float64Array,
  width: number,
  directions: readonly Float64Array[] = sharedDirections(covariance, width),
): Float64Array {
  const out = new Float64Array(width * width);
  for (const direction of directions) {
    let variance = 0;
    for (let k = 0; k < width; k++)
      variance += (direction[k] as number) * dot(direction, covariance.subarray(k * width, (k + 1) * width));
    for (let i = 0; i < width; i++) {
      const one = variance * (direction[i] as number);
      for (let j = 0; j < width; j++)
        out[i * width + j] = (out[i * width + j] as number) + one * (direction[j] as number);
    }
  }
  return out;
}

/**
 * Coefficients, at least 0 and with a sum of at most `mostAlike`, whose sum of likenesses is nearest to the correlations off
 * the diagonal: coordinate descent (the problem is convex; likenesses that are all the same share what belongs to them).
 */
function* leastSquares(
  likenesses: readonly Float64Array[],
  columns: number,
  correlation: (i: number, j: number) => number,
): Steps<Float64Array> {
  const count = likenesses.length;
  const system = new Float64Array(count * count);
  const right = new Float64Array(count);
  for (let i = 0; i < columns; i++) {
    yield;
    for (let j = 0; j < i; j++) {
      const value = correlation(i, j);
      for (const [a, one] of likenesses.entries()) {
        const by = one[i * columns + j] as number;
        if (by === 0) continue;
        right[a] = (right[a] as number) + by * value;
        for (const [b, other] of likenesses.entries())
          system[a * count + b] = (system[a * count + b] as number) + by * (other[i * columns + j] as number);
      }
    }
  }
  const out = new Float64Array(count);
  for (let round = 0; round < coefficientRounds; round++)
    for (let a = 0; a < count; a++) {
      const own = system[a * count + a] as number;
      if (own === 0) continue;
      let rest = right[a] as number;
      for (let b = 0; b < count; b++) if (b !== a) rest -= (system[a * count + b] as number) * (out[b] as number);
      out[a] = Math.max(0, rest / own);
    }
  const sum = out.reduce((all, one) => all + one, 0);
  return sum > mostAlike ? out.map((one) => (one * mostAlike) / sum) : out;
}

/** Of a row's deviation, relative to the mean row's: scales of rows of few scores, or of none, would be off by more. */
const [leastScale, mostScale] = [0.3, 4];

/**
 * How far each row is off what the leading directions say of it: mean squares, relative to their mean over rows.
 * @param rows [width] each, completed
 */
export function rowScales(rows: readonly Float64Array[], directions: readonly Float64Array[]): Float64Array {
  const width = rows[0]?.length ?? 0;
  const centre = new Float64Array(width);
  for (const row of rows)
    for (let k = 0; k < width; k++) centre[k] = (centre[k] as number) + (row[k] as number) / rows.length;
  const squares = rows.map((row) => {
    const off = row.map((value, k) => value - (centre[k] as number));
    return dot(off, off) - directions.reduce((sum, direction) => sum + dot(direction, off) ** 2, 0);
  });
  const mean = squares.reduce((sum, one) => sum + one, 0) / Math.max(1, rows.length);
  return Float64Array.from(squares, (one) => (mean > 0 ? Math.min(mostScale, Math.max(leastScale, one / mean)) : 1));
}
