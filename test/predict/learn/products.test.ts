/** What the combined predictor makes of columns of like names, against numpy, SciPy and scikit-learn (make/products.py). */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { columnLikenesses } from '../../../src/predict/learn/likeness.ts';
import { openPace } from '../../../src/predict/learn/pace.ts';
import { fitProductProcess } from '../../../src/predict/learn/product-process.ts';
import { rowScales, structureOf } from '../../../src/predict/learn/structure.ts';
import { CancelledError } from '../../../src/shared/errors.ts';

interface Fixture {
  columns: { task: string; subtask: string; shots: number; mode: null; metric: string }[];
  likenesses: number[][];
  structure: { width: number; covariance: number[]; coefficients: number[]; target: number[] };
  scales: { rows: number[][]; directions: number[][]; expected: number[] };
  process: {
    rows: number;
    values: (number | null)[];
    itemNoise: number[];
    kernel: number[];
    asked: number[];
    common: number[];
    single: number[];
    scale: number[];
    predicted: number[];
  };
}

const fixture = JSON.parse(readFileSync(new URL('products.json', import.meta.url), 'utf8')) as Fixture;
const { columns } = fixture;
const width = columns.length;

const furthest = (found: ArrayLike<number>, expected: readonly number[]): number => {
  expect(found.length).toBe(expected.length);
  return Math.max(...expected.map((value, at) => Math.abs(value - (found[at] ?? Number.NaN))));
};

describe('columns of like names', () => {
  it('are alike by the words of their tasks, within settings and within metrics', () => {
    for (const [at, likeness] of columnLikenesses(columns).entries())
      expect(furthest(likeness, fixture.likenesses[at] ?? [])).toBeLessThan(1e-8);
  });

  it('are alike to themselves only, where names have no word in common, or none at all', () => {
    const named = (task: string) => ({ task, subtask: task, shots: 0, mode: null, metric: 'acc' });
    expect([...(columnLikenesses([named('one'), named('two')])[0] ?? [])]).toEqual([1, 0, 0, 1]);
    expect([...(columnLikenesses([named('…'), named('!')])[0] ?? [])]).toEqual([1, 0, 0, 1]);
    expect([...(columnLikenesses([named('one')])[0] ?? [])]).toEqual([1]);
  });

  it('have a rest in common as far as their scores show it: two components, then least squares of at least 0', () => {
    const { width: all, covariance, coefficients, target } = fixture.structure;
    const found = structureOf(Float64Array.from(covariance), all, columnLikenesses(columns), width);
    expect(furthest(found.coefficients, coefficients)).toBeLessThan(1e-4);
    expect(furthest(found.target, target)).toBeLessThan(1e-4);
  });
});

describe('rows', () => {
  it('are scaled by how far they are off what columns share', () => {
    const { rows, directions, expected } = fixture.scales;
    const vectors = (of: number[][]): Float64Array[] => of.map((one) => Float64Array.from(one));
    expect(furthest(rowScales(vectors(rows), vectors(directions)), expected)).toBeLessThan(1e-6);
  });
});

describe('the Gaussian process over models and columns', () => {
  const { process } = fixture;
  const floats = (of: readonly (number | null)[]): Float64Array => Float64Array.from(of, (one) => one ?? Number.NaN);
  const input = {
    rows: process.rows,
    columns: width,
    values: floats(process.values),
    itemNoise: floats(process.itemNoise),
    kernel: floats(process.kernel),
    common: floats(process.common),
    single: floats(process.single),
    scale: floats(process.scale),
  };

  it('predicts what the dense system of all scores predicts, of rows that it knows and of one that it does not', async () => {
    const fitted = await fitProductProcess(input, openPace());
    for (let row = 0; row <= process.rows; row++) {
      const asked = floats(process.asked.slice(row * process.rows, (row + 1) * process.rows));
      const found = fitted.predict(asked, row < process.rows ? row : null);
      expect(furthest(found, process.predicted.slice(row * width, (row + 1) * width))).toBeLessThan(1e-4);
    }
  });

  it('can be stopped, and answers rows without a score', async () => {
    const stopped = { due: () => true, pause: () => Promise.reject(new CancelledError('Stopped.')) };
    await expect(fitProductProcess(input, stopped)).rejects.toBeInstanceOf(CancelledError);
    const empty = await fitProductProcess({ ...input, values: input.values.map(() => Number.NaN) }, openPace());
    expect([...empty.predict(new Float64Array(process.rows).fill(1), 0)]).toEqual([...new Float64Array(width)]);
  });
});
