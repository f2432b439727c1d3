/** Every gradient rule against central differences of the operator as ONNX Runtime computes it. */
import { describe, expect, it } from 'vitest';
import { gradientRules } from '../../src/gradient/rules/index.ts';
import { ruleCases } from './rule-cases/index.ts';
import { compareGradients, smallModel } from './run-graph.ts';

/** Where doing nothing is what the operator does, it is folded away. */
const passing = new Set(['Identity', 'Dropout', 'Cast', 'Sum', 'Reshape', 'Squeeze', 'Flatten', 'Expand']);

describe('gradient rules', () => {
  it('has cases for every rule, and no case without a rule', () => {
    expect(Object.keys(ruleCases).sort()).toEqual(Object.keys(gradientRules).sort());
  });

  for (const [full, cases] of Object.entries(ruleCases)) {
    const dot = full.lastIndexOf('.');
    it(`${full}: ${cases.length} variants`, async () => {
      expect(cases.length).toBeGreaterThan(0);
      let through = 0;
      for (const [at, each] of cases.entries()) {
        const label = `${full}, variant ${at}: ${JSON.stringify(each.inputs.map(({ dims }) => dims))} ${JSON.stringify(each.attributes ?? {})} opset ${each.opset}`;
        const operator = full.slice(dot + 1);
        const model = smallModel({ ...each, operator, domain: dot < 0 ? undefined : full.slice(0, dot) });
        const inputs = Object.fromEntries(each.inputs.map((input, number) => [`x${number}`, input]));
        const { analytic, measured, operators } = await compareGradients(model, inputs);
        if (operators.includes(full)) through++;
        // A variant that is folded away tests nothing, unless doing nothing is what the operator does.
        else expect(passing, label).toContain(full);
        for (const [input, expected] of Object.entries(measured.gradients)) {
          const found = analytic[input] ?? [];
          expect(found.length, label).toBe(expected.length);
          const scale = Math.max(1, ...expected.map((value) => Math.abs(value ?? 0)));
          const worst = Math.max(
            ...expected.map((value, k) => (value === null ? 0 : Math.abs(value - (found[k] ?? Number.NaN)) / scale)),
          );
          expect(
            worst,
            `${label}, input ${input} in ${measured.type}: ${found.map((v) => v.toFixed(5))} against ${expected.map((v) => v?.toFixed(5))}`,
          ).toBeLessThan(measured.precision);
          expect(expected.filter((value) => value === null).length, label).toBe(0);
        }
      }
      if (full !== 'Identity' && full !== 'Dropout') expect(through).toBeGreaterThan(0);
    });
  }
});
