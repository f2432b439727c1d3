/** The parts of the combined predictor that are in closed form: against the same formulas written out for all scores at once. */
import { describe, expect, it } from 'vitest';
import { fitLatentProcess } from '../../../src/predict/learn/latent-process.ts';
import { fitNormal } from '../../../src/predict/learn/normal.ts';
import { openPace } from '../../../src/predict/learn/pace.ts';
import { Random } from '../../../src/shared/random.ts';

/** x of A x = b, by Gauss-Jordan with pivots. */
function solve(a: number[][], b: number[]): number[] {
  const n = b.length;
  const lines = a.map((line, i) => [...line, b[i] as number]);
  const entry = (i: number, j: number): number => lines[i]?.[j] as number;
  for (let i = 0; i < n; i++) {
    let pivot = i;
    for (let k = i; k < n; k++) if (Math.abs(entry(k, i)) > Math.abs(entry(pivot, i))) pivot = k;
    [lines[i], lines[pivot]] = [lines[pivot] as number[], lines[i] as number[]];
    for (let k = 0; k < n; k++) {
      if (k === i) continue;
      const by = entry(k, i) / entry(i, i);
      for (let j = i; j <= n; j++) (lines[k] as number[])[j] = entry(k, j) - by * entry(i, j);
    }
  }
  return lines.map((_, i) => entry(i, n) / entry(i, i));
}

describe('the Gaussian process over models', () => {
  it('predicts what the dense system of all scores predicts', async () => {
    const random = new Random(8);
    const [rows, columns, shared, own, noise] = [7, 5, 2, 0.3, 0.1];
    const place = Array.from({ length: rows + 1 }, () => [random.normal(), random.normal()] as const);
    const near = (a: number, b: number): number => {
      const [p, q] = [place[a], place[b]] as [readonly number[], readonly number[]];
      return Math.exp(-(((p[0] as number) - (q[0] as number)) ** 2 + ((p[1] as number) - (q[1] as number)) ** 2) / 2);
    };
    const kernel = Float64Array.from({ length: rows * rows }, (_, at) => near(Math.floor(at / rows), at % rows));
    const weights = Float64Array.from({ length: columns * shared }, () => random.normal());
    const itemNoise = Float64Array.from({ length: columns }, () => 0.1 * random.uniform());
    const values = Float64Array.from({ length: rows * columns }, () =>
      random.uniform() < 0.25 ? Number.NaN : random.normal(),
    );
    const process = await fitLatentProcess(
      { rows, columns, values, itemNoise, weights, shared, kernel, own, noise },
      openPace(),
    );
    const cells = [...values.keys()].filter((cell) => !Number.isNaN(values[cell]));
    const covariance = (m: number, t: number, other: number, u: number): number => {
      let sum = t === u ? own : 0;
      for (let r = 0; r < shared; r++) sum += (weights[t * shared + r] as number) * (weights[u * shared + r] as number);
      return sum * near(m, other);
    };
    const of = (cell: number): [number, number] => [Math.floor(cell / columns), cell % columns];
    const dense = cells.map((a) =>
      cells.map((b) => covariance(...of(a), ...of(b)) + (a === b ? noise + (itemNoise[a % columns] as number) : 0)),
    );
    const solved = solve(
      dense,
      cells.map((cell) => values[cell] as number),
    );
    // A row that was learned from, and one that was not.
    for (const row of [2, rows]) {
      const found = process.predict(Float64Array.from({ length: rows }, (_, other) => near(row, other)));
      for (let t = 0; t < columns; t++) {
        const expected = cells.reduce(
          (sum, cell, i) => sum + covariance(row, t, ...of(cell)) * (solved[i] as number),
          0,
        );
        expect(found[t]).toBeCloseTo(expected, 3);
      }
    }
  });
});

describe('the normal distribution of rows', () => {
  it('finds the covariance that rows were drawn from, though parts are missing, and completes rows by it', async () => {
    const random = new Random(4);
    const n = 6000;
    const values = new Float64Array(n * 3);
    for (let row = 0; row < n; row++) {
      const common = random.normal();
      values[row * 3] = common + 0.5 * random.normal();
      values[row * 3 + 1] = 0.8 * common + 0.6 * random.normal();
      values[row * 3 + 2] = random.normal();
      for (let k = 0; k < 3; k++) if (random.uniform() < 0.3) values[row * 3 + k] = Number.NaN;
    }
    const { covariance, complete } = await fitNormal(values, n, 3, { shrinkage: 0, rounds: 30 }, openPace());
    const expected = [1.25, 0.8, 0, 0.8, 1, 0, 0, 0, 1];
    for (const [at, value] of expected.entries())
      expect(Math.abs((covariance[at] as number) - value)).toBeLessThan(0.06);
    const [first, second, third] = complete(Float64Array.from([2, Number.NaN, Number.NaN]));
    expect(first).toBe(2);
    expect(Math.abs((second as number) - (0.8 / 1.25) * 2)).toBeLessThan(0.1);
    expect(Math.abs(third as number)).toBeLessThan(0.1);
  });
});
