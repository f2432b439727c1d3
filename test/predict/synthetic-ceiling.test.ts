import { describe, expect, it } from 'vitest';
import { bestPredictor, fitOf, splitRecords } from '../../src/predict/index.ts';
import { noiseCeiling, syntheticRecords } from '../../src/predict/synthetic.ts';

describe('the best predictor on made records', () => {
  it('comes within 0.01 of the R² that their noise allows, on a random split', { timeout: 600_000 }, async () => {
    const made = syntheticRecords({ seed: 0, subtasks: 100 });
    const [fold] = splitRecords(made.records, 'L1').folds;
    if (!fold) return expect.fail();
    const pick = (at: Int32Array) => Array.from(at, (index) => made.records[index] ?? expect.fail());
    const test = pick(fold.test);
    const fitted = await bestPredictor.fit(pick(fold.train), { seed: 0, development: pick(fold.development) });
    const { r2 } = fitOf(
      test.map(({ score }) => score),
      [...fitted.predict(test)],
    );
    expect(r2).toBeGreaterThan(noiseCeiling(made, fold.test) - 0.01);
    expect(r2).toBeLessThan(1);
  });
});
