/**
 * Split-conformal intervals with normalised residuals (Papadopoulos, Gammerman and Vovk 2008; Lei et al. 2018): how far off a
 * predictor was on held-out records, relative to how far off it usually is on that column. Without the division, intervals of
 * tasks where all models guess would be as wide as those of tasks that tell models apart.
 */
import { columnOf } from './columns.ts';
import type { HeldOut } from './evaluate.ts';
import { atOnce, type Steps, stepwise } from './turn.ts';
import type { Configuration, ScoreRecord } from './types.ts';

export interface HeldOutError {
  configuration: Configuration;
  /** |score − predicted| */
  error: number;
}

/** Share of true scores that are to lie within. */
export const confidence = 0.9;
/** Errors of a column weigh against so many of the mean error of all: a few errors say little of a column. */
const priorErrors = 3;
/** Where all errors are 0, intervals have this half-width at least, relative to nothing. */
const leastScale = 1e-9;

export interface Intervals {
  /** Half the width of the interval; null where there are too few errors to say. */
  halfWidth(configuration: Configuration): number | null;
}

/** The error that `confidence` of new ones stay below: of n errors the ⌈confidence (n + 1)⌉-th; null where n is too small. */
export function conformalQuantile(errors: ArrayLike<number>): number | null {
  const sorted = Float64Array.from(errors).sort();
  return sorted[Math.ceil(confidence * (sorted.length + 1)) - 1] ?? null;
}

export const conformalIntervals = (errors: readonly HeldOutError[]): Intervals => atOnce(intervalSteps(errors));

/** The same in steps. */
export function* intervalSteps(errors: readonly HeldOutError[]): Steps<Intervals> {
  const columns = new Map<string, { n: number; squares: number }>();
  let total = 0;
  yield* stepwise(errors, ({ configuration, error }) => {
    const key = columnOf(configuration);
    const column = columns.get(key) ?? { n: 0, squares: 0 };
    column.n++;
    column.squares += error * error;
    columns.set(key, column);
    total += error * error;
  });
  const usual = total / Math.max(1, errors.length);
  const scale = (squares: number, n: number): number =>
    Math.max(leastScale, Math.sqrt(Math.max(0, squares + priorErrors * usual) / (n + priorErrors)));
  const scaleOf = (configuration: Configuration, without?: number): number => {
    const { n, squares } = columns.get(columnOf(configuration)) ?? { n: 0, squares: 0 };
    return without === undefined ? scale(squares, n) : scale(squares - without * without, n - 1);
  };
  // An error is measured by the others of its column, as a new one will be.
  const relative = new Float64Array(errors.length);
  yield* stepwise(errors, ({ configuration, error }, at) => {
    relative[at] = error / scaleOf(configuration, error);
  });
  const quantile = conformalQuantile(relative);
  return { halfWidth: (configuration) => (quantile === null ? null : quantile * scaleOf(configuration)) };
}

/** Coverage that was measured. */
export interface Coverage {
  /** Of held-out scores that lie within their intervals. */
  share: number;
  n: number;
  /** Mean half-width. */
  halfWidth: number;
}

/**
 * Share of held-out scores within intervals that are made of the held-out errors of the other folds.
 * @param heldOut of one predictor, of several folds; null for fewer
 */
export const measuredCoverage = (records: readonly ScoreRecord[], heldOut: readonly HeldOut[]): Coverage | null =>
  atOnce(coverageSteps(records, heldOut));

/** The same in steps. */
export function* coverageSteps(records: readonly ScoreRecord[], heldOut: readonly HeldOut[]): Steps<Coverage | null> {
  const folds = new Map<number, HeldOutError[]>();
  yield* stepwise(heldOut, ({ record, fold, predicted }) => {
    const configuration = records[record];
    if (!configuration) return;
    const errors = folds.get(fold) ?? [];
    errors.push({ configuration, error: Math.abs(configuration.score - predicted) });
    folds.set(fold, errors);
  });
  if (folds.size < 2) return null;
  let within = 0;
  let n = 0;
  let width = 0;
  for (const [fold, errors] of folds) {
    const { halfWidth } = yield* intervalSteps([...folds].flatMap(([other, some]) => (other === fold ? [] : some)));
    yield* stepwise(errors, ({ configuration, error }) => {
      const half = halfWidth(configuration);
      if (half === null) return;
      n++;
      width += half;
      // Rounding makes no score leave its interval.
      if (error <= half + 1e-12) within++;
    });
  }
  return n === 0 ? null : { share: within / n, n, halfWidth: width / n };
}
