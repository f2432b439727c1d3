/**
 * Fused operators written out in operators that have shape and gradient rules. One row per operator; a row adds the
 * plain nodes under the names of the fused node's outputs.
 */
import type { GraphNode, OnnxModel } from '../../onnx/index.ts';
import type { TypedGraph } from '../typed-graph.ts';
import { activationLowerings } from './activation.ts';
import { attentionLowerings } from './attention.ts';
import { embeddingLowerings } from './embedding.ts';
import type { Lowering } from './lowering.ts';
import { normLowerings } from './norms.ts';
import { lowerSized, type SizedLowering } from './sized.ts';

export type { Lowering } from './lowering.ts';
export type { SizedLowering } from './sized.ts';

/** Written out while sizes are open, wherever they stand. By full operator (`domain.Operator` outside the default domain). */
export const lowerings: Readonly<Record<string, Lowering>> = { ...normLowerings, ...embeddingLowerings };

/** Written out at fixed sizes, and only where a gradient goes through: elsewhere the fused operator is the faster one. */
export const sizedLowerings: Readonly<Record<string, SizedLowering>> = {
  ...attentionLowerings,
  ...activationLowerings,
};

/** A copy of the model without the operators of {@link lowerings}; of `table` only, where it is given. */
export function lowered(model: OnnxModel, table: Readonly<Record<string, Lowering>> = lowerings): OnnxModel {
  const fused = model.graph.nodes.filter((node) => node.fullOperator in table);
  if (fused.length === 0) return model;
  const graph = model.graph.clone();
  const opset = model.opsets.get('') ?? 1;
  const own = graph.nodes.filter((node) => node.fullOperator in table);
  graph.nodes = graph.nodes.filter((node) => !(node.fullOperator in table));
  for (const node of own) table[node.fullOperator]?.(graph, node, opset);
  graph.sort();
  return { ...model, graph };
}

/** A copy of the model whose token embedding stands by itself, not inside a fused operator. */
export const withOpenEmbedding = (model: OnnxModel): OnnxModel => lowered(model, embeddingLowerings);

/** Writes out those of the given nodes that have a row in {@link sizedLowerings}. */
export const lowerNodes = (g: TypedGraph, nodes: Iterable<GraphNode>): void =>
  lowerSized(g, new Set(nodes), sizedLowerings);
