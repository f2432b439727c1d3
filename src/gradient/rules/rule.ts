/** What a gradient rule is. */
import type { GraphNode } from '../../onnx/index.ts';
import type { TypedGraph } from '../typed-graph.ts';

export interface RuleContext {
  /** Where the rule adds its nodes. */
  g: TypedGraph;
  node: GraphNode;
  /** Gradient of the first output. */
  dy: string;
  /** Gradients of all outputs; undefined where the loss does not depend on one. */
  dys: readonly (string | undefined)[];
  /** Whether the gradient of this input is wanted: frozen weights, masks and positions need none. */
  needs(input: number): boolean;
  /** The node of the forward graph that makes a value. */
  made(value: string): GraphNode | undefined;
  /** Nodes of the forward graph that read a value. */
  consumers(value: string): readonly GraphNode[];
}

/** Gradients of the loss with respect to the node's inputs, by position; undefined where none is wanted. */
export type GradientRule = (context: RuleContext) => (string | undefined)[];
