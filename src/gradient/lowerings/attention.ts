/**
 * Attention operators of ONNX (opset 23 on) and of ONNX Runtime, written out. Inputs and attributes by position and
 * name: see the ONNX operator list and ONNX Runtime's list of contrib operators; where these leave something open, what
 * ONNX Runtime's CPU kernels do.
 */
import type { GraphNode } from '../../onnx/index.ts';
import type { TypedGraph } from '../typed-graph.ts';
import {
  type Attended,
  attend,
  causalMask,
  counted,
  defaultScale,
  joinHeads,
  joinPast,
  lowestOf,
  maskOf,
  splitHeads,
} from './attend.ts';
import { notLowered, type SizedLowering } from './sized.ts';

/** A scale attribute: 0 or absent means the default. */
const scaleOf = (node: GraphNode, headSize: number): number => node.float('scale', 0) || defaultScale(headSize);

const present = (names: readonly (string | null)[]): string[] => names.filter((name): name is string => !!name);

/** Refuses a node that has an input at one of the places, or an attribute that is not 0. */
function refuse(node: GraphNode, inputs: Record<number, string>, attributes: Record<string, string> = {}): void {
  for (const [at, what] of Object.entries(inputs)) if (node.input(Number(at))) throw notLowered(node, what);
  for (const [name, what] of Object.entries(attributes)) if (node.int(name, 0) !== 0) throw notLowered(node, what);
}

/** Rotates heads [batch, heads, new, head size] by ONNX Runtime's own operator, which has a gradient rule. */
function rotate(
  g: TypedGraph,
  x: string,
  positions: string,
  [cos, sin]: [string, string],
  interleaved: number,
): string {
  const [, heads = 1, , headSize = 1] = g.dims(x);
  const turned = 2 * (g.dims(cos)[1] ?? 0);
  const partial = turned < headSize ? { rotary_embedding_dim: turned, num_heads: heads } : {};
  return g.add('RotaryEmbedding', [x, positions, cos, sin], { interleaved, ...partial }, 'com.microsoft');
}

/**
 * [batch, 1, count, past + count] for new tokens behind the first `used` [batch, 1] places of a past: a key's place in
 * its row is that in the past, or behind the used part; unused places lie behind every query.
 */
function maskBehindPast(
  g: TypedGraph,
  used: string,
  { batch, past, count, window, hidden }: Record<'batch' | 'past' | 'count' | 'window' | 'hidden', number>,
): string {
  const held = counted(g, past, [1, past]);
  const places = g.concat(
    [
      g.add('Where', [g.add('Less', [held, used]), g.expand(held, [batch, past]), g.scalar('int64', 2 ** 40)]),
      g.add('Add', [used, counted(g, count, [1, count])]),
    ],
    1,
  );
  const keyPlaces = g.reshape(places, [batch, 1, 1, past + count]);
  const queryPlaces = g.reshape(g.slice(places, 1, past, past + count), [batch, 1, count, 1]);
  const behind = g.add('Not', [g.add('Less', [queryPlaces, keyPlaces])]);
  if (window === 0) return maskOf(g, behind, hidden);
  const near = g.add('Less', [g.sub(queryPlaces, keyPlaces), g.scalar('int64', window)]);
  return maskOf(g, g.add('And', [behind, near]), hidden);
}

/**
 * GroupQueryAttention. Row b of the batch holds `seqlens_k[b] + 1` real keys: of a first prompt (as many new tokens as
 * `total_sequence_length`) the first of the new ones; else all new ones and, of the past, the first that make up the
 * number.
 */
const groupQueryAttention: SizedLowering = (g, node) => {
  refuse(
    node,
    { 12: 'its keys and values are quantised', 13: 'its keys and values are quantised' },
    { kv_cache_bit_width: 'its keys and values are quantised' },
  );
  for (const name of ['k_quant_type', 'v_quant_type'])
    if (!['', 'NONE'].includes(node.string(name, ''))) throw notLowered(node, 'its keys and values are quantised');
  const [heads, keyHeads] = [node.int('num_heads', 1), node.int('kv_num_heads', 1)];
  let [query, key, value] = [node.input(0), node.input(1), node.input(2)];
  if (!key) {
    const size = (g.dims(query)[2] ?? 0) / (heads + 2 * keyHeads);
    const ends = [0, heads * size, (heads + keyHeads) * size, (heads + 2 * keyHeads) * size];
    [query, key, value] = [0, 1, 2].map((at) => g.slice(query, 2, ends[at] ?? 0, ends[at + 1] ?? 0)) as [
      string,
      string,
      string,
    ];
  }
  const normed = (x: string, weight: string): string =>
    weight
      ? g.add('SimplifiedLayerNormalization', [x, weight], {
          axis: -1,
          epsilon: { type: 'float', value: node.float('qk_norm_epsilon', 1e-6) },
        })
      : x;
  let q = normed(splitHeads(g, query, heads), node.input(14));
  let k = normed(splitHeads(g, key, keyHeads), node.input(15));
  const v = splitHeads(g, value, keyHeads);
  const [batch = 1, , count = 1, headSize = 1] = g.dims(q);
  const past = node.input(3) ? (g.dims(node.input(3))[2] ?? 0) : 0;
  const total = g.values(node.input(6))?.[0];
  if (total === undefined) throw notLowered(node, "its total sequence length does not follow from the inputs' sizes");
  const first = count === total;
  if (past > 0 && !first && count > 1 && batch > 1)
    throw notLowered(node, 'it reads several tokens behind a past in one row only');
  // Places of the past that are in use: the total less the new tokens.
  const real = g.add('Add', [g.reshape(g.cast(node.input(5), 'int64'), [batch, 1]), g.scalar('int64', 1)]);
  const used = g.sub(real, g.scalar('int64', count));
  if (node.int('do_rotary', 0)) {
    // The kernel counts the positions of a first prompt itself, given ones or not.
    const positions = first
      ? g.expand(counted(g, count, [1, count]), [batch, count])
      : node.input(9) || g.add('Add', [used, counted(g, count, [1, count])]);
    const caches: [string, string] = [node.input(7), node.input(8)];
    const interleaved = node.int('rotary_interleaved', 0);
    q = rotate(g, q, positions, caches, interleaved);
    k = rotate(g, k, positions, caches, interleaved);
  }
  const keys = first ? k : joinPast(g, node.input(3), k);
  const values = first ? v : joinPast(g, node.input(4), v);
  const time = g.dims(keys)[2] ?? 0;
  const hidden = lowestOf('float32');
  const window = Math.max(node.int('local_window_size', -1), 0);
  const causal = node.int('causal', 1) === 1;
  if (!causal && (window > 0 || past > 0)) throw notLowered(node, 'it is not causal, with a window or a past');
  if (past > 0 && node.int('sliding_window_cache', 0)) throw notLowered(node, 'its cache holds a window only');
  const mask = !causal
    ? maskOf(g, g.add('Less', [counted(g, time, [1, 1, 1, time]), g.reshape(real, [batch, 1, 1, 1])]), hidden)
    : first || past === 0
      ? causalMask(g, { count, time, past: 0, window, hidden })
      : maskBehindPast(g, used, { batch, past, count, window, hidden });
  const bias = node.input(10);
  const sink = node.input(11)
    ? g.reshape(node.input(11), [1, heads, 1, 1])
    : node.int('smooth_softmax', 0) === 1
      ? g.scalar(g.dtype(q), 0)
      : undefined;
  const attended = attend(g, {
    query: q,
    key: keys,
    value: values,
    scale: scaleOf(node, headSize),
    softcap: node.float('softcap', 0),
    biases: present([bias && g.slice(bias, 3, 0, time), mask]),
    sink,
  });
  // What is handed on as the cache is that of a row without unused places.
  return [joinHeads(g, attended.output), keys, values];
};

/**
 * Masks of ONNX Runtime's older operators, as an addend: lengths [batch]; ends and starts [2 · batch]; lengths and two
 * lists of offsets [3 · batch + 2] (only the lengths matter here); 1 for places in use [batch, time] or
 * [batch, new, time].
 */
function paddingMask(
  g: TypedGraph,
  node: GraphNode,
  mask: string,
  { batch, time, hidden }: { batch: number; time: number; hidden: number },
): string {
  const dims = g.dims(mask);
  const whole = g.cast(mask, 'int64');
  if (dims.length === 1) {
    const places = counted(g, time, [1, 1, 1, time]);
    const part = (at: number): string => g.reshape(g.slice(whole, 0, at * batch, (at + 1) * batch), [batch, 1, 1, 1]);
    const before = g.add('Less', [places, part(0)]);
    if (dims[0] !== 2 * batch) return maskOf(g, before, hidden);
    return maskOf(g, g.add('And', [before, g.add('Not', [g.add('Less', [places, part(1)])])]), hidden);
  }
  // [batch, 1] stands for no mask
  if (dims.length === 2 && dims[1] === 1 && time > 1) return g.scalar('float32', 0);
  const used = g.add('Greater', [whole, g.scalar('int64', 0)]);
  if (dims.length === 2 && dims[1] === time) return g.reshape(maskOf(g, used, hidden), [batch, 1, 1, time]);
  if (dims.length === 3) return g.reshape(maskOf(g, used, hidden), [batch, 1, dims[1] ?? 1, dims[2] ?? 1]);
  throw notLowered(node, `its mask has the shape [${dims.join(', ')}]`);
}

/** What MultiHeadAttention and Attention share: a mask of padding, a causal one, and a bias, each where there is one. */
function attendMasked(
  g: TypedGraph,
  node: GraphNode,
  { padding, bias, ...heads }: { query: string; key: string; value: string; padding: string; bias: string },
): Attended {
  const [batch = 1, , count = 1, headSize = 1] = g.dims(heads.query);
  const time = g.dims(heads.key)[2] ?? 0;
  const hidden = node.float('mask_filter_value', -10000);
  const masks = [
    padding ? paddingMask(g, node, padding, { batch, time, hidden }) : null,
    node.int('unidirectional', 0)
      ? causalMask(g, { count, time, past: time - count, hidden: lowestOf('float32') })
      : null,
    bias,
  ];
  return attend(g, { ...heads, scale: scaleOf(node, headSize), biases: present(masks) });
}

/** MultiHeadAttention: queries, keys and values in each of their layouts, a bias for all three, masks, past. */
const multiHeadAttention: SizedLowering = (g, node) => {
  refuse(node, { 8: 'it writes into a shared cache', 9: 'it is made for beam search' });
  const heads = node.int('num_heads', 1);
  const [query, key, value, bias] = [node.input(0), node.input(1), node.input(2), node.input(3)];
  const part = (packed: string, at: number): string => {
    const [batch = 1, count = 1, , , size = 1] = g.dims(packed);
    return g.transpose(g.reshape(g.slice(packed, 3, at, at + 1), [batch, count, heads, size]), [0, 2, 1, 3]);
  };
  const widths = [query, key || query, value || query].map((name) => (name ? (g.dims(name)[2] ?? 0) : 0));
  const biased = (x: string, at: number): string => {
    if (!bias) return splitHeads(g, x, heads);
    const width = g.dims(x)[2] ?? 0;
    const from = widths.slice(0, at).reduce((sum, each) => sum + each, 0);
    return splitHeads(g, g.add('Add', [x, g.slice(bias, 0, from, from + width)]), heads);
  };
  const biasOfHeads = (x: string, at: number): string => {
    if (!bias) return x;
    const size = g.dims(x)[3] ?? 1;
    return g.add('Add', [
      x,
      g.reshape(g.slice(bias, 0, at * heads * size, (at + 1) * heads * size), [1, heads, 1, size]),
    ]);
  };
  let [q, k, v] = ['', '', ''];
  if (!key) [q, k, v] = [0, 1, 2].map((at) => biasOfHeads(part(query, at), at)) as [string, string, string];
  else {
    q = biased(query, 0);
    const rank = g.dims(key).length;
    if (rank === 5) [k, v] = [part(key, 0), part(key, 1)];
    else if (rank === 4) [k, v] = [key, value];
    else [k, v] = [biased(key, 1), biased(value, 2)];
  }
  k = joinPast(g, node.input(6), k);
  v = joinPast(g, node.input(7), v);
  const attended = attendMasked(g, node, { query: q, key: k, value: v, padding: node.input(4), bias: node.input(5) });
  return [joinHeads(g, attended.output), k, v, attended.stages[2]];
};

/** ONNX Runtime's Attention: one weight for queries, keys and values; past and present stacked in one tensor. */
const mergedAttention: SizedLowering = (g, node) => {
  refuse(
    node,
    { 6: 'it writes into a shared cache' },
    { past_present_share_buffer: 'it writes into a shared cache', do_rotary: 'it rotates queries and keys itself' },
  );
  const heads = node.int('num_heads', 1);
  const [input, weight, bias] = [node.input(0), node.input(1), node.input(2)];
  const product = g.add('MatMul', [input, weight]);
  const qkv = bias ? g.add('Add', [product, bias]) : product;
  const width = g.dims(qkv)[2] ?? 0;
  const sizes = node.ints('qkv_hidden_sizes') ?? [width / 3, width / 3, width / 3];
  const part = (at: number): string => {
    const from = sizes.slice(0, at).reduce((sum, each) => sum + each, 0);
    return splitHeads(g, g.slice(qkv, 2, from, from + (sizes[at] ?? 0)), heads);
  };
  const [q, freshKey, freshValue] = [part(0), part(1), part(2)];
  const past = node.input(4);
  const pastDims = past ? g.dims(past).slice(1) : [];
  const kept = pastDims[2] ?? 0;
  const pastPart = (at: number): string => (kept ? g.reshape(g.slice(past, 0, at, at + 1), pastDims) : '');
  const k = joinPast(g, pastPart(0), freshKey);
  const v = joinPast(g, pastPart(1), freshValue);
  const attended = attendMasked(g, node, { query: q, key: k, value: v, padding: node.input(3), bias: node.input(5) });
  const stack = (): string => g.concat([g.unsqueeze(k, [0]), g.unsqueeze(v, [0])], 0);
  return [joinHeads(g, attended.output), node.output(1) && g.dims(k)[3] === g.dims(v)[3] ? stack() : undefined];
};

/** ONNX Attention (opset 23 on): 3-D inputs [batch, tokens, heads · size] or 4-D ones [batch, heads, tokens, size]. */
const attention: SizedLowering = (g, node) => {
  const flat = g.dims(node.input(0)).length === 3;
  const [heads, keyHeads] = [node.int('q_num_heads', 0), node.int('kv_num_heads', 0)];
  const part = (at: number): string =>
    flat ? splitHeads(g, node.input(at), at === 0 ? heads : keyHeads) : node.input(at);
  const q = part(0);
  const k = joinPast(g, node.input(4), part(1));
  const v = joinPast(g, node.input(5), part(2));
  const [batch = 1, , count = 1, headSize = 1] = g.dims(q);
  const past = node.input(4) ? (g.dims(node.input(4))[2] ?? 0) : 0;
  const time = g.dims(k)[2] ?? 0;
  const hidden = lowestOf('float32');
  let mask: string | null = node.input(3) || null;
  if (mask && g.dtype(mask) === 'bool') mask = maskOf(g, mask, hidden);
  const lengths = node.input(6) && g.reshape(node.input(6), [batch, 1, 1, 1]);
  // One query behind a past sees all keys, also where several are new.
  const causal = node.int('is_causal', 0) === 1 && !(count === 1 && past > 0);
  const places = counted(g, time, [1, 1, 1, time]);
  // Where lengths are given, the queries stand at the end of each row's keys.
  const last = (): string =>
    g.add('Add', [g.sub(lengths, g.scalar('int64', count)), counted(g, count, [1, 1, count, 1])]);
  const masks = [
    causal && lengths
      ? maskOf(g, g.add('Not', [g.add('Less', [last(), places])]), hidden)
      : causal
        ? causalMask(g, { count, time, past, hidden })
        : null,
    mask,
    lengths ? maskOf(g, g.add('Less', [places, lengths]), hidden) : null,
  ];
  const attended: Attended = attend(g, {
    query: q,
    key: k,
    value: v,
    scale: scaleOf(node, headSize),
    softcap: node.float('softcap', 0),
    biases: present(masks),
  });
  const output = flat ? joinHeads(g, attended.output) : attended.output;
  return [output, k, v, attended.stages[node.int('qk_matmul_output_mode', 0)]];
};

export const attentionLowerings: Record<string, SizedLowering> = {
  'com.microsoft.GroupQueryAttention': groupQueryAttention,
  'com.microsoft.MultiHeadAttention': multiHeadAttention,
  'com.microsoft.Attention': mergedAttention,
  Attention: attention,
};
