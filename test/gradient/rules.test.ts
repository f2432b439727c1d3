/** Every gradient rule against central differences of the operator as ONNX Runtime computes it. */
import { describe, expect, it } from 'vitest';
import { gradientRules } from '../../src/gradient/rules/index.ts';
import { ruleCases } from './rule-cases.ts';
import { gradients } from './run-graph.ts';

// Central differences in float32 with a step of 2^-8 are good to a few parts in ten thousand.
const tolerance = 2e-3;

describe('gradient rules', () => {
  it('has cases for every rule, and no case without a rule', () => {
    expect(Object.keys(ruleCases).sort()).toEqual(Object.keys(gradientRules).sort());
  });

  for (const [full, cases] of Object.entries(ruleCases)) {
    const dot = full.lastIndexOf('.');
    it(`${full}: ${cases.length} variants`, async () => {
      expect(cases.length).toBeGreaterThan(0);
      for (const [at, each] of cases.entries()) {
        const { analytic, measured, operators } = await gradients({
          ...each,
          operator: full.slice(dot + 1),
          domain: dot < 0 ? undefined : full.slice(0, dot),
        });
        const label = `${full}, variant ${at}: ${JSON.stringify(each.inputs.map(({ dims }) => dims))} ${JSON.stringify(each.attributes ?? {})} opset ${each.opset}`;
        // A variant that is folded away tests nothing, unless doing nothing is what the operator does.
        if (!['Identity', 'Dropout', 'Cast'].includes(full)) expect(operators, label).toContain(full);
        for (const [input, expected] of measured.entries()) {
          const scale = Math.max(1, ...expected.map(Math.abs));
          const found = analytic[input] ?? [];
          expect(found.length, label).toBe(expected.length);
          const worst = Math.max(...expected.map((value, k) => Math.abs(value - (found[k] ?? Number.NaN)) / scale));
          expect(
            worst,
            `${label}, input ${input}: ${found.map((v) => v.toFixed(3))} against ${expected.map((v) => v.toFixed(3))}`,
          ).toBeLessThan(tolerance);
        }
      }
    });
  }
});
