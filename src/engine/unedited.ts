/** A model file as it is, run by ONNX Runtime alone: none of our edits to the graph. What verify.ts holds ours against. */
import type { ModelFiles } from '../model/index.ts';
import { type DataType, float16ToNumber } from '../onnx/index.ts';
import { loadOnnxRuntime, type OrtTensor, sessionOptions } from './runtime.ts';

/**
 * Logits [vocabulary] at places (row, position) of token rows, which are padded on the right as in a batch of ours. Null
 * for graphs whose caches this does not know how to leave empty.
 */
export async function uneditedLogits(
  { file, signature }: ModelFiles,
  rows: readonly (readonly number[])[],
  places: readonly { row: number; position: number }[],
  { padTokenId, threads }: { padTokenId: number; threads: number },
): Promise<Float32Array[] | null> {
  const { inputIds, attentionMask, positionIds, useCacheBranch, cache, logits } = signature;
  if (cache && cache.kind !== 'separate') return null;
  const { InferenceSession, Tensor } = await loadOnnxRuntime();
  const length = Math.max(...rows.map((row) => row.length));
  const feeds: Record<string, OrtTensor> = {};
  const integers = (
    value: { name: string; dtype: DataType | null } | null,
    of: (row: readonly number[], at: number) => number,
  ) => {
    if (!value) return;
    const numbers = rows.flatMap((row) => Array.from({ length }, (_, at) => of(row, at)));
    const dims = [rows.length, length];
    feeds[value.name] =
      value.dtype === 'int32'
        ? new Tensor('int32', Int32Array.from(numbers), dims)
        : new Tensor('int64', BigInt64Array.from(numbers, BigInt), dims);
  };
  integers(inputIds, (row, at) => row[at] ?? padTokenId);
  integers(attentionMask, (row, at) => Number(at < row.length));
  integers(positionIds, (row, at) => Math.min(at, row.length - 1));
  if (useCacheBranch) feeds[useCacheBranch.name] = new Tensor('bool', [false], [1]);
  for (const { past, heads, headSize } of cache?.tensors ?? []) {
    const dims = [rows.length, heads, 0, headSize];
    feeds[past] =
      cache?.dtype === 'float16'
        ? new Tensor('float16', new Uint16Array(0), dims)
        : new Tensor('float32', new Float32Array(0), dims);
  }
  const provider = { asked: 'cpu', running: 'cpu', reason: '', threads };
  const session = await InferenceSession.create(file.file, sessionOptions({ provider, weightFolder: file.folder }));
  try {
    const output = (await session.run(feeds, [logits.name]))[logits.name];
    const width = output?.dims[2] ?? 0;
    const { data } = output ?? {};
    return places.map(({ row, position }) => {
      const from = (row * length + position) * width;
      if (data instanceof Float32Array) return data.slice(from, from + width);
      if (data instanceof Uint16Array) return Float32Array.from(data.subarray(from, from + width), float16ToNumber);
      throw new Error('logits are float32 or float16');
    });
  } finally {
    await session.release();
  }
}
