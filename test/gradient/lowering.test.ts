/** Fused operators, as ONNX Runtime's own kernels compute them, against what they are written out as. */
import { describe, expect, it } from 'vitest';
import { exactArithmetic } from '../../src/gradient/exact.ts';
import { lowerings, sizedLowerings } from '../../src/gradient/lowerings/index.ts';
import { Graph, tensorOf } from '../../src/onnx/index.ts';
import { compare } from './lowered-graph.ts';
import { floatAttribute, loweringCases } from './lowering-cases.ts';
import { modelOf, numbers, run } from './run-graph.ts';

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

describe('attention in 8-bit integers', () => {
  it('is attention in floats where nothing is rounded', async () => {
    // from -127 to 128 in whole numbers: the scale is 1, and quantising changes nothing
    const x = [-127, 128, ...numbers(34, 3).map((value) => Math.round(value * 100))];
    const weight = numbers(6 * 24, 4).map((value) => Math.round(value * 100));
    for (const past of [false, true]) {
      const graph = new Graph();
      graph.inputs = [{ name: 'x', dtype: 'float32', dims: [2, 3, 6] }];
      graph.addNode('DynamicQuantizeLinear', ['x'], { outputs: ['q', 'scale', 'zero'] });
      const inputs = [
        'q',
        graph.constant(tensorOf('int8', [6, 24], weight)),
        graph.constant(tensorOf('float32', [24], numbers(24, 5))),
        'scale',
        graph.scalar('float32', 0.0004),
        graph.constant(tensorOf('int32', [2, past ? 5 : 3], new Array(past ? 10 : 6).fill(1))),
        'zero',
        graph.scalar('int8', 7),
        ...(past ? [graph.constant(tensorOf('float32', [2, 2, 2, 2, 4], numbers(64, 6)))] : []),
      ];
      const attributes = { num_heads: 2, unidirectional: 1, scale: floatAttribute(0.6) };
      const outputs = past ? ['y', 'present'] : ['y'];
      graph.addNode('QAttention', inputs, { domain: 'com.microsoft', attributes, outputs });
      graph.outputs = outputs.map((name) => ({ name, dtype: 'float32', dims: null }));
      const model = modelOf(graph, 17);
      const exact = exactArithmetic(model);
      expect(exact.graph.nodes.map(({ operator }) => operator)).toEqual(['DequantizeLinear', 'Attention']);
      const feeds = { x: { dims: [2, 3, 6], values: x } };
      const [expected, found] = [await run(model, feeds), await run(exact, feeds)];
      for (const name of outputs)
        for (const [at, value] of (expected[name] ?? []).entries()) expect(found[name]?.[at]).toBeCloseTo(value, 5);
    }
  });
});
