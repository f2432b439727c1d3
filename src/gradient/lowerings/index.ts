/**
 * Fused operators written out in operators that have shape and gradient rules. One row per operator; a row adds the
 * plain nodes under the names of the fused node's outputs.
 */
import type { OnnxModel } from '../../onnx/index.ts';
import type { Lowering } from './lowering.ts';
import { normLowerings } from './norms.ts';

export type { Lowering } from './lowering.ts';

/** By full operator (`domain.Operator` outside the default domain). */
export const lowerings: Readonly<Record<string, Lowering>> = { ...normLowerings };

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
