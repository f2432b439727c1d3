import { describe, expect, it } from 'vitest';
import { blended, fromAngle, onAngles, toAngle } from '../../src/predict/blend.ts';
import { syntheticRecords } from '../../src/predict/synthetic.ts';
import type { Configuration, Predictor, ScoreRecord } from '../../src/predict/types.ts';
import { Random } from '../../src/shared/random.ts';

const [example] = syntheticRecords({ seed: 1, subtasks: 2, families: ['GPT'] }).records;
if (!example) throw new Error('There are records.');
const record = (score: number): ScoreRecord => ({ ...example, score });
const asked: Configuration[] = [record(0)];

/** The mean of what was learned from. */
const mean: Predictor = {
  name: 'mean',
  title: 'mean',
  fit: async (records) => {
    const value = records.reduce((sum, { score }) => sum + score, 0) / records.length;
    return { predict: (all) => Float64Array.from(all, () => value) };
  },
};
const always = (value: number): Predictor => ({
  ...mean,
  fit: async (_, { progress }) => {
    progress?.(1);
    return { predict: (all) => Float64Array.from(all, () => value) };
  },
});

describe('a blend', () => {
  it('is the weighted mean', async () => {
    const fitted = await blended({ name: 'b', title: 'b' }, [
      { predictor: always(0.2), weight: 3 },
      { predictor: always(0.6), weight: 1 },
    ]).fit([record(0.5)], { seed: 1 });
    expect(fitted.predict(asked)[0]).toBeCloseTo(0.3, 12);
  });

  it('says how far it is, part by part', async () => {
    const told: number[] = [];
    await blended({ name: 'b', title: 'b' }, [
      { predictor: always(0), weight: 1 },
      { predictor: always(1), weight: 1 },
    ]).fit([record(0.5)], { seed: 1, progress: (done) => told.push(done) });
    expect(told).toEqual([0.5, 1]);
  });
});

describe('angles', () => {
  it('go back to what they were', () => {
    for (const share of [0, 1e-6, 0.1, 0.5, 0.73, 1]) expect(fromAngle(toAngle(share))).toBeCloseTo(share, 12);
    // arcsin √¼ is 30°, a third of a right angle.
    expect(toAngle(0.25)).toBeCloseTo(1 / 3, 12);
    expect(toAngle(0.5)).toBeCloseTo(0.5, 12);
  });

  it('have the same noise everywhere: 1 ÷ 4n in radians (Bartlett 1936)', () => {
    const random = new Random(7);
    const items = 400;
    for (const share of [0.1, 0.5, 0.8]) {
      const draws = Array.from({ length: 4000 }, () => {
        let right = 0;
        for (let item = 0; item < items; item++) if (random.uniform() < share) right++;
        return (toAngle(right / items) * Math.PI) / 2;
      });
      const centre = draws.reduce((sum, value) => sum + value, 0) / draws.length;
      const variance = draws.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (draws.length - 1);
      // The variance of 4000 draws is known to about 2 %.
      expect(Math.abs(variance * 4 * items - 1)).toBeLessThan(0.08);
    }
  });

  it('are what a predictor learns from, and scores what it says', async () => {
    const fitted = await onAngles(mean).fit([record(0.25), record(1)], { seed: 1 });
    // The mean of 30° and 90° is 60°.
    expect(fitted.predict(asked)[0]).toBeCloseTo(0.75, 12);
  });
});
