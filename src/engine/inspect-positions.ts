/** What a graph says of its positions: rotary, learned or ALiBi, and what they are counted from. */
import type { CacheSignature } from '../model/index.ts';
import type { GraphNode } from '../onnx/index.ts';
import type { PositionReport } from '../shared/protocol.ts';
import { type GraphReader, isFusedAttention, unshaped } from './graph-reader.ts';

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
