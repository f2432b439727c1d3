/** Small dense systems: what predictors solve many of. Matrices are row-major. */

export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/**
 * In place: the lower triangle becomes L with L Lᵀ = the symmetric positive definite matrix.
 * @throws RangeError where it is not positive definite
 */
export function cholesky(matrix: Float64Array, n: number): void {
  for (let row = 0; row < n; row++) choleskyRow(matrix, n, row);
}

/** A row of `cholesky`, whose rows above are done: for large matrices between whose rows others have a turn. */
export function choleskyRow(matrix: Float64Array, n: number, i: number): void {
  for (let j = 0; j <= i; j++) {
    let sum = matrix[i * n + j] as number;
    for (let k = 0; k < j; k++) sum -= (matrix[i * n + k] as number) * (matrix[j * n + k] as number);
    if (i === j) {
      if (!(sum > 0)) throw new RangeError('The matrix is not positive definite.');
      matrix[i * n + i] = Math.sqrt(sum);
    } else matrix[i * n + j] = sum / (matrix[j * n + j] as number);
  }
}

/** In place: b becomes (L Lᵀ)⁻¹ b. */
export function solveCholesky(lower: Float64Array, n: number, b: Float64Array): void {
  for (let i = 0; i < n; i++) {
    let sum = b[i] as number;
    for (let k = 0; k < i; k++) sum -= (lower[i * n + k] as number) * (b[k] as number);
    b[i] = sum / (lower[i * n + i] as number);
  }
  for (let i = n - 1; i >= 0; i--) {
    let sum = b[i] as number;
    for (let k = i + 1; k < n; k++) sum -= (lower[k * n + i] as number) * (b[k] as number);
    b[i] = sum / (lower[i * n + i] as number);
  }
}
