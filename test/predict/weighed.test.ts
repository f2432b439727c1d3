/** A mean of two predictors: the weights that the records give them. */
import { describe, expect, it } from 'vitest';
import { predictorOf } from '../../src/predict/index.ts';
import { syntheticRecords } from '../../src/predict/synthetic.ts';
import type { Predictor, ScoreRecord } from '../../src/predict/types.ts';
import { shareOfFirst, weighed } from '../../src/predict/weighed.ts';

const { records } = syntheticRecords({ seed: 1, subtasks: 8, families: ['GPT', 'PaLM'] });

/** Knows the scores, and is off by what `error` says. */
const off = (name: string, error: (at: number) => number): Predictor => ({
  name,
  title: name,
  fit: async () => ({
    predict: (asked) =>
      Float64Array.from(asked, (one) => {
        const at = records.indexOf(one as ScoreRecord);
        return (records[at]?.score ?? 0) + error(at);
      }),
  }),
});

describe('weights of two predictors', () => {
  it('are those of the least squared error', () => {
    const scores = Float64Array.from(records, ({ score }) => score);
    const wrong = (by: (at: number) => number) => scores.map((score, at) => score + by(at));
    // Errors of opposite signs, one three times the other: they cancel at a quarter.
    const [first, second] = [wrong((at) => (at % 2 ? 0.3 : -0.3)), wrong((at) => (at % 2 ? -0.1 : 0.1))];
    expect(shareOfFirst(records, first, second)).toBeCloseTo(0.25, 10);
    expect(shareOfFirst(records, scores, second)).toBeCloseTo(1, 10);
    expect(shareOfFirst(records, second, scores)).toBeCloseTo(0, 10);
    // Both too high: the better one alone.
    expect(
      shareOfFirst(
        records,
        wrong(() => 0.3),
        wrong(() => 0.1),
      ),
    ).toBe(0);
    expect(shareOfFirst(records, second, second)).toBe(0.5);
  });

  it('are learned in large tables; small ones are left to the main predictor', async () => {
    const main = off('main', (at) => (at % 2 ? -0.1 : 0.1));
    const other = off('other', (at) => (at % 2 ? 0.3 : -0.3));
    const errors = async (least: number) => {
      const fitted = await weighed(main, other, { least }).fit(records, { seed: 0 });
      return fitted.predict(records).map((value, at) => Math.abs(value - (records[at]?.score ?? 0)));
    };
    expect(Math.max(...(await errors(records.length)))).toBeLessThan(1e-9);
    expect(Math.min(...(await errors(records.length + 1)))).toBeCloseTo(0.1, 9);
  });

  it('is the name of the main predictor that it has', () => {
    expect(predictorOf('combined')?.title).toBe('combined');
  });
});
