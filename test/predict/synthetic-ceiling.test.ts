import { describe, expect, it } from 'vitest';
import { fitOf, predictorOf, splitRecords } from '../../src/predict/index.ts';
import { noiseCeiling, syntheticRecords } from '../../src/predict/synthetic.ts';

describe("the study's MLP on made records", () => {
  it('comes within 0.01 of the R² that their noise allows, on a random split', { timeout: 600_000 }, async () => {
    const made = syntheticRecords({ seed: 0, subtasks: 100 });
    const [fold] = splitRecords(made.records, 'L1').folds;
    const predictor = predictorOf('mlp');
    if (!fold || !predictor) return expect.fail();
    const pick = (at: Int32Array) => Array.from(at, (index) => made.records[index] ?? expect.fail());
    const test = pick(fold.test);
    const fitted = await predictor.fit(pick(fold.train), { seed: 0, development: pick(fold.development) });
    const { r2 } = fitOf(
      test.map(({ score }) => score),
      [...fitted.predict(test)],
    );
    expect(r2).toBeGreaterThan(noiseCeiling(made, fold.test) - 0.01);
    expect(r2).toBeLessThan(1);
  });
});
