/**
 * The evaluation graph with less to do at each step, results unchanged. Exporters write shape arithmetic, masks and
 * rotations out in every layer: of the 3300 nodes of a decode step of a 135M model two thirds work out sizes that are
 * those of the inputs, and repeated keys are made only to ask for their shape. Here
 *
 * 1. integers that follow from the inputs' sizes are taken from the inputs, once;
 * 2. nodes that compute the same become one;
 * 3. a rotation (rotary position embedding) becomes one node of ONNX Runtime's;
 * 4. a product with a transposed weight (a head that is tied to the embedding) reads the weight as it is, in place of a
 *    private copy that ONNX Runtime would make of it;
 * 5. what guards a softmax against rows that see nothing goes (streamline-guards.ts).
 *
 * Decided by the graph alone; what differs in any way stays as it is.
 */
import { specialise, type TypedGraph } from '../gradient/index.ts';
import type { ModelSignature } from '../model/index.ts';
import { computationOf, type Graph, type GraphNode, smallTensorText, type Tensor } from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { InferenceGraph } from './inference-graph.ts';
import { prefixInput } from './shared-prefix.ts';
import { takeGuards } from './streamline-guards.ts';
import { Rotations } from './streamline-rotations.ts';
import { inputDims, probes, SizeLists, takeSizes } from './streamline-sizes.ts';

/** Names what comes out of here: to be changed with it, because such graphs are kept on disk. */
export const streamlinedForm = 'streamlined 4';

/** 2: equal small constants and equal nodes become one. Nodes must be in order. */
function mergeEqual(graph: Graph): void {
  const kept = new Set(graph.outputs.map(({ name }) => name));
  const now = new Map<string, string>();
  const constants = new Map<string, string>();
  const constant = (name: string, tensor: Tensor): void => {
    const key = smallTensorText(tensor);
    const first = key === null ? undefined : constants.get(key);
    if (first !== undefined) now.set(name, first);
    else if (key !== null) constants.set(key, name);
  };
  for (const [name, tensor] of graph.initializers) constant(name, tensor);
  const nodes = new Map<string, GraphNode>();
  graph.nodes = graph.nodes.filter((node) => {
    const value = node.operator === 'Constant' && !node.domain ? node.tensor('value') : null;
    if (value && !kept.has(node.output())) {
      graph.initializers.set(node.output(), value);
      constant(node.output(), value);
      return false;
    }
    if (node.subgraphs().length) return true;
    node.inputs = node.inputs.map((input) => now.get(input) ?? input);
    const computation = computationOf(node);
    const key = computation === null ? null : `${computation}|${node.outputs.length}`;
    const first = key === null ? undefined : nodes.get(key);
    if (!first || node.outputs.some((output, at) => kept.has(output) || !first.output(at))) {
      if (key !== null) nodes.set(key, node);
      return true;
    }
    for (const [at, output] of node.outputs.entries()) now.set(output, first.output(at));
    return false;
  });
}

/**
 * 4: x · weightᵀ for weights of two axes. A weight that something else reads too gets a second name, over the same bytes of
 * the file: ONNX Runtime packs a weight with one reader into the file of packed weights only, and one with several
 * readers at every opening again, into memory of its own (113 MB for SmolLM2-135M, and as much read).
 */
function readAcross(graph: Graph): void {
  const producers = graph.producers();
  const consumers = graph.consumers();
  for (const node of graph.nodes) {
    if (node.operator !== 'MatMul' || node.domain) continue;
    const transposed = producers.get(node.input(1));
    const weight = graph.initializers.get(transposed?.input(0) ?? '');
    if (transposed?.operator !== 'Transpose' || weight?.dtype !== 'float32' || weight.dims.length !== 2) continue;
    node.operator = 'FusedMatMul';
    node.domain = 'com.microsoft';
    let name = transposed.input(0);
    if ((consumers.get(name) ?? []).length > 1) {
      name = graph.fresh(`${name}.across`);
      graph.initializers.set(name, weight);
    }
    node.inputs = [node.input(0), name];
    node.attributes.set('transB', { type: 'int', value: 1 });
  }
}

/**
 * The same graph, streamlined; as it is where something in it is not known. `fused`: use ONNX Runtime's own operators for
 * rotations and products, which not every provider has.
 */
export function streamlined(found: InferenceGraph, signature: ModelSignature, { fused = false } = {}): InferenceGraph {
  const { model } = found;
  if (signature.useCacheBranch || model.functions.length) return found;
  const pasts = found.cacheOutputs.map(({ past }) => past);
  const typed: TypedGraph[] = [];
  // Where there is no such input, nothing is as long as it.
  const probed = probes.map((sizes) => ({
    ...sizes,
    past: pasts.length ? sizes.past : 0,
    prefix: found.sharesPrefix ? sizes.prefix : 0,
  }));
  try {
    for (const sizes of probed) {
      const dims = inputDims(model, signature, pasts, sizes);
      if (!dims) return found;
      typed.push(specialise({ ...model, graph: model.graph.clone() }, dims));
    }
  } catch (error) {
    // An operator that shape inference does not know, or a size at which the graph does not run.
    if (error instanceof HumanError) return found;
    throw error;
  }
  const graph = model.graph.clone();
  takeSizes(graph, typed, probed, new SizeLists(graph, signature.inputIds.name, pasts[0]));
  graph.prune();
  mergeEqual(graph);
  const [first, second] = typed;
  if (first && found.embedding !== null)
    takeGuards(graph, first, [found.embedding, ...pasts, ...pasts.map(prefixInput)]);
  if (fused) readAcross(graph);
  if (fused && first && second)
    new Rotations(graph, first, second).merge(new SizeLists(graph, signature.inputIds.name, pasts[0]));
  graph.prune();
  const opsets = model.opsets.has('com.microsoft') ? model.opsets : new Map([...model.opsets, ['com.microsoft', 1]]);
  return { ...found, model: { ...model, opsets, graph } };
}
