/** An ONNX graph in memory, convenient to walk and edit. */
import { HumanError } from '../shared/errors.ts';
import { type DataType, numbersOf, type Tensor, tensorOf } from './tensor.ts';

export type Attribute =
  | { type: 'float'; value: number }
  | { type: 'int'; value: number }
  | { type: 'string'; value: string }
  | { type: 'tensor'; value: Tensor }
  | { type: 'graph'; value: Graph }
  | { type: 'floats'; value: number[] }
  | { type: 'ints'; value: number[] }
  | { type: 'strings'; value: string[] }
  | { type: 'tensors'; value: Tensor[] }
  | { type: 'graphs'; value: Graph[] }
  /** In a function's body: the value of the function's attribute of that name. */
  | { type: 'reference'; value: string; kind: number }
  /** Kept as it was read: type attributes. */
  | { type: 'other'; value: unknown };

/** A size: a number, the name of a symbol, or null where nothing is said. */
export type Dimension = number | string | null;

export interface ValueInfo {
  name: string;
  /** Null where the value is not a tensor, or nothing is said. */
  dtype: DataType | null;
  /** Null where the rank is not said. */
  dims: Dimension[] | null;
  /** Type as read, where it is not a tensor's. */
  otherType?: unknown;
}

/** Attributes as plain values: number → int, number[] → ints. Write a float as `{ type: 'float', value }`. */
export type AttributeValues = Record<string, number | number[] | string | Tensor | Graph | Attribute | undefined>;

export class GraphNode {
  /** Empty or a domain's name; `ai.onnx` is read as empty. */
  domain: string;
  constructor(
    public operator: string,
    public inputs: string[],
    public outputs: string[],
    public attributes: Map<string, Attribute> = new Map(),
    public name = '',
    domain = '',
    public overload = '',
  ) {
    this.domain = domain === 'ai.onnx' ? '' : domain;
  }

  /** `Add` or `com.microsoft.FusedMatMul`. */
  get fullOperator(): string {
    return this.domain ? `${this.domain}.${this.operator}` : this.operator;
  }

  /** What a person can search for in a graph viewer. */
  get place(): string {
    return this.name || this.outputs.find((output) => output !== '') || '(unnamed)';
  }

  input(index: number): string {
    return this.inputs[index] ?? '';
  }
  output(index = 0): string {
    return this.outputs[index] ?? '';
  }

  int(name: string, fallback: number): number {
    const attribute = this.attributes.get(name);
    return attribute?.type === 'int' ? attribute.value : fallback;
  }
  float(name: string, fallback: number): number {
    const attribute = this.attributes.get(name);
    return attribute?.type === 'float' || attribute?.type === 'int' ? attribute.value : fallback;
  }
  string(name: string, fallback: string): string {
    const attribute = this.attributes.get(name);
    return attribute?.type === 'string' ? attribute.value : fallback;
  }
  ints(name: string): number[] | null {
    const attribute = this.attributes.get(name);
    return attribute?.type === 'ints' ? attribute.value : null;
  }
  tensor(name: string): Tensor | null {
    const attribute = this.attributes.get(name);
    return attribute?.type === 'tensor' ? attribute.value : null;
  }
  /** Graphs held by the node's attributes (branches, loop bodies). */
  subgraphs(): Graph[] {
    const graphs: Graph[] = [];
    for (const attribute of this.attributes.values())
      if (attribute.type === 'graph') graphs.push(attribute.value);
      else if (attribute.type === 'graphs') graphs.push(...attribute.value);
    return graphs;
  }

  clone(): GraphNode {
    // A graph of thousands of nodes is copied several times on its way to a training graph: this is its slowest part.
    const attributes = new Map(this.attributes);
    for (const [name, attribute] of this.attributes)
      if (attribute.type === 'graph') attributes.set(name, { type: 'graph', value: attribute.value.clone() });
    return new GraphNode(
      this.operator,
      this.inputs.slice(),
      this.outputs.slice(),
      attributes,
      this.name,
      this.domain,
      this.overload,
    );
  }
}

export function attribute(value: NonNullable<AttributeValues[string]>): Attribute {
  if (typeof value === 'number') return { type: 'int', value };
  if (typeof value === 'string') return { type: 'string', value };
  if (Array.isArray(value)) return { type: 'ints', value };
  if (value instanceof Graph) return { type: 'graph', value };
  return 'dtype' in value ? { type: 'tensor', value } : value;
}

export interface AddOptions {
  attributes?: AttributeValues;
  domain?: string;
  /** Names of the outputs; fresh ones where absent. */
  outputs?: string[];
  outputCount?: number;
  /** What fresh names start with. */
  label?: string;
}

export class Graph {
  name = '';
  nodes: GraphNode[] = [];
  initializers = new Map<string, Tensor>();
  inputs: ValueInfo[] = [];
  outputs: ValueInfo[] = [];
  valueInfo: ValueInfo[] = [];
  #counter = 0;
  #names: Set<string> | null = null;

  /** Node that makes each value. */
  producers(): Map<string, GraphNode> {
    const map = new Map<string, GraphNode>();
    for (const node of this.nodes) for (const output of node.outputs) if (output) map.set(output, node);
    return map;
  }

  /** Nodes that read each value, those with a subgraph that reads it included. */
  consumers(): Map<string, GraphNode[]> {
    const map = new Map<string, GraphNode[]>();
    for (const node of this.nodes)
      for (const input of new Set(readBy(node))) {
        const list = map.get(input);
        if (list) list.push(node);
        else map.set(input, [node]);
      }
    return map;
  }

  #allNames(): Set<string> {
    if (!this.#names) {
      const names = new Set<string>(this.initializers.keys());
      const walk = (graph: Graph): void => {
        for (const { name } of [...graph.inputs, ...graph.outputs]) names.add(name);
        for (const name of graph.initializers.keys()) names.add(name);
        for (const node of graph.nodes) {
          for (const output of node.outputs) names.add(output);
          for (const subgraph of node.subgraphs()) walk(subgraph);
        }
      };
      walk(this);
      this.#names = names;
    }
    return this.#names;
  }

  /** A value name that the graph does not have yet. */
  fresh(label = 'softbench'): string {
    const names = this.#allNames();
    let name = label;
    while (names.has(name)) name = `${label}_${++this.#counter}`;
    names.add(name);
    return name;
  }

  /** Appends a node and gives its first output's name. Order does not matter until {@link Graph.sort}. */
  add(operator: string, inputs: readonly string[], options: AddOptions = {}): string {
    return this.addNode(operator, inputs, options).output();
  }

  addNode(operator: string, inputs: readonly string[], options: AddOptions = {}): GraphNode {
    const outputs =
      options.outputs ??
      Array.from({ length: options.outputCount ?? 1 }, () => this.fresh(options.label ?? `sb_${operator}`));
    for (const output of outputs) this.#allNames().add(output);
    const attributes = new Map<string, Attribute>();
    for (const [name, value] of Object.entries(options.attributes ?? {}))
      if (value !== undefined) attributes.set(name, attribute(value));
    const node = new GraphNode(operator, [...inputs], outputs, attributes, '', options.domain);
    this.nodes.push(node);
    return node;
  }

  /** Adds an initialiser and gives its name. */
  constant(tensor: Tensor, label = 'sb_constant'): string {
    const name = this.fresh(label);
    this.initializers.set(name, tensor);
    return name;
  }
  int64s(values: readonly number[]): string {
    return this.constant(tensorOf('int64', [values.length], values), 'sb_int64s');
  }
  scalar(dtype: DataType, value: number): string {
    return this.constant(tensorOf(dtype, [], [value]), 'sb_scalar');
  }

  /** The constant of that name, where it is an initialiser or a Constant node's output; else null. */
  constantOf(name: string, producers: Map<string, GraphNode> = this.producers()): Tensor | null {
    const initializer = this.initializers.get(name);
    if (initializer) return initializer;
    const node = producers.get(name);
    return node?.operator === 'Constant' && !node.domain ? constantValue(node) : null;
  }

  /** Makes all consumers of `from` (and the graph's outputs of that name, if asked) read `to`. */
  replaceUses(from: string, to: string, except: ReadonlySet<GraphNode> = new Set()): void {
    for (const node of this.nodes) {
      if (except.has(node)) continue;
      node.inputs = node.inputs.map((input) => (input === from ? to : input));
      for (const subgraph of node.subgraphs()) subgraph.replaceUses(from, to, except);
    }
  }

  /** Drops nodes and initialisers that no output needs, and puts the rest in topological order. */
  prune(): void {
    this.sort();
    const needed = new Set(this.outputs.map(({ name }) => name));
    const kept: GraphNode[] = [];
    for (const node of this.nodes.toReversed()) {
      if (!node.outputs.some((output) => needed.has(output))) continue;
      kept.push(node);
      for (const input of readBy(node)) needed.add(input);
    }
    this.nodes = kept.reverse();
    for (const name of this.initializers.keys()) if (!needed.has(name)) this.initializers.delete(name);
    const made = new Set(this.nodes.flatMap(({ outputs }) => outputs));
    this.valueInfo = this.valueInfo.filter(({ name }) => made.has(name));
  }

  /**
   * Topological order, keeping the present order wherever that is possible.
   * @throws HumanError naming a node of the cycle, where there is one.
   */
  sort(): void {
    const producers = this.producers();
    const state = new Map<GraphNode, 'open' | 'done'>();
    const sorted: GraphNode[] = [];
    for (const root of this.nodes) {
      if (state.has(root)) continue;
      const stack: { node: GraphNode; next: number; inputs: string[] }[] = [
        { node: root, next: 0, inputs: readBy(root) },
      ];
      state.set(root, 'open');
      for (let top = stack.at(-1); top; top = stack.at(-1)) {
        const input = top.inputs[top.next++];
        if (input === undefined) {
          state.set(top.node, 'done');
          sorted.push(top.node);
          stack.pop();
          continue;
        }
        const producer = producers.get(input);
        if (!producer || state.get(producer) === 'done') continue;
        if (state.get(producer) === 'open')
          throw new HumanError('bad-input', `The graph has a cycle through the node "${producer.place}".`, {
            todo: 'The file is damaged or was edited wrongly: export the model again.',
          });
        state.set(producer, 'open');
        stack.push({ node: producer, next: 0, inputs: readBy(producer) });
      }
    }
    this.nodes = sorted;
  }

  /** A copy whose nodes can be edited; tensors (never edited in place) are shared. */
  clone(): Graph {
    const copy = new Graph();
    copy.name = this.name;
    copy.nodes = this.nodes.map((node) => node.clone());
    copy.initializers = new Map(this.initializers);
    copy.inputs = this.inputs.map((value) => ({ ...value }));
    copy.outputs = this.outputs.map((value) => ({ ...value }));
    copy.valueInfo = this.valueInfo.map((value) => ({ ...value }));
    return copy;
  }
}

/** All values that a node reads: its inputs, and what its subgraphs take from outside. */
export function readBy(node: GraphNode): string[] {
  const inputs = node.inputs.filter((input) => input !== '');
  if (node.attributes.size === 0) return inputs;
  for (const subgraph of node.subgraphs()) inputs.push(...outerValues(subgraph));
  return inputs;
}

function outerValues(graph: Graph): string[] {
  const own = new Set([...graph.inputs.map(({ name }) => name), ...graph.initializers.keys()]);
  for (const node of graph.nodes) for (const output of node.outputs) own.add(output);
  return [...graph.nodes.flatMap(readBy), ...graph.outputs.map(({ name }) => name)].filter((name) => !own.has(name));
}

/** The tensor of a Constant node, whichever of the operator's attributes holds it. */
export function constantValue(node: GraphNode): Tensor | null {
  for (const [name, attribute] of node.attributes) {
    if (name === 'value' && attribute.type === 'tensor') return attribute.value;
    if (name === 'value_int' && attribute.type === 'int') return tensorOf('int64', [], [attribute.value]);
    if (name === 'value_float' && attribute.type === 'float') return tensorOf('float32', [], [attribute.value]);
    if (name === 'value_ints' && attribute.type === 'ints')
      return tensorOf('int64', [attribute.value.length], attribute.value);
    if (name === 'value_floats' && attribute.type === 'floats')
      return tensorOf('float32', [attribute.value.length], attribute.value);
  }
  return null;
}

/** The values of a small constant, or null where the name is none or its bytes are in another file. */
export function constantNumbers(graph: Graph, name: string, producers?: Map<string, GraphNode>): number[] | null {
  const tensor = graph.constantOf(name, producers);
  return tensor?.data && tensor.dtype !== 'string' ? numbersOf(tensor) : null;
}
