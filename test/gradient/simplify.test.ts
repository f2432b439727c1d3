/** Which groups of nodes become one operator before the way back is made; and that the numbers stay. */
import { describe, expect, it } from 'vitest';
import { simplify } from '../../src/gradient/simplify.ts';
import { specialise } from '../../src/gradient/typed-graph.ts';
import { Graph, tensorOf } from '../../src/onnx/index.ts';
import { modelOf, numbers, run } from './run-graph.ts';

interface Small {
  inputs: Record<string, number[]>;
  build(add: (operator: string, inputs: string[], attributes?: object) => string, c: Constants): string;
}
interface Constants {
  float(value: number): string;
  ints(...values: number[]): string;
  tensor(dims: number[], values: number[]): string;
}

const opset = 17;

function make({ inputs, build }: Small): Graph {
  const graph = new Graph();
  graph.inputs = Object.entries(inputs).map(([name, dims]) => ({ name, dtype: 'float32', dims }));
  const y = build((operator, names, attributes) => graph.add(operator, names, { attributes: { ...attributes } }), {
    float: (value) => graph.scalar('float32', value),
    ints: (...values) => graph.int64s(values),
    tensor: (dims, values) => graph.constant(tensorOf('float32', dims, values)),
  });
  graph.outputs = [{ name: y, dtype: 'float32', dims: null }];
  return graph;
}

/** Operators after simplification, and the largest change of an output. `table` is an input that the loss is not differentiated by. */
async function simplified(small: Small): Promise<{ operators: string[]; change: number; values: number[] }> {
  const feeds = Object.fromEntries(
    Object.entries(small.inputs).map(([name, dims], at) => [
      name,
      {
        dims,
        values: numbers(
          dims.reduce((product, dim) => product * dim, 1),
          at + 3,
        ),
      },
    ]),
  );
  const before = make(small);
  const expected = (await run(modelOf(before, opset), feeds))[before.outputs[0]?.name ?? ''] ?? [];
  const typed = specialise(modelOf(make(small), opset), new Map(Object.entries(small.inputs)));
  simplify(typed, ['x']);
  const values = (await run(modelOf(typed.graph, opset), feeds))[typed.graph.outputs[0]?.name ?? ''] ?? [];
  expect(values.length).toBe(expected.length);
  const change = Math.max(...expected.map((value, at) => Math.abs(value - (values[at] ?? Number.NaN))));
  return { operators: typed.graph.nodes.map((node) => node.fullOperator), change, values };
}

const rotated: Small = {
  inputs: { x: [2, 3, 5, 8], angles: [2, 5, 4] },
  build: (add, c) => {
    const both = add('Concat', ['angles', 'angles'], { axis: -1 });
    const [cos, sin] = ['Cos', 'Sin'].map((name) => add('Unsqueeze', [add(name, [both]), c.ints(1)]));
    const half = (start: number, end: number): string =>
      add('Slice', ['x', c.ints(start), c.ints(end), c.ints(3), c.ints(1)]);
    const crossed = add('Concat', [add('Neg', [half(4, 1000)]), half(0, 4)], { axis: -1 });
    return add('Add', [add('Mul', ['x', cos ?? '']), add('Mul', [crossed, sin ?? ''])]);
  },
};

const grouped: Small = {
  inputs: { x: [2, 6, 5, 4], keys: [2, 2, 7, 4] },
  build: (add, c) => {
    const wide = add('Expand', [add('Unsqueeze', ['keys', c.ints(2)]), c.ints(2, 2, 3, 7, 4)]);
    const repeated = add('Reshape', [wide, c.ints(2, 6, 7, 4)]);
    const turned = add('Transpose', [repeated], { perm: [0, 1, 3, 2] });
    return add('Div', [
      add('MatMul', [add('Mul', ['x', c.float(0.7)]), add('Mul', [turned, c.float(0.7)])]),
      c.float(2),
    ]);
  },
};

/** Softmax of x under a mask that hides, per row of 4, the places given; guarded. */
const guarded = (mask: number[]): Small => ({
  inputs: { x: [1, 1, 3, 4] },
  build: (add, c) => {
    const hidden = c.tensor(
      [1, 1, 3, 4],
      mask.map((hide) => (hide ? Number.NEGATIVE_INFINITY : 0)),
    );
    const weights = add('Softmax', [add('Add', ['x', hidden])], { axis: -1 });
    return add('Where', [add('IsNaN', [weights]), c.float(0), weights]);
  },
});

describe('simplified graphs', () => {
  it('rotate in one operator', async () => {
    const { operators, change } = await simplified(rotated);
    expect(operators.filter((name) => name === 'com.microsoft.RotaryEmbedding').length).toBe(1);
    expect(operators).not.toContain('Neg');
    expect(change).toBeLessThan(1e-6);
  });

  it('do not where the halves of the angles differ, or the turned half has its sign elsewhere', async () => {
    const other: Small = {
      inputs: { x: [2, 3, 5, 8], angles: [2, 5, 8] },
      build: (add, c) =>
        rotated.build(
          (name, inputs, rest) => (name === 'Concat' && inputs[0] === 'angles' ? 'angles' : add(name, inputs, rest)),
          c,
        ),
    };
    const flipped: Small = {
      ...rotated,
      build: (add, c) =>
        rotated.build(
          (name, inputs, rest) =>
            add(name, name === 'Concat' && inputs[0] !== 'angles' ? inputs.toReversed() : inputs, rest),
          c,
        ),
    };
    for (const small of [other, flipped]) {
      const { operators, change } = await simplified(small);
      expect(operators).not.toContain('com.microsoft.RotaryEmbedding');
      expect(change).toBeLessThan(1e-6);
    }
  });

  it('multiply grouped heads without repeating them, scale and transpose in the product', async () => {
    const { operators, change } = await simplified(grouped);
    expect(operators.sort()).toEqual(['Reshape', 'Reshape', 'com.microsoft.FusedMatMul']);
    expect(change).toBeLessThan(1e-6);
  });

  it('keep repetitions that are not of heads', async () => {
    const { operators, change } = await simplified({
      inputs: { x: [2, 6, 5, 4], keys: [2, 2, 4, 7] },
      build: (add, c) => {
        // the heads in another order: a b a b a b
        const wide = add('Expand', [add('Unsqueeze', ['keys', c.ints(1)]), c.ints(2, 3, 2, 4, 7)]);
        return add('MatMul', ['x', add('Reshape', [wide, c.ints(2, 6, 4, 7)])]);
      },
    });
    expect(operators).toContain('Expand');
    expect(change).toBeLessThan(1e-6);
  });

  it('have one product, and one mask, where the file has two', async () => {
    const { operators, change } = await simplified({
      inputs: { x: [3, 4], table: [3, 4] },
      build: (add, c) => {
        const again = (): string => add('Mul', [add('Exp', ['table']), c.float(2)]);
        return add('Add', [add('Mul', ['x', again()]), again()]);
      },
    });
    expect(operators.filter((name) => name === 'Exp').length).toBe(1);
    expect(operators.length).toBe(4);
    expect(change).toBeLessThan(1e-6);
  });

  it('need no guard behind a finite mask', async () => {
    const some = await simplified(guarded([0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1]));
    expect(some.operators).not.toContain('IsNaN');
    expect(some.change).toBeLessThan(1e-6);
    // A row that sees nothing is padding: its numbers are others, but they are numbers.
    const all = await simplified(guarded([0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1]));
    expect(all.operators).not.toContain('IsNaN');
    expect(all.values.every(Number.isFinite)).toBe(true);
  });

  it('need no guard where a window leaves padding nothing to see: later layers do not see padding', async () => {
    // Four tokens and four places of padding behind them; each sees itself and the one before. So the last two places
    // see nothing: 0 with the guard, the mean of all values without.
    const [length, tokens, window] = [8, 4, 2];
    const mask = Array.from({ length: length * length }, (_, at) => {
      const [query, key] = [Math.floor(at / length), at % length];
      return key <= query && query - key < window && key < tokens ? 0 : Number.NEGATIVE_INFINITY;
    });
    const layers = (read: number): Small => ({
      inputs: { x: [1, 2, length, 4] },
      build: (add, c) => {
        let x = 'x';
        for (let layer = 0; layer < 3; layer++) {
          const scores = add('MatMul', [x, add('Transpose', [x], { perm: [0, 1, 3, 2] })]);
          const weights = add('Softmax', [add('Add', [scores, c.tensor([1, 1, length, length], mask)])], { axis: -1 });
          const guard = add('Where', [add('IsNaN', [weights]), c.float(0), weights]);
          x = add('Add', [x, add('MatMul', [guard, x])]);
        }
        return add('Slice', [x, c.ints(0), c.ints(read), c.ints(2)]);
      },
    });
    const { operators, change } = await simplified(layers(tokens));
    expect(operators).not.toContain('IsNaN');
    expect(change).toBeLessThan(1e-5);
    // That the test would see it: padding itself has other numbers.
    expect((await simplified(layers(length))).change).toBeGreaterThan(1e-2);
  });
});
