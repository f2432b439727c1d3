/** Which groups of nodes are merged; that the merged graph computes the same is seen by the gradient tests. */
import { describe, expect, it } from 'vitest';
import { trainingForward, trainingGraph } from '../../src/gradient/index.ts';
import { mergePatterns } from '../../src/gradient/patterns.ts';
import { specialise } from '../../src/gradient/typed-graph.ts';
import { Graph, tensorOf } from '../../src/onnx/index.ts';
import { modelOf, numbers, run } from './run-graph.ts';
import { tinyDecoder } from './tiny-decoder.ts';

type Build = (graph: Graph, add: (operator: string, inputs: string[], attributes?: object) => string) => string;

const scalar = (graph: Graph, value: number): string => graph.constant(tensorOf('float32', [], [value]));
const weight = (graph: Graph): string => graph.constant(tensorOf('float32', [4], [0.5, -1, 2, 1.5]));

/** x / sqrt(mean(x²) + ε) in the ways that exporters write it. */
const norms: Record<string, Build> = {
  'Pow, Div by one, weight first': (graph, add) => {
    const mean = add('ReduceMean', [add('Pow', ['x', scalar(graph, 2)])], { axes: [-1] });
    const root = add('Sqrt', [add('Add', [mean, scalar(graph, 1e-5)])]);
    return add('Mul', [weight(graph), add('Mul', ['x', add('Div', [scalar(graph, 1), root])])]);
  },
  'product, Reciprocal, weight last': (graph, add) => {
    const mean = add('ReduceMean', [add('Mul', ['x', 'x'])], { axes: [2] });
    const root = add('Sqrt', [add('Add', [scalar(graph, 1e-5), mean])]);
    return add('Mul', [add('Mul', [add('Reciprocal', [root]), 'x']), weight(graph)]);
  },
  'division by the root': (graph, add) => {
    const mean = add('ReduceMean', [add('Pow', ['x', scalar(graph, 2)])], { axes: [-1] });
    const root = add('Sqrt', [add('Add', [mean, scalar(graph, 1e-5)])]);
    return add('Mul', [add('Div', ['x', root]), weight(graph)]);
  },
};

/** Near misses: must stay as they are. */
const others: Record<string, Build> = {
  'mean over another axis': (graph, add) => {
    const mean = add('ReduceMean', [add('Pow', ['x', scalar(graph, 2)])], { axes: [1] });
    const root = add('Sqrt', [add('Add', [mean, scalar(graph, 1e-5)])]);
    return add('Mul', [add('Div', ['x', root]), weight(graph)]);
  },
  'a cube in place of the square': (graph, add) => {
    const mean = add('ReduceMean', [add('Pow', [add('Abs', ['x']), scalar(graph, 3)])], { axes: [-1] });
    const root = add('Sqrt', [add('Add', [mean, scalar(graph, 1e-5)])]);
    return add('Mul', [add('Div', ['x', root]), weight(graph)]);
  },
  'the norm of something else': (graph, add) => {
    const other = add('Exp', ['x']);
    const mean = add('ReduceMean', [add('Mul', [other, other])], { axes: [-1] });
    const root = add('Sqrt', [add('Add', [mean, scalar(graph, 1e-5)])]);
    return add('Mul', [add('Div', ['x', root]), weight(graph)]);
  },
  'a sigmoid of something else': (_graph, add) => add('Mul', ['x', add('Sigmoid', [add('Neg', ['x'])])]),
};

const dims = [2, 3, 4];
const feeds = { x: { dims, values: numbers(24, 5) } };

async function merged(build: Build): Promise<{ operators: string[]; before: number[]; after: number[] }> {
  const make = (): Graph => {
    const graph = new Graph();
    graph.inputs = [{ name: 'x', dtype: 'float32', dims }];
    const y = build(graph, (operator, inputs, attributes) =>
      graph.add(operator, inputs, { attributes: { ...attributes } }),
    );
    graph.outputs = [{ name: y, dtype: 'float32', dims }];
    return graph;
  };
  const graph = make();
  const output = graph.outputs[0]?.name ?? '';
  const before = (await run(modelOf(graph, 14), feeds))[output] ?? [];
  const typed = specialise(modelOf(make(), 14), new Map([['x', dims]]));
  mergePatterns(typed);
  const after = (await run(modelOf(typed.graph, 14), feeds))[output] ?? [];
  return { operators: typed.graph.nodes.map((node) => node.fullOperator), before, after };
}

const close = (found: number[], expected: number[]): void => {
  expect(found.length).toBe(expected.length);
  for (const [at, value] of expected.entries()) expect(found[at]).toBeCloseTo(value, 5);
};

describe('patterns', () => {
  it.each(Object.entries(norms))('root-mean-square norm: %s', async (_, build) => {
    const { operators, before, after } = await merged(build);
    expect(operators).toEqual(['SimplifiedLayerNormalization']);
    close(after, before);
  });

  it('x · sigmoid(x)', async () => {
    for (const order of [0, 1]) {
      const { operators, before, after } = await merged((_graph, add) => {
        const pair = ['x', add('Sigmoid', ['x'])];
        return add('Mul', order ? pair.toReversed() : pair);
      });
      expect(operators).toEqual(['com.microsoft.QuickGelu']);
      close(after, before);
    }
  });

  it.each(Object.entries(others))('leaves alone: %s', async (_, build) => {
    const { operators, before, after } = await merged(build);
    expect(operators).not.toContain('SimplifiedLayerNormalization');
    expect(operators).not.toContain('com.microsoft.QuickGelu');
    close(after, before);
  });

  it('are found in a whole decoder', () => {
    const { graph } = trainingGraph(trainingForward(tinyDecoder()), { batch: 2, length: 6, vectors: 2, answers: 4 });
    const operators = graph.nodes.map((node) => node.fullOperator);
    expect(operators.filter((operator) => operator === 'SimplifiedLayerNormalization').length).toBe(3);
    expect(operators).toContain('com.microsoft.QuickGelu');
  });
});
