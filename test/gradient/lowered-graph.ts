/** A fused operator as ONNX Runtime's kernel computes it, against its plain form and the gradient through that. */
import * as ort from 'onnxruntime-node';
import { backward, pathBetween } from '../../src/gradient/backward.ts';
import { lowered, lowerNodes } from '../../src/gradient/lowerings/index.ts';
import { specialise } from '../../src/gradient/typed-graph.ts';
import { encodeOnnx, Graph, type OnnxModel } from '../../src/onnx/index.ts';
import type { LoweringCase } from './lowering-cases.ts';
import { type Feeds, modelOf, numbers, run } from './run-graph.ts';

/** The graph of one node, or of its oracle; outputs y0, y1, … */
function graphOf(full: string, each: LoweringCase, oracle?: LoweringCase['oracle']): OnnxModel {
  const { inputs, arguments: places, attributes, outputs = 1, skipped = [], opset } = each;
  const graph = new Graph();
  graph.inputs = inputs.map(({ dims }, at) => ({ name: `x${at}`, dtype: 'float32', dims: [...dims] }));
  const names = places.map((place) =>
    place === null ? '' : typeof place === 'number' ? `x${place}` : graph.constant(place),
  );
  while (names.at(-1) === '') names.pop();
  const made = Array.from({ length: outputs }, (_, at) => (skipped.includes(at) ? '' : `y${at}`));
  const dot = full.lastIndexOf('.');
  if (oracle) graph.add('Identity', [oracle(graph, names)], { outputs: made });
  else
    graph.addNode(full.slice(dot + 1), names, { domain: dot < 0 ? '' : full.slice(0, dot), attributes, outputs: made });
  graph.outputs = made.filter(Boolean).map((name) => ({ name, dtype: 'float32', dims: null }));
  return modelOf(graph, opset);
}

/** The plain form at the case's sizes. */
function plain(model: OnnxModel, { inputs }: LoweringCase) {
  const typed = specialise(lowered(model), new Map(inputs.map(({ dims }, at) => [`x${at}`, dims])));
  lowerNodes(typed, typed.graph.nodes);
  return typed;
}

export interface Comparison {
  /** Largest difference between the outputs, by output. */
  outputs: { name: string; difference: number }[];
  /** By input: how far measured slopes are from the analytic gradient's, relative to the gradient's norm. */
  slopes: number[];
  /** Operators of the plain form. */
  operators: string[];
}

/** Central differences along `directions` random directions of each input, of Σ c · y over all outputs. */
export async function compare(full: string, each: LoweringCase, directions = 4): Promise<Comparison> {
  const model = graphOf(full, each);
  const feeds: Feeds = Object.fromEntries(each.inputs.map((input, at) => [`x${at}`, input]));
  const names = model.graph.outputs.map(({ name }) => name);
  const isUsed = (name: string, at: number): boolean => each.used?.(Number(name.slice(1)), at) ?? true;

  const kernel = each.oracle ? graphOf(full, each, each.oracle) : model;
  const session = await ort.InferenceSession.create(encodeOnnx(kernel), { logSeverityLevel: 3, intraOpNumThreads: 1 });
  const fused = async (values: Feeds): Promise<Record<string, Float32Array>> => {
    const given = Object.entries(values).map(
      ([name, input]) => [name, new ort.Tensor('float32', Float32Array.from(input.values), input.dims)] as const,
    );
    const result = await session.run(Object.fromEntries(given));
    return Object.fromEntries(names.map((name) => [name, result[name]?.data as Float32Array]));
  };
  const expected = await fused(feeds);

  const typed = plain(model, each);
  const made = typed.graph.outputs.map(({ name }) => name);
  const operators = typed.graph.nodes.map((node) => node.fullOperator);
  const coefficients = names.map((name, at) =>
    numbers(expected[name]?.length ?? 0, 100 + at).map((value, k) => (isUsed(name, k) ? value : 0)),
  );
  const found = await run(modelOf(typed.graph, each.opset), feeds);
  const outputs = names.map((name, at) => {
    const [a, b] = [expected[name] ?? [], found[made[at] ?? ''] ?? []];
    if (a.length !== b.length) return { name, difference: Number.NaN };
    return {
      name,
      difference: Array.from(a).reduce(
        (most, value, k) => (isUsed(name, k) ? Math.max(most, Math.abs(value - (b[k] ?? Number.NaN))) : most),
        0,
      ),
    };
  });

  const wanted = each.inputs.map((_, at) => `x${at}`);
  const seeds = new Map<string, string>();
  const seeded: Feeds = { ...feeds };
  made.forEach((name, at) => {
    const dims = [...typed.dims(name)];
    seeds.set(name, typed.input(`seed${at}`, 'float32', dims));
    seeded[`seed${at}`] = { dims, values: coefficients[at] ?? [] };
  });
  const gradients = backward(typed, pathBetween(typed, new Set(wanted), new Set(made)), seeds, wanted);
  typed.graph.outputs = wanted.map((name) => ({ name: gradients.get(name) ?? '', dtype: 'float32', dims: null }));
  typed.graph.prune();
  const read = new Set([
    ...typed.graph.nodes.flatMap((node) => node.inputs),
    ...typed.graph.outputs.map(({ name }) => name),
  ]);
  typed.graph.inputs = typed.graph.inputs.filter(({ name }) => read.has(name));
  const given = Object.fromEntries(Object.entries(seeded).filter(([name]) => read.has(name)));
  const result = await run(modelOf(typed.graph, each.opset), given);

  const loss = async (values: Feeds): Promise<number> => {
    const y = await fused(values);
    return names.reduce(
      (sum, name, at) =>
        sum +
        (coefficients[at] ?? []).reduce((part, c, k) => (c === 0 ? part : part + c * (y[name]?.[k] ?? Number.NaN)), 0),
      0,
    );
  };
  const step = 2 ** -8;
  const slopes: number[] = [];
  for (const [at, input] of each.inputs.entries()) {
    const gradient = result[gradients.get(`x${at}`) ?? ''] ?? [];
    const norm = Math.max(Math.hypot(...gradient), 0.1);
    let worst = gradient.length === input.values.length ? 0 : Number.NaN;
    for (let direction = 0; direction < directions; direction++) {
      const signs = numbers(input.values.length, 7 * at + direction + 1).map((value) => (value < 0 ? -1 : 1));
      const moved = (by: number): Feeds => ({
        ...feeds,
        [`x${at}`]: { dims: input.dims, values: input.values.map((value, k) => value + by * (signs[k] ?? 0)) },
      });
      const measured = ((await loss(moved(step))) - (await loss(moved(-step)))) / (2 * step);
      const analytic = gradient.reduce((sum, value, k) => sum + value * (signs[k] ?? 0), 0);
      worst = Math.max(worst, Math.abs(measured - analytic) / norm);
    }
    slopes.push(worst);
  }
  await session.release();
  return { outputs, slopes, operators };
}
