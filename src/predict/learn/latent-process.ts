/**
 * Scores as a Gaussian process over models (Rasmussen and Williams 2006) with a linear model of coregionalisation (Bonilla,
 * Chai and Williams 2007): a column's scores are a weighted sum of a few functions of the model that all columns share, and a
 * function of its own. Functions are smooth over what is known of models.
 *
 *   y[m, t] = Σ_r W[t, r] f_r(m) + g_t(m) + noise,   f_r ~ GP(0, k),   g_t ~ GP(0, own · k),
 *
 * The posterior is exact. With the shared functions set apart, the system falls into one of rows × rows for each column and one
 * of (rows · shared) for all (the matrix inversion lemma), in place of one of all scores.
 */
import { choleskyRow, solveCholesky } from '../linear-algebra.ts';
import type { Pace } from './pace.ts';

export interface LatentProcessInput {
  rows: number;
  columns: number;
  /** [rows, columns], standardised; NaN where missing */
  values: Float64Array;
  /** [columns]: noise of counting items, in the unit of the values. */
  itemNoise: Float64Array;
  /** [columns, shared] */
  weights: Float64Array;
  shared: number;
  /** [rows, rows] */
  kernel: Float64Array;
  /** Variance of a column's own function, of its values' variance. */
  own: number;
  /** Variance of what is no function of the model. */
  noise: number;
}

export interface LatentProcess {
  /**
   * Means of a row's values.
   * @param kernel [rows]: its kernel with the rows that were learned from
   */
  predict(kernel: Float64Array): Float64Array;
}

export async function fitLatentProcess(input: LatentProcessInput, pace: Pace): Promise<LatentProcess> {
  const { rows, columns, values, itemNoise, weights, shared, kernel, own, noise } = input;
  const root = kernel.slice();
  for (let i = 0; i < rows; i++) root[i * rows + i] = (root[i * rows + i] as number) + 1e-6;
  await factorise(root, rows, pace);
  const size = rows * shared;
  /** I + Lᵀ (Σ_t w wᵀ ⊗ P_t) L, where P_t is the precision of a column's scores about the shared functions. */
  const system = new Float64Array(size * size);
  const right = new Float64Array(size);
  const known: Int32Array[] = [];
  const precisions: Float64Array[] = [];
  for (let t = 0; t < columns; t++) {
    if (pace.due()) await pace.pause();
    const at = Int32Array.from(
      Array.from({ length: rows }, (_, row) => row).filter((row) => !Number.isNaN(values[row * columns + t])),
    );
    const n = at.length;
    const factor = new Float64Array(n * n);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j <= i; j++)
        factor[i * n + j] = own * (kernel[(at[i] as number) * rows + (at[j] as number)] as number);
      factor[i * n + i] = (factor[i * n + i] as number) + noise + (itemNoise[t] as number);
    }
    await factorise(factor, n, pace);
    known.push(at);
    precisions.push(factor);
    // Lower rows of the root that belong to known scores: B [n, rows]; then Bᵀ P B and Bᵀ P y.
    const half = new Float64Array(n * rows);
    for (let i = 0; i < n; i++)
      for (let k = 0; k <= (at[i] as number); k++) half[i * rows + k] = root[(at[i] as number) * rows + k] as number;
    await forwardSolve(factor, n, half, rows, pace);
    const y = Float64Array.from(at, (row) => values[row * columns + t] as number);
    await forwardSolve(factor, n, y, 1, pace);
    const product = await gram(half, n, rows, pace);
    const projected = new Float64Array(rows);
    for (let i = 0; i < n; i++)
      for (let k = 0; k < rows; k++)
        projected[k] = (projected[k] as number) + (half[i * rows + k] as number) * (y[i] as number);
    for (let r = 0; r < shared; r++) {
      const a = weights[t * shared + r] as number;
      for (let k = 0; k < rows; k++)
        right[r * rows + k] = (right[r * rows + k] as number) + a * (projected[k] as number);
      for (let u = 0; u <= r; u++) {
        if (pace.due()) await pace.pause();
        const both = a * (weights[t * shared + u] as number);
        for (let i = 0; i < rows; i++) {
          const to = (r * rows + i) * size + u * rows;
          for (let j = 0; j < rows; j++)
            system[to + j] = (system[to + j] as number) + both * (product[i * rows + j] as number);
        }
      }
    }
  }
  for (let i = 0; i < size; i++) system[i * size + i] = (system[i * size + i] as number) + 1;
  await factorise(system, size, pace);
  solveCholesky(system, size, right);
  /** Shared functions at the rows: L u. */
  const functions = new Float64Array(size);
  for (let r = 0; r < shared; r++)
    for (let i = 0; i < rows; i++) {
      let sum = 0;
      for (let k = 0; k <= i; k++) sum += (root[i * rows + k] as number) * (right[r * rows + k] as number);
      functions[r * rows + i] = sum;
    }
  // What is left of a column's scores, weighed by its precision: all that predictions need.
  const dual = new Float64Array(columns * rows);
  const sharedDual = new Float64Array(shared * rows);
  for (let t = 0; t < columns; t++) {
    if (pace.due()) await pace.pause();
    const at = known[t] as Int32Array;
    const rest = Float64Array.from(at, (row) => {
      let sum = values[row * columns + t] as number;
      for (let r = 0; r < shared; r++)
        sum -= (weights[t * shared + r] as number) * (functions[r * rows + row] as number);
      return sum;
    });
    solveCholesky(precisions[t] as Float64Array, at.length, rest);
    for (const [i, row] of at.entries()) {
      dual[t * rows + row] = rest[i] as number;
      for (let r = 0; r < shared; r++)
        sharedDual[r * rows + row] =
          (sharedDual[r * rows + row] as number) + (weights[t * shared + r] as number) * (rest[i] as number);
    }
  }
  return {
    predict(asked) {
      const along = (of: Float64Array, from: number): number => {
        let sum = 0;
        for (let row = 0; row < rows; row++) sum += (asked[row] as number) * (of[from * rows + row] as number);
        return sum;
      };
      const shares = Float64Array.from({ length: shared }, (_, r) => along(sharedDual, r));
      return Float64Array.from({ length: columns }, (_, t) => {
        let sum = own * along(dual, t);
        for (let r = 0; r < shared; r++) sum += (weights[t * shared + r] as number) * (shares[r] as number);
        return sum;
      });
    },
  };
}

/** In place: the Cholesky factor. */
async function factorise(matrix: Float64Array, n: number, pace: Pace): Promise<void> {
  for (let row = 0; row < n; row++) {
    if (pace.due()) await pace.pause();
    choleskyRow(matrix, n, row);
  }
}

/** In place: b [n, width] becomes L⁻¹ b. */
async function forwardSolve(lower: Float64Array, n: number, b: Float64Array, width: number, pace: Pace): Promise<void> {
  for (let i = 0; i < n; i++) {
    if (pace.due()) await pace.pause();
    for (let k = 0; k < i; k++) {
      const by = lower[i * n + k] as number;
      if (by === 0) continue;
      for (let j = 0; j < width; j++)
        b[i * width + j] = (b[i * width + j] as number) - by * (b[k * width + j] as number);
    }
    const scale = 1 / (lower[i * n + i] as number);
    for (let j = 0; j < width; j++) b[i * width + j] = (b[i * width + j] as number) * scale;
  }
}

/** aᵀ a, [width, width], of a [n, width] */
async function gram(a: Float64Array, n: number, width: number, pace: Pace): Promise<Float64Array> {
  const out = new Float64Array(width * width);
  for (let k = 0; k < n; k++) {
    if (pace.due()) await pace.pause();
    for (let i = 0; i < width; i++) {
      const one = a[k * width + i] as number;
      if (one === 0) continue;
      for (let j = 0; j < width; j++)
        out[i * width + j] = (out[i * width + j] as number) + one * (a[k * width + j] as number);
    }
  }
  return out;
}
