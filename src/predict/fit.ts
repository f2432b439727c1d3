/** How far predictions are off. */

/** Of predictions against scores. */
export interface Fit {
  n: number;
  /** Null where n is 0. */
  rmse: number | null;
  /** Share of the variance that is predicted; null where the scores do not vary. */
  r2: number | null;
}

/** Mean and sample standard deviation (n − 1) over folds; sd null for one fold. */
export interface MeanAndSd {
  mean: number | null;
  sd: number | null;
}

/** R² = 1 − Σ (score − predicted)² / Σ (score − mean)², as scikit-learn's r2_score. */
export function fitOf(scores: readonly number[], predicted: readonly number[]): Fit {
  const n = scores.length;
  if (n === 0) return { n, rmse: null, r2: null };
  const mean = scores.reduce((sum, score) => sum + score, 0) / n;
  let error = 0;
  let variance = 0;
  for (const [at, score] of scores.entries()) {
    error += (score - (predicted[at] ?? Number.NaN)) ** 2;
    variance += (score - mean) ** 2;
  }
  return { n, rmse: Math.sqrt(error / n), r2: variance > 1e-12 * n ? 1 - error / variance : null };
}

/** Of those that are not null. */
export function meanAndSd(values: readonly (number | null)[]): MeanAndSd {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { mean: null, sd: null };
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, sd: known.length > 1 ? Math.sqrt(squares / (known.length - 1)) : null };
}
