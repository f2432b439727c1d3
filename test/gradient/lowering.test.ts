/** Fused operators, as ONNX Runtime's own kernels compute them, against what they are written out as. */
import { describe, expect, it } from 'vitest';
import { lowerings, sizedLowerings } from '../../src/gradient/lowerings/index.ts';
import { compare } from './lowered-graph.ts';
import { loweringCases } from './lowering-cases.ts';

describe('lowerings', () => {
  it('have cases for every row', () => {
    const rows = Object.keys({ ...lowerings, ...sizedLowerings });
    expect(Object.keys(loweringCases).sort()).toEqual(rows.sort());
  });

  for (const [full, cases] of Object.entries(loweringCases))
    it(`${full}: ${cases.length} variants`, async () => {
      expect(cases.length).toBeGreaterThan(0);
      for (const [at, each] of cases.entries()) {
        const shapes = each.arguments.map((place) =>
          place === null
            ? '-'
            : typeof place === 'number'
              ? `[${each.inputs[place]?.dims}]`
              : `${place.dtype}[${place.dims}]`,
        );
        const label = `${full}, variant ${at}: ${shapes.join(' ')} ${JSON.stringify(each.attributes ?? {})} opset ${each.opset}`;
        const { outputs, slopes, operators } = await compare(full, each).catch((thrown) => {
          throw new Error(label, { cause: thrown });
        });
        expect(operators, label).not.toContain(full);
        for (const { name, difference } of outputs) expect(difference, `${label}: ${name}`).toBeLessThan(2e-5);
        // central differences in float32 are good to a few parts in a thousand
        for (const [input, slope] of slopes.entries())
          expect(slope, `${label}: slope of input ${input}`).toBeLessThan(5e-3);
      }
    });
});
