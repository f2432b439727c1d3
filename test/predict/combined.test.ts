/** The combined predictor on made-up records whose truth is known: it beats the baseline, repeats itself, and can be stopped. */
import { describe, expect, it } from 'vitest';
import { additivePredictor } from '../../src/predict/additive.ts';
import { combinedPredictor } from '../../src/predict/combined.ts';
import { evaluatePredictors } from '../../src/predict/evaluate.ts';
import type { ScoreRecord } from '../../src/predict/types.ts';
import { CancelledError } from '../../src/shared/errors.ts';
import { Random } from '../../src/shared/random.ts';
import { record } from './oracle.ts';

/** Models with two abilities; tasks that ask for one or the other and saturate. */
function madeUp(models: number, tasks: number, seed: number): ScoreRecord[] {
  const random = new Random(seed);
  const kinds = Array.from({ length: tasks }, (_, t) => ({ at: 2 * random.uniform() - 1, second: t % 3 === 0 }));
  return Array.from({ length: models }, (_, m) => {
    const size = 1e8 * 2 ** (9 * random.uniform());
    const ability = Math.log(size / 1e9);
    const other = random.normal();
    return kinds.map(({ at, second }, t): ScoreRecord => {
      const expected = 0.2 + 0.7 / (1 + Math.exp(-2 * ((second ? other : 0.6 * ability) - at)));
      return record({
        family: `family ${m % 6}`,
        model: `model ${m}`,
        parameters: { total: size, nonEmbedding: null, flopMatched: null },
        task: `task ${t}`,
        subtask: `task ${t}`,
        metric: 'acc',
        score: Math.min(1, Math.max(0, expected + 0.02 * random.normal())),
        n: 500,
      });
    });
  }).flat();
}

const records = madeUp(36, 18, 1);

describe('the combined predictor', () => {
  it('predicts what two abilities and saturation make, well above model + task', async () => {
    const { predictors } = await evaluatePredictors(records, [additivePredictor, combinedPredictor], 'L1', {
      folds: 4,
    });
    const [additive, combined] = predictors.map(({ pooled }) => pooled.r2 ?? 0);
    expect(additive).toBeLessThan(0.85);
    expect(combined).toBeGreaterThan(0.93);
  }, 60_000);

  it('is the same for the same seed, and has a vector for each subtask', async () => {
    const one = await combinedPredictor.fit(records.slice(100), { seed: 3 });
    const other = await combinedPredictor.fit(records.slice(100), { seed: 3 });
    const asked = records.slice(0, 100);
    expect(one.predict(asked)).toEqual(other.predict(asked));
    const vectors = one.taskVectors?.();
    expect(vectors?.size).toBe(18);
    expect(new Set([...(vectors?.values() ?? [])].map(({ length }) => length)).size).toBe(1);
  }, 60_000);

  it('says something of a model and of a task that nobody ran, within 0 and 1', async () => {
    const fitted = await combinedPredictor.fit(records, { seed: 0 });
    const [record] = records;
    if (!record) throw new Error('no records');
    const small = { ...record, model: 'new', family: 'new', parameters: { ...record.parameters, total: 1e8 } };
    const large = { ...small, model: 'newer', parameters: { ...record.parameters, total: 5e10 } };
    const tasks = records.slice(0, 18).filter(({ task }) => Number(task.slice(5)) % 3 !== 0);
    const mean = (of: ScoreRecord): number =>
      fitted
        .predict(tasks.map(({ task, subtask }) => ({ ...of, task, subtask })))
        .reduce((sum, value) => sum + value / tasks.length, 0);
    expect(mean(large)).toBeGreaterThan(mean(small) + 0.2);
    const [unknown] = fitted.predict([{ ...record, task: 'another', subtask: 'another' }]);
    expect(unknown).toBeGreaterThan(0);
    expect(unknown).toBeLessThan(1);
  }, 60_000);

  it('ends where the user cancels', async () => {
    // Learning from these takes seconds.
    const many = madeUp(120, 60, 2);
    await expect(combinedPredictor.fit(many, { seed: 0, signal: AbortSignal.timeout(60) })).rejects.toBeInstanceOf(
      CancelledError,
    );
  }, 60_000);
});
