/** What a graph says of its attention and its positions, whatever the architecture is called. */
import type { TypedGraph } from '../gradient/index.ts';
import type { CacheSignature } from '../model/index.ts';
import { constantNumbers, type Graph, type GraphNode, isFloat, numbersOf, sizeOf, tensorBytes } from '../onnx/index.ts';
import type { AttentionReport, ModelReport, PositionReport } from '../shared/protocol.ts';

/** Sizes at which shapes are looked at: numbers that no model is likely to have of its own. */
export const probeSizes = { batch: 3, length: 13, past: 4 } as const;

/** A graph to walk in. Shapes are there where all operators are known. */
export class GraphReader {
  readonly producers: Map<string, GraphNode>;
  readonly consumers: Map<string, GraphNode[]>;
  constructor(
    readonly graph: Graph,
    private readonly sized: TypedGraph | null,
    /** Folder that weights outside of the graph file are in. */
    private readonly folder: string,
  ) {
    this.producers = graph.producers();
    this.consumers = graph.consumers();
  }

  made(value: string): GraphNode | undefined {
    return this.producers.get(value);
  }
  dims(value: string): readonly number[] | null {
    return (
      this.sized?.types.get(this.sized.aliases.get(value) ?? value)?.dims ??
      this.graph.initializers.get(value)?.dims ??
      null
    );
  }
  /** Values of a small constant, given as such or worked out from constants. */
  values(value: string): readonly number[] | null {
    return (
      this.sized?.types.get(this.sized.aliases.get(value) ?? value)?.values ??
      constantNumbers(this.graph, value, this.producers)
    );
  }
  /** Numbers of a constant of moderate size; null for larger ones. */
  weights(name: string): readonly number[] | null {
    const tensor = this.graph.constantOf(name, this.producers);
    if (!tensor || !isFloat(tensor.dtype) || sizeOf(tensor.dims) > 2 ** 20) return null;
    return numbersOf({ ...tensor, data: tensorBytes(tensor, this.folder) });
  }
  scalar(value: string): number | null {
    const values = this.values(value);
    return values?.length === 1 ? (values[0] ?? null) : null;
  }
  /** All values that are small constants. */
  *constants(): Iterable<[string, readonly number[]]> {
    for (const [name, { values }] of this.sized?.types ?? []) if (values) yield [name, values];
    if (!this.sized)
      for (const name of this.graph.initializers.keys()) {
        const values = this.values(name);
        if (values) yield [name, values];
      }
  }
  /** The initialiser that a value is, once turned, cast or dequantised. */
  weightOf(value: string): string | null {
    let name = value;
    for (let steps = 0; steps < 8; steps++) {
      if (this.graph.initializers.has(name)) return name;
      const node = this.made(name);
      if (!node || !['Transpose', 'Cast', 'DequantizeLinear', 'Identity', 'Reshape'].includes(node.operator))
        return null;
      name = node.input(0);
    }
    return null;
  }
  /** Inputs of the graph that a value depends on, by whether their numbers count or only their sizes. */
  sources(values: readonly string[]): { values: Set<string>; sizes: Set<string> } {
    const inputs = new Set(this.graph.inputs.map(({ name }) => name));
    const found = { values: new Set<string>(), sizes: new Set<string>() };
    const seen = new Set<string>();
    const queue: [string, boolean][] = values.map((value) => [value, false]);
    for (let next = queue.pop(); next; next = queue.pop()) {
      const [name, bySize] = next;
      const key = `${bySize} ${name}`;
      if (!name || seen.has(key)) continue;
      seen.add(key);
      if (inputs.has(name) && !this.graph.initializers.has(name)) (bySize ? found.sizes : found.values).add(name);
      const node = this.made(name);
      for (const input of node?.inputs ?? []) queue.push([input, bySize || node?.operator === 'Shape']);
    }
    return found;
  }
}

const isFusedAttention = ({ operator }: GraphNode): boolean => /Attention(V\d+)?$/.test(operator);

/** Operators between scores and softmax that treat every score alone. */
const scoreSteps = new Set([
  'Add',
  'Sub',
  'Where',
  'Mul',
  'Div',
  'Tanh',
  'Cast',
  'Max',
  'Min',
  'Clip',
  'Reshape',
  'Identity',
  // Scores that stand beside those of the keys (attention sinks).
  'Concat',
]);

interface PlainAttention {
  product: GraphNode;
  softmax: GraphNode;
  /** Other operands on the way: masks and biases. */
  masks: string[];
  softCap: number | null;
}

/** From a softmax back to the product of queries and keys; null for a softmax of another kind (a router of experts). */
function plainAttention(reader: GraphReader, softmax: GraphNode): PlainAttention | null {
  const walk = (value: string, depth: number): Omit<PlainAttention, 'softmax'> | null => {
    const node = reader.made(value);
    if (!node || depth > 14) return null;
    if (['MatMul', 'FusedMatMul', 'Einsum'].includes(node.operator)) {
      const isWeight = node.inputs.some((input) => reader.weightOf(input) !== null);
      return isWeight ? null : { product: node, masks: [], softCap: null };
    }
    if (!scoreSteps.has(node.operator)) return null;
    const start = node.operator === 'Where' ? 1 : 0;
    for (const [at, input] of node.inputs.entries()) {
      if (at < start || !input) continue;
      const found = walk(input, depth + 1);
      if (!found) continue;
      const others = node.inputs.filter((_, other) => other !== at && node.inputs[other] !== '');
      if (['Add', 'Sub', 'Where'].includes(node.operator)) found.masks.push(...others);
      // scores = cap · tanh(scores ÷ cap)
      const cap = node.operator === 'Mul' ? reader.scalar(others[0] ?? '') : null;
      if (cap !== null && reader.made(input)?.operator === 'Tanh') found.softCap = cap;
      return found;
    }
    return null;
  };
  const found = walk(softmax.input(0), 0);
  return found && { ...found, softmax };
}

export function plainAttentions(reader: GraphReader): PlainAttention[] {
  return reader.graph.nodes
    .filter(({ operator }) => operator === 'Softmax')
    .map((node) => plainAttention(reader, node))
    .filter((site) => site !== null);
}

/** Heads from the scores' shape: [batch, heads, query, key], or [batch × heads, query, key]. */
function queryHeadsOf(dims: readonly number[] | null): number | null {
  const { batch, length } = probeSizes;
  const [a = 0, b = 0, c = 0] = dims ?? [];
  if (dims?.length === 4) return c === length ? b : b === length ? c : null;
  if (dims?.length !== 3) return null;
  if (b === length && a % batch === 0) return a / batch;
  return a === batch && b % length === 0 ? b / length : null;
}

/** Heads of the keys before they are repeated for several query heads. */
function keyHeadsOf(reader: GraphReader, { product }: PlainAttention): number | null {
  let value = product.input(1);
  let heads: number | null = null;
  for (let steps = 0; steps < 16; steps++) {
    const node = reader.made(value);
    if (!node || ['MatMul', 'Gemm', 'Split'].includes(node.operator)) break;
    const from = reader.dims(node.input(0));
    // [batch, heads, 1, time, size] → the same with several in place of 1
    if (node.operator === 'Expand' && from?.length === 5 && from[2] === 1) heads = from[1] ?? null;
    value = node.input(0);
  }
  return heads;
}

/** The node that makes a value, past those that only change its shape or type. */
function unshaped(reader: GraphReader, value: string): GraphNode | undefined {
  let node = reader.made(value);
  for (let steps = 0; node && shaping.has(node.operator) && steps < 6; steps++) node = reader.made(node.input(0));
  return node;
}
const shaping = new Set(['Reshape', 'Unsqueeze', 'Squeeze', 'Cast', 'Expand', 'Identity']);

/** Tokens that a mask lets through, where it compares a distance with a number or cuts a triangle at a diagonal. */
function windowsOf(reader: GraphReader, masks: readonly string[]): number[] {
  const windows = new Set<number>();
  const seen = new Set<string>();
  const queue = [...masks];
  for (let value = queue.pop(); value !== undefined; value = queue.pop()) {
    if (!value || seen.has(value)) continue;
    seen.add(value);
    const node = reader.made(value);
    if (!node) continue;
    queue.push(...node.inputs);
    if (node.operator === 'Trilu') {
      const diagonal = reader.scalar(node.input(1));
      if (diagonal !== null && diagonal <= -2) windows.add(-diagonal);
    }
    const strict = node.operator === 'Greater' || node.operator === 'Less';
    if (!strict && node.operator !== 'GreaterOrEqual' && node.operator !== 'LessOrEqual') continue;
    // key > query - window, or the same turned round
    for (const input of node.inputs) {
      const side = unshaped(reader, input);
      const given =
        side && ['Sub', 'Add'].includes(side.operator)
          ? (reader.scalar(side.input(1)) ?? reader.scalar(side.input(0)))
          : null;
      if (given !== null && Number.isInteger(given) && Math.abs(given) >= 2)
        windows.add(Math.abs(given) + (strict ? 0 : 1));
    }
    // query - key < window
    const [a, b] = [reader.scalar(node.input(0)), reader.scalar(node.input(1))];
    const limit = a ?? b;
    const other = unshaped(reader, node.input(a === null ? 0 : 1));
    if (limit !== null && Number.isInteger(limit) && limit >= 2 && other?.operator === 'Sub')
      windows.add(limit + (strict ? 0 : 1));
  }
  return [...windows].sort((a, b) => a - b);
}

export function attentionOf(reader: GraphReader, cache: CacheSignature | null): AttentionReport {
  const fused = reader.graph.nodes.filter(isFusedAttention);
  const plain = plainAttentions(reader);
  const operators: Record<string, number> = {};
  for (const { fullOperator } of fused) operators[fullOperator] = (operators[fullOperator] ?? 0) + 1;
  if (plain.length) operators.Softmax = plain.length;
  const [first] = fused;
  const [site] = plain;
  const windows = new Set(plain.flatMap(({ masks }) => windowsOf(reader, masks)));
  const softCaps = new Set(plain.flatMap(({ softCap }) => softCap ?? []));
  for (const node of fused) {
    const window = node.int('local_window_size', -1);
    if (window > 0) windows.add(window);
    const cap = node.float('softcap', 0);
    if (cap > 0) softCaps.add(Number(cap.toPrecision(6)));
    // The mask of an attention operator may be cut to a window outside of it.
    for (const one of windowsOf(reader, node.inputs.slice(3))) windows.add(one);
  }
  const ofFour = (value: string): number | null => {
    const dims = reader.dims(value);
    return dims?.length === 4 ? (dims[1] ?? null) : null;
  };
  const attributeOf = (...names: string[]): number | null =>
    names.map((name) => first?.int(name, 0) ?? 0).find((value) => value > 0) ?? null;
  const queryHeads =
    attributeOf('q_num_heads', 'num_heads') ??
    (first && ofFour(first.input(0))) ??
    (site ? queryHeadsOf(reader.dims(site.softmax.input(0))) : null);
  const keyHeads =
    cache?.heads ??
    attributeOf('kv_num_heads') ??
    (first && ofFour(first.input(1))) ??
    (site ? keyHeadsOf(reader, site) : null) ??
    queryHeads;
  const form = fused.length && plain.length ? 'both' : fused.length ? 'fused' : plain.length ? 'plain' : 'not found';
  return {
    form,
    operators,
    queryHeads,
    keyHeads,
    headSize: cache?.headSize ?? (site ? (reader.dims(site.product.input(0))?.at(-1) ?? null) : null),
    windows: [...windows].sort((a, b) => a - b),
    softCaps: [...softCaps],
  };
}

/** How keys and values of before and of now come together. */
export function cacheJoin(
  reader: GraphReader,
  cache: CacheSignature,
): Pick<NonNullable<ModelReport['cache']>, 'joinedBy' | 'inPlace'> {
  const joinedBy = new Set<string>();
  for (const { past } of cache.tensors) {
    const queue = [past];
    const seen = new Set<string>();
    for (let value = queue.pop(); value !== undefined; value = queue.pop()) {
      if (seen.has(value)) continue;
      seen.add(value);
      for (const node of reader.consumers.get(value) ?? []) {
        if (
          node.operator === 'Concat' ||
          node.operator === 'TensorScatter' ||
          node.operator === 'ScatterND' ||
          isFusedAttention(node)
        )
          joinedBy.add(node.fullOperator);
        else if (
          ['Transpose', 'Reshape', 'Cast', 'Identity', 'Split', 'Squeeze', 'Gather', 'Slice'].includes(node.operator)
        )
          queue.push(...node.outputs);
      }
    }
  }
  const inPlace =
    joinedBy.size > 0 &&
    [...joinedBy].every((operator) => operator.endsWith('GroupQueryAttention') || operator === 'TensorScatter');
  return { joinedBy: [...joinedBy], inPlace };
}

/**
 * Vectors that are turned by rotary positions in the open: half of one is negated and put in front of the other, or the
 * halves (a, b) become (a · cos - b · sin, b · cos + a · sin).
 */
function plainRotations(reader: GraphReader): string[] {
  const part = (value: string): string | null => {
    const node = unshaped(reader, value);
    return node && (node.operator === 'Slice' || node.operator === 'Split') ? node.input(0) : null;
  };
  /** The vector whose halves a sum of two products is made of. */
  const mixed = (node: GraphNode | undefined, operator: string): string | null => {
    if (node?.operator !== operator) return null;
    const sources = node.inputs.map((input) => {
      const product = unshaped(reader, input);
      return product?.operator === 'Mul' ? (part(product.input(0)) ?? part(product.input(1))) : null;
    });
    return sources[0] !== null && sources[0] === sources[1] ? (sources[0] ?? null) : null;
  };
  return reader.graph.nodes.flatMap((node) => {
    if (node.operator !== 'Concat' || node.inputs.length !== 2) return [];
    const [a, b] = node.inputs.map((input) => unshaped(reader, input));
    const negated = a?.operator === 'Neg' ? 0 : b?.operator === 'Neg' ? 1 : null;
    if (negated !== null) {
      const source = part((negated === 0 ? a : b)?.input(0) ?? '');
      return source !== null && part(node.input(1 - negated)) === source ? [source] : [];
    }
    const source = mixed(a, 'Sub');
    return source !== null && mixed(b, 'Add') === source ? [source] : [];
  });
}

/** Slopes of ALiBi for `heads` heads: 2^(-8/n), 2^(-16/n) … with n the power of two at or below (Press et al. 2022). */
const isSlopes = (values: readonly number[], heads: number): boolean => {
  if (heads < 2 || values.length !== heads) return false;
  const n = 2 ** Math.floor(Math.log2(heads));
  const sign = Math.sign(values[0] ?? 0);
  return values
    .slice(0, n)
    .every((value, at) => Math.abs(value * sign - 2 ** ((-8 * (at + 1)) / n)) < 1e-3 * 2 ** ((-8 * (at + 1)) / n));
};

/** A bias worked out beforehand for so many positions: a line for each head, as steep as its slope. */
function biasOf(reader: GraphReader, heads: number): string | null {
  const constants = reader.graph.nodes.filter(({ operator }) => operator === 'Constant').map((node) => node.output());
  for (const name of [...reader.graph.initializers.keys(), ...constants]) {
    const dims = reader.graph.constantOf(name, reader.producers)?.dims ?? [];
    const length = dims.at(-1) ?? 0;
    if (dims.length < 3 || dims.at(-3) !== heads || length < 3) continue;
    const values = reader.weights(name);
    if (!values) continue;
    const stride = values.length / heads;
    const rows = Array.from({ length: heads }, (_, head) => values.slice(head * stride, head * stride + length));
    const slopes = rows.map((row) => (row[2] ?? 0) - (row[1] ?? 0));
    const straight = rows.every((row, head) => Math.abs((row[1] ?? 0) - (row[0] ?? 0) - (slopes[head] ?? 0)) < 1e-4);
    if (straight && isSlopes(slopes, heads)) return name;
  }
  return null;
}

/** @param embedding its table and the width of its rows */
export function positionsOf(
  reader: GraphReader,
  embedding: { tableName: string; hiddenSize: number } | null,
  cache: CacheSignature | null,
  queryHeads: number | null,
): PositionReport {
  const kinds = new Set<PositionReport['kinds'][number]>();
  /** Values that positions are read from, where they take effect. */
  const readers: string[] = [];
  let rotarySize: number | null = null;
  const table = (value: string): number | null => {
    const width = reader.dims(value)?.at(-1);
    return width ? 2 * width : null;
  };
  for (const node of reader.graph.nodes) {
    const isContrib = node.domain === 'com.microsoft';
    if (node.operator === 'RotaryEmbedding') {
      kinds.add('rotary');
      const cosine = node.input(isContrib ? 2 : 1);
      rotarySize ??= node.int('rotary_embedding_dim', 0) || table(cosine);
      readers.push(...(isContrib ? [node.input(1)] : node.inputs.slice(1)));
    } else if (isFusedAttention(node) && node.int('do_rotary', 0) === 1) {
      kinds.add('rotary');
      const grouped = node.operator === 'GroupQueryAttention';
      rotarySize ??= node.int('rotary_embedding_dim', 0) || (grouped ? table(node.input(7)) : null);
      // Positions are counted from the lengths, or given as the tenth input.
      readers.push(...(grouped ? [node.input(9) || node.input(5)] : node.inputs.slice(3)));
    } else if (embedding && node.operator === 'Gather' && node.int('axis', 0) === 0) {
      const name = reader.weightOf(node.input(0));
      const dims = name === null ? null : reader.graph.initializers.get(name)?.dims;
      const length = dims?.[0] ?? 0;
      if (name === embedding.tableName || dims?.length !== 2 || dims[1] !== embedding.hiddenSize || length < 2)
        continue;
      const { values } = reader.sources([node.input(1)]);
      if (values.has('input_ids') || values.has('token_type_ids')) continue;
      kinds.add('learned');
      readers.push(node.input(1));
    }
  }
  const rotations = plainRotations(reader);
  if (rotations.length && !kinds.has('rotary')) {
    kinds.add('rotary');
    rotarySize = reader.dims(rotations[0] ?? '')?.at(-1) ?? null;
    readers.push(...anglesOf(reader, rotations));
  }
  const heads = queryHeads ?? cache?.heads ?? 0;
  if (!kinds.size)
    for (const [name, values] of reader.constants())
      if (isSlopes(values, heads)) {
        kinds.add('ALiBi');
        readers.push(...multipliedWith(reader, name));
        break;
      }
  const bias = kinds.size ? null : biasOf(reader, heads);
  if (bias !== null) {
    kinds.add('ALiBi');
    // It is cut to the length of keys.
    for (const node of reader.consumers.get(bias) ?? []) readers.push(...node.inputs.slice(1));
  }
  const tables = [...reader.graph.initializers].filter(([name, { dims }]) =>
    learnedTable(reader, name, dims, embedding),
  );
  return {
    from: countedFrom(reader, readers, cache),
    kinds: [...kinds],
    rotarySize,
    tableLength: kinds.has('learned') ? (tables[0]?.[1].dims[0] ?? null) : null,
  };
}

const learnedTable = (
  reader: GraphReader,
  name: string,
  dims: readonly number[],
  embedding: { tableName: string; hiddenSize: number } | null,
): boolean =>
  embedding !== null &&
  name !== embedding.tableName &&
  dims.length === 2 &&
  dims[1] === embedding.hiddenSize &&
  (reader.consumers.get(name) ?? []).some(
    (node) => node.operator === 'Gather' && !reader.sources([node.input(1)]).values.has('token_type_ids'),
  );

/** What plain rotations are multiplied with besides the vectors: cosines and sines. */
function anglesOf(reader: GraphReader, rotated: readonly string[]): string[] {
  const angles: string[] = [];
  for (const source of rotated)
    for (const node of reader.consumers.get(source) ?? [])
      if (node.operator === 'Mul') angles.push(...node.inputs.filter((input) => input !== source));
      else if (node.operator === 'Slice' || node.operator === 'Split')
        for (const half of node.outputs)
          for (const product of reader.consumers.get(half) ?? [])
            if (product.operator === 'Mul') angles.push(...product.inputs.filter((input) => input !== half));
  return angles;
}

const multipliedWith = (reader: GraphReader, value: string): string[] => {
  const queue = [value];
  for (let steps = 0; queue.length && steps < 12; steps++) {
    const next = queue.shift() ?? '';
    for (const node of reader.consumers.get(next) ?? []) {
      if (node.operator === 'Mul') return node.inputs.filter((input) => input !== next);
      queue.push(...node.outputs);
    }
  }
  return [];
};

function countedFrom(
  reader: GraphReader,
  values: readonly string[],
  cache: CacheSignature | null,
): PositionReport['from'] {
  if (!values.length) return null;
  const { values: numbers, sizes } = reader.sources(values);
  if (numbers.has('position_ids')) return 'input';
  if (numbers.has('attention_mask')) return 'mask';
  if (cache?.tensors.some(({ past }) => sizes.has(past)) || (cache && sizes.has('attention_mask'))) return 'cache';
  return sizes.size || numbers.has('input_ids') ? 'text' : null;
}
