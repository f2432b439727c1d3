/** Scaled dot-product attention in plain operators: what the lowerings of all attention operators share. */
import type { DataType } from '../../onnx/index.ts';
import { tensorOf } from '../../onnx/index.ts';
import type { TypedGraph } from '../typed-graph.ts';
import { mostKnownValues } from '../types.ts';

/**
 * Stands for minus infinity where scores are masked, as in ONNX Runtime's kernels: finite, so that a row of padding that
 * sees nothing gets equal weights, not NaN (which would spoil every gradient: 0 · NaN).
 */
const lowest: Partial<Record<DataType, number>> = { float32: -3.4028234663852886e38, float16: -65504 };

export const lowestOf = (dtype: DataType): number => lowest[dtype] ?? -3.4028234663852886e38;

export interface AttentionParts {
  /** [batch, heads, new, head size] */
  query: string;
  /** [batch, key heads, time, head size]; each key head serves heads / key heads query heads in a row. */
  key: string;
  /** [batch, key heads, time, value size] */
  value: string;
  scale: number;
  /** Scores become softcap · tanh(score / softcap), before masks and biases; 0: they do not. */
  softcap?: number;
  /** Added to the scores; each broadcasts to [batch, heads, new, time]. */
  biases: readonly string[];
  /** A further score in every row's softmax that no value belongs to: [1, heads, 1, 1], or a scalar. */
  sink?: string;
}

export interface Attended {
  /** [batch, heads, new, value size] */
  output: string;
  /** [batch, heads, new, time]: scaled products; after soft-capping; after masks and biases; after the softmax. */
  stages: [products: string, capped: string, masked: string, weights: string];
}

/** Grouped heads are not repeated: the queries of one key head are rows of one product. */
export function attend(g: TypedGraph, parts: AttentionParts): Attended {
  const [batch = 1, heads = 1, count = 1, headSize = 1] = g.dims(parts.query);
  const [, keyHeads = 1, time = 1] = g.dims(parts.key);
  const valueSize = g.dims(parts.value).at(-1) ?? 1;
  const dtype = g.dtype(parts.query);
  // Half precision holds a softmax poorly; ONNX Runtime's kernels compute it in float32 too.
  const [q, k, v] = [parts.query, parts.key, parts.value].map((name) =>
    dtype === 'float16' ? g.cast(name, 'float32') : name,
  );
  const rows = (heads / keyHeads) * count;
  const grouped = g.reshape(g.scale(q ?? '', parts.scale), [batch, keyHeads, rows, headSize]);
  const products = g.reshape(g.add('MatMul', [grouped, g.swapLast(k ?? '')]), [batch, heads, count, time]);
  const { softcap = 0 } = parts;
  const capped = softcap > 0 ? g.scale(g.add('Tanh', [g.scale(products, 1 / softcap)]), softcap) : products;
  const masked = parts.biases.reduce((sum, bias) => g.add('Add', [sum, g.cast(bias, g.dtype(sum))]), capped);
  const weights = softmax(g, masked, parts.sink);
  const mixed = g.add('MatMul', [g.reshape(weights, [batch, keyHeads, rows, time]), v ?? '']);
  const output = g.cast(g.reshape(mixed, [batch, heads, count, valueSize]), dtype);
  return { output, stages: [products, capped, masked, weights] };
}

function softmax(g: TypedGraph, scores: string, sink: string | undefined): string {
  const axis = 3;
  // before opset 13 the axis of Softmax began a flattened tail: the last axis is the same in both
  if (sink === undefined) return g.add('Softmax', [scores], { axis });
  const dims = g.dims(scores);
  const column = g.expand(g.cast(sink, g.dtype(scores)), [...dims.slice(0, 3), 1]);
  return g.slice(g.add('Softmax', [g.concat([scores, column], axis)], { axis }), axis, 0, dims[3] ?? 0);
}

/** Numbers 0 … count - 1 as int64 of the given shape. */
export const counted = (g: TypedGraph, count: number, dims: readonly number[], from = 0): string =>
  g.constant(
    tensorOf(
      'int64',
      dims,
      Array.from({ length: count }, (_, at) => from + at),
    ),
  );

/** 0 where the condition holds, `hidden` elsewhere. */
export const maskOf = (g: TypedGraph, condition: string, hidden: number, dtype: DataType = 'float32'): string =>
  g.add('Where', [condition, g.scalar(dtype, 0), g.scalar(dtype, hidden)]);

/**
 * [1, 1, count, time]: 0 where the key's place is not behind the query's, and, with a window, one of the `window` last
 * places up to the query's; else `hidden`. The first query stands at place `past`. Null where nothing is hidden.
 */
export function causalMask(
  g: TypedGraph,
  {
    count,
    time,
    past,
    window = 0,
    hidden,
  }: { count: number; time: number; past: number; window?: number; hidden: number },
): string | null {
  const hides = (query: number, key: number): boolean =>
    key > query + past || (window > 0 && key <= query + past - window);
  const oldest = window > 0 ? count - 1 + past - window : -1;
  if (past + 1 >= time && oldest < 0) return null;
  if (count * time <= mostKnownValues) {
    const values = Array.from({ length: count * time }, (_, at) =>
      hides(Math.floor(at / time), at % time) ? hidden : 0,
    );
    return g.constant(tensorOf('float32', [1, 1, count, time], values));
  }
  // Larger ones are computed: ONNX Runtime folds them once, and the file stays small.
  const queries = counted(g, count, [1, 1, count, 1], past);
  const keys = counted(g, time, [1, 1, 1, time]);
  const behind = g.add('Not', [g.add('Less', [queries, keys])]);
  const seen =
    window > 0
      ? g.add('And', [behind, g.add('Less', [g.add('Sub', [queries, keys]), g.scalar('int64', window)])])
      : behind;
  return maskOf(g, seen, hidden);
}

/** [batch, new, heads · size] → [batch, heads, new, size]. */
export function splitHeads(g: TypedGraph, x: string, heads: number): string {
  const [batch = 1, count = 1, width = 1] = g.dims(x);
  return g.transpose(g.reshape(x, [batch, count, heads, width / heads]), [0, 2, 1, 3]);
}

/** [batch, heads, new, size] → [batch, new, heads · size]. */
export function joinHeads(g: TypedGraph, x: string): string {
  const [batch = 1, heads = 1, count = 1, size = 1] = g.dims(x);
  return g.reshape(g.transpose(x, [0, 2, 1, 3]), [batch, count, heads * size]);
}

/** Past and new along the time axis; the past may be absent or empty. */
export function joinPast(g: TypedGraph, past: string, fresh: string): string {
  return past && (g.dims(past)[2] ?? 0) > 0 ? g.concat([past, fresh], 2) : fresh;
}

/** The default of every attention operator: 1 / √(head size). */
export const defaultScale = (headSize: number): number => 1 / Math.sqrt(headSize);
