/** What a graph says of its attention and its cache, whatever the architecture is called. */
import type { CacheSignature } from '../model/index.ts';
import type { GraphNode } from '../onnx/index.ts';
import type { AttentionReport, ModelReport } from '../shared/protocol.ts';
import { type GraphReader, isFusedAttention, probeSizes, unshaped } from './graph-reader.ts';

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

function plainAttentions(reader: GraphReader): PlainAttention[] {
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
