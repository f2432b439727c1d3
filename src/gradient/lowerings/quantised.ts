/**
 * Quantised operators without the quantisation of activations: what is differentiated, straight through. Weights stay
 * as they are stored and are decoded where they are used.
 */
import { constantNumbers, type Graph, type GraphNode, type OnnxModel, tensorOf } from '../../onnx/index.ts';

const quantising = new Set(['QuantizeLinear', 'com.microsoft.QuantizeLinear']);

interface Context {
  graph: Graph;
  producers: Map<string, GraphNode>;
}

function sameConstant({ graph, producers }: Context, a: string, b: string): boolean {
  if (a === b) return true;
  const [left, right] = [a, b].map((name) => constantNumbers(graph, name, producers));
  return !!left && !!right && left.length === right.length && left.every((value, at) => value === right[at]);
}

/** The float value that an activation was quantised from; null where it was not, or with another scale. */
function source(context: Context, name: string, scale: string): string | null {
  const node = context.producers.get(name);
  if (node?.operator === 'DynamicQuantizeLinear' && name === node.output(0)) return node.input(0);
  return node && quantising.has(node.fullOperator) && sameConstant(context, node.input(1), scale)
    ? node.input(0)
    : null;
}

/** (name - zero point) · scale as a float; columns of a matrix may have scales of their own. */
function decoded({ graph }: Context, name: string, scale: string, zeroPoint: string): string {
  const inputs = [name, scale, ...(zeroPoint ? [zeroPoint] : [])];
  // The last axis: several scales or zero points of a product's right side belong to columns. (One: no axis, which
  // opsets before 13 do not know.)
  const several = (graph.initializers.get(scale)?.dims.length ?? 0) > 0;
  return graph.add('DequantizeLinear', inputs, several ? { attributes: { axis: -1 } } : {});
}

/** Ones as many as the zero point has entries. */
function unitScale({ graph }: Context, zeroPoint: string): string {
  const dims = graph.initializers.get(zeroPoint)?.dims ?? [];
  const count = dims.reduce((product, dim) => product * dim, 1);
  return graph.constant(tensorOf('float32', dims, new Array<number>(count).fill(1)));
}

const named = (graph: Graph, node: GraphNode, operator: string, inputs: string[], output = node.output()): string => {
  const made = graph.addNode(operator, inputs, output ? { outputs: [output] } : {});
  made.name = node.name;
  return made.output();
};

function withBias(context: Context, node: GraphNode, factors: [string, string], bias: string): void {
  if (!bias) named(context.graph, node, 'MatMul', factors);
  else
    context.graph.add('Add', [named(context.graph, node, 'MatMul', factors, ''), bias], { outputs: [node.output()] });
}

/** Adds plain nodes under the names of the node's outputs; false where the node has to stay. */
type Row = (context: Context, node: GraphNode) => boolean;

/** Quantised and dequantised again. */
const roundTrip: Row = (context, node) => {
  if (context.producers.get(node.input(0))?.operator === 'DynamicQuantizeLinear') return false;
  const value = source(context, node.input(0), node.input(1));
  if (value !== null) named(context.graph, node, 'Identity', [value]);
  return value !== null;
};

const rows: Readonly<Record<string, Row>> = {
  /** Integer product; the scales of both sides are multiplied in behind it, those of an activation are 1 here. */
  MatMulInteger: (context, node) => {
    const dynamic = (name: string): string | null => {
      const maker = context.producers.get(name);
      return maker?.operator === 'DynamicQuantizeLinear' ? maker.input(0) : null;
    };
    const side = (name: string, zeroPoint: string): string =>
      dynamic(name) ?? decoded(context, name, unitScale(context, zeroPoint), zeroPoint);
    named(context.graph, node, 'MatMul', [side(node.input(0), node.input(2)), side(node.input(1), node.input(3))]);
    return true;
  },
  'com.microsoft.MatMulIntegerToFloat': (context, node) => {
    const side = (at: number): string =>
      source(context, node.input(at), node.input(at + 2)) ??
      decoded(context, node.input(at), node.input(at + 2), node.input(at + 4));
    withBias(context, node, [side(0), side(1)], node.input(6));
    return true;
  },
  'com.microsoft.DynamicQuantizeMatMul': (context, node) => {
    const weight = decoded(context, node.input(1), node.input(2), node.input(3));
    withBias(context, node, [node.input(0), weight], node.input(4));
    return true;
  },
  QLinearMatMul: (context, node) => {
    const side = (at: number): string =>
      source(context, node.input(at), node.input(at + 1)) ??
      decoded(context, node.input(at), node.input(at + 1), node.input(at + 2));
    const product = named(context.graph, node, 'MatMul', [side(0), side(3)], '');
    context.graph.add('QuantizeLinear', [product, node.input(6), node.input(7)], { outputs: [node.output()] });
    return true;
  },
  /** Attention whose queries, keys and values are one integer product; the past follows the zero points. */
  'com.microsoft.QAttention': (context, node) => {
    const { graph } = context;
    const input =
      source(context, node.input(0), node.input(3)) ?? decoded(context, node.input(0), node.input(3), node.input(6));
    const weight = decoded(context, node.input(1), node.input(4), node.input(7));
    const inputs = [input, weight, node.input(2), node.input(5), node.input(8)];
    const attributes = Object.fromEntries(node.attributes);
    const made = graph.addNode('Attention', inputs, { domain: node.domain, attributes, outputs: node.outputs });
    made.name = node.name;
    return true;
  },
  DequantizeLinear: roundTrip,
  'com.microsoft.DequantizeLinear': roundTrip,
  /** Level 4 quantises activations to 8 bits, block by block; 1 multiplies in float32. */
  'com.microsoft.MatMulNBits': (_context, node) => {
    node.attributes.set('accuracy_level', { type: 'int', value: 1 });
    return false;
  },
};
/** Operators that quantise activations as they run (or that may: MatMulNBits at accuracy level 4). */
export const quantisesActivations = (node: GraphNode): boolean =>
  node.fullOperator === 'com.microsoft.MatMulNBits'
    ? node.int('accuracy_level', 0) === 4
    : node.fullOperator === 'DynamicQuantizeLinear' ||
      node.fullOperator === 'com.microsoft.DynamicQuantizeMatMul' ||
      quantising.has(node.fullOperator);

/** Where an activation's own scale is multiplied in later on, it is 1 once the activation is not quantised. */
function dropScales(graph: Graph): void {
  const consumers = graph.consumers();
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  for (const node of graph.nodes) {
    if (node.fullOperator !== 'DynamicQuantizeLinear') continue;
    const free = [0, 2].every((at) => !outputs.has(node.output(at)) && !consumers.get(node.output(at))?.length);
    if (free) graph.replaceUses(node.output(1), graph.scalar('float32', 1));
  }
}

/** A copy of the model whose products take activations as they are. */
export function withoutActivationQuantisation(model: OnnxModel): OnnxModel {
  if (!model.graph.nodes.some((node) => node.fullOperator in rows)) return model;
  const graph = model.graph.clone();
  const context = { graph, producers: graph.producers() };
  const replaced = new Set<GraphNode>();
  // In graph order: a QLinearMatMul makes a QuantizeLinear, which a later node meets as the maker of its input.
  for (const node of [...graph.nodes]) {
    const made = graph.nodes.length;
    if (!rows[node.fullOperator]?.(context, node)) continue;
    replaced.add(node);
    for (const added of graph.nodes.slice(made))
      for (const output of added.outputs) context.producers.set(output, added);
  }
  graph.nodes = graph.nodes.filter((node) => !replaced.has(node));
  dropScales(graph);
  graph.prune();
  return { ...model, graph };
}
