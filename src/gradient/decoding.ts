/** Weights that are stored narrower than they are used: decoded anew for each use, so that they are never all there. */
import { bytesOf, definedNames, type Graph, type GraphNode } from '../onnx/index.ts';

const decoding = new Set(['Cast', 'DequantizeLinear', 'com.microsoft.GatherBlockQuantized']);

/** Shorter constants may be decoded once and kept. */
const smallest = 1024;

/**
 * Gives every use of a decoded weight a decoding of its own, which runs right before it. Forward and backward pass share
 * weights: one decoding for both would stay in memory between them, and after a few layers the whole model would be
 * there in float32. Each takes its weight under a name of its own, and as an input with a default, because ONNX Runtime
 * would else join equal nodes and compute those of constants when the session is made.
 */
export function decodeWhereUsed(graph: Graph): void {
  const producers = graph.producers();
  const constant = new Map<string, boolean>();
  /** Follows from initialisers alone. */
  const isConstant = (name: string): boolean => {
    const known = constant.get(name);
    if (known !== undefined) return known;
    const node = producers.get(name);
    const result = node
      ? node.subgraphs().length === 0 && node.inputs.every((input) => input === '' || isConstant(input))
      : graph.initializers.has(name);
    constant.set(name, result);
    return result;
  };
  /** Has a large constant on its way. */
  const isLarge = (name: string): boolean => {
    const tensor = graph.initializers.get(name);
    if (tensor) return bytesOf(tensor.dtype, tensor.dims) > smallest;
    return producers.get(name)?.inputs.some((input) => input !== '' && isLarge(input)) ?? false;
  };
  const decodes = new Map<string, boolean>();
  /** Has a decoding of a large constant on its way. */
  const isDecoded = (name: string): boolean => {
    const known = decodes.get(name);
    if (known !== undefined) return known;
    const node = producers.get(name);
    let result = false;
    if (node && isConstant(name)) {
      result =
        (decoding.has(node.fullOperator) && isLarge(node.input(0))) ||
        node.inputs.some((input) => input !== '' && isDecoded(input));
    }
    decodes.set(name, result);
    return result;
  };
  const decoded = new Set(graph.nodes.filter((node) => isDecoded(node.output())));
  if (decoded.size === 0) return;
  const taken = definedNames(graph);
  const fresh = (label: string): string => {
    let name = label;
    for (let count = 2; taken.has(name); count++) name = `${label}/use_${count}`;
    taken.add(name);
    return name;
  };
  const copyOf = (name: string, into: GraphNode[]): string => {
    const node = producers.get(name);
    if (!node) {
      const tensor = graph.initializers.get(name);
      if (!tensor || bytesOf(tensor.dtype, tensor.dims) <= smallest) return name;
      const copy = fresh(name);
      graph.initializers.set(copy, tensor);
      graph.inputs.push({ name: copy, dtype: tensor.dtype, dims: [...tensor.dims] });
      return copy;
    }
    const copy = node.clone();
    copy.name = '';
    copy.inputs = node.inputs.map((input) => (input === '' ? '' : copyOf(input, into)));
    copy.outputs = node.outputs.map((output) => (output === '' ? '' : fresh(output)));
    into.push(copy);
    return copy.outputs[node.outputs.indexOf(name)] ?? '';
  };
  const copies: GraphNode[] = [];
  const rest = graph.nodes.filter((node) => !decoded.has(node));
  for (const node of rest)
    node.inputs = node.inputs.map((input) => (input !== '' && isDecoded(input) ? copyOf(input, copies) : input));
  // In front of everything: of a node's inputs ONNX Runtime makes first the one whose maker stands last (schedule.ts).
  // So a weight is decoded when all else that its product needs is there.
  graph.nodes = [...copies, ...rest];
  const read = new Set(graph.nodes.flatMap(({ inputs }) => inputs));
  for (const name of graph.initializers.keys()) if (!read.has(name)) graph.initializers.delete(name);
}
