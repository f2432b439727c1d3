/** Runs a graph that a test built, and measures gradients by central differences. */
import * as ort from 'onnxruntime-node';
import { backward, pathBetween } from '../../src/gradient/backward.ts';
import { specialise, type TypedGraph } from '../../src/gradient/typed-graph.ts';
import { size } from '../../src/gradient/types.ts';
import { type AttributeValues, encodeOnnx, Graph, isFloat, type OnnxModel, type Tensor } from '../../src/onnx/index.ts';

export const modelOf = (graph: Graph, opset: number): OnnxModel => ({
  irVersion: opset >= 21 ? 10 : 8,
  producer: 'test',
  producerVersion: '',
  opsets: new Map([
    ['', opset],
    ['com.microsoft', 1],
  ]),
  metadata: new Map(),
  graph,
  functions: [],
});

/** Numbers that are the same on every machine, in [-1, 1). */
export function numbers(count: number, seed: number): number[] {
  let state = seed * 2654435761 + 1;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

export type Feeds = Record<string, { dims: number[]; values: number[] }>;

const feedsOf = (feeds: Feeds): Record<string, ort.Tensor> =>
  Object.fromEntries(
    Object.entries(feeds).map(([name, { dims, values }]) => [
      name,
      new ort.Tensor('float32', Float32Array.from(values), dims),
    ]),
  );

export async function run(model: OnnxModel, feeds: Feeds): Promise<Record<string, number[]>> {
  const session = await ort.InferenceSession.create(encodeOnnx(model), { logSeverityLevel: 3, intraOpNumThreads: 1 });
  const outputs = await session.run(feedsOf(feeds));
  await session.release();
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { data }]) => [name, Array.from(data as Float32Array, Number)]),
  );
}

export interface SmallGraph {
  operator: string;
  domain?: string;
  opset: number;
  /** Shapes and values of the inputs that are differentiated. */
  inputs: { dims: number[]; values: number[] }[];
  /** Arguments by position: the number of a differentiated input, a constant, or nothing. */
  arguments: (number | Tensor | null)[];
  attributes?: AttributeValues;
  outputs?: number;
}

/** Analytic and measured gradients of Σ c · y over all floating outputs, for each input. */
export async function gradients(
  small: SmallGraph,
): Promise<{ analytic: number[][]; measured: number[][]; operators: string[] }> {
  const feeds: Feeds = Object.fromEntries(small.inputs.map((input, at) => [`x${at}`, input]));
  const build = (): { typed: TypedGraph; outputs: string[] } => {
    const graph = new Graph();
    graph.inputs = small.inputs.map(({ dims }, at) => ({ name: `x${at}`, dtype: 'float32', dims: [...dims] }));
    const count = small.outputs ?? 1;
    const outputs = Array.from({ length: count }, (_, at) => `y${at}`);
    const names = small.arguments.map((argument) =>
      argument === null ? '' : typeof argument === 'number' ? `x${argument}` : graph.constant(argument),
    );
    // a value in front of the operator, so that its inputs are never the graph's own
    const copies = new Map<string, string>();
    const inputs = names.map((name) => {
      if (!/^x\d+$/.test(name)) return name;
      const copy = copies.get(name) ?? graph.add('Neg', [graph.add('Neg', [name])]);
      copies.set(name, copy);
      return copy;
    });
    graph.addNode(small.operator, inputs, { domain: small.domain, attributes: small.attributes, outputs });
    graph.outputs = outputs.map((name) => ({ name, dtype: null, dims: null }));
    const typed = specialise(
      modelOf(graph, small.opset),
      new Map(small.inputs.map(({ dims }, at) => [`x${at}`, dims])),
    );
    const floating = typed.graph.outputs.filter(({ dtype }) => dtype !== null && isFloat(dtype));
    return { typed, outputs: floating.map(({ name }) => name) };
  };

  const { typed: forward, outputs } = build();
  const shapes = outputs.map((name) => forward.dims(name));
  const coefficients = shapes.map((dims, at) => numbers(size(dims), 100 + at));
  const forwardModel = modelOf(forward.graph, small.opset);
  const session = await ort.InferenceSession.create(encodeOnnx(forwardModel), { logSeverityLevel: 3 });
  const loss = async (values: Feeds): Promise<number> => {
    const result = await session.run(feedsOf(values));
    return outputs.reduce((sum, name, at) => {
      const data = result[name]?.data as Float32Array;
      return sum + (coefficients[at] ?? []).reduce((each, c, k) => each + c * (data[k] ?? Number.NaN), 0);
    }, 0);
  };
  const step = 2 ** -8;
  const measured: number[][] = [];
  for (const [name, { dims, values }] of Object.entries(feeds)) {
    const gradient: number[] = [];
    for (let at = 0; at < values.length; at++) {
      const shifted = async (by: number): Promise<number> =>
        loss({ ...feeds, [name]: { dims, values: values.map((value, k) => (k === at ? value + by : value)) } });
      gradient.push(((await shifted(step)) - (await shifted(-step))) / (2 * step));
    }
    measured.push(gradient);
  }
  await session.release();

  const { typed } = build();
  const names = small.inputs.map((_, at) => `x${at}`);
  const seeds = new Map<string, string>();
  outputs.forEach((name, at) => {
    seeds.set(name, typed.input(`seed${at}`, 'float32', shapes[at] ?? []));
    feeds[`seed${at}`] = { dims: [...(shapes[at] ?? [])], values: coefficients[at] ?? [] };
  });
  const path = pathBetween(typed, new Set(names), new Set(outputs));
  const found = backward(typed, path, seeds, names);
  typed.graph.outputs = names.map((name) => ({ name: found.get(name) ?? '', dtype: 'float32', dims: null }));
  typed.graph.prune();
  const used = new Set(typed.graph.nodes.flatMap(({ inputs }) => inputs));
  typed.graph.inputs = typed.graph.inputs.filter(({ name }) => used.has(name));
  const given = Object.fromEntries(Object.entries(feeds).filter(([name]) => used.has(name)));
  const result = await run(modelOf(typed.graph, small.opset), given);
  const analytic = names.map((name) => result[found.get(name) ?? ''] ?? []);
  return { analytic, measured, operators: path.map((node) => node.fullOperator) };
}
