/**
 * What is expected of a model nobody has run, and how its scores hang together: a Gaussian process over rows (by size, setting
 * and training compute), and the covariance of the subtasks about it. Learned of some families, it says of a model of another
 * family what its remaining scores are, given a few of them: the mean of a conditional normal distribution, which is in closed
 * form (Rasmussen and Williams 2006, section 2.2 and appendix A.2).
 */
import { momentsOf } from '../features.ts';
import { choleskyRow, dot, solveCholesky } from '../linear-algebra.ts';
import { atOnce, type Steps } from '../turn.ts';
import type { ScoreTable, TableRow } from './table.ts';

export interface TaskCovariance {
  /** [subtasks, subtasks]: covariance of a new family's scores about what is expected of it, without noise. */
  covariance: Float64Array;
  /** [subtasks]: variance of the noise of a measured score; above 0. */
  noise: Float64Array;
  /** [rows asked for, subtasks]: expected scores before any of them is known. */
  expected: Float64Array;
}

/** Rows of a table that a step goes over. */
const rowsOfStep = 16;
/** Row kernel: squared exponential of unit length over standardised features; noise relative to its variance 1. */
const rowNoise = 0.3;
/** Share of the covariance that is drawn to its diagonal: there are fewer rows than entries. */
const shrinkage = 0.5;
/** Least noise, relative to a subtask's variance: scores without a known number of items have noise too. */
const leastNoise = 0.5;
/** Components and rounds by which missing scores of the rows that are learned from are filled in. */
const filling = { components: 6, rounds: 4 };

/**
 * Learns from rows of a table.
 * @param learnFrom positions of rows; several families, so that differences between families are seen
 * @param about positions of the rows that expected scores are asked for
 */
export const learnTaskCovariance = (
  table: ScoreTable,
  learnFrom: readonly number[],
  about: readonly number[],
): TaskCovariance => atOnce(taskCovarianceSteps(table, learnFrom, about));

/** The same in steps. */
export function* taskCovarianceSteps(
  table: ScoreTable,
  learnFrom: readonly number[],
  about: readonly number[],
): Steps<TaskCovariance> {
  const width = table.subtasks.length;
  const known = yield* filledRowSteps(table, learnFrom);
  const features = rowFeatures(table.rows);
  const of = (rows: readonly number[]): Float64Array[] => rows.map((row) => features[row] as Float64Array);
  const expected = yield* expectRows(known, of(learnFrom), of(about), width);

  // What a family's scores are off what the other families make one expect: so will a new family's be.
  const groups = heldGroups(learnFrom.map((row) => table.rows[row] as TableRow));
  const off = new Float64Array(known.length);
  for (const held of groups) {
    const rest = [...learnFrom.keys()].filter((at) => !held.includes(at));
    const base = new Float64Array(rest.length * width);
    for (const [to, from] of rest.entries()) base.set(known.subarray(from * width, (from + 1) * width), to * width);
    const said = yield* expectRows(
      base,
      of(rest.map((at) => learnFrom[at] ?? 0)),
      of(held.map((at) => learnFrom[at] ?? 0)),
      width,
    );
    for (const [from, to] of held.entries())
      for (let k = 0; k < width; k++)
        off[to * width + k] = (known[to * width + k] as number) - (said[from * width + k] as number);
  }
  const covariance = yield* secondMoments(off, learnFrom.length, width);
  const noise = new Float64Array(width);
  let mean = 0;
  for (let k = 0; k < width; k++) mean += (covariance[k * width + k] as number) / width;
  yield;
  for (let k = 0; k < width; k++) {
    const variance = covariance[k * width + k] as number;
    const measured = Math.min(meanNoise(table, learnFrom, k), 0.9 * variance);
    noise[k] = Math.max(measured, leastNoise * variance, 1e-4 * mean, 1e-12);
    for (let j = 0; j < width; j++)
      if (j !== k) covariance[k * width + j] = (covariance[k * width + j] as number) * (1 - shrinkage);
    covariance[k * width + k] = variance - measured;
  }
  return { covariance, noise, expected };
}

/** Of a subtask's scores in the rows that are learned from; 0 where nobody says how many items there were. */
function meanNoise({ noise, subtasks }: ScoreTable, rows: readonly number[], subtask: number): number {
  let [sum, n] = [0, 0];
  for (const row of rows) {
    const one = noise[row * subtasks.length + subtask] as number;
    if (Number.isNaN(one)) continue;
    sum += one;
    n++;
  }
  return n > 0 ? sum / n : 0;
}

/** Groups of positions to hold out in turn: families, else models. */
function heldGroups(rows: readonly TableRow[]): number[][] {
  for (const key of [({ family }: TableRow) => family, ({ model }: TableRow) => model]) {
    const groups = new Map<string, number[]>();
    for (const [at, row] of rows.entries()) groups.set(key(row), [...(groups.get(key(row)) ?? []), at]);
    if (groups.size > 1) return [...groups.values()];
  }
  return [[...rows.keys()]];
}

/**
 * Expected scores of rows: kernel ridge regression on their features, about the mean of the rows that are known.
 * @param known [rows, width]
 */
function* expectRows(
  known: Float64Array,
  knownFeatures: readonly Float64Array[],
  askedFeatures: readonly Float64Array[],
  width: number,
): Steps<Float64Array> {
  const n = knownFeatures.length;
  const mean = new Float64Array(width);
  for (let i = 0; i < n; i++)
    for (let k = 0; k < width; k++) mean[k] = (mean[k] as number) + (known[i * width + k] as number) / n;
  const gram = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      const value =
        rowKernel(knownFeatures[i] as Float64Array, knownFeatures[j] as Float64Array) + (i === j ? rowNoise : 0);
      gram[i * n + j] = value;
      gram[j * n + i] = value;
    }
  for (let i = 0; i < n; i++) {
    choleskyRow(gram, n, i);
    if (i % rowsOfStep === 0) yield;
  }
  const out = new Float64Array(askedFeatures.length * width);
  const weights = new Float64Array(n);
  for (const [row, asked] of askedFeatures.entries()) {
    if (row % rowsOfStep === 0) yield;
    for (let i = 0; i < n; i++) weights[i] = rowKernel(asked, knownFeatures[i] as Float64Array);
    solveCholesky(gram, n, weights);
    const line = out.subarray(row * width, (row + 1) * width);
    line.set(mean);
    for (let i = 0; i < n; i++) {
      const weight = weights[i] as number;
      const offset = i * width;
      for (let k = 0; k < width; k++)
        line[k] = (line[k] as number) + weight * ((known[offset + k] as number) - (mean[k] as number));
    }
  }
  return out;
}

function rowKernel(a: Float64Array, b: Float64Array): number {
  let distance = 0;
  for (let i = 0; i < a.length; i++) distance += ((a[i] as number) - (b[i] as number)) ** 2;
  return Math.exp(-distance / 2);
}

/** Standardised logarithms of parameters and training compute, shots, and one feature a mode; what nobody says is at the mean. */
function rowFeatures(rows: readonly TableRow[]): Float64Array[] {
  const log = (value: number | null): number | null => (value !== null && value > 0 ? Math.log10(value) : null);
  const modes = [...new Set(rows.map(({ mode }) => mode))];
  const columns: (number | null)[][] = [
    rows.map(({ parameters: { nonEmbedding, total, flopMatched } }) => log(nonEmbedding ?? total ?? flopMatched)),
    rows.map(({ trainingFlops }) => log(trainingFlops)),
    rows.map(({ shots }) => (shots === null ? null : Math.log1p(shots))),
    ...(modes.length > 1 ? modes.map((mode) => rows.map((row) => (row.mode === mode ? 1 : 0))) : []),
  ];
  const standard = columns.map((column) => {
    const { mean, deviation } = momentsOf(column);
    return column.map((value) => (value === null || deviation < 1e-9 ? 0 : (value - mean) / deviation));
  });
  return rows.map((_, row) => Float64Array.from(standard, (column) => column[row] ?? 0));
}

/** [width, width]: mean of the products of columns. */
function* secondMoments(values: Float64Array, n: number, width: number): Steps<Float64Array> {
  const out = new Float64Array(width * width);
  for (let i = 0; i < n; i++) {
    if (i % rowsOfStep === 0) yield;
    const line = values.subarray(i * width, (i + 1) * width);
    for (let j = 0; j < width; j++) {
      const factor = (line[j] as number) / n;
      if (factor === 0) continue;
      for (let k = j; k < width; k++)
        out[j * width + k] = (out[j * width + k] as number) + factor * (line[k] as number);
    }
  }
  for (let j = 0; j < width; j++) for (let k = 0; k < j; k++) out[j * width + k] = out[k * width + j] as number;
  return out;
}

/**
 * Rows of the table without gaps: missing scores by what few components of the rest say of them, from row and column means on
 * (iterated truncated singular value decomposition; Troyanskaya et al. 2001).
 * @returns [rows, subtasks]
 */
export function* filledRowSteps(table: ScoreTable, rows: readonly number[]): Steps<Float64Array> {
  const width = table.subtasks.length;
  const n = rows.length;
  const values = new Float64Array(n * width);
  for (const [at, row] of rows.entries()) values.set(table.scores.subarray(row * width, (row + 1) * width), at * width);
  const gaps: number[] = [];
  for (let cell = 0; cell < values.length; cell++) if (Number.isNaN(values[cell])) gaps.push(cell);
  if (gaps.length === 0) return values;
  /** Of the known values from one cell on, so many cells apart. */
  const meanOf = (from: number, step: number): number => {
    let [sum, count] = [0, 0];
    for (let cell = from; cell < values.length; cell += step) {
      const value = values[cell] as number;
      if (Number.isNaN(value)) continue;
      sum += value;
      count++;
    }
    return count > 0 ? sum / count : Number.NaN;
  };
  const all = meanOf(0, 1);
  const or = (value: number, other: number): number => (Number.isNaN(value) ? other : value);
  const columnMeans = Array.from({ length: width }, (_, k) => or(meanOf(k, width), all));
  yield;
  const rowMeans = Array.from({ length: n }, (_, i) => {
    const offsets = Array.from(
      { length: width },
      (_, k) => (values[i * width + k] as number) - (columnMeans[k] as number),
    ).filter((value) => !Number.isNaN(value));
    return offsets.length > 0 ? offsets.reduce((sum, value) => sum + value, 0) / offsets.length : 0;
  });
  for (const cell of gaps)
    values[cell] = (columnMeans[cell % width] as number) + (rowMeans[Math.floor(cell / width)] as number);
  for (let round = 0; round < filling.rounds; round++) {
    const centred = values.map((value, cell) => value - (columnMeans[cell % width] as number));
    const basis = yield* directionSteps(centred, n, width, Math.min(filling.components, n - 1, width - 1));
    for (const cell of gaps) {
      const line = centred.subarray(Math.floor(cell / width) * width, (Math.floor(cell / width) + 1) * width);
      let value = columnMeans[cell % width] as number;
      for (const direction of basis) value += dot(direction, line) * (direction[cell % width] as number);
      values[cell] = Math.min(1, Math.max(0, value));
    }
    yield;
  }
  return values;
}

/**
 * Orthonormal directions in which rows vary most, by subspace iteration (Halko, Martinsson and Tropp 2011) from fixed starts.
 * @param rows [n, width], centred
 */
export const leadingDirections = (
  rows: Float64Array,
  n: number,
  width: number,
  count: number,
  rounds = 8,
): Float64Array[] => atOnce(directionSteps(rows, n, width, count, rounds));

/** The same in steps. */
export function* directionSteps(
  rows: Float64Array,
  n: number,
  width: number,
  count: number,
  rounds = 8,
): Steps<Float64Array[]> {
  let basis: Float64Array[] = Array.from({ length: Math.max(0, count) }, (_, at) =>
    Float64Array.from({ length: width }, (_, k) => Math.sin((k + 1) * (at + 1) * 0.7390851) + 0.1),
  );
  basis = orthonormal(basis);
  for (let round = 0; round < rounds; round++) {
    const moved: Float64Array[] = [];
    for (const direction of basis) {
      const out = new Float64Array(width);
      for (let i = 0; i < n; i++) {
        const line = rows.subarray(i * width, (i + 1) * width);
        const factor = dot(direction, line);
        for (let k = 0; k < width; k++) out[k] = (out[k] as number) + factor * (line[k] as number);
      }
      moved.push(out);
      yield;
    }
    basis = orthonormal(moved);
  }
  return basis;
}

/** Modified Gram-Schmidt; directions that vanish are left out. */
function orthonormal(directions: readonly Float64Array[]): Float64Array[] {
  const out: Float64Array[] = [];
  for (const direction of directions) {
    const rest = direction.slice();
    for (const known of out) {
      const along = dot(known, rest);
      for (let k = 0; k < rest.length; k++) rest[k] = (rest[k] as number) - along * (known[k] as number);
    }
    const norm = Math.sqrt(dot(rest, rest));
    if (norm > 1e-12) out.push(rest.map((value) => value / norm));
  }
  return out;
}
