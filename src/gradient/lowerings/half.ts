/**
 * Half-precision graphs computed in float32. ONNX Runtime's CPU provider has few kernels for 16-bit floats and wraps the
 * others in casts, so that every value is rounded to 11 or 8 bits on its way, and gradients underflow. Here weights stay
 * as they are stored and are widened where they are used; everything else is float32.
 */
import {
  type Attribute,
  type DataType,
  type Graph,
  type GraphNode,
  isFloat,
  numbersOf,
  type OnnxModel,
  type Tensor,
  tensorOf,
} from '../../onnx/index.ts';

const codes = { float32: 1, float16: 10, bfloat16: 16 } as const;
const isHalf = (dtype: DataType | null): boolean => dtype === 'float16' || dtype === 'bfloat16';
const halfCodes: readonly number[] = [codes.float16, codes.bfloat16];

/** Constants of up to so many bytes are rewritten; longer ones are widened as the graph runs. */
const smallest = 1024;

const wide = (tensor: Tensor): Tensor =>
  isHalf(tensor.dtype) && tensor.data ? tensorOf('float32', tensor.dims, numbersOf(tensor)) : tensor;

const isLookup = (node: GraphNode): boolean => node.operator === 'Gather' && !node.domain;

/** Attributes that name an element type: 16-bit floats become float32. */
const typeAttributes = new Set(['to', 'dtype', 'output_dtype', 'stash_type']);

function widenAttributes(node: GraphNode): void {
  for (const [name, attribute] of node.attributes) {
    let changed: Attribute = attribute;
    if (attribute.type === 'tensor') changed = { type: 'tensor', value: wide(attribute.value) };
    else if (attribute.type === 'int' && typeAttributes.has(name) && halfCodes.includes(attribute.value))
      changed = { type: 'int', value: codes.float32 };
    node.attributes.set(name, changed);
  }
}

/** Whether a graph, or one inside it, has 16-bit floats. */
export function isHalfPrecision(graph: Graph): boolean {
  const values = [...graph.inputs, ...graph.outputs];
  return (
    values.some(({ dtype }) => isHalf(dtype)) || [...graph.initializers.values()].some(({ dtype }) => isHalf(dtype))
  );
}

/**
 * The same graph in float32.
 * @param keepInputs inputs stay 16-bit floats (a cache that is handed over as it was made) and are widened behind
 */
export function inFloat32(model: OnnxModel, { keepInputs = false } = {}): OnnxModel {
  if (!isHalfPrecision(model.graph)) return model;
  const graph = model.graph.clone();
  const widen = (name: string): string => graph.add('Cast', [name], { attributes: { to: codes.float32 } });
  const own = [...graph.nodes];
  const lookups = new Set<GraphNode>();
  for (const [name, tensor] of graph.initializers) {
    if (!isHalf(tensor.dtype)) continue;
    if (tensor.data && tensor.data.byteLength <= smallest) {
      graph.initializers.set(name, wide(tensor));
      continue;
    }
    let widened: string | null = null;
    for (const node of own) {
      if (!node.inputs.includes(name)) continue;
      // Of a table only the rows that are looked up are widened.
      if (isLookup(node) && node.input(0) === name) lookups.add(node);
      else {
        widened ??= widen(name);
        const to = widened;
        node.inputs = node.inputs.map((input) => (input === name ? to : input));
      }
    }
  }
  for (const input of graph.inputs) {
    if (!isHalf(input.dtype)) continue;
    // (no keys and values of bfloat16 are held anywhere)
    if (!keepInputs || input.dtype === 'bfloat16') input.dtype = 'float32';
    else graph.replaceUses(input.name, widen(input.name), new Set(graph.nodes.slice(-1)));
  }
  for (const node of own) widenAttributes(node);
  for (const node of lookups) {
    const [output] = node.outputs;
    if (output === undefined) continue;
    const rows = graph.fresh(`${output}_stored`);
    node.outputs = [rows];
    graph.add('Cast', [rows], { attributes: { to: codes.float32 }, outputs: [output] });
  }
  for (const output of graph.outputs) if (output.dtype && isFloat(output.dtype)) output.dtype = 'float32';
  graph.valueInfo = [];
  graph.sort();
  return { ...model, graph };
}
