/**
 * A multivariate normal distribution of rows of which parts are missing, by expectation and maximisation (Dempster, Laird and
 * Rubin 1977, section 4.1), its covariance drawn to the identity, or to what its structure is taken to be: there are about as
 * many rows as columns.
 */
import { choleskyRow, solveCholesky } from '../linear-algebra.ts';
import { atOnce, inTurns, type Steps, turnsAt } from '../turn.ts';
import type { Pace } from './pace.ts';

export interface Normal {
  /** [columns] */
  mean: Float64Array;
  /** [columns, columns] */
  covariance: Float64Array;
  /** A row with its missing (NaN) values as the mean of what the known ones leave possible. */
  complete(row: Float64Array): Float64Array;
}

export interface NormalSettings {
  /** Of the covariance to its target, in rows. */
  shrinkage: number;
  /**
   * What it is drawn to, by the covariance [columns, columns] of the completed rows, anew in each round; in steps. Default: the
   * identity.
   */
  target?(covariance: Float64Array): Steps<Float64Array>;
  rounds: number;
}

/**
 * Of tables of scores whose covariance is drawn to its structure (structure.ts). The strength was set with the ObsScaling records,
 * where from 100 to 250 rows it makes less than a thousandth of R².
 */
export const structured = { shrinkage: 150, rounds: 15 } as const satisfies NormalSettings;

/** Of tables of scores whose columns' names are not looked at. */
export const usualNormal: NormalSettings = { shrinkage: 30, rounds: 15 };

/** @param values [rows, columns], standardised; NaN where missing */
export async function fitNormal(
  values: Float64Array,
  rows: number,
  columns: number,
  { shrinkage, rounds, target }: NormalSettings,
  pace: Pace,
): Promise<Normal> {
  let mean = new Float64Array(columns);
  let covariance = identity(columns);
  for (let round = 0; round < rounds; round++) {
    const scatter = new Float64Array(columns * columns);
    const completed = new Float64Array(rows * columns);
    for (let row = 0; row < rows; row++) {
      if (pace.due()) await pace.pause();
      const of = values.subarray(row * columns, (row + 1) * columns);
      const filled = await inTurns(conditionalSteps(of, mean, covariance, scatter), turnsAt(pace));
      completed.set(filled, row * columns);
    }
    const next = new Float64Array(columns);
    for (let row = 0; row < rows; row++)
      for (let k = 0; k < columns; k++) next[k] = (next[k] as number) + (completed[row * columns + k] as number) / rows;
    for (let row = 0; row < rows; row++) {
      if (pace.due()) await pace.pause();
      for (let i = 0; i < columns; i++) {
        const one = (completed[row * columns + i] as number) - (next[i] as number);
        for (let j = 0; j <= i; j++)
          scatter[i * columns + j] =
            (scatter[i * columns + j] as number) +
            one * ((completed[row * columns + j] as number) - (next[j] as number));
      }
    }
    mean = next;
    for (let i = 0; i < columns; i++)
      for (let j = 0; j <= i; j++) {
        const value = (scatter[i * columns + j] as number) / rows;
        scatter[i * columns + j] = value;
        scatter[j * columns + i] = value;
      }
    if (pace.due()) await pace.pause();
    const drawnTo = target ? await inTurns(target(scatter), turnsAt(pace)) : identity(columns);
    const share = shrinkage / (rows + shrinkage);
    covariance = scatter.map((value, at) => (1 - share) * value + share * (drawnTo[at] as number));
  }
  return { mean, covariance, complete: (row) => atOnce(conditionalSteps(row, mean, covariance)) };
}

/** Rows of more known values than these take milliseconds each: they have steps within. */
const wide = 100;

/** Also adds the covariance of the missing values to the lower triangle of `scatter`. */
function* conditionalSteps(
  row: Float64Array,
  mean: Float64Array,
  covariance: Float64Array,
  scatter?: Float64Array,
): Steps<Float64Array> {
  const columns = row.length;
  const known: number[] = [];
  const missing: number[] = [];
  for (let k = 0; k < columns; k++) (Number.isNaN(row[k]) ? missing : known).push(k);
  const out = row.slice();
  if (missing.length === 0) return out;
  const n = known.length;
  const factor = new Float64Array(n * n);
  for (const [i, a] of known.entries())
    for (let j = 0; j <= i; j++) factor[i * n + j] = covariance[a * columns + (known[j] as number)] as number;
  for (let i = 0; i < n; i++) {
    choleskyRow(factor, n, i);
    if (n > wide) yield;
  }
  const off = Float64Array.from(known, (k) => (row[k] as number) - (mean[k] as number));
  const solved: Float64Array[] = [];
  for (const u of missing) {
    const weights = Float64Array.from(known, (k) => covariance[u * columns + k] as number);
    solveCholesky(factor, n, weights);
    let sum = mean[u] as number;
    for (let i = 0; i < n; i++) sum += (weights[i] as number) * (off[i] as number);
    out[u] = sum;
    solved.push(weights);
    if (n > wide) yield;
  }
  if (scatter)
    for (const [a, u] of missing.entries()) {
      if (n > wide) yield;
      for (let b = 0; b <= a; b++) {
        const v = missing[b] as number;
        let rest = covariance[u * columns + v] as number;
        for (let i = 0; i < n; i++)
          rest -=
            ((solved[a] as Float64Array)[i] as number) * (covariance[v * columns + (known[i] as number)] as number);
        scatter[u * columns + v] = (scatter[u * columns + v] as number) + rest;
      }
    }
  return out;
}

const identity = (n: number): Float64Array =>
  Float64Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 1 : 0));
