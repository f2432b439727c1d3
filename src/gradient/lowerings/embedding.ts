/** Embeddings joined with what follows them: the token embedding must stand by itself for a soft prompt to replace it. */
import type { Graph, GraphNode } from '../../onnx/index.ts';
import { type Lowering, sum } from './lowering.ts';

/** Rows of the position table: those of the given positions [batch, sequence] or [1, sequence], else the first ones. */
function positions(graph: Graph, node: GraphNode, ids: string): string {
  const [table, given] = [node.input(3), node.input(8)];
  if (given) return graph.add('Gather', [table, given]);
  const length = graph.add('Gather', [graph.add('Shape', [ids]), graph.int64s([1])]);
  return graph.add('Slice', [table, graph.int64s([0]), length, graph.int64s([0])]);
}

/**
 * Norm of words + positions + segments. Outputs: the norm; tokens in use of each row, where a mask is given, else 0;
 * the sum, from which the residual stream starts.
 */
const embedLayerNormalization: Lowering = (graph, node, opset) => {
  const [ids, segmentIds, mask] = [node.input(0), node.input(1), node.input(7)];
  const words = graph.add('Gather', [node.input(2), ids], { label: `${node.output()}_words` });
  const segments = segmentIds && node.input(4) ? graph.add('Gather', [node.input(4), segmentIds]) : '';
  const total = sum(graph, [words, positions(graph, node, ids), segments], node.output(2));
  const attributes = { axis: -1, epsilon: { type: 'float' as const, value: node.float('epsilon', 1e-12) } };
  const norm = graph.addNode('LayerNormalization', [total, node.input(5), node.input(6)], {
    attributes,
    outputs: [node.output()],
  });
  norm.name = node.name;
  if (!node.output(1)) return;
  const outputs = [node.output(1)];
  const counted = graph.add('Cast', [mask || ids], { attributes: { to: 6 } });
  const used = mask ? counted : graph.add('Sub', [counted, counted]);
  // the axes of ReduceSum are an input since opset 13
  if (opset < 13) graph.add('ReduceSum', [used], { attributes: { axes: [1], keepdims: 0 }, outputs });
  else graph.add('ReduceSum', [used, graph.int64s([1])], { attributes: { keepdims: 0 }, outputs });
};

export const embeddingLowerings: Record<string, Lowering> = {
  'com.microsoft.EmbedLayerNormalization': embedLayerNormalization,
};
