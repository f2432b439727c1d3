/** Least squares with shrinkage over indicator columns and a few dense ones: a million records of thousands of effects. */
import { dot } from './linear-algebra.ts';
import type { Turn } from './turn.ts';

/** Features of n records. An indicator column gives each record one effect; numbers are columns of values. */
export interface SparseFeatures {
  /** Number of effects that indicators name: 0 … effects − 1. */
  effects: number;
  /** Each [n]: the effect that a record has, −1 for none. */
  indicators: readonly Int32Array[];
  /** Each [n]. */
  numbers: readonly Float64Array[];
}

/** Relative size of the gradient at which it ends. */
const tolerance = 1e-10;

export interface RidgeSolution {
  intercept: number;
  /** [effects + numbers] */
  weights: Float64Array;
}

/**
 * Minimises Σ (target − intercept − features · weights)² + penalty · Σ weights² by conjugate gradients on the normal equations
 * (Hestenes and Stiefel 1952), preconditioned by their diagonal. The intercept is not penalised.
 * @param target [n]
 * @param penalty above 0
 */
export async function solveRidge(
  features: SparseFeatures,
  target: Float64Array,
  penalty: number,
  turn: Turn,
): Promise<RidgeSolution> {
  const n = target.length;
  const width = features.effects + features.numbers.length;
  // The intercept is one more column of ones.
  const open: SparseFeatures = { ...features, numbers: [...features.numbers, new Float64Array(n).fill(1)] };
  const diagonal = new Float64Array(width + 1).fill(penalty);
  diagonal[width] = 1e-12;
  for (const column of open.indicators) {
    for (const effect of column) if (effect >= 0) add(diagonal, effect, 1);
    await turn();
  }
  for (const [at, column] of open.numbers.entries()) add(diagonal, features.effects + at, dot(column, column));
  const solution = new Float64Array(width + 1);
  const residual = transposed(open, target);
  const scaled = Float64Array.from(residual, (value, at) => value / get(diagonal, at));
  const direction = scaled.slice();
  let norm = dot(residual, scaled);
  const enough = norm * tolerance ** 2;
  for (let step = 0; step < 20 * width + 100 && norm > enough && norm > 0; step++) {
    await turn();
    const along = product(open, direction, n);
    await turn();
    const moved = transposed(open, along);
    for (let e = 0; e < width; e++) add(moved, e, penalty * get(direction, e));
    const length = norm / dot(direction, moved);
    for (let e = 0; e <= width; e++) {
      add(solution, e, length * get(direction, e));
      add(residual, e, -length * get(moved, e));
      scaled[e] = get(residual, e) / get(diagonal, e);
    }
    const next = dot(residual, scaled);
    for (let e = 0; e <= width; e++) direction[e] = get(scaled, e) + (next / norm) * get(direction, e);
    norm = next;
  }
  return { intercept: get(solution, width), weights: solution.subarray(0, width) };
}

/** features · weights: [n] */
export function product(
  { effects, indicators, numbers }: SparseFeatures,
  weights: Float64Array,
  n: number,
): Float64Array {
  const out = new Float64Array(n);
  for (const column of indicators)
    for (let i = 0; i < n; i++) {
      const effect = column[i] ?? -1;
      if (effect >= 0) add(out, i, get(weights, effect));
    }
  for (const [at, column] of numbers.entries()) {
    const weight = get(weights, effects + at);
    for (let i = 0; i < n; i++) add(out, i, weight * get(column, i));
  }
  return out;
}

/** featuresᵀ · values: [effects + numbers] */
function transposed({ effects, indicators, numbers }: SparseFeatures, values: Float64Array): Float64Array {
  const out = new Float64Array(effects + numbers.length);
  for (const column of indicators)
    for (let i = 0; i < values.length; i++) {
      const effect = column[i] ?? -1;
      if (effect >= 0) add(out, effect, get(values, i));
    }
  for (const [at, column] of numbers.entries()) out[effects + at] = dot(column, values);
  return out;
}

const get = (values: Float64Array, at: number): number => values[at] as number;
const add = (values: Float64Array, at: number, value: number): void => {
  values[at] = (values[at] as number) + value;
};
