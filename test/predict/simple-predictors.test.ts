import { describe, expect, it } from 'vitest';
import { fitAdditive } from '../../src/predict/additive.ts';
import { alternatingLeastSquares, factorPredictor } from '../../src/predict/factors.ts';
import { baseline, type Configuration, fitOf, predictorOf } from '../../src/predict/index.ts';
import { neighbourPredictor, neighbourValue } from '../../src/predict/neighbours.ts';
import { fitRidge, ridgePredictor } from '../../src/predict/ridge.ts';
import { turns } from '../../src/predict/turn.ts';
import { oracle, oracleRecords, pick, record } from './oracle.ts';

const clipped = (values: readonly number[]): number[] => values.map((value) => Math.min(1, Math.max(0, value)));
const close = (found: ArrayLike<number>, wanted: readonly number[], digits: number): void => {
  expect(found.length).toBe(wanted.length);
  for (const [at, value] of wanted.entries()) expect(found[at]).toBeCloseTo(value, digits);
};
const training = pick(oracle.train);
const test = pick(oracle.test);
const scores = test.map(({ score }) => score);

describe('additive baseline', () => {
  it("is scikit-learn's Ridge over one-hot levels", async () => {
    close((await fitAdditive(training, turns())).predict(test), clipped(oracle.additive), 6);
  });

  it('puts an unknown model at its family, and an unknown task at the mean of all', async () => {
    const fitted = await baseline.fit(training, { seed: 0 });
    const [known] = test;
    if (!known) throw new Error('no records');
    const mean = (family: string): number => {
      const own = training.filter((one) => one.family === family).map(({ score }) => score);
      return own.reduce((sum, score) => sum + score, 0) / own.length;
    };
    const unknown = (family: string): Configuration => ({
      ...known,
      family,
      model: 'new',
      task: 'new',
      subtask: 'new',
    });
    const [alder = 0, dogwood = 0] = fitted.predict([unknown('Alder'), unknown('Dogwood')]);
    expect(alder > dogwood).toBe(mean('Alder') > mean('Dogwood'));
    const [other] = fitted.predict([unknown('Elm')]);
    const all = training.reduce((sum, { score }) => sum + score, 0) / training.length;
    expect(Math.abs((other ?? 0) - all)).toBeLessThan(0.02);
  });
});

describe('ridge regression', () => {
  it.each([0.1, 10])("is scikit-learn's over one-hot and standardised features, penalty %d", async (penalty) => {
    close(
      (await fitRidge(training, penalty, turns())).predict(test),
      clipped(oracle.ridge[penalty.toFixed(1)] ?? []),
      6,
    );
  });

  it('chooses its penalty by development records, the same for the same seed', async () => {
    const once = await ridgePredictor.fit(training, { seed: 1 });
    const twice = await ridgePredictor.fit(training, { seed: 1 });
    expect(once.predict(test)).toEqual(twice.predict(test));
  });
});

describe('matrix factors', () => {
  const { matrix, rank, penalty, product } = oracle.factors;
  it('with all cells known are the SVD with singular values lowered by the penalty', async () => {
    const ofRow = matrix.map((row) => row.map((value, at) => ({ at, value })));
    const ofColumn = (matrix[0] ?? []).map((_, column) =>
      matrix.map((row, at) => ({ at, value: row[column] ?? Number.NaN })),
    );
    const { rows, columns } = await alternatingLeastSquares(
      ofRow,
      ofColumn,
      { rank, penalty, rounds: 400 },
      0,
      turns(),
    );
    for (const [i, row] of product.entries())
      for (const [j, value] of row.entries()) {
        let found = 0;
        for (let k = 0; k < rank; k++) found += (rows[i * rank + k] ?? 0) * (columns[j * rank + k] ?? 0);
        expect(found).toBeCloseTo(value, 6);
      }
  });

  it('see what the baseline cannot: how models differ in what they are good at', async () => {
    const additive = (await baseline.fit(training, { seed: 0 })).predict(test);
    const factors = (await factorPredictor.fit(training, { seed: 0 })).predict(test);
    const before = fitOf(scores, [...additive]).r2 ?? 0;
    const after = fitOf(scores, [...factors]).r2 ?? 0;
    expect(after).toBeGreaterThan(before + 0.5 * (1 - before));
  });

  it('place a model of an unknown family by its size', async () => {
    const fitted = await factorPredictor.fit(oracleRecords, { seed: 0 });
    const sized = (total: number): Configuration =>
      record({ family: 'Elm', model: `Elm-${total}`, parameters: { total, nonEmbedding: null, flopMatched: null } });
    const columns = [...new Map(oracleRecords.map((one) => [one.subtask, one])).values()];
    const mean = (total: number): number => {
      const { family, model, parameters } = sized(total);
      const predicted = fitted.predict(columns.map((one) => ({ ...one, family, model, parameters })));
      return predicted.reduce((sum, value) => sum + value, 0) / predicted.length;
    };
    expect(mean(1e11)).toBeGreaterThan(mean(1e6) + 0.2);
  });

  it('give each subtask a vector of one length', async () => {
    const vectors = (await factorPredictor.fit(training, { seed: 0 })).taskVectors?.();
    expect(vectors?.size).toBe(15);
    expect(new Set([...(vectors ?? new Map()).values()].map(({ length }) => length)).size).toBe(1);
  });
});

describe('nearest neighbours', () => {
  const { residuals, known, k, shrinkage, predicted } = oracle.neighbours;
  const cells = (rows: readonly (readonly number[])[], has: (i: number, j: number) => boolean | undefined) =>
    rows.map((row, i) => row.flatMap((value, at) => (has(i, at) ? [{ at, value }] : [])));
  const turned = (residuals[0] ?? []).map((_, j) => residuals.map((row) => row[j] ?? Number.NaN));
  it('average what similar rows have, weighted by shrunk correlations', () => {
    const ofRow = cells(residuals, (i, j) => known[i]?.[j]);
    const ofColumn = cells(turned, (j, i) => known[i]?.[j]);
    const value = neighbourValue(ofRow, ofColumn, { neighbours: k, shrinkage });
    for (const [i, row] of predicted.entries())
      for (const [j, wanted] of row.entries()) expect(value(i, j)).toBeCloseTo(wanted, 10);
  });

  it('do better than the baseline where models differ in what they are good at', async () => {
    const additive = (await baseline.fit(training, { seed: 0 })).predict(test);
    const near = (await neighbourPredictor.fit(training, { seed: 0 })).predict(test);
    expect(fitOf(scores, [...near]).r2 ?? 0).toBeGreaterThan(fitOf(scores, [...additive]).r2 ?? 1);
  });
});

describe.each(['mean', 'additive', 'ridge', 'svd', 'knn'])('%s', (name) => {
  it('predicts scores from 0 to 1 for anything that is asked', async () => {
    const predictor = predictorOf(name);
    const fitted = await predictor?.fit(training, { seed: 0, development: test });
    const strange = [
      record({ family: 'new', model: 'new', task: 'new', subtask: 'new', metric: 'new', shots: 99 }),
      record({ parameters: { total: null, nonEmbedding: null, flopMatched: null } }),
      record({ parameters: { total: 1e15, nonEmbedding: null, flopMatched: null }, trainingFlops: 1e30 }),
      ...test,
    ];
    for (const value of fitted?.predict(strange) ?? [Number.NaN]) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1);
    }
  });

  it.each([1, 2, 5])('learns from %d records', async (count) => {
    const fitted = await predictorOf(name)?.fit(training.slice(0, count), { seed: 0 });
    for (const value of fitted?.predict(test) ?? [Number.NaN]) expect(value).not.toBeNaN();
  });

  it('can be stopped', async () => {
    const stopped = AbortSignal.abort();
    if (name === 'mean') return;
    await expect(predictorOf(name)?.fit(training, { seed: 0, signal: stopped })).rejects.toThrow('Stopped');
  });
});
