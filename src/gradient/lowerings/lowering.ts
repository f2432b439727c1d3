/** What a lowering is, and the parts that lowerings are made of. */
import type { Graph, GraphNode } from '../../onnx/index.ts';

/** Adds plain nodes that make the fused node's outputs, under the same names. Sizes are still open. */
export type Lowering = (graph: Graph, node: GraphNode, opset: number) => void;

/** Adds `Add` nodes over the inputs that are there; the sum has the name given, or a fresh one. */
export function sum(graph: Graph, inputs: readonly string[], name: string): string {
  const terms = inputs.filter((input) => input !== '');
  return terms.slice(1).reduce((total, term, at) => {
    const last = at === terms.length - 2;
    return graph.add('Add', [total, term], last && name ? { outputs: [name] } : {});
  }, terms[0] ?? '');
}
