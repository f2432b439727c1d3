import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ClosedFormObjective, foldOf } from '../../../src/predict/small-bench/objective.ts';
import type { ScoreTable } from '../../../src/predict/small-bench/table.ts';
import { learnTaskCovariance } from '../../../src/predict/small-bench/task-covariance.ts';
import { randomTable } from './tables.ts';

/** Made with numpy and scikit-learn: test/fixtures/small-bench/make.py. */
const oracle = JSON.parse(readFileSync('test/fixtures/small-bench/oracle.json', 'utf8')) as {
  folds: {
    covariance: number[][];
    noise: number[];
    expected: number[][];
    scores: (number | null)[][];
    values: { subset: number[]; r2: number }[];
  }[];
  rows: {
    parameters: number[];
    shots: number[];
    scores: number[][];
    train: number[];
    test: number[];
    expected: number[][];
  };
};
const folds = oracle.folds.map(({ covariance, noise, expected, scores }) =>
  foldOf(
    Float64Array.from(scores.flat(), (score) => score ?? Number.NaN),
    scores.length,
    {
      covariance: Float64Array.from(covariance.flat()),
      noise: Float64Array.from(noise),
      expected: Float64Array.from(expected.flat()),
    },
  ),
);
const width = oracle.folds[0]?.noise.length ?? 0;

describe('the closed-form objective', () => {
  it.each([0, 1])('is the R² of the conditional mean (fold %i; the second has gaps)', (at) => {
    const objective = new ClosedFormObjective(width, folds.slice(at, at + 1));
    for (const { subset, r2 } of oracle.folds[at]?.values ?? []) {
      expect(objective.value(subset)).toBeCloseTo(r2, 9);
      const grown = subset.reduce((state, k) => state.with(k), objective.start());
      expect(grown.value).toBeCloseTo(r2, 9);
    }
  });

  it('is the mean over folds', () => {
    const both = new ClosedFormObjective(width, folds);
    expect(both.value([0, 5])).toBeCloseTo((both.values([0, 5]) as [number, number]).reduce((a, b) => a + b) / 2, 12);
  });

  it('values all candidates at once as it values each alone', () => {
    const objective = new ClosedFormObjective(width, folds.slice(0, 1));
    for (const selected of [[], [4], [2, 8, 1]]) {
      const values = selected.reduce((state, k) => state.with(k), objective.start()).candidates();
      for (let k = 0; k < width; k++)
        if (selected.includes(k)) expect(values[k]).toBeNaN();
        else expect(values[k]).toBeCloseTo(objective.value([...selected, k]), 9);
    }
  });

  it('values the best candidates exactly where there are gaps, and no other above them', () => {
    const objective = new ClosedFormObjective(width, folds.slice(1));
    const values = objective.start().with(2).with(6).candidates();
    const sorted = [...values.keys()]
      .filter((k) => !Number.isNaN(values[k]))
      .sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
    for (const k of sorted.slice(0, 3)) expect(values[k]).toBeCloseTo(objective.value([2, 6, k]), 9);
  });

  it('does not change a growing subset that another one is made of', () => {
    const objective = new ClosedFormObjective(width, folds);
    const one = objective.start().with(3);
    const before = [...one.candidates()];
    one.with(5);
    expect([...one.candidates()]).toEqual(before);
  });

  it('foretells within 0 and 1, and keeps what is measured', () => {
    const objective = new ClosedFormObjective(width, folds.slice(0, 1));
    const predicted = objective.predictions([1, 4], 0);
    for (const [cell, value] of predicted.entries()) {
      expect(value).toBeGreaterThanOrEqual(0);
      const measured = oracle.folds[0]?.scores[Math.floor(cell / width)]?.[cell % width];
      if ([1, 4].includes(cell % width)) expect(value).toBeCloseTo(measured ?? Number.NaN, 12);
    }
  });

  it('is of nothing where the subset is all', () => {
    expect(new ClosedFormObjective(width, folds).value([...Array(width).keys()])).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe('what is expected of a new model', () => {
  it("is scikit-learn's kernel ridge regression on its size and shots", () => {
    const { parameters, shots, scores, train, test, expected } = oracle.rows;
    const table: ScoreTable = {
      rows: parameters.map((total, at) => ({
        family: `family ${at % 3}`,
        model: `model ${at}`,
        parameters: { total, nonEmbedding: null, flopMatched: null },
        trainingFlops: null,
        shots: shots[at] ?? 0,
        mode: null,
      })),
      subtasks: Array.from({ length: 4 }, (_, k) => ({
        name: `${k}`,
        task: `${k}`,
        subtask: `${k}`,
        metric: 'acc',
        items: null,
      })),
      scores: Float64Array.from(scores.flat()),
      records: new Int32Array(32),
      noise: new Float64Array(4),
      leftOut: [],
    };
    const found = learnTaskCovariance(table, train, test).expected;
    for (const [at, value] of expected.flat().entries()) expect(found[at]).toBeCloseTo(value, 9);
  });

  it('has a symmetric covariance and noise above 0', () => {
    const table = randomTable(3);
    const { covariance, noise } = learnTaskCovariance(table, [...table.rows.keys()].slice(0, 20), [20]);
    const n = table.subtasks.length;
    for (let j = 0; j < n; j++) {
      expect(noise[j]).toBeGreaterThan(0);
      for (let k = 0; k < n; k++) expect(covariance[j * n + k]).toBe(covariance[k * n + j]);
    }
  });
});
