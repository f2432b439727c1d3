/** Types of attention operators and of what belongs to them. */
import type { DataType } from '../../onnx/index.ts';
import type { ValueType } from '../types.ts';
import { type InferenceInput, type InferenceRow, need, same } from './row.ts';

const pastLength = (input: InferenceInput, at: number): number => input.inputs[at]?.dims[2] ?? 0;

/** Output [batch, new, heads · size], and keys and values [batch, heads, time, size]. */
const groupQueryAttention: InferenceRow = (input) => {
  const { dtype, dims } = need(input, 0);
  const [batch = 1, count = 1, width = 1] = dims;
  const [heads, keyHeads] = [input.node.int('num_heads', 1), input.node.int('kv_num_heads', 1)];
  const size = input.inputs[1] ? width / heads : width / (heads + 2 * keyHeads);
  const total = input.inputs[6]?.values?.[0] ?? pastLength(input, 3) + count;
  const cache: ValueType = { dtype, dims: [batch, keyHeads, Math.max(total, pastLength(input, 3)), size] };
  return [{ dtype, dims: [batch, count, heads * size] }, cache, cache];
};

const multiHeadAttention: InferenceRow = (input) => {
  const { dtype, dims } = need(input, 0);
  const [batch = 1, count = 1] = dims;
  const heads = input.node.int('num_heads', 1);
  const [, key, value] = input.inputs;
  // packed queries, keys and values [batch, new, heads, 3, size]
  const size = dims.length === 5 ? (dims[4] ?? 1) : (dims[2] ?? 1) / heads;
  const valueSize =
    value?.dims.length === 4 ? (value.dims[3] ?? 1) : value?.dims.length === 3 ? (value.dims[2] ?? 1) / heads : size;
  const fresh = key ? (key.dims.length === 4 ? (key.dims[2] ?? 1) : (key.dims[1] ?? 1)) : count;
  const time = pastLength(input, 6) + fresh;
  return [
    { dtype, dims: [batch, count, heads * valueSize] },
    { dtype, dims: [batch, heads, time, size] },
    { dtype, dims: [batch, heads, time, valueSize] },
    { dtype, dims: [batch, heads, count, time] },
  ];
};

const mergedAttention: InferenceRow = (input) => {
  const { dtype, dims } = need(input, 0);
  const [batch = 1, count = 1] = dims;
  const heads = input.node.int('num_heads', 1);
  const width = need(input, 1).dims[1] ?? 0;
  const valueWidth = input.node.ints('qkv_hidden_sizes')?.[2] ?? width / 3;
  const time = (input.inputs[4]?.dims[3] ?? 0) + count;
  return [
    { dtype, dims: [batch, count, valueWidth] },
    { dtype, dims: [2, batch, heads, time, valueWidth / heads] },
  ];
};

const attention: InferenceRow = (input) => {
  const [query, key, value] = [need(input, 0), need(input, 1), need(input, 2)];
  const flat = query.dims.length === 3;
  const [heads, keyHeads] = flat
    ? [input.node.int('q_num_heads', 1), input.node.int('kv_num_heads', 1)]
    : [query.dims[1] ?? 1, key.dims[1] ?? 1];
  const [batch = 1] = query.dims;
  const count = query.dims[flat ? 1 : 2] ?? 1;
  const time = pastLength(input, 4) + (key.dims[flat ? 1 : 2] ?? 1);
  const last = (type: ValueType, parts: number): number => (type.dims.at(-1) ?? 1) / (flat ? parts : 1);
  const [size, valueSize] = [last(key, keyHeads), last(value, keyHeads)];
  const { dtype } = query;
  return [
    { dtype, dims: flat ? [batch, count, heads * valueSize] : [batch, heads, count, valueSize] },
    { dtype: key.dtype, dims: [batch, keyHeads, time, size] },
    { dtype: value.dtype, dims: [batch, keyHeads, time, valueSize] },
    { dtype, dims: [batch, heads, count, time] },
  ];
};

/** Sums of words and positions, normalised; lengths of the rows; the sums themselves. */
const embedLayerNormalization: InferenceRow = (input) => {
  const ids = need(input, 0);
  const words = need(input, 2);
  const whole: { dtype: DataType; dims: number[] } = { dtype: words.dtype, dims: [...ids.dims, words.dims[1] ?? 1] };
  return [whole, { dtype: 'int32', dims: [ids.dims[0] ?? 1] }, whole];
};

export const attentionInference: Record<string, InferenceRow> = {
  'com.microsoft.GroupQueryAttention': groupQueryAttention,
  'com.microsoft.MultiHeadAttention': multiHeadAttention,
  'com.microsoft.Attention': mergedAttention,
  Attention: attention,
  'com.microsoft.RotaryEmbedding': same,
  RotaryEmbedding: same,
  'com.microsoft.EmbedLayerNormalization': embedLayerNormalization,
};
