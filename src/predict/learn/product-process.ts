/**
 * Scores as a Gaussian process over models and columns, whose covariance is a sum of products (Bonilla, Chai and Williams 2007,
 * with noise that columns share):
 *
 *   cov(y[m, t], y[m′, t′]) = k(m, m′) · G[t, t′]  +  [m = m′] · s[m] · N[t, t′]  +  [m = m′, t = t′] · noise of counting items
 *
 * G is what models that are alike have in common; N belongs to one model only, and to all columns that are alike; s[m] is how much
 * of that the model has. The posterior
 * mean solves one system of all known scores. Products of its matrix with a vector are small products of [rows, columns], so that
 * conjugate gradients (Hestenes and Stiefel 1952) with each row's own block as preconditioner need neither the matrix nor its factor.
 */
import { choleskyRow, dot, solveCholesky } from '../linear-algebra.ts';
import type { Pace } from './pace.ts';

export interface ProductProcessInput {
  rows: number;
  columns: number;
  /** [rows, columns], standardised; NaN where missing */
  values: Float64Array;
  /** [columns]: noise of counting items, in the unit of the values. */
  itemNoise: Float64Array;
  /** [rows, rows] */
  kernel: Float64Array;
  /** G, [columns, columns] */
  common: Float64Array;
  /** N, [columns, columns], positive definite. */
  single: Float64Array;
  /** s, [rows], above 0 */
  scale: Float64Array;
}

export interface ProductProcess {
  /**
   * [columns] means of a row's values.
   * @param kernel [rows]: its kernel with the rows that were learned from
   * @param row which of those it is; null: none of them
   */
  predict(kernel: Float64Array, row: number | null): Float64Array;
}

/** Of what is left of the scores, relative to them: predictions are then exact to three places and more. */
const tolerance = 1e-6;
const mostSteps = 1000;

export async function fitProductProcess(input: ProductProcessInput, pace: Pace): Promise<ProductProcess> {
  const { rows, columns, values, itemNoise, kernel, common, single, scale } = input;
  const isKnown = Uint8Array.from(values, (value) => (Number.isNaN(value) ? 0 : 1));
  const precondition = await rowBlocks(input, pace);

  /** The matrix times a vector whose missing entries are 0. */
  const times = async (vector: Float64Array): Promise<Float64Array> => {
    const byColumns = await product(vector, common, rows, columns, columns, pace);
    const out = await product(kernel, byColumns, rows, rows, columns, pace);
    const own = await product(vector, single, rows, columns, columns, pace);
    for (let at = 0; at < out.length; at++)
      out[at] = isKnown[at]
        ? (out[at] as number) +
          (scale[Math.floor(at / columns)] as number) * (own[at] as number) +
          (itemNoise[at % columns] as number) * (vector[at] as number)
        : 0;
    return out;
  };

  const solution = new Float64Array(rows * columns);
  const rest = values.map((value) => (Number.isNaN(value) ? 0 : value));
  const enough = tolerance ** 2 * dot(rest, rest);
  let scaled = await precondition(rest);
  let direction = scaled.slice();
  let along = dot(rest, scaled);
  for (let step = 0; step < mostSteps && dot(rest, rest) > enough; step++) {
    const moved = await times(direction);
    const length = along / dot(direction, moved);
    for (let at = 0; at < rest.length; at++) {
      solution[at] = (solution[at] as number) + length * (direction[at] as number);
      rest[at] = (rest[at] as number) - length * (moved[at] as number);
    }
    scaled = await precondition(rest);
    const next = dot(rest, scaled);
    direction = scaled.map((value, at) => value + (next / along) * (direction[at] as number));
    along = next;
  }

  const ofCommon = await product(solution, common, rows, columns, columns, pace);
  const ofSingle = await product(solution, single, rows, columns, columns, pace);
  return {
    predict(asked, row) {
      const out = new Float64Array(columns);
      if (row !== null)
        for (let t = 0; t < columns; t++) out[t] = (scale[row] as number) * (ofSingle[row * columns + t] as number);
      for (let m = 0; m < rows; m++) {
        const by = asked[m] as number;
        for (let t = 0; t < columns; t++) out[t] = (out[t] as number) + by * (ofCommon[m * columns + t] as number);
      }
      return out;
    },
  };
}

/** Solves with the blocks of single rows: [rows, columns] → [rows, columns]. */
async function rowBlocks(
  { rows, columns, values, itemNoise, kernel, common, single, scale }: ProductProcessInput,
  pace: Pace,
): Promise<(vector: Float64Array) => Promise<Float64Array>> {
  const blocks: { known: Int32Array; factor: Float64Array }[] = [];
  for (let row = 0; row < rows; row++) {
    const known = Int32Array.from(
      Array.from({ length: columns }, (_, t) => t).filter((t) => !Number.isNaN(values[row * columns + t])),
    );
    const n = known.length;
    const self = kernel[row * rows + row] as number;
    const factor = new Float64Array(n * n);
    for (const [i, t] of known.entries()) {
      for (let j = 0; j <= i; j++) {
        const at = t * columns + (known[j] as number);
        factor[i * n + j] = self * (common[at] as number) + (scale[row] as number) * (single[at] as number);
      }
      factor[i * n + i] = (factor[i * n + i] as number) + (itemNoise[t] as number);
      if (pace.due()) await pace.pause();
      choleskyRow(factor, n, i);
    }
    blocks.push({ known, factor });
  }
  return async (vector) => {
    const out = new Float64Array(rows * columns);
    for (const [row, { known, factor }] of blocks.entries()) {
      if (pace.due()) await pace.pause();
      const part = Float64Array.from(known, (t) => vector[row * columns + t] as number);
      solveCholesky(factor, known.length, part);
      for (const [i, t] of known.entries()) out[row * columns + t] = part[i] as number;
    }
    return out;
  };
}

/** a [n, inner] times b [inner, width] */
async function product(
  a: Float64Array,
  b: Float64Array,
  n: number,
  inner: number,
  width: number,
  pace: Pace,
): Promise<Float64Array> {
  const out = new Float64Array(n * width);
  for (let i = 0; i < n; i++) {
    if (pace.due()) await pace.pause();
    for (let k = 0; k < inner; k++) {
      const by = a[i * inner + k] as number;
      if (by === 0) continue;
      const from = k * width;
      for (let j = 0; j < width; j++)
        out[i * width + j] = (out[i * width + j] as number) + by * (b[from + j] as number);
    }
  }
  return out;
}
