/**
 * A graph with the sizes of its inputs fixed: every value's type and shape are known, shape arithmetic is folded away,
 * and nodes are added with short calls that work for the graph's own opset.
 */

import {
  type AttributeValues,
  attribute,
  type Branch,
  branchOf,
  type DataType,
  definedNames,
  Graph,
  GraphNode,
  isFloat,
  numbersOf,
  type OnnxModel,
  type Tensor,
  tensorOf,
} from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';
import { DependsOnData, inferenceRows } from './inference/index.ts';
import { refusedOperators } from './refused.ts';
import { SelectedRows } from './selected-rows.ts';
import { axisOf, mostKnownValues, sameDims, size, type ValueType } from './types.ts';

export class TypedGraph {
  readonly types = new Map<string, ValueType>();
  /** Values that were the same as another and went: the name they have now. */
  readonly aliases = new Map<string, string>();
  readonly #constants = new Map<string, string>();
  readonly #added = new Map<string, GraphNode>();
  #nodes: GraphNode[] | null = null;
  #count = 0;

  constructor(
    readonly graph: Graph,
    readonly opset: number,
  ) {}

  typeOf(name: string): ValueType {
    const type = this.types.get(name);
    if (!type) throw new Error(`nothing is known of the value "${name}"`);
    return type;
  }
  dims(name: string): readonly number[] {
    return this.typeOf(name).dims;
  }
  dtype(name: string): DataType {
    return this.typeOf(name).dtype;
  }
  /** Values of a constant that are known here. */
  values(name: string): readonly number[] | undefined {
    return this.types.get(name)?.values;
  }

  constant(tensor: Tensor): string {
    const few = size(tensor.dims) <= mostKnownValues && tensor.data && tensor.dtype !== 'string';
    const values = few ? numbersOf(tensor) : undefined;
    const key = values ? `${tensor.dtype}[${tensor.dims}]${values}` : null;
    const shared = key === null ? undefined : this.#constants.get(key);
    if (shared) {
      // it may have been pruned since
      if (!this.graph.initializers.has(shared)) this.graph.initializers.set(shared, tensor);
      return shared;
    }
    const name = this.graph.constant(tensor);
    this.types.set(name, { dtype: tensor.dtype, dims: tensor.dims, ...(values ? { values } : {}) });
    if (key !== null) this.#constants.set(key, name);
    return name;
  }
  /** A constant under that name, added unless it is there: for weights, whose values are not compared. */
  stored(name: string, tensor: Tensor): string {
    if (!this.types.has(name)) {
      this.graph.initializers.set(name, tensor);
      this.types.set(name, { dtype: tensor.dtype, dims: tensor.dims });
    }
    return name;
  }
  int64s(values: readonly number[]): string {
    return this.constant(tensorOf('int64', [values.length], values));
  }
  /** An int64 constant of any shape. */
  constant64(values: readonly number[], dims: readonly number[]): string {
    return this.constant(tensorOf('int64', dims, values));
  }
  scalar(dtype: DataType, value: number): string {
    return this.constant(tensorOf(dtype, [], [value]));
  }
  /** A scalar of the type of `name`. */
  scalarLike(name: string, value: number): string {
    return this.scalar(this.dtype(name), value);
  }

  /** A node that is not in the graph yet; its outputs have fresh names and are typed. */
  node(
    operator: string,
    inputs: readonly string[],
    options: { attributes?: AttributeValues; domain?: string; outputCount?: number } = {},
  ): GraphNode {
    const outputs = Array.from({ length: options.outputCount ?? 1 }, () => `softbench_${operator}_${++this.#count}`);
    const attributes = new Map(
      Object.entries(options.attributes ?? {}).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, attribute(value)] as const],
      ),
    );
    const node = new GraphNode(operator, [...inputs], outputs, attributes, '', options.domain);
    const types = infer(node, this.types, this.opset);
    outputs.forEach((output, at) => {
      const type = types[at];
      if (type) this.types.set(output, { dtype: type.dtype, dims: type.dims });
    });
    return node;
  }
  /** Adds a node of one output; asked twice for the same, gives the one that is there. */
  add(operator: string, inputs: readonly string[], attributes?: AttributeValues, domain?: string): string {
    const key = JSON.stringify([operator, domain ?? '', inputs, attributes ?? {}]);
    this.#forgetPruned();
    const added = this.#added.get(key);
    if (added !== undefined) return added.output();
    const node = this.node(operator, inputs, { attributes, domain });
    this.graph.nodes.push(node);
    this.#added.set(key, node);
    return node.output();
  }

  /** Forgets nodes that went with a prune, which puts a new list in place: asked for again, they are made again. */
  #forgetPruned(): void {
    if (this.#nodes === this.graph.nodes) return;
    this.#nodes = this.graph.nodes;
    const kept = new Set(this.#nodes);
    for (const [key, node] of this.#added) if (!kept.has(node)) this.#added.delete(key);
  }

  // short forms; the operators' names, lower case
  mul(a: string, b: string): string {
    return this.add('Mul', [a, b]);
  }
  sub(a: string, b: string): string {
    return this.add('Sub', [a, b]);
  }
  neg(a: string): string {
    return this.add('Neg', [a]);
  }
  /** x times a number. */
  scale(x: string, factor: number): string {
    return factor === 1 ? x : this.mul(x, this.scalarLike(x, factor));
  }
  cast(x: string, dtype: DataType): string {
    const codes: Partial<Record<DataType, number>> = {
      float32: 1,
      int32: 6,
      int64: 7,
      bool: 9,
      float16: 10,
      float64: 11,
    };
    return this.dtype(x) === dtype ? x : this.add('Cast', [x], { to: codes[dtype] });
  }
  reshape(x: string, dims: readonly number[]): string {
    return sameDims(this.dims(x), dims)
      ? x
      : this.add('Reshape', [x, this.int64s(dims)], dims.includes(0) && this.opset >= 14 ? { allowzero: 1 } : {});
  }
  transpose(x: string, permutation: readonly number[]): string {
    return permutation.every((axis, at) => axis === at) ? x : this.add('Transpose', [x], { perm: [...permutation] });
  }
  /** Swaps the last two axes. */
  swapLast(x: string): string {
    const rank = this.dims(x).length;
    const order = Array.from({ length: rank }, (_, axis) => axis);
    order.splice(rank - 2, 2, rank - 1, rank - 2);
    return this.transpose(x, order);
  }
  expand(x: string, dims: readonly number[]): string {
    return sameDims(this.dims(x), dims) ? x : this.add('Expand', [x, this.int64s(dims)]);
  }
  slice(x: string, axis: number, start: number, end: number, step = 1): string {
    const dim = this.dims(x)[axis] ?? 0;
    if (start === 0 && end === dim && step === 1) return x;
    return this.add('Slice', [x, ...[[start], [end], [axis], [step]].map((values) => this.int64s(values))]);
  }
  concat(parts: readonly string[], axis: number): string {
    const [first] = parts;
    return parts.length === 1 && first !== undefined ? first : this.add('Concat', parts, { axis });
  }
  unsqueeze(x: string, axes: readonly number[]): string {
    const rank = this.dims(x).length + axes.length;
    const added = new Set(axes.map((axis) => axisOf(axis, rank)));
    const rest = [...this.dims(x)];
    return this.reshape(
      x,
      Array.from({ length: rank }, (_, axis) => (added.has(axis) ? 1 : (rest.shift() ?? 1))),
    );
  }
  reduce(operator: 'ReduceSum' | 'ReduceMean' | 'ReduceMax', x: string, axes: readonly number[], keep = true): string {
    if (axes.length === 0) return x;
    const keepdims = keep ? 1 : 0;
    // ReduceSum takes its axes as an input since opset 13, the others since 18.
    return this.opset >= (operator === 'ReduceSum' ? 13 : 18)
      ? this.add(operator, [x, this.int64s(axes)], { keepdims })
      : this.add(operator, [x], { keepdims, axes: [...axes] });
  }
  sum(x: string, axes: readonly number[], keep = true): string {
    return this.reduce('ReduceSum', x, axes, keep);
  }
  zeros(dtype: DataType, dims: readonly number[]): string {
    return this.expand(this.scalar(dtype, 0), dims);
  }

  /** The gradient of a value of shape `dims` that was broadcast to the shape of `gradient`. */
  unbroadcast(gradient: string, dims: readonly number[]): string {
    const from = this.dims(gradient);
    if (sameDims(from, dims)) return gradient;
    const shift = from.length - dims.length;
    const axes = from.flatMap((dim, axis) => (axis < shift || (dims[axis - shift] === 1 && dim !== 1) ? [axis] : []));
    return this.reshape(this.sum(gradient, axes), dims);
  }

  /** A graph input, which the caller feeds. */
  input(name: string, dtype: DataType, dims: readonly number[]): string {
    this.graph.inputs.push({ name, dtype, dims: [...dims] });
    this.types.set(name, { dtype, dims });
    return name;
  }
}

/** A tensor of more elements fits no machine's memory beside a model. */
const mostElements = 2 ** 40;

const sizesOfData =
  'Tuning fixes all sizes beforehand: export the model so that they do not follow from what a text is (of a mixture of experts: so that every expert sees every token).';

/** Types of a node's outputs; for an operator without a row, or inputs that do not fit, a HumanError saying where. */
function infer(node: GraphNode, types: ReadonlyMap<string, ValueType>, opset: number): ValueType[] {
  const row = inferenceRows[node.fullOperator];
  if (!row && node.fullOperator in refusedOperators)
    throw new HumanError(
      'unsupported',
      `The operator ${node.fullOperator} (node "${node.place}") cannot be tuned through: ${refusedOperators[node.fullOperator]}.`,
      { todo: 'Export the model again without it, for instance with optimum and without graph optimisation.' },
    );
  if (!row)
    throw new HumanError(
      'unsupported',
      `The operator ${node.fullOperator} (node "${node.place}") is not known to Softbench's shape inference.`,
      {
        todo: 'Export the model again with plain ONNX operators, for instance with optimum and without graph optimisation.',
      },
    );
  const inputs = node.inputs.map((name) => (name === '' ? undefined : types.get(name)));
  const unknown = node.inputs.find((name) => name !== '' && !types.has(name));
  if (unknown !== undefined)
    throw new HumanError(
      'bad-input',
      `The node "${node.place}" reads "${unknown}", which nothing in the graph makes.`,
      {
        todo: 'The file is damaged or was edited wrongly: export the model again.',
      },
    );
  try {
    const types = row({ node, inputs, opset });
    // Sizes and values that came out of damaged constants; ONNX Runtime would fail later, without a name.
    for (const { dims, dtype, values } of types) {
      if (dims.some((dim) => !Number.isSafeInteger(dim) || dim < 0) || size(dims) > mostElements)
        throw new Error(`the result would have the shape [${dims.join(', ')}]`);
      if (!isFloat(dtype) && values?.some((value) => !Number.isFinite(value)))
        throw new Error('the result would not be whole numbers');
    }
    return types;
  } catch (thrown) {
    const shapes = inputs.map((type) => (type ? `${type.dtype}[${type.dims.join(', ')}]` : '-')).join(', ');
    throw new HumanError(
      'unsupported',
      `The shape of ${node.fullOperator} (node "${node.place}") could not be worked out: ${thrown instanceof Error ? thrown.message : thrown}. Its inputs are ${shapes}.`,
      {
        todo: thrown instanceof DependsOnData ? sizesOfData : 'Please report the model and its exporter.',
        cause: thrown,
      },
    );
  }
}

/** What an If does at these sizes, where its condition follows from them; null for other nodes and other conditions. */
function branchTaken(typed: TypedGraph, node: GraphNode, names: () => Set<string>): Branch | null {
  const holds = node.fullOperator === 'If' ? typed.values(node.input(0))?.[0] : undefined;
  if (holds === undefined) return null;
  return branchOf(node, new Set([...names(), ...typed.types.keys()]), holds !== 0);
}

/** Operators that only pass their first input on, where the output has its type and shape. */
const passes = new Set([
  'Identity',
  'Cast',
  'CastLike',
  'Reshape',
  'Expand',
  'Flatten',
  'Squeeze',
  'Unsqueeze',
  'Slice',
  'Tile',
  'Pad',
  'Dropout',
]);

/**
 * The graph for inputs of the given sizes. Values that follow from sizes and small constants become constants; nodes
 * that do nothing at these sizes (expansions to the same shape, concatenation with an empty cache) go.
 * @param model a copy: its nodes become the result's
 * @param sizes dims of every graph input
 * @throws HumanError where a shape cannot be worked out, naming the operator and the node
 */
export function specialise(model: OnnxModel, sizes: ReadonlyMap<string, readonly number[]>): TypedGraph {
  const source = model.graph;
  source.prune();
  const opset = model.opsets.get('') ?? 18;
  const graph = new Graph();
  graph.name = source.name;
  const typed = new TypedGraph(graph, opset);
  const own = (name: string, tensor: Tensor): void => {
    const few = tensor.data && size(tensor.dims) <= mostKnownValues && tensor.dtype !== 'string';
    graph.initializers.set(name, tensor);
    typed.types.set(name, { dtype: tensor.dtype, dims: tensor.dims, ...(few ? { values: numbersOf(tensor) } : {}) });
  };
  for (const [name, tensor] of source.initializers) own(name, tensor);
  const alias = typed.aliases;
  for (const { name, dtype } of source.inputs) {
    const dims = sizes.get(name);
    if (!dims || !dtype) throw new Error(`no size was given for the input "${name}"`);
    if (size(dims) === 0) {
      graph.initializers.set(name, { dtype, dims: [...dims], data: new Uint8Array() });
      typed.types.set(name, { dtype, dims });
    } else typed.input(name, dtype, dims);
  }
  const resolve = (name: string): string => alias.get(name) ?? name;
  const selected = new SelectedRows(typed);
  const queue = source.nodes.toReversed();
  for (let node = queue.pop(); node; node = queue.pop()) {
    node.inputs = node.inputs.map(resolve);
    const branch = branchTaken(typed, node, () => definedNames(source, node));
    if (branch) {
      for (const [name, tensor] of branch.initializers) own(name, tensor);
      queue.push(...branch.nodes.reverse());
      continue;
    }
    if (node.operator === 'Concat' && !node.domain) {
      const parts = node.inputs.filter((name) => size(typed.types.get(name)?.dims ?? [1]) > 0);
      if (parts.length > 0) node.inputs = parts;
    }
    if (selected.enumerate(node)) continue;
    const types = infer(node, typed.types, opset);
    selected.follow(node, types);
    const [first] = types;
    const [input] = node.inputs;
    const inputType = input === undefined ? undefined : typed.types.get(input);
    const only = node.inputs.length === 1 && node.operator === 'Concat';
    if (
      first &&
      inputType &&
      input !== undefined &&
      !node.domain &&
      (passes.has(node.operator) || only) &&
      first.dtype === inputType.dtype &&
      sameDims(first.dims, inputType.dims)
    ) {
      alias.set(node.output(), input);
      continue;
    }
    node.outputs.forEach((output, at) => {
      const type = types[at];
      if (output && type) typed.types.set(output, type);
    });
    if (node.operator === 'Constant') {
      const tensor = node.tensor('value');
      const value = first?.values;
      if (tensor) graph.initializers.set(node.output(), tensor);
      else if (first && value) graph.initializers.set(node.output(), tensorOf(first.dtype, first.dims, value));
    } else if (types.every((type) => type.values) && types.length > 0)
      node.outputs.forEach((output, at) => {
        const type = types[at];
        if (output && type?.values) graph.initializers.set(output, tensorOf(type.dtype, type.dims, type.values));
      });
    else graph.nodes.push(node);
  }
  graph.outputs = source.outputs.map((value) => {
    const name = resolve(value.name);
    selected.end(name);
    const type = typed.types.get(name);
    return { name, dtype: type?.dtype ?? value.dtype, dims: type ? [...type.dims] : value.dims };
  });
  return typed;
}
