/**
 * How well a subset of subtasks stands for the others: R² on the other subtasks of a family that was held out, whose rows are
 * known on the subset only; the mean over folds (Ye, Fu, Ren and Jia 2023, section 4.1).
 *
 * The study trains its MLP once a subset and fold. Here the prediction is in closed form (task-covariance.ts): the scores of a
 * held-out row given those on the subset S are m + Σ[:,S] (Σ[S,S] + N)⁻¹ (x[S] − m[S]). With R rows held out, T subtasks and
 * s selected, a subset takes about R·s·T multiplications. When one subtask j is added, the conditional covariance changes by a
 * matrix of rank one and the residuals E by gain × E[:,j]: the error of all T candidates comes from EᵀE in T² together.
 */

import { cholesky, solveCholesky } from '../linear-algebra.ts';
import { atOnce, type Steps } from '../turn.ts';
import type { ScoreTable } from './table.ts';
import { type TaskCovariance, taskCovarianceSteps } from './task-covariance.ts';

/** Rows that are held out and those that are learned from, as positions in the table. */
export interface ObjectiveFold {
  held: readonly number[];
  learnFrom: readonly number[];
}

export interface SubsetObjective {
  readonly subtasks: number;
  /** Mean R² over the folds; -Infinity where nothing is left to predict. */
  value(subset: readonly number[]): number;
  /** The same in steps. */
  valueSteps(subset: readonly number[]): Steps<number>;
  /** The empty subset, to be grown. */
  start(): GrowingSubset;
  /** Subsets valued so far; a candidate of a growing subset counts as one. */
  readonly evaluations: number;
}

/** A subset to which subtasks are added one at a time. */
export interface GrowingSubset {
  readonly selected: readonly number[];
  readonly value: number;
  /** [subtasks]: the value with each one added; NaN for those that are selected. */
  candidates(): Float64Array;
  /** The subset with one more; this one stays as it is. */
  with(subtask: number): GrowingSubset;
  /** The same in steps. */
  candidateSteps(): Steps<Float64Array>;
  withSteps(subtask: number): Steps<GrowingSubset>;
}

/** A fold as it is computed with. */
export interface PreparedFold {
  rows: number;
  covariance: Float64Array;
  noise: Float64Array;
  /** [rows, subtasks]: score − expected score; 0 where there is no score. */
  residuals: Float64Array;
  /** [rows, subtasks]: 1 where there is a score; null where all are there. */
  present: Uint8Array | null;
  expected: Float64Array;
  /** [subtasks]: number, sum and sum of squares of the held-out scores. */
  counts: Float64Array;
  sums: Float64Array;
  squares: Float64Array;
}

export class ClosedFormObjective implements SubsetObjective {
  readonly subtasks: number;
  evaluations = 0;
  private readonly folds: readonly PreparedFold[];
  private readonly gaps: boolean;

  constructor(subtasks: number, folds: readonly PreparedFold[]) {
    this.subtasks = subtasks;
    this.folds = folds;
    this.gaps = this.folds.some(({ present }) => present !== null);
  }

  value(subset: readonly number[]): number {
    return atOnce(this.valueSteps(subset));
  }

  *valueSteps(subset: readonly number[]): Steps<number> {
    this.evaluations++;
    let sum = 0;
    for (const fold of this.folds) {
      sum += this.valueOf(fold, subset);
      yield;
    }
    return sum / this.folds.length;
  }

  /** R² of each fold. */
  values(subset: readonly number[]): number[] {
    return this.folds.map((fold) => this.valueOf(fold, subset));
  }

  private valueOf(fold: PreparedFold, subset: readonly number[]): number {
    return foldValue(fold, subset, residualsGiven(fold, subset, this.subtasks), this.subtasks);
  }

  /** Scores of a fold's held-out rows as the subset foretells them, within 0 and 1; those of the subset as measured. [rows, subtasks] */
  predictions(subset: readonly number[], at: number): Float64Array {
    const fold = this.folds[at];
    if (!fold) throw new RangeError(`There is no fold ${at}.`);
    const left = residualsGiven(fold, subset, this.subtasks);
    const selected = new Set(subset);
    return left.map((residual, cell) => {
      // score − what is left = what is foretold; where no score is, "score" is what was expected, and the difference the same.
      const score = (fold.residuals[cell] as number) + (fold.expected[cell] as number);
      const isMeasured = selected.has(cell % this.subtasks) && (fold.present === null || fold.present[cell] === 1);
      return isMeasured ? score : Math.min(1, Math.max(0, score - residual));
    });
  }

  start(): GrowingSubset {
    return new Growing(
      this,
      this.subtasks,
      this.folds.map((fold) => ({ fold, covariance: fold.covariance, residuals: fold.residuals })),
      [],
      this.value([]),
      this.gaps,
    );
  }
}

/** Learns what a fold needs: once, however many subsets and objectives it is used for. */
export const prepareFold = (table: ScoreTable, fold: ObjectiveFold): PreparedFold => atOnce(foldSteps(table, fold));

/** The same in steps. */
export function* foldSteps(table: ScoreTable, { held, learnFrom }: ObjectiveFold): Steps<PreparedFold> {
  const width = table.subtasks.length;
  const scores = new Float64Array(held.length * width);
  for (const [at, row] of held.entries()) scores.set(table.scores.subarray(row * width, (row + 1) * width), at * width);
  return foldOf(scores, held.length, yield* taskCovarianceSteps(table, learnFrom, held));
}

/** @param scores [rows, subtasks] of the rows held out; NaN where there is none */
export function foldOf(
  scores: Float64Array,
  rows: number,
  { covariance, noise, expected }: TaskCovariance,
): PreparedFold {
  const width = noise.length;
  const residuals = new Float64Array(rows * width);
  const present = new Uint8Array(rows * width);
  const [counts, sums, squares] = [new Float64Array(width), new Float64Array(width), new Float64Array(width)];
  for (let row = 0; row < rows; row++)
    for (let k = 0; k < width; k++) {
      const score = scores[row * width + k] as number;
      if (Number.isNaN(score)) continue;
      present[row * width + k] = 1;
      residuals[row * width + k] = score - (expected[row * width + k] as number);
      counts[k] = (counts[k] as number) + 1;
      sums[k] = (sums[k] as number) + score;
      squares[k] = (squares[k] as number) + score * score;
    }
  const complete = present.every((one) => one === 1);
  return {
    rows,
    covariance,
    noise,
    residuals,
    present: complete ? null : present,
    expected,
    counts,
    sums,
    squares,
  };
}

/** [rows, subtasks]: the residuals that are left when the subset's scores are known. Rows with gaps know what they have. */
function residualsGiven(fold: PreparedFold, subset: readonly number[], width: number): Float64Array {
  const { rows, covariance, noise, residuals, present } = fold;
  const out = residuals.slice();
  const solved = new Map<string, { known: readonly number[]; lower: Float64Array }>();
  for (let row = 0; row < rows; row++) {
    const offset = row * width;
    const known = present === null ? subset : subset.filter((k) => present[offset + k] === 1);
    if (known.length === 0) continue;
    const key = known.length === subset.length ? '' : known.join(' ');
    let system = solved.get(key);
    if (!system) {
      system = { known, lower: factor(covariance, noise, known, width) };
      solved.set(key, system);
    }
    const weights = Float64Array.from(known, (k) => residuals[offset + k] as number);
    solveCholesky(system.lower, known.length, weights);
    const line = out.subarray(offset, offset + width);
    for (const [at, j] of known.entries()) {
      const weight = weights[at] as number;
      const base = j * width;
      for (let k = 0; k < width; k++) line[k] = (line[k] as number) - weight * (covariance[base + k] as number);
    }
  }
  return out;
}

/** Cholesky factor of Σ[S,S] + N. */
function factor(covariance: Float64Array, noise: Float64Array, subset: readonly number[], width: number): Float64Array {
  const n = subset.length;
  const matrix = new Float64Array(n * n);
  for (const [i, a] of subset.entries())
    for (const [j, b] of subset.entries())
      matrix[i * n + j] = (covariance[a * width + b] as number) + (i === j ? (noise[a] as number) : 0);
  cholesky(matrix, n);
  return matrix;
}

/** R² of a fold over its scores outside of the subset. */
function foldValue(fold: PreparedFold, subset: readonly number[], residuals: Float64Array, width: number): number {
  const { rows, present, counts, sums, squares } = fold;
  const rest = new Uint8Array(width).fill(1);
  for (const k of subset) rest[k] = 0;
  let [error, n, sum, square] = [0, 0, 0, 0];
  for (let k = 0; k < width; k++) {
    if (rest[k] === 0) continue;
    n += counts[k] as number;
    sum += sums[k] as number;
    square += squares[k] as number;
  }
  for (let row = 0; row < rows; row++) {
    const offset = row * width;
    for (let k = 0; k < width; k++)
      if (rest[k] === 1 && (present === null || present[offset + k] === 1))
        error += (residuals[offset + k] as number) ** 2;
  }
  return rSquared(error, n, sum, square);
}

function rSquared(error: number, n: number, sum: number, squares: number): number {
  const variance = n > 0 ? squares - (sum * sum) / n : 0;
  return variance > 1e-12 * n && n > 1 ? 1 - error / variance : Number.NEGATIVE_INFINITY;
}

interface GrowingFold {
  fold: PreparedFold;
  /** [subtasks, subtasks], given what is selected. */
  covariance: Float64Array;
  residuals: Float64Array;
}

/** Candidates that a step goes over. */
const candidatesOfStep = 64;

class Growing implements GrowingSubset {
  constructor(
    private readonly objective: ClosedFormObjective,
    private readonly width: number,
    private readonly folds: readonly GrowingFold[],
    readonly selected: readonly number[],
    readonly value: number,
    private readonly gaps: boolean,
  ) {}

  candidates(): Float64Array {
    return atOnce(this.candidateSteps());
  }

  *candidateSteps(): Steps<Float64Array> {
    const out = new Float64Array(this.width);
    for (const fold of this.folds) yield* this.addCandidates(fold, out);
    const taken = new Set(this.selected);
    for (let j = 0; j < this.width; j++) out[j] = taken.has(j) ? Number.NaN : (out[j] as number) / this.folds.length;
    this.objective.evaluations += this.width - taken.size;
    if (this.gaps) yield* this.correct(out);
    return out;
  }

  /** Adds this fold's R² with each candidate. */
  private *addCandidates({ fold, covariance, residuals }: GrowingFold, out: Float64Array): Steps<void> {
    const { width } = this;
    const { noise, present, counts, sums, squares } = fold;
    const rest = new Uint8Array(width).fill(1);
    for (const k of this.selected) rest[k] = 0;
    let [n, sum, square] = [0, 0, 0];
    for (let k = 0; k < width; k++) {
      if (rest[k] === 0) continue;
      n += counts[k] as number;
      sum += sums[k] as number;
      square += squares[k] as number;
    }
    // Residuals without those that are not there; their products; and, with gaps, the squares of row j where k is there.
    const masked = present === null ? residuals : residuals.map((value, cell) => (present[cell] === 1 ? value : 0));
    const products = gram(masked, fold.rows, width);
    yield;
    const seen = present === null ? null : squaresSeen(masked, present, fold.rows, width);
    for (let j = 0; j < width; j++) {
      if (j % candidatesOfStep === 0) yield;
      if (rest[j] === 0) continue;
      const base = j * width;
      const own = products[base + j] as number;
      const scale = 1 / ((covariance[base + j] as number) + (noise[j] as number));
      let error = 0;
      for (let k = 0; k < width; k++) {
        if (rest[k] === 0 || k === j) continue;
        const gain = (covariance[base + k] as number) * scale;
        error +=
          (products[k * width + k] as number) -
          2 * gain * (products[base + k] as number) +
          gain * gain * (seen === null ? own : (seen[base + k] as number));
      }
      out[j] =
        (out[j] as number) +
        rSquared(error, n - (counts[j] as number), sum - (sums[j] as number), square - (squares[j] as number));
    }
  }

  /**
   * Where held-out rows have gaps, one conditional covariance for all rows is close but not exact: the best few candidates are
   * valued row by row.
   */
  private *correct(out: Float64Array): Steps<void> {
    const best = [...out.keys()]
      .filter((j) => !Number.isNaN(out[j]))
      .sort((a, b) => (out[b] as number) - (out[a] as number))
      .slice(0, 5);
    const exact: number[] = [];
    for (const j of best) exact.push(yield* this.objective.valueSteps([...this.selected, j]));
    // Those below stay below: they were not looked at as closely.
    const ceiling = Math.min(...exact);
    for (let j = 0; j < this.width; j++) if ((out[j] as number) > ceiling) out[j] = ceiling;
    for (const [at, j] of best.entries()) out[j] = exact[at] as number;
  }

  with(subtask: number): GrowingSubset {
    return atOnce(this.withSteps(subtask));
  }

  *withSteps(subtask: number): Steps<GrowingSubset> {
    const { width } = this;
    const selected = [...this.selected, subtask];
    const folds: GrowingFold[] = [];
    for (const { fold, covariance, residuals } of this.folds) {
      yield;
      const next = covariance.slice();
      const base = subtask * width;
      const scale = 1 / ((covariance[base + subtask] as number) + (fold.noise[subtask] as number));
      for (let j = 0; j < width; j++) {
        const factorOf = (covariance[base + j] as number) * scale;
        if (factorOf === 0) continue;
        for (let k = 0; k < width; k++)
          next[j * width + k] = (next[j * width + k] as number) - factorOf * (covariance[base + k] as number);
      }
      if (fold.present !== null) {
        folds.push({ fold, covariance: next, residuals: residualsGiven(fold, selected, width) });
        continue;
      }
      const left = residuals.slice();
      for (let row = 0; row < fold.rows; row++) {
        const weight = (residuals[row * width + subtask] as number) * scale;
        for (let k = 0; k < width; k++)
          left[row * width + k] = (left[row * width + k] as number) - weight * (covariance[base + k] as number);
      }
      folds.push({ fold, covariance: next, residuals: left });
    }
    const value =
      folds.reduce((sum, { fold, residuals }) => sum + foldValue(fold, selected, residuals, width), 0) / folds.length;
    return new Growing(this.objective, width, folds, selected, value, this.gaps);
  }
}

/** AᵀA: [width, width], of [rows, width]. */
function gram(a: Float64Array, rows: number, width: number): Float64Array {
  const out = new Float64Array(width * width);
  for (let row = 0; row < rows; row++) {
    const values = a.subarray(row * width, (row + 1) * width);
    for (let j = 0; j < width; j++) {
      const factorOf = values[j] as number;
      if (factorOf === 0) continue;
      const line = j * width;
      for (let k = j; k < width; k++) out[line + k] = (out[line + k] as number) + factorOf * (values[k] as number);
    }
  }
  for (let j = 0; j < width; j++) for (let k = 0; k < j; k++) out[j * width + k] = out[k * width + j] as number;
  return out;
}

/** [width, width]: Σ of the squares of column j over the rows where column k has a score. */
function squaresSeen(a: Float64Array, present: Uint8Array, rows: number, width: number): Float64Array {
  const all = new Float64Array(width);
  for (let cell = 0; cell < a.length; cell++)
    all[cell % width] = (all[cell % width] as number) + (a[cell] as number) ** 2;
  const out = new Float64Array(width * width);
  for (let j = 0; j < width; j++) out.fill(all[j] as number, j * width, (j + 1) * width);
  // Gaps are few: they are taken off.
  for (let row = 0; row < rows; row++)
    for (let k = 0; k < width; k++) {
      if (present[row * width + k] === 1) continue;
      for (let j = 0; j < width; j++)
        out[j * width + k] = (out[j * width + k] as number) - (a[row * width + j] as number) ** 2;
    }
  return out;
}
