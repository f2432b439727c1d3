/**
 * The evaluation graph with less to do at each step, results unchanged. Exporters write shape arithmetic, masks and
 * rotations out in every layer: of the 3300 nodes of a decode step of a 135M model two thirds work out sizes that are
 * those of the inputs, and repeated keys are made only to ask for their shape. Here
 *
 * 1. integers that follow from the inputs' sizes are taken from the inputs, once;
 * 2. nodes that compute the same become one;
 * 3. a rotation (rotary position embedding) becomes one node of ONNX Runtime's;
 * 4. a product with a transposed weight (a head that is tied to the embedding) reads the weight as it is, in place of a
 *    private copy that ONNX Runtime would make of it.
 *
 * Decided by the graph alone; what differs in any way stays as it is.
 */
import { specialise, type TypedGraph } from '../gradient/index.ts';
import type { ModelSignature } from '../model/index.ts';
import { type Graph, type GraphNode, type OnnxModel, type Tensor, tensorOf } from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';
import { type InferenceGraph, names } from './inference-graph.ts';
import { prefixInput } from './shared-prefix.ts';

/** Names what comes out of here: to be changed with it, because such graphs are kept on disk. */
export const streamlinedForm = 'streamlined 2';

/** What the inputs' sizes are made of. */
interface Sizes {
  batch: number;
  sequence: number;
  past: number;
  prefix: number;
  vectors: number;
  wanted: number;
}

/** Unlike sizes tell what an integer is; the last ones are those at which exporters make exceptions. */
const probes: readonly Sizes[] = [
  { batch: 7, sequence: 11, past: 101, prefix: 43, vectors: 2, wanted: 5 },
  { batch: 13, sequence: 17, past: 71, prefix: 61, vectors: 3, wanted: 2 },
  { batch: 1, sequence: 1, past: 0, prefix: 0, vectors: 0, wanted: 1 },
];

/** Sizes that stand for an integer, by their name in the graph. */
const measures = {
  batch: ({ batch }: Sizes) => batch,
  sequence: ({ sequence }: Sizes) => sequence,
  past: ({ past }: Sizes) => past,
  total: ({ past, sequence }: Sizes) => past + sequence,
  prefix: ({ prefix }: Sizes) => prefix,
} as const;
type Measure = keyof typeof measures;

/** Dims of every input, or null where one is not known. */
function inputDims(
  { graph }: OnnxModel,
  signature: ModelSignature,
  pasts: readonly string[],
  sizes: Sizes,
): Map<string, number[]> | null {
  const { batch, sequence, past, prefix, vectors, wanted } = sizes;
  const rows = new Map<string, (number | null)[]>([
    [signature.inputIds.name, [batch, sequence]],
    [signature.positionIds?.name ?? '', [batch, sequence]],
    [signature.attentionMask?.name ?? '', [batch, past + sequence]],
    [names.rows, [wanted, 2]],
    [names.targets, [wanted]],
    [names.softPrompt, [vectors, null]],
    ...pasts.flatMap((name): [string, (number | null)[]][] => [
      [name, [batch, null, past, null]],
      [prefixInput(name), [null, prefix, null]],
    ]),
  ]);
  const found = new Map<string, number[]>();
  for (const { name, dims } of graph.inputs) {
    if (graph.initializers.has(name)) continue;
    const known = rows.get(name)?.map((size, axis) => size ?? dims?.[axis]);
    if (!known?.every((size): size is number => typeof size === 'number')) return null;
    found.set(name, known);
  }
  return found;
}

/** A list of integers in terms of the inputs' sizes; null where one is something else. */
function inMeasures(
  lists: readonly (readonly number[] | undefined)[],
  [a, b, c]: readonly Sizes[],
): (number | Measure)[] | null {
  const [first, second, third] = lists;
  if (!first || !second || first.length !== second.length) return null;
  if (!a || !b || !c) return null;
  const parts: (number | Measure)[] = [];
  for (const [at, value] of first.entries()) {
    const other = second[at];
    const part =
      value === other
        ? value
        : (Object.keys(measures) as Measure[]).find(
            (measure) => measures[measure](a) === value && measures[measure](b) === other,
          );
    if (part === undefined) return null;
    const last = third?.[at];
    if (last !== undefined && last !== (typeof part === 'number' ? part : measures[part](c))) return null;
    parts.push(part);
  }
  return parts;
}

/** Integers taken from the inputs' sizes: each list made once. */
class SizeLists {
  readonly #made = new Map<string, string>();
  constructor(
    private readonly graph: Graph,
    private readonly inputIds: string,
    private readonly past: string | undefined,
  ) {}

  #once(key: string, make: () => string): string {
    const name = this.#made.get(key) ?? make();
    this.#made.set(key, name);
    return name;
  }

  #dimension(input: string, axis: number): string {
    const shape = this.#once(`shape ${input}`, () => this.graph.add('Shape', [input]));
    return this.graph.add('Gather', [shape, this.#constant([axis], [1])]);
  }

  #constant(values: readonly number[], dims: readonly number[]): string {
    return this.#once(`constant ${values} ${dims}`, () => this.graph.constant(tensorOf('int64', dims, values)));
  }

  /** int64 [1] */
  #measure(measure: Measure): string {
    return this.#once(measure, () => {
      if (measure === 'batch') return this.#dimension(this.inputIds, 0);
      if (measure === 'sequence') return this.#dimension(this.inputIds, 1);
      if (measure === 'total') return this.graph.add('Add', [this.#measure('past'), this.#measure('sequence')]);
      if (this.past === undefined) throw new Error('there is no cache');
      return measure === 'past' ? this.#dimension(this.past, 2) : this.#dimension(prefixInput(this.past), 1);
    });
  }

  /** int64, a scalar or a list. */
  list(parts: readonly (number | Measure)[], scalar: boolean): string {
    return this.#once(`${scalar ? 'scalar' : 'list'} ${parts}`, () => {
      const [only] = parts;
      if (parts.every((part) => typeof part === 'number')) return this.#constant(parts, scalar ? [] : [parts.length]);
      if (scalar && only !== undefined)
        return this.graph.add('Reshape', [this.list([only], false), this.#constant([], [0])]);
      const pieces = parts.map((part) =>
        typeof part === 'number' ? this.#constant([part], [1]) : this.#measure(part),
      );
      return pieces.length === 1 ? (pieces[0] ?? '') : this.graph.add('Concat', pieces, { attributes: { axis: 0 } });
    });
  }
}

/** 1: integers that follow from sizes. */
function takeSizes(graph: Graph, typed: readonly TypedGraph[], probed: readonly Sizes[], lists: SizeLists): void {
  const kept = new Set(graph.outputs.map(({ name }) => name));
  const replaced = new Map<string, string>();
  for (const node of graph.nodes)
    for (const output of node.outputs) {
      if (output === '' || kept.has(output) || node.operator === 'Constant') continue;
      const types = typed.map((g) => g.types.get(g.aliases.get(output) ?? output));
      const [type] = types;
      if (type?.dtype !== 'int64' || type.dims.length > 1 || !type.values || type.values.length > 8) continue;
      const parts = inMeasures(
        types.map((each) => each?.values),
        probed,
      );
      if (parts?.length) replaced.set(output, lists.list(parts, type.dims.length === 0));
    }
  // What the lists themselves are made of follows from sizes, too.
  const before = new Set(replaced.values());
  for (const node of graph.nodes)
    if (!node.outputs.some((output) => before.has(output)))
      node.inputs = node.inputs.map((input) => replaced.get(input) ?? input);
}

const textOf = ({ dtype, dims, data }: Tensor): string | null =>
  data && data.byteLength <= 64 ? `${dtype}[${dims}]${data.join()}` : null;

/** 2: equal small constants and equal nodes become one. Nodes must be in order. */
function mergeEqual(graph: Graph): void {
  const kept = new Set(graph.outputs.map(({ name }) => name));
  const now = new Map<string, string>();
  const constants = new Map<string, string>();
  const constant = (name: string, tensor: Tensor): void => {
    const key = textOf(tensor);
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
    const key = keyOf(node);
    const first = key === null ? undefined : nodes.get(key);
    if (!first || node.outputs.some((output, at) => kept.has(output) || !first.output(at))) {
      if (key !== null) nodes.set(key, node);
      return true;
    }
    for (const [at, output] of node.outputs.entries()) now.set(output, first.output(at));
    return false;
  });
}

/** What a node computes, as text; null where that cannot be told. */
function keyOf(node: GraphNode): string | null {
  if (node.operator.startsWith('Random') || node.operator === 'Bernoulli') return null;
  const attributes: string[] = [];
  for (const [name, attribute] of node.attributes) {
    const tensor = attribute.type === 'tensor' ? textOf(attribute.value) : null;
    if (tensor === null && !['float', 'int', 'string', 'floats', 'ints', 'strings'].includes(attribute.type))
      return null;
    attributes.push(`${name}=${tensor ?? JSON.stringify(attribute.value)}`);
  }
  return [node.fullOperator, node.inputs.join(), attributes.sort().join(), node.outputs.length].join('|');
}

/** Both orders of a commutative node's two inputs. */
const eitherWay = (node: GraphNode): [string, string][] => [
  [node.input(0), node.input(1)],
  [node.input(1), node.input(0)],
];

/** 3: x · cos + rotated(x) · sin, where rotated(x) joins the negated second half of a head to its first half. */
class Rotations {
  readonly #producers: Map<string, GraphNode>;
  readonly #tables = new Map<string, string>();

  constructor(
    private readonly graph: Graph,
    private readonly g: TypedGraph,
    private readonly other: TypedGraph,
  ) {
    this.#producers = graph.producers();
  }

  #made(value: string, ...operators: string[]): GraphNode | null {
    const node = this.#producers.get(value);
    return node && !node.domain && operators.includes(node.operator) ? node : null;
  }
  #type(value: string) {
    return this.g.types.get(this.g.aliases.get(value) ?? value);
  }
  /** The one number that a value holds whatever the sizes. */
  #number(value: string): number | null {
    const [a, b] = [this.g, this.other].map((g) => g.types.get(g.aliases.get(value) ?? value)?.values);
    const constant = this.graph.initializers.get(value);
    if (constant?.data && constant.dtype === 'int64' && constant.data.byteLength === 8)
      return Number(new DataView(constant.data.buffer, constant.data.byteOffset, 8).getBigInt64(0, true));
    return a?.length === 1 && b?.length === 1 && a[0] === b[0] ? (a[0] ?? null) : null;
  }

  /** Whether a value is x[..., from : to] of the last of four axes. */
  #isPart(value: string, x: string, from: number, to: number, size: number): boolean {
    const slice = this.#made(value, 'Slice');
    if (slice?.input(0) !== x || (slice.input(4) && this.#number(slice.input(4)) !== 1)) return false;
    const axis = this.#number(slice.input(3));
    const start = this.#number(slice.input(1));
    const end = this.#number(slice.input(2));
    return (axis === 3 || axis === -1) && start === from && end !== null && (end === to || (to === size && end > size));
  }

  /** Whether the second half of each row of a table is its first half: cos or sin of angles that were joined to themselves. */
  #isDoubled(table: string): boolean {
    let value = table;
    for (let steps = 0; steps < 8; steps++) {
      const node = this.#made(value, 'Unsqueeze', 'Cast', 'Identity', 'Mul', 'Cos', 'Sin', 'Concat');
      if (!node) return false;
      if (node.operator === 'Concat') {
        const [first, second, ...more] = node.inputs;
        const axis = node.int('axis', 0);
        const rank = this.#type(node.output())?.dims.length ?? 0;
        return first === second && !more.length && (axis === -1 || axis === rank - 1);
      }
      if (node.operator === 'Mul') {
        const factor = eitherWay(node).find(([, by]) => (this.#type(by)?.dims.length ?? 1) === 0);
        if (!factor) return false;
        value = factor[0];
      } else value = node.input(0);
    }
    return false;
  }

  /** cos or sin [batch or 1, 1, sequence, head] as a table [positions, head / 2] of what this run needs. */
  #table(value: string, half: number): string {
    const made = this.#tables.get(value);
    if (made !== undefined) return made;
    const { graph } = this;
    const part = graph.add('Slice', [value, graph.int64s([0]), graph.int64s([half]), graph.int64s([3])]);
    const table = graph.add('Reshape', [part, graph.int64s([-1, half])]);
    this.#tables.set(value, table);
    return table;
  }

  /** int64 [batch, sequence]: each token's row in a table made of `value` [batch or 1, 1, sequence, head]. */
  #places(value: string, batched: boolean, lists: SizeLists): string {
    const key = batched ? 'places of rows' : 'places of all';
    const made = this.#tables.get(key);
    if (made !== undefined) return made;
    const { graph } = this;
    const count = graph.add('Gather', [graph.add('Shape', [this.#tables.get(value) ?? '']), graph.scalar('int64', 0)]);
    const range = graph.add('Range', [graph.scalar('int64', 0), count, graph.scalar('int64', 1)]);
    const shape = lists.list(['batch', 'sequence'], false);
    const places = graph.add(batched ? 'Reshape' : 'Expand', [range, shape]);
    this.#tables.set(key, places);
    return places;
  }

  /** Rewrites every rotation of float32 heads [batch, heads, sequence, head]. */
  merge(lists: SizeLists): void {
    for (const sum of [...this.graph.nodes]) {
      if (sum.operator !== 'Add' || sum.domain) continue;
      const found = this.#match(sum);
      if (!found) continue;
      const { x, cos, sin, half, batched } = found;
      const tables = [this.#table(cos, half), this.#table(sin, half)];
      this.graph.nodes.splice(this.graph.nodes.indexOf(sum), 1);
      this.graph.add('RotaryEmbedding', [x, this.#places(cos, batched, lists), ...tables], {
        domain: 'com.microsoft',
        attributes: { interleaved: 0 },
        outputs: [sum.output()],
      });
    }
  }

  #match(sum: GraphNode) {
    for (const [straight, turned] of eitherWay(sum)) {
      const [first, second] = [this.#made(straight, 'Mul'), this.#made(turned, 'Mul')];
      if (!first || !second) return null;
      for (const [x, cos] of eitherWay(first))
        for (const [rotated, sin] of eitherWay(second)) {
          const join = this.#made(rotated, 'Concat');
          const negated = this.#made(join?.input(0) ?? '', 'Neg');
          const type = this.#type(x);
          const [rows, angles] = [type?.dims ?? [], this.#type(cos)?.dims ?? []];
          if (!join || !negated || join.inputs.length !== 2 || type?.dtype !== 'float32' || rows.length !== 4) continue;
          const [batch = 0, , sequence = 0, size = 0] = rows;
          const half = size / 2;
          const axis = join.int('axis', 0);
          if ((axis !== -1 && axis !== 3) || !this.#isPart(negated.input(0), x, half, size, size)) continue;
          if (!this.#isPart(join.input(1), x, 0, half, size)) continue;
          const sizes = this.#type(sin)?.dims ?? [];
          if (angles.length !== 4 || angles.join() !== sizes.join() || angles[1] !== 1) continue;
          if (angles[2] !== sequence || angles[3] !== size || (angles[0] !== batch && angles[0] !== 1)) continue;
          // ONNX Runtime turns the two halves by one angle.
          if (!this.#isDoubled(cos) || !this.#isDoubled(sin)) continue;
          return { x, cos, sin, half, batched: angles[0] === batch };
        }
    }
    return null;
  }
}

/** 4: x · weightᵀ for weights of two axes. */
function readAcross(graph: Graph): void {
  const producers = graph.producers();
  for (const node of graph.nodes) {
    if (node.operator !== 'MatMul' || node.domain) continue;
    const transposed = producers.get(node.input(1));
    const weight = graph.initializers.get(transposed?.input(0) ?? '');
    if (transposed?.operator !== 'Transpose' || weight?.dtype !== 'float32' || weight.dims.length !== 2) continue;
    node.operator = 'FusedMatMul';
    node.domain = 'com.microsoft';
    node.inputs = [node.input(0), transposed.input(0)];
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
  if (fused) readAcross(graph);
  if (fused && first && second)
    new Rotations(graph, first, second).merge(new SizeLists(graph, signature.inputIds.name, pasts[0]));
  graph.prune();
  const opsets = model.opsets.has('com.microsoft') ? model.opsets : new Map([...model.opsets, ['com.microsoft', 1]]);
  return { ...found, model: { ...model, opsets, graph } };
}
