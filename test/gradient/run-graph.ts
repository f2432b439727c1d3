/** Runs a graph that a test built, and computes its gradients by the rules. */
import * as ort from 'onnxruntime-node';
import { backward, pathBetween } from '../../src/gradient/backward.ts';
import { mergePatterns } from '../../src/gradient/patterns.ts';
import { simplify } from '../../src/gradient/simplify.ts';
import { specialise } from '../../src/gradient/typed-graph.ts';
import { size } from '../../src/gradient/types.ts';
import {
  type AttributeValues,
  encodeOnnx,
  Graph,
  isFloat,
  type OnnxModel,
  modelOf as plainModelOf,
  type Tensor,
} from '../../src/onnx/index.ts';
import { type Feeds, type Measured, measuredGradients } from './differences.ts';

export type { Feeds } from './differences.ts';

export const modelOf = (graph: Graph, opset: number): OnnxModel =>
  plainModelOf(graph, opset, {
    irVersion: opset >= 21 ? 10 : 8,
    opsets: new Map([
      ['', opset],
      ['com.microsoft', 1],
    ]),
  });

/** Numbers that are the same on every machine, in [-1, 1). */
export function numbers(count: number, seed: number): number[] {
  let state = seed * 2654435761 + 1;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** Runs a graph whose inputs are all of one type. */
export async function run(
  model: OnnxModel,
  feeds: Feeds,
  type: 'float32' | 'float64' = 'float32',
): Promise<Record<string, number[]>> {
  // Merging nodes of float64 graphs, ONNX Runtime makes operators that it has in float32 only.
  const graphOptimizationLevel = type === 'float64' ? 'disabled' : 'all';
  const options = { logSeverityLevel: 3, intraOpNumThreads: 1, graphOptimizationLevel } as const;
  const session = await ort.InferenceSession.create(encodeOnnx(model), options);
  const elements = type === 'float64' ? Float64Array : Float32Array;
  const tensors = Object.entries(feeds).map(([name, { dims, values }]) => {
    return [name, new ort.Tensor(type, elements.from(values), dims)] as const;
  });
  const outputs = await session.run(Object.fromEntries(tensors));
  await session.release();
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { data }]) => [name, Array.from(data as Float32Array, Number)]),
  );
}

export interface GradientComparison {
  /** By input, by element: by the rules, and by differences (null: cannot be told there). */
  analytic: Record<string, number[]>;
  measured: Measured;
  /** Operators that the gradient went through. */
  operators: string[];
}

/** Gradients of Σ c · y over all floating outputs with respect to all inputs, which are of type `type`. */
export async function compareGradients(
  model: OnnxModel,
  inputs: Feeds,
  { merge = false, type = 'float32' }: { merge?: boolean; type?: 'float32' | 'float64' } = {},
): Promise<GradientComparison> {
  const dims = new Map(Object.entries(inputs).map(([name, feed]) => [name, feed.dims]));
  const typed = specialise({ ...model, graph: model.graph.clone() }, dims);
  if (merge) {
    mergePatterns(typed);
    simplify(typed, Object.keys(inputs));
  }
  // By position: specialising may give an output the name of the value that it is the same as.
  const outputs = model.graph.outputs.flatMap(({ name }, at) => {
    const value = typed.graph.outputs[at];
    return value?.dtype && isFloat(value.dtype) ? [{ name, typed: value.name }] : [];
  });
  const coefficients = Object.fromEntries(
    outputs.map((output, at) => [output.name, numbers(size(typed.dims(output.typed)), 100 + at)]),
  );
  const wanted = Object.keys(inputs);
  const measured = await measuredGradients(model, inputs, coefficients, wanted);

  const feeds = { ...inputs };
  const seeds = new Map<string, string>();
  for (const [at, output] of outputs.entries()) {
    const shape = [...typed.dims(output.typed)];
    const seed = typed.cast(typed.input(`seed${at}`, type, shape), typed.dtype(output.typed));
    const present = seeds.get(output.typed);
    seeds.set(output.typed, present ? typed.add('Add', [present, seed]) : seed);
    feeds[`seed${at}`] = { dims: shape, values: coefficients[output.name] ?? [] };
  }
  const path = pathBetween(typed, new Set(wanted), new Set(seeds.keys()));
  const found = backward(typed, path, seeds, wanted);
  const names = wanted.map((name) => found.get(name) ?? typed.zeros(type, typed.dims(name)));
  typed.graph.outputs = [...new Set(names)].map((name) => ({ name, dtype: type, dims: null }));
  typed.graph.prune();
  const used = new Set(typed.graph.nodes.flatMap((node) => node.inputs));
  typed.graph.inputs = typed.graph.inputs.filter(({ name }) => used.has(name) || names.includes(name));
  const kept = new Set(typed.graph.inputs.map(({ name }) => name));
  const given = Object.fromEntries(Object.entries(feeds).filter(([name]) => kept.has(name)));
  const result = await run(modelOf(typed.graph, model.opsets.get('') ?? 18), given, type);
  return {
    analytic: Object.fromEntries(wanted.map((name, at) => [name, result[names[at] ?? ''] ?? []])),
    measured,
    operators: path.map((node) => node.fullOperator),
  };
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

/** The graph of one operator; in front of it, so that its inputs are never the graph's own, two negations. */
export function smallModel(small: SmallGraph): OnnxModel {
  const graph = new Graph();
  graph.inputs = small.inputs.map(({ dims }, at) => ({ name: `x${at}`, dtype: 'float32', dims: [...dims] }));
  const copies = graph.inputs.map(({ name }) => graph.add('Neg', [graph.add('Neg', [name])]));
  const names = small.arguments.map((argument) =>
    argument === null ? '' : typeof argument === 'number' ? (copies[argument] ?? '') : graph.constant(argument),
  );
  const outputs = Array.from({ length: small.outputs ?? 1 }, (_, at) => `y${at}`);
  graph.addNode(small.operator, names, { domain: small.domain, attributes: small.attributes, outputs });
  graph.outputs = outputs.map((name) => ({ name, dtype: null, dims: null }));
  return modelOf(graph, small.opset);
}
