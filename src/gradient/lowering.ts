/**
 * Fused operators written out in operators that have shape and gradient rules. One row per operator; a row adds the
 * plain nodes under the names of the fused node's outputs.
 */
import type { Graph, GraphNode, OnnxModel } from '../onnx/index.ts';

type Lowering = (graph: Graph, node: GraphNode) => void;

/** Adds `Add` nodes over the inputs that are there; the sum has the name given, or a fresh one. */
function sum(graph: Graph, inputs: readonly string[], name: string): string {
  const terms = inputs.filter((input) => input !== '');
  return terms.slice(1).reduce((total, term, at) => {
    const last = at === terms.length - 2;
    return graph.add('Add', [total, term], last && name ? { outputs: [name] } : {});
  }, terms[0] ?? '');
}

/** What ONNX Runtime takes where a skip norm does not say. */
const skipEpsilon = 1e-12;

/**
 * norm(input + skip + bias). Outputs: the norm, two statistics that only training used (refused where read), and the
 * sum, which carries the residual stream on.
 */
const skipNorm =
  (operator: string, weights: readonly number[], bias: number): Lowering =>
  (graph, node) => {
    const total = sum(graph, [node.input(0), node.input(1), node.input(bias)], node.output(3));
    const inputs = [total, ...weights.map((at) => node.input(at)).filter((name) => name !== '')];
    const attributes = { axis: -1, epsilon: { type: 'float' as const, value: node.float('epsilon', skipEpsilon) } };
    const added = graph.addNode(operator, inputs, { attributes, outputs: [node.output()] });
    added.name = node.name;
  };

/** By full operator. Inputs by position: see ONNX Runtime's list of contrib operators. */
export const lowerings: Readonly<Record<string, Lowering>> = {
  'com.microsoft.SkipLayerNormalization': skipNorm('LayerNormalization', [2, 3], 4),
  'com.microsoft.SkipSimplifiedLayerNormalization': skipNorm('SimplifiedLayerNormalization', [2], 3),
};

/** A copy of the model without the operators of the table. */
export function lowered(model: OnnxModel): OnnxModel {
  const graph = model.graph.clone();
  const fused = graph.nodes.filter((node) => node.fullOperator in lowerings);
  if (fused.length === 0) return model;
  graph.nodes = graph.nodes.filter((node) => !fused.includes(node));
  for (const node of fused) lowerings[node.fullOperator]?.(graph, node);
  graph.sort();
  return { ...model, graph };
}

/** Names of the operators in a model that tuning writes out first. */
export const loweredOperators = (model: OnnxModel): string[] => [
  ...new Set(model.graph.nodes.map((node) => node.fullOperator).filter((operator) => operator in lowerings)),
];
