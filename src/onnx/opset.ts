/** Raising a model's opset, for an operator that only a newer one has. */
import type { OnnxModel } from './convert.ts';
import type { Graph, GraphNode } from './graph.ts';

/** Operators whose meaning changed after opset 13 in a way that is not rewritten here. */
const changed = new Set(['BatchNormalization', 'GroupNormalization', 'GridSample', 'Resize', 'Upsample', 'DFT']);

const axesAsInput = new Set(
  'ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare'.split(' '),
);

function rewrite(graph: Graph, node: GraphNode, from: number): void {
  if (from < 18 && axesAsInput.has(node.operator)) {
    const axes = node.ints('axes');
    node.attributes.delete('axes');
    if (axes) node.inputs = [node.input(0), graph.int64s(axes)];
  }
  if (from < 18 && node.operator === 'Split' && !node.input(1))
    node.attributes.set('num_outputs', { type: 'int', value: node.outputs.length });
}

/**
 * The model at a newer opset of the default domain; itself where it is there already. Null where that cannot be done:
 * from opsets before 13, where a control-flow operator holds further graphs, or with an operator that means something
 * else now.
 */
export function raiseOpset(model: OnnxModel, to: number): OnnxModel | null {
  const from = model.opsets.get('') ?? 1;
  if (from >= to) return model;
  const own = model.graph.nodes.filter(({ domain }) => !domain);
  if (from < 13 || own.some((node) => changed.has(node.operator) || node.subgraphs().length > 0)) return null;
  const graph = model.graph.clone();
  for (const node of [...graph.nodes]) if (!node.domain) rewrite(graph, node, from);
  return { ...model, graph, opsets: new Map(model.opsets).set('', to) };
}
