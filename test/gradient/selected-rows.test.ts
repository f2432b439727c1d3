/** Mixtures of experts whose tokens are chosen by NonZero, at fixed sizes, against ONNX Runtime on the graph as it is. */
import { describe, expect, it } from 'vitest';
import { specialise } from '../../src/gradient/typed-graph.ts';
import { Graph, type OnnxModel, tensorOf } from '../../src/onnx/index.ts';
import { HumanError } from '../../src/shared/errors.ts';
import { compareGradients, modelOf, numbers } from './run-graph.ts';

const [tokens, hidden, experts, perToken] = [5, 4, 3, 2];
const x = { dims: [tokens, hidden], values: numbers(tokens * hidden, 3).map((value) => 1.5 * value) };

type Add = (operator: string, inputs: string[], attributes?: object) => string;

interface Routing {
  graph: Graph;
  add: Add;
  /** float [tokens, choices] */
  shares: string;
  /** int64 [experts, choices, tokens]: 1 where a token's choice is that expert. */
  chosen: string;
}

function routed(build: (routing: Routing) => string, opset = 18): OnnxModel {
  const graph = new Graph();
  graph.inputs = [{ name: 'x', dtype: 'float32', dims: [tokens, hidden] }];
  const add: Add = (operator, inputs, attributes = {}) =>
    graph.add(operator, inputs, { attributes: { ...attributes } });
  const router = graph.constant(tensorOf('float32', [hidden, experts], numbers(hidden * experts, 11)));
  const probabilities = add('Softmax', [add('MatMul', ['x', router])]);
  const top = graph.addNode('TopK', [probabilities, graph.int64s([perToken])], { outputCount: 2 });
  const oneHot = add('OneHot', [top.output(1), graph.scalar('int64', experts), graph.int64s([0, 1])]);
  const chosen = add('Transpose', [oneHot], { perm: [2, 1, 0] });
  const y = build({ graph, add, shares: top.output(0), chosen });
  graph.outputs = [{ name: y, dtype: 'float32', dims: null }];
  return modelOf(graph, opset);
}

/** Tokens and choices of an expert, int64 [rows] each. */
function listed({ graph, add, chosen }: Routing, expert: number): { token: string; choice: string; list: string } {
  const mask = add('Gather', [chosen, graph.scalar('int64', expert)], { axis: 0 });
  const list = add('NonZero', [add('Cast', [mask], { to: 9 })]);
  const [choice, token] = [0, 1].map((row) => add('Gather', [list, graph.scalar('int64', row)], { axis: 0 }));
  return { token: token ?? '', choice: choice ?? '', list };
}

function expertOutput(routing: Routing, expert: number, token: string, choice: string): string {
  const { graph, add, shares } = routing;
  const weight = (rows: number, columns: number, seed: number): string =>
    graph.constant(tensorOf('float32', [rows, columns], numbers(rows * columns, seed)));
  const rows = add('Gather', ['x', token], { axis: 0 });
  const gate = add('MatMul', [rows, weight(hidden, 6, 20 + expert)]);
  const activated = add('Mul', [gate, add('Sigmoid', [gate])]);
  const made = add('MatMul', [activated, weight(6, hidden, 30 + expert)]);
  const last = graph.int64s([-1]);
  const pairs = add('Concat', [add('Unsqueeze', [token, last]), add('Unsqueeze', [choice, last])], { axis: -1 });
  const share = add('GatherND', [shares, pairs]);
  return add('Mul', [made, add('Unsqueeze', [share, last])]);
}

/** How exporters add an expert's rows to the output. */
const scatterings: Record<string, (routing: Routing, output: string, token: string, rows: string) => string> = {
  'ScatterND, added': ({ graph, add }, output, token, rows) =>
    add('ScatterND', [output, add('Unsqueeze', [token, graph.int64s([-1])]), rows], { reduction: 'add' }),
  'ScatterElements, added': ({ graph, add }, output, token, rows) => {
    const column = add('Unsqueeze', [token, graph.int64s([1])]);
    const places = add('Expand', [column, add('Shape', [rows])]);
    return add('ScatterElements', [output, places, rows], { axis: 0, reduction: 'add' });
  },
  'ScatterElements into zeros, then added': ({ graph, add }, output, token, rows) => {
    const column = add('Unsqueeze', [token, graph.int64s([1])]);
    const places = add('Expand', [column, add('Shape', [rows])]);
    const zeros = add('ConstantOfShape', [add('Shape', [output])]);
    return add('Add', [output, add('ScatterElements', [zeros, places, rows], { axis: 0 })]);
  },
  'ScatterND over what was there': ({ graph, add }, output, token, rows) => {
    const there = add('Gather', [output, token], { axis: 0 });
    return add('ScatterND', [output, add('Unsqueeze', [token, graph.int64s([-1])]), add('Add', [there, rows])]);
  },
};

const mixture = (scatter: (typeof scatterings)[string]): OnnxModel =>
  routed((routing) => {
    let output = routing.add('Mul', ['x', routing.graph.scalar('float32', 0.5)]);
    for (let expert = 0; expert < experts; expert++) {
      const { token, choice } = listed(routing, expert);
      output = scatter(routing, output, token, expertOutput(routing, expert, token, choice));
    }
    return output;
  });

describe('rows that the data choose', () => {
  it.each(Object.entries(scatterings))('%s: the gradient is that of the graph as it is', async (_, scatter) => {
    const { analytic, measured } = await compareGradients(mixture(scatter), { x });
    const expected = measured.gradients.x ?? [];
    expect(expected.length).toBe(tokens * hidden);
    const largest = Math.max(...expected.map((value) => Math.abs(value ?? 0)));
    expect(largest).toBeGreaterThan(0.1);
    for (const [at, value] of expected.entries())
      expect(Math.abs((analytic.x?.[at] ?? Number.NaN) - (value ?? Number.NaN)) / largest).toBeLessThan(
        measured.precision,
      );
  });

  it('has no node left whose size depends on values', () => {
    const scatter = scatterings['ScatterND, added'];
    if (!scatter) throw new Error('no such row');
    const { graph } = specialise(mixture(scatter), new Map([['x', x.dims]]));
    expect(graph.nodes.map(({ operator }) => operator)).not.toContain('NonZero');
  });
});

/** What cannot be computed without knowing how many rows there are, or which. */
const mixing: Record<string, (routing: Routing, token: string, list: string, rows: string) => string> = {
  'their sum': ({ graph, add }, _token, _list, rows) => add('ReduceSum', [rows, graph.int64s([0])]),
  'a softmax over them': ({ add }, _token, _list, rows) => add('Softmax', [rows], { axis: 0 }),
  'the first of them': ({ graph, add }, _token, _list, rows) => add('Gather', [rows, graph.scalar('int64', 0)]),
  'a part of them': ({ graph, add }, _token, _list, rows) =>
    add('Slice', [rows, graph.int64s([0]), graph.int64s([2]), graph.int64s([0])]),
  'a product between them': ({ add }, _token, _list, rows) =>
    add('MatMul', [rows, add('Transpose', [rows], { perm: [1, 0] })]),
  'a norm over all of them': ({ graph, add }, _token, _list, rows) =>
    add('ReduceL2', [rows, graph.int64s([0, 1])], { keepdims: 1 }),
  'all of them as the output': (_routing, _token, _list, rows) => rows,
  'how many there are, as a number': ({ graph, add }, _token, _list, rows) => {
    const count = add('Gather', [add('Shape', [rows]), graph.scalar('int64', 0)]);
    return add('Div', ['x', add('Cast', [count], { to: 1 })]);
  },
  'rows of one expert with those of another': (routing, _token, _list, rows) => {
    const { token, choice } = listed(routing, 1);
    return routing.add('Add', [rows, expertOutput(routing, 1, token, choice)]);
  },
};

describe('what mixes chosen rows', () => {
  it.each(Object.entries(mixing))('%s is refused by name', (_, use) => {
    const model = routed((routing) => {
      const { token, choice, list } = listed(routing, 0);
      return use(routing, token, list, expertOutput(routing, 0, token, choice));
    });
    const place = model.graph.nodes.find(({ operator }) => operator === 'NonZero')?.place ?? '';
    const refused = (): unknown => specialise(model, new Map([['x', x.dims]]));
    expect(refused).toThrow(HumanError);
    expect(refused).toThrow(`"${place}" (NonZero) chooses`);
  });
});

it('sizes that follow from the data are refused with what to do', () => {
  const graph = new Graph();
  graph.inputs = [{ name: 'x', dtype: 'float32', dims: [tokens, hidden] }];
  const sizes = graph.add('Cast', [graph.add('ReduceSum', ['x', graph.int64s([1])], { attributes: { keepdims: 0 } })], {
    attributes: { to: 7 },
  });
  const { outputs } = graph.addNode('Split', ['x', sizes], { outputCount: tokens, attributes: { axis: 0 } });
  graph.outputs = outputs.map((name) => ({ name, dtype: 'float32', dims: null }));
  const refused = (): unknown => specialise(modelOf(graph, 18), new Map([['x', x.dims]]));
  expect(refused).toThrow(/Split.*depends on the values of/);
  try {
    refused();
  } catch (thrown) {
    expect((thrown as HumanError).details.todo).toMatch(/every expert sees every token/);
  }
});
