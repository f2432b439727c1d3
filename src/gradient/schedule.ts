/**
 * When nodes run, and how much memory that takes. ONNX Runtime runs a graph depth first from its outputs: of a node's
 * inputs, the one whose maker stands last in the file is made first, with all that it needs. The order in the file
 * therefore decides how long values are kept.
 */
import { bytesOf, type Graph, type GraphNode } from '../onnx/index.ts';
import type { TypedGraph } from './typed-graph.ts';

/** The order in which ONNX Runtime runs the nodes of a graph that it does not optimise (1.30, sequential execution). */
export function executionOrder(graph: Graph): GraphNode[] {
  const place = new Map(graph.nodes.map((node, at) => [node, at]));
  const producers = graph.producers();
  const inputsOf = graph.nodes.map((node) => {
    const made = new Set<number>();
    for (const input of node.inputs) {
      const producer = producers.get(input);
      if (producer) made.add(place.get(producer) ?? 0);
    }
    return [...made].sort((a, b) => a - b);
  });
  const read = new Set(inputsOf.flat());
  const order: GraphNode[] = [];
  const entered = new Set<number>();
  // Entries are a node's place, or its bitwise complement when all of its inputs have been made.
  const stack = graph.nodes.flatMap((_, at) => (read.has(at) ? [] : [at]));
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const node = graph.nodes[top < 0 ? ~top : top];
    if (top < 0) {
      if (node) order.push(node);
      continue;
    }
    if (entered.has(top)) continue;
    entered.add(top);
    stack.push(~top);
    for (const input of inputsOf[top] ?? []) if (!entered.has(input)) stack.push(input);
  }
  return order;
}

/**
 * Puts the nodes in an order in the file that makes ONNX Runtime compute what the way back needs only when it needs it.
 * What depends on nothing but the forward pass (activations computed again) stands in front of everything that depends
 * on the loss: at a node that needs both, the gradient is then made first, with the whole way back behind it.
 */
export function orderForMemory(graph: Graph, forward: ReadonlySet<GraphNode>, seeds: ReadonlySet<string>): void {
  graph.sort();
  const backward = new Set<string>(seeds);
  const [early, again, late]: [GraphNode[], GraphNode[], GraphNode[]] = [[], [], []];
  for (const node of graph.nodes) {
    if (node.inputs.some((input) => backward.has(input))) for (const output of node.outputs) backward.add(output);
    if (node.outputs.some((output) => backward.has(output))) late.push(node);
    else (forward.has(node) ? early : again).push(node);
  }
  graph.nodes = [...early, ...again, ...late];
}

/** Operators whose output is their first input's memory. */
const views = new Set(['Reshape', 'Squeeze', 'Unsqueeze', 'Flatten', 'Identity']);
/** Operators that may write over an input of the output's size, where nothing else needs it. */
const inPlace = new Set(
  (
    'Add Sub Mul Div Neg Abs Exp Log Sqrt Reciprocal Sigmoid Tanh Erf Relu Cast Softmax Where Clip Sum ' + 'Pow Min Max'
  ).split(' '),
);

/** Values kept at the moment of the largest need, and their bytes: weights and inputs are not counted. */
export interface MemoryNeed {
  peak: number;
  /** The node that runs at the peak. */
  at: GraphNode | null;
  /** Live values at the peak with their bytes, largest first. */
  live: [name: string, bytes: number][];
}

/** Memory that a run of the graph takes for the values between its nodes. */
export function memoryNeed(g: TypedGraph): MemoryNeed {
  const order = executionOrder(g.graph);
  const home = new Map<string, string>();
  const homeOf = (name: string): string => home.get(name) ?? name;
  const uses = new Map<string, number>();
  const kept = new Set(g.graph.outputs.map(({ name }) => name));
  const produced = new Set<string>();
  const count = (name: string, by: number): number => {
    const left = (uses.get(name) ?? 0) + by;
    uses.set(name, left);
    return left;
  };
  for (const node of order) {
    node.outputs.forEach((output) => {
      produced.add(output);
    });
    const [output, input] = [node.output(), node.input(0)];
    if (!node.domain && views.has(node.operator) && produced.has(input)) {
      home.set(output, homeOf(input));
      if (kept.has(output)) kept.add(homeOf(input));
    }
    for (const each of node.inputs) if (produced.has(each)) count(homeOf(each), 1);
  }
  const bytes = (name: string): number => {
    const type = g.types.get(name);
    return type ? bytesOf(type.dtype, [...type.dims]) : 0;
  };
  const live = new Map<string, number>();
  let now = 0;
  let need: MemoryNeed = { peak: 0, at: null, live: [] };
  let atPeak: Map<string, number> = new Map();
  const free = (name: string): void => {
    now -= live.get(name) ?? 0;
    live.delete(name);
  };
  for (const node of order) {
    const inputs = node.inputs.filter((input) => produced.has(input)).map(homeOf);
    let reused: string | null = null;
    if (!node.domain && inPlace.has(node.operator))
      reused =
        inputs.find(
          (input) =>
            uses.get(input) === inputs.filter((each) => each === input).length &&
            !kept.has(input) &&
            live.get(input) === bytes(node.output()),
        ) ?? null;
    for (const output of node.outputs) {
      if (output === '' || home.has(output)) continue;
      if (reused !== null && output === node.output()) {
        live.delete(reused);
        live.set(output, bytes(output));
        continue;
      }
      live.set(output, bytes(output));
      now += bytes(output);
    }
    if (now > need.peak) {
      need = { peak: now, at: node, live: [] };
      atPeak = new Map(live);
    }
    for (const input of inputs) if (count(input, -1) === 0 && !kept.has(input)) free(input);
    for (const output of node.outputs) if (!uses.get(homeOf(output)) && !kept.has(homeOf(output))) free(output);
  }
  need.live = [...atPeak].sort((a, b) => b[1] - a[1]);
  return need;
}
