/** Nodes that compute the same from the same inputs become one: exporters write masks and positions out in each layer. */
import { computationOf, type GraphNode } from '../onnx/index.ts';
import type { TypedGraph } from './typed-graph.ts';

/** Merges equal small constants, and then equal nodes, in graph order. */
export function mergeDuplicates(g: TypedGraph): void {
  const { graph } = g;
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  const now = new Map<string, string>();
  const constants = new Map<string, string>();
  for (const [name, tensor] of graph.initializers) {
    const values = g.values(name);
    if (!values) continue;
    const key = `${tensor.dtype}[${tensor.dims}]${values}`;
    const first = constants.get(key);
    if (first === undefined) constants.set(key, name);
    else if (!outputs.has(name)) now.set(name, first);
  }
  const nodes = new Map<string, GraphNode>();
  graph.nodes = graph.nodes.filter((node) => {
    if (node.subgraphs().length > 0) return true;
    node.inputs = node.inputs.map((input) => now.get(input) ?? input);
    const key = computationOf(node);
    if (key === null) return true;
    const first = nodes.get(key);
    if (!first || node.outputs.length !== first.outputs.length || node.outputs.some((name) => outputs.has(name))) {
      nodes.set(key, node);
      return true;
    }
    for (const [at, output] of node.outputs.entries()) {
      const same = first.output(at);
      if (output === '') continue;
      // An output that the first leaves out is asked for there.
      if (same === '') {
        first.outputs[at] = output;
        continue;
      }
      now.set(output, same);
    }
    return false;
  });
}
