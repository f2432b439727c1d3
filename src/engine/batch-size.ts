/** How many rows are computed together: as many as help and as memory holds; fewer once it has run out. */
import type { Hooks } from '../evaluate/language-model.ts';
import type { CacheSignature } from '../model/index.ts';
import { bytesOf, type Graph } from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { Provider } from './providers.ts';

/** Memory ran out in a run: a smaller batch may do. */
export class OutOfMemoryError extends HumanError {}

/** What a model takes for each position and row, from its graph. */
export interface ModelSizes {
  /** Keys and values of a position, in all layers; 0 without a cache. */
  cacheBytes: number;
  hiddenSize: number;
  /** The widest of what stands between two products, the vocabulary left out: mostly the MLP's. */
  widest: number;
  /** Heads of the attention scores. */
  heads: number;
  vocabularySize: number;
}

/** Sizes as the weights tell them. `hiddenSize`: of the token embedding. */
export function modelSizes(
  graph: Graph,
  cache: CacheSignature | null,
  { hiddenSize, vocabularySize }: { hiddenSize: number; vocabularySize: number },
): ModelSizes {
  const widths = [...graph.initializers.values()].flatMap(({ dims }) =>
    dims.length === 2 && !dims.includes(vocabularySize) ? dims : [],
  );
  const cacheBytes =
    cache?.tensors.reduce((sum, { heads, headSize }) => sum + bytesOf(cache.dtype, [heads, headSize]), 0) ?? 0;
  const headSize = cache?.headSize || 64;
  return {
    cacheBytes,
    hiddenSize,
    widest: Math.max(hiddenSize, ...widths),
    heads: Math.max(cache?.heads ?? 1, Math.ceil(hiddenSize / headSize)),
    vocabularySize,
  };
}

/** What is read and produced: the longest of each. */
export interface Extent {
  /** Positions of a row, its prompt, soft prompt and output together. */
  longest: number;
  /** New positions of a row in one run. */
  read: number;
  /** Positions of a row whose logits are computed in one run. */
  wanted: number;
  /** Rows that there are to compute. */
  rows: number;
}

/**
 * Positions of a run, where rows may be read one after the other. On a CPU more take more memory and no less time: products
 * are as fast from 256 rows on, and rows of unlike length have less padding in smaller groups.
 */
export const mostPositions = { many: 384, few: Number.POSITIVE_INFINITY } as const;

/**
 * Bytes that so many rows take at the peak. Tensors that live at once: the residual stream, queries, keys, values and norms
 * (10 widths), gate, up and their product (4 of the widest), scores before and after the softmax and their mask (3), logits
 * and what is made of them (3). Keys and values are held once more while a layer joins them.
 */
export function batchBytes(
  { cacheBytes, hiddenSize, widest, heads, vocabularySize }: ModelSizes,
  { longest, read, wanted }: Omit<Extent, 'rows'>,
  rows: number,
  shapes: Provider['shapes'],
): number {
  const positions = Math.max(read, Math.min(rows * read, mostPositions[shapes]));
  const activations = positions * (10 * hiddenSize + 4 * widest + 3 * heads * longest);
  return rows * (1.25 * longest * cacheBytes + 12 * wanted * vocabularySize) + 4 * activations;
}

/**
 * Rows from which on more gain next to nothing. On a CPU a step's products are bound by reading the weights up to about 32
 * rows, and runs over prompts by arithmetic from about 2,000 positions on; a device takes more of both.
 */
const enough = { many: { rows: 32, positions: 2048 }, few: { rows: 64, positions: 16_384 } } as const;

/** Of the memory that is free, this share may be taken: estimates are estimates, and others use the machine too. */
const usableShare = 0.5;

/** Rows of a batch. `free`: bytes that are free for it; null where that is not known (memory of a device). */
export function automaticRows(
  sizes: ModelSizes,
  extent: Extent,
  free: number | null,
  shapes: Provider['shapes'],
): number {
  const { rows, positions } = enough[shapes];
  // Steps of one token profit from more rows than prompts do.
  const useful = extent.longest > extent.read ? rows : Math.max(8, Math.ceil(positions / Math.max(1, extent.read)));
  let most = Math.max(1, Math.min(rows, useful, extent.rows));
  while (most > 1 && free !== null && batchBytes(sizes, extent, most, shapes) > free * usableShare) most--;
  return most;
}

/**
 * Runs requests in batches of `rows`; where memory runs out, what is left goes on in batches half as large.
 * @returns rows of the last batches
 * @throws OutOfMemoryError where it runs out with a single row
 */
export async function backingOff<Request extends { index: number }, Result extends { index: number }>(
  requests: readonly Request[],
  rows: number,
  hooks: Hooks<Result>,
  run: (left: Request[], rows: number, hooks: Hooks<Result>) => Promise<void>,
): Promise<number> {
  const left = new Map(requests.map((request) => [request.index, request]));
  const onResult = async (result: Result): Promise<void> => {
    left.delete(result.index);
    await hooks.onResult(result);
  };
  for (let now = rows; ; ) {
    try {
      await run([...left.values()], now, { ...hooks, onResult });
      return now;
    } catch (error) {
      if (!(error instanceof OutOfMemoryError) || now <= 1) throw error;
      now = Math.floor(Math.min(now, left.size) / 2) || 1;
      hooks.onBatchSize?.(now, true);
    }
  }
}
