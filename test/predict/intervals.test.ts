/** Intervals by held-out errors: what the quantile is, and that they hold what they say. */
import { describe, expect, it } from 'vitest';
import type { HeldOut } from '../../src/predict/evaluate.ts';
import { conformalIntervals, conformalQuantile, measuredCoverage } from '../../src/predict/intervals.ts';
import type { ScoreRecord } from '../../src/predict/types.ts';
import { Random } from '../../src/shared/random.ts';
import { record as usualRecord } from './oracle.ts';

const record = (model: number, column: number, score: number): ScoreRecord =>
  usualRecord({
    family: `family ${model % 4}`,
    model: `model ${model}`,
    task: `task ${column}`,
    subtask: `task ${column}`,
    metric: 'acc',
    score,
  });

describe('intervals', () => {
  it('take of n errors the ⌈0.9 (n + 1)⌉-th, and none where there are too few', () => {
    const errors = Array.from({ length: 19 }, (_, at) => at + 1);
    expect(conformalQuantile(errors)).toBe(18);
    expect(conformalQuantile(errors.slice(0, 9))).toBe(9);
    expect(conformalQuantile(errors.slice(0, 8))).toBeNull();
  });

  it('cover 90 % of new errors, on quiet and on loud columns alike, and are as wide as the column is loud', () => {
    const random = new Random(2);
    const spread = (column: number): number => 0.01 * (2 + column);
    const error = (column: number): number => Math.abs(spread(column) * random.normal());
    const columns = 10;
    const calibration = Array.from({ length: 20000 }, (_, at) => ({
      configuration: record(at, at % columns, 0),
      error: error(at % columns),
    }));
    const { halfWidth } = conformalIntervals(calibration);
    for (const column of [0, 4, 9]) {
      const half = halfWidth(record(0, column, 0)) as number;
      // 1.645 standard deviations hold 90 % of a normal distribution.
      expect(half / spread(column)).toBeGreaterThan(1.5);
      expect(half / spread(column)).toBeLessThan(1.8);
      const within = Array.from({ length: 20000 }, () => error(column)).filter((one) => one <= half).length / 20000;
      expect(within).toBeGreaterThan(0.88);
      expect(within).toBeLessThan(0.92);
    }
  });

  it('are measured on folds that they were not made of', () => {
    const random = new Random(7);
    const records: ScoreRecord[] = [];
    const heldOut: HeldOut[] = [];
    for (let at = 0; at < 3000; at++) {
      const wide = at % 7 === 0 ? 0.2 : 0.02;
      records.push(record(at, at % 7, 0.5 + wide * random.normal()));
      heldOut.push({ record: at, fold: at % 10, predicted: 0.5 });
    }
    const { share, n } = measuredCoverage(records, heldOut) ?? { share: 0, n: 0 };
    expect(n).toBe(3000);
    expect(share).toBeGreaterThan(0.88);
    expect(share).toBeLessThan(0.92);
    expect(
      measuredCoverage(
        records,
        heldOut.filter(({ fold }) => fold === 0),
      ),
    ).toBeNull();
  });
});
