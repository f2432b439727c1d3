/** Fused operators, as ONNX Runtime computes them, against what they are written out as. */
import { describe, expect, it } from 'vitest';
import { lowered, loweredOperators, lowerings } from '../../src/gradient/lowerings/index.ts';
import { type AttributeValues, Graph, tensorOf } from '../../src/onnx/index.ts';
import { modelOf, numbers, run } from './run-graph.ts';

interface Case {
  /** Shapes of the inputs by position; null where one is left out. */
  inputs: (number[] | null)[];
  attributes?: AttributeValues;
  /** Outputs by position; '' where one is left out. */
  outputs: string[];
}

const rows = [2, 3, 8];
const epsilon = { type: 'float' as const, value: 1e-4 };

/** By full operator. A lowering without a row here fails the test. */
const cases: Record<string, Case[]> = {
  'com.microsoft.SkipLayerNormalization': [
    { inputs: [rows, rows, [8], [8], [8]], outputs: ['y', '', '', 'sum'], attributes: { epsilon } },
    { inputs: [rows, rows, [8], [8]], outputs: ['y', '', '', 'sum'] },
    { inputs: [rows, rows, [8], [8], [8]], outputs: ['y'] },
  ],
  'com.microsoft.SkipSimplifiedLayerNormalization': [
    { inputs: [rows, rows, [8]], outputs: ['y', '', '', 'sum'], attributes: { epsilon } },
    { inputs: [rows, rows, [8], [8]], outputs: ['y', '', '', 'sum'] },
    { inputs: [rows, rows, [8]], outputs: ['y'] },
  ],
};

describe('lowerings', () => {
  it('have cases for every row', () => {
    expect(Object.keys(cases).sort()).toEqual(Object.keys(lowerings).sort());
  });

  it.each(Object.entries(cases))('%s', async (full, variants) => {
    const dot = full.lastIndexOf('.');
    for (const { inputs, attributes, outputs } of variants) {
      const graph = new Graph();
      const names = inputs.map((dims, at) => {
        if (!dims) return '';
        const count = dims.reduce((product, dim) => product * dim, 1);
        if (at > 1) return graph.constant(tensorOf('float32', dims, numbers(count, at + 1)));
        graph.inputs.push({ name: `x${at}`, dtype: 'float32', dims });
        return `x${at}`;
      });
      graph.addNode(full.slice(dot + 1), names, { domain: full.slice(0, dot), attributes, outputs });
      graph.outputs = outputs.filter(Boolean).map((name) => ({ name, dtype: 'float32', dims: rows }));
      const feeds = Object.fromEntries(
        graph.inputs.map(({ name }, at) => [name, { dims: rows, values: numbers(48, 9 + at) }]),
      );
      const model = modelOf(graph, 17);
      expect(loweredOperators(model)).toEqual([full]);
      const plain = lowered(model);
      expect(loweredOperators(plain)).toEqual([]);
      const [expected, found] = [await run(model, feeds), await run(plain, feeds)];
      for (const [name, values] of Object.entries(expected))
        for (const [at, value] of values.entries()) expect(found[name]?.[at], name).toBeCloseTo(value, 5);
    }
  });
});
