/** Logits only where they are wanted: what is computed row by row at the end of a graph is computed for those rows. */
import type { Graph, GraphNode, OnnxModel } from '../onnx/index.ts';
import { inferenceRows } from './inference/index.ts';
import { answerPositionsInput, inputSizes } from './inputs.ts';
import { softPromptInput } from './splice.ts';
import { specialise, type TypedGraph } from './typed-graph.ts';
import { axisOf, size } from './types.ts';

/** How the rows of a value stand: [batch, sequence, …], or both in one axis, [batch · sequence, …]. */
type Layout = 'lead' | 'flat';

const depth = (layout: Layout): number => (layout === 'lead' ? 2 : 1);

interface Region {
  /** The logits, by the name of the value that they are the same as. */
  logits: string;
  /** The name that a value goes by here. */
  resolve(name: string): string;
  /** Outputs of the nodes that are to run on the wanted rows only. */
  nodes: Set<string>;
  /** Values where the wanted rows are picked. */
  frontier: Map<string, Layout>;
  /** New dims of a Reshape inside: the part behind the rows. */
  reshapes: Map<string, { layout: Layout; rest: number[] }>;
}

const lastAxisOperators = new Set([
  'Softmax',
  'LogSoftmax',
  'LayerNormalization',
  'SimplifiedLayerNormalization',
  'RMSNormalization',
  'Concat',
  'Split',
]);
const elementwiseOperators = new Set(
  (
    'Add Sub Mul Div Pow Mod Min Max Sum Mean Where PRelu Identity Cast CastLike Dropout Neg Abs Sqrt Reciprocal Exp Log ' +
    'Sigmoid Tanh Erf Relu Gelu Cos Sin LeakyRelu Elu HardSigmoid HardSwish Mish Softplus Softsign Clip Swish ' +
    'com.microsoft.QuickGelu com.microsoft.FastGelu com.microsoft.BiasGelu com.microsoft.Gelu'
  ).split(' '),
);
const reductions = new Set(['ReduceSum', 'ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceL2', 'ReduceSumSquare']);

/** Whether a node works row by row, and in which layout it wants its inputs; null: it does not. */
function rowWise(
  typed: TypedGraph,
  node: GraphNode,
  layout: Layout,
  varies: (name: string) => boolean,
  [batch, length]: [number, number],
): Map<string, Layout> | null {
  const operator = node.fullOperator;
  const rank = typed.dims(node.output()).length;
  const rows = depth(layout);
  const layoutOf = (dims: readonly number[]): Layout | null =>
    dims.length > 2 && dims[0] === batch && dims[1] === length
      ? 'lead'
      : dims.length > 1 && dims[0] === batch * length
        ? 'flat'
        : null;
  const wanted = new Map<string, Layout>();
  const inputs = node.inputs.filter((name) => name !== '');
  const dataAxis = (axis: number): boolean => axisOf(axis, rank) >= rows;
  if (operator === 'Reshape') {
    const from = layoutOf(typed.dims(node.input(0)));
    return from ? wanted.set(node.input(0), from) : null;
  }
  if (operator === 'MatMul' || operator === 'com.microsoft.FusedMatMul' || operator === 'Gemm') {
    const [a, b] = [node.input(0), node.input(1)];
    if (varies(b) || node.int('transA', 0) || typed.dims(b).length !== 2 || typed.dims(a).length !== rank) return null;
    const addend = node.input(2);
    if (addend && (varies(addend) || size(typed.dims(addend).slice(0, -1)) !== 1)) return null;
    return wanted.set(a, layout);
  }
  if (operator === 'com.microsoft.MatMulNBits')
    return node.inputs.slice(1).some((name) => name !== '' && varies(name)) ? null : wanted.set(node.input(0), layout);
  const axisFits = dataAxis(node.int('axis', operator === 'Concat' || operator === 'Split' ? 0 : -1));
  const reduces = reductions.has(operator) && node.int('keepdims', 1) === 1;
  if (reduces) {
    const axes = node.input(1) ? typed.values(node.input(1)) : node.ints('axes');
    if (!axes?.length || !axes.every(dataAxis)) return null;
    return wanted.set(node.input(0), layout);
  }
  if (!elementwiseOperators.has(operator) && !(lastAxisOperators.has(operator) && axisFits)) return null;
  for (const input of inputs) {
    const dims = typed.dims(input);
    if (!varies(input)) {
      // a constant must be the same for all rows
      const shift = rank - dims.length;
      if (dims.some((dim, axis) => axis + shift < rows && dim !== 1)) return null;
      continue;
    }
    if (
      dims.length === rank &&
      typed
        .dims(node.output())
        .slice(0, rows)
        .every((dim, axis) => dim === dims[axis])
    )
      wanted.set(input, layout);
    else return null;
  }
  return wanted;
}

function findRegion(typed: TypedGraph, logits: string, sizes: [number, number]): Region {
  const { graph } = typed;
  const varying = new Set(graph.inputs.map(({ name }) => name));
  for (const node of graph.nodes)
    if (node.inputs.some((input) => varying.has(input))) for (const output of node.outputs) varying.add(output);
  const consumers = graph.consumers();
  const resolve = (name: string): string => typed.aliases.get(name) ?? name;
  const region: Region = { logits, resolve, nodes: new Set(), frontier: new Map(), reshapes: new Map() };
  const wanted = new Map<string, Layout>([[logits, 'lead']]);
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  for (const node of graph.nodes.toReversed()) {
    const asked = node.outputs.filter((output) => wanted.has(output));
    const [layout, ...others] = new Set(asked.map((output) => wanted.get(output)));
    if (!layout) continue;
    const onlyInside = node.outputs.every(
      (each) =>
        each === '' ||
        each === logits ||
        (!outputs.has(each) && (consumers.get(each) ?? []).every((user) => region.nodes.has(user.output()))),
    );
    const conflicting = (inputs: Map<string, Layout>): boolean =>
      [...inputs].some(([name, each]) => (wanted.get(name) ?? each) !== each);
    const inside = onlyInside && others.length === 0;
    const inputs = inside ? rowWise(typed, node, layout, (name) => varying.has(name), sizes) : null;
    if (!inputs || conflicting(inputs)) {
      for (const output of asked) region.frontier.set(output, wanted.get(output) ?? layout);
      continue;
    }
    for (const output of node.outputs) region.nodes.add(output);
    if (node.operator === 'Reshape')
      region.reshapes.set(node.output(), { layout, rest: typed.dims(node.output()).slice(depth(layout)) });
    for (const [name, each] of inputs) wanted.set(name, each);
  }
  for (const [name, layout] of wanted)
    if (varying.has(name) && !producedIn(graph, name)) region.frontier.set(name, layout);
  return region;
}

const producedIn = (graph: Graph, name: string): boolean => graph.nodes.some(({ outputs }) => outputs.includes(name));

/**
 * A copy of the model that gives logits only at chosen places: it gains an input `answer_positions`, int64 [answers, 2]
 * of (row of the batch, position in the padded row, soft prompt included), and its output `logits` becomes
 * [answers, vocabulary]. The head, the final norm and, where nothing else needs them, the last layer's MLP and output
 * projection then run on these rows only. Sizes stay dynamic; cache inputs and outputs stay as they are.
 *
 * Use it for log-likelihoods, for a training graph, and with (row, last position) for a prefill.
 */
export function answerLogitsGraph(model: OnnxModel, logitsName = 'logits'): OnnxModel {
  const region = analyse(model, logitsName);
  const result = rewrite(model, logitsName, region);
  // Where the graph still asks for the shape of a value that now has the wanted rows only, nothing but the head is cut.
  const asksForShape = result.graph.nodes.some(
    (node) => node.operator === 'Shape' && region.nodes.has(region.resolve(node.input(0))),
  );
  return asksForShape ? rewrite(model, logitsName, headOnly(logitsName)) : result;
}

const headOnly = (logits: string): Region => ({
  logits,
  resolve: (name) => name,
  nodes: new Set(),
  frontier: new Map([[logits, 'lead']]),
  reshapes: new Map(),
});

function rewrite(model: OnnxModel, logitsName: string, region: Region): OnnxModel {
  const graph = model.graph.clone();
  graph.inputs.push({ name: answerPositionsInput, dtype: 'int64', dims: ['answers', 2] });
  const picked = new Map<string, string>();
  for (const [value, layout] of region.frontier) picked.set(value, pickRows(graph, value, layout));
  for (const node of graph.nodes) {
    if (!region.nodes.has(node.output())) continue;
    node.inputs = node.inputs.map((input) => {
      const name = region.resolve(input);
      return picked.get(name) ?? (region.nodes.has(name) ? name : input);
    });
    const reshape = region.reshapes.get(node.output());
    if (reshape) {
      const rows = reshape.layout === 'lead' ? [1, -1] : [-1];
      node.inputs = [node.input(0), graph.int64s([...rows, ...reshape.rest])];
    }
  }
  const logits = picked.get(region.logits) ?? region.logits;
  const renamed = graph.fresh(`${logitsName}_rows`);
  for (const node of graph.nodes) {
    node.outputs = node.outputs.map((name) => (name === logitsName ? renamed : name));
    node.inputs = node.inputs.map((name) => (name === logitsName ? renamed : name));
  }
  const rows = logits === logitsName ? renamed : logits;
  graph.add('Reshape', [rows, shapeOfRows(graph, rows)], { outputs: [logitsName] });
  graph.outputs = graph.outputs.map((value) =>
    value.name === logitsName ? { ...value, dims: ['answers', value.dims?.at(-1) ?? null] } : value,
  );
  graph.valueInfo = [];
  graph.prune();
  return { ...model, graph };
}

/** [1, answers, v] → [answers, v]. */
function shapeOfRows(graph: Graph, logits: string): string {
  const width = graph.add('Gather', [graph.add('Shape', [logits]), graph.int64s([2])]);
  return graph.add('Concat', [graph.int64s([-1]), width], { attributes: { axis: 0 } });
}

/** The wanted rows of a value: [batch, sequence, …] → [1, answers, …]; [batch · sequence, …] → [answers, …]. */
function pickRows(graph: Graph, value: string, layout: Layout): string {
  if (layout === 'lead') {
    const rows = graph.add('GatherND', [value, answerPositionsInput]);
    const shape = graph.add('Concat', [graph.int64s([1]), graph.add('Shape', [rows])], { attributes: { axis: 0 } });
    return graph.add('Reshape', [rows, shape]);
  }
  const length = graph.add('Gather', [graph.add('Shape', ['input_ids']), graph.int64s([1])]);
  const steps = graph.add('Concat', [length, graph.int64s([1])], { attributes: { axis: 0 } });
  const weighted = graph.add('Mul', [answerPositionsInput, steps]);
  // a sum of two columns without ReduceSum, whose axes moved between opsets
  const [row, column] = [0, 1].map((at) =>
    graph.add('Gather', [weighted, graph.scalar('int64', at)], { attributes: { axis: 1 } }),
  );
  return graph.add('Gather', [value, graph.add('Add', [row ?? '', column ?? ''])], { attributes: { axis: 0 } });
}

/** The row-wise end of the graph, worked out at small sizes that no other dimension is likely to have. */
function analyse(model: OnnxModel, logits: string): Region {
  const [batch, length] = [3, 29];
  if (model.graph.nodes.some((node) => !(node.fullOperator in inferenceRows))) return headOnly(logits);
  const vectors = model.graph.inputs.some(({ name }) => name === softPromptInput) ? 2 : 0;
  const clone = { ...model, graph: model.graph.clone() };
  const at = clone.graph.outputs.findIndex(({ name }) => name === logits);
  const typed = specialise(clone, inputSizes(model, { batch, length, past: 0, vectors }));
  return findRegion(typed, typed.graph.outputs[at]?.name ?? logits, [batch, length]);
}
