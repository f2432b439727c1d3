import { describe, expect, it } from 'vitest';
import {
  baseline,
  binomial,
  evaluatePredictors,
  fitOf,
  meanAndSd,
  noiseCeiling,
  predictors,
  simulatedCeiling,
} from '../../src/predict/index.ts';
import { Random } from '../../src/shared/random.ts';
import { oracle, oracleRecords, pick, record } from './oracle.ts';

const [mean] = predictors;
if (!mean) throw new Error('no predictors');

describe('fit', () => {
  it("is scikit-learn's R² and root mean squared error", () => {
    const { n, rmse, r2 } = fitOf(
      pick(oracle.test).map(({ score }) => score),
      oracle.additive,
    );
    expect(n).toBe(oracle.test.length);
    expect(rmse).toBeCloseTo(oracle.fit.rmse, 10);
    expect(r2).toBeCloseTo(oracle.fit.r2, 10);
  });

  it('has no R² where scores do not vary, and nothing where there are none', () => {
    expect(fitOf([0.5, 0.5], [0.4, 0.6])).toEqual({ n: 2, rmse: expect.closeTo(0.1, 10), r2: null });
    expect(fitOf([], [])).toEqual({ n: 0, rmse: null, r2: null });
  });

  it('has a sample standard deviation, of what is known', () => {
    expect(meanAndSd([1, null, 3])).toEqual({ mean: 2, sd: Math.SQRT2 });
    expect(meanAndSd([1])).toEqual({ mean: 1, sd: null });
    expect(meanAndSd([null])).toEqual({ mean: null, sd: null });
  });
});

describe('evaluation', () => {
  it('measures predictors on the same folds, on records that they have not seen', async () => {
    const { split, predictors: found } = await evaluatePredictors(oracleRecords, [mean, baseline], 'L1');
    expect(found.map(({ predictor }) => predictor)).toEqual(['mean', 'additive']);
    for (const { heldOut, folds, pooled } of found) {
      expect(heldOut.map(({ record: at }) => at).sort((a, b) => a - b)).toEqual([...oracleRecords.keys()]);
      expect(folds.map(({ n }) => n)).toEqual(split.folds.map(({ test }) => test.length));
      expect(pooled.n).toBe(oracleRecords.length);
    }
    // The mean of the others is a little worse than the held-out ones' own mean.
    const r2 = found[0]?.pooled.r2 ?? Number.NaN;
    expect(r2).toBeLessThan(0);
    expect(r2).toBeGreaterThan(-0.05);
  });

  it('hands test records to no predictor', async () => {
    const seen: number[] = [];
    const { split } = await evaluatePredictors(
      oracleRecords,
      [
        {
          name: 'spy',
          title: 'spy',
          async fit(records, { development = [] }) {
            seen.push(records.length + development.length);
            const known = new Set([...records, ...development]);
            return {
              predict(configurations) {
                for (const one of configurations) expect(known.has(one as (typeof oracleRecords)[number])).toBe(false);
                return new Float64Array(configurations.length);
              },
            };
          },
        },
      ],
      'L4',
    );
    expect(seen).toEqual(split.folds.map(({ train, development }) => train.length + development.length));
  });

  it('tells fits by subtask and by family, whose squared errors add up to those of all', async () => {
    const { predictors: found } = await evaluatePredictors(oracleRecords, [baseline], 'L3');
    const [{ perTask, perFamily, pooled } = { perTask: new Map(), perFamily: new Map(), pooled: fitOf([], []) }] =
      found;
    expect([...perFamily.keys()].sort()).toEqual(['Alder', 'Birch', 'Cedar', 'Dogwood']);
    expect(perTask.size).toBe(15);
    for (const groups of [perTask, perFamily]) {
      const squares = [...groups.values()].reduce((sum, { n, rmse }) => sum + n * (rmse ?? 0) ** 2, 0);
      expect(squares / pooled.n).toBeCloseTo((pooled.rmse ?? 0) ** 2, 10);
    }
  });

  it('tells progress up to 1, and can be stopped', async () => {
    const told: number[] = [];
    await evaluatePredictors(oracleRecords, [mean, baseline], 'family', { progress: (done) => told.push(done) });
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told.at(-1)).toBe(1);
    await expect(evaluatePredictors(oracleRecords, [baseline], 'L1', { signal: AbortSignal.abort() })).rejects.toThrow(
      'Stopped',
    );
  });
});

describe('noise ceiling', () => {
  const { truth, items, measured, r2, sd } = oracle.noise;
  const records = measured.map((score, at) => ({ score, n: items[at] ?? null }));

  it("is the R² that numpy's draws leave to one who knows the true shares", () => {
    expect(Math.abs((noiseCeiling(records) ?? 0) - r2)).toBeLessThan(0.003);
  });

  it('agrees with drawing', () => {
    const exact = truth.map((score, at) => ({ score, n: items[at] ?? null }));
    const drawn = simulatedCeiling(exact, { draws: 300 });
    expect(Math.abs((drawn.mean ?? 0) - r2)).toBeLessThan(4 * (sd / Math.sqrt(300)) + 4 * (sd / Math.sqrt(2000)));
    expect(drawn.sd ?? 0).toBeGreaterThan(sd / 1.3);
    expect(drawn.sd ?? 0).toBeLessThan(sd * 1.3);
  });

  it('is not known where items are not known, and 1 where there is no noise', () => {
    expect(noiseCeiling(records.map(({ score }) => ({ score, n: null })))).toBeNull();
    expect(simulatedCeiling([record()]).mean).toBeNull();
    expect(
      noiseCeiling([
        { score: 0, n: 10 },
        { score: 1, n: 10 },
      ]),
    ).toBe(1);
    expect(noiseCeiling([{ score: 0.5, n: 10 }])).toBeNull();
  });

  it.each([
    [20, 0.3],
    [200, 0.02],
    [50, 0.9],
  ])('draws %d items at %d with the mean and variance of the binomial distribution', (n, p) => {
    const random = new Random(1);
    const draws = Array.from({ length: 20_000 }, () => binomial(random, n, p));
    const average = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
    const variance = draws.reduce((sum, draw) => sum + (draw - average) ** 2, 0) / draws.length;
    expect(Math.abs(average - n * p)).toBeLessThan(5 * Math.sqrt((n * p * (1 - p)) / draws.length));
    expect(Math.abs(variance / (n * p * (1 - p)) - 1)).toBeLessThan(0.06);
    expect(Math.min(...draws)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...draws)).toBeLessThanOrEqual(n);
    expect(binomial(random, n, 0)).toBe(0);
    expect(binomial(random, n, 1)).toBe(n);
  });
});
