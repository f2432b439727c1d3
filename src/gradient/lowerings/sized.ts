/** Lowerings of operators whose plain form depends on sizes: they run on a graph whose sizes are fixed. */
import type { GraphNode } from '../../onnx/index.ts';
import { asError, HumanError } from '../../shared/errors.ts';
import type { TypedGraph } from '../typed-graph.ts';

/** Adds plain nodes and gives the names of the fused node's outputs by position; undefined where one is not made. */
export type SizedLowering = (g: TypedGraph, node: GraphNode) => (string | undefined)[];

/** What keeps a fused node from being written out: an input or attribute that has no plain form here. */
export const notLowered = (node: GraphNode, what: string): HumanError =>
  new HumanError(
    'unsupported',
    `The operator ${node.fullOperator} (node "${node.place}") cannot be differentiated: ${what}.`,
    { todo: 'Export the model again without this option, or without operator fusion.' },
  );

/** What a lowering gives; where the node's inputs are not what its operator takes, a HumanError saying where. */
function applied(lowering: SizedLowering, g: TypedGraph, node: GraphNode): (string | undefined)[] {
  try {
    return lowering(g, node);
  } catch (thrown) {
    throw thrown instanceof HumanError ? thrown : notLowered(node, asError(thrown).message);
  }
}

/**
 * Writes out those of the given nodes that have a lowering in `table`; what reads their outputs reads the plain nodes'.
 * @throws HumanError where a node uses an option that has no plain form
 */
export function lowerSized(
  g: TypedGraph,
  fused: ReadonlySet<GraphNode>,
  table: Readonly<Record<string, SizedLowering>>,
): void {
  const nodes = g.graph.nodes;
  const read = new Set([...nodes.flatMap(({ inputs }) => inputs), ...g.graph.outputs.map(({ name }) => name)]);
  const renamed = new Map<string, string>();
  const resolve = (name: string): string => renamed.get(name) ?? name;
  g.graph.nodes = [];
  for (const node of nodes) {
    node.inputs = node.inputs.map(resolve);
    const lowering = fused.has(node) ? table[node.fullOperator] : undefined;
    if (!lowering) {
      g.graph.nodes.push(node);
      continue;
    }
    const outputs = applied(lowering, g, node);
    for (const [at, name] of node.outputs.entries()) {
      const output = outputs[at];
      if (output !== undefined) renamed.set(name, output);
      else if (read.has(name)) throw notLowered(node, `its output ${at} is read`);
    }
  }
  g.graph.outputs = g.graph.outputs.map((value) => ({ ...value, name: resolve(value.name) }));
  // A node that was there already may now be read by one that stands before it.
  g.graph.sort();
}
