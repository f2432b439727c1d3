/** Keys and values of texts, computed without gradient by the decoder, and kept where they are needed again. */
import { throwIfCancelled } from '../shared/errors.ts';
import type { Decoder } from './decoder.ts';

type Tokens = readonly number[];

/** Keys and values of one text. */
export interface TextKeys {
  /** Tokens of the text. */
  length: number;
  tensors: {
    name: string;
    heads: number;
    headSize: number;
    /** Places between the starts of two heads. */
    capacity: number;
    /** [heads, capacity, head size], the first `length` places filled. */
    data: Float32Array | Uint16Array;
  }[];
}

/** Kept keys and values take at most this much: 46 KB a token for a model of 135M parameters, so 22,000 tokens. */
const mostBytes = 2 ** 30;

/**
 * Rounding differs a little with what a text is read together with. So that a resumed tuning has the numbers of an
 * unbroken one, a text's keys and values never depend on which were read before:
 *
 * - texts that come again (several passes over the data) are read alone, and kept until the memory is full;
 * - texts that come once are read with their batch, which is faster, and not kept;
 * - texts that are only scored come again in the same batches: read with their batch, and kept.
 */
export class TextMemory {
  readonly #kept = new Map<string, TextKeys[]>();
  #bytes = 0;

  constructor(
    private readonly decoder: () => Promise<Decoder>,
    private readonly passes: number,
  ) {}

  /** Keys and values of a batch of texts, in order. `trained`: the texts of a step, not of a validation. */
  async read(texts: readonly Tokens[], trained: boolean, signal?: AbortSignal): Promise<TextKeys[]> {
    if (trained && this.passes < 2) return this.#compute(texts, signal);
    if (!trained) return this.#remember(texts, signal);
    const found: TextKeys[] = [];
    for (const text of texts) found.push(...(await this.#remember([text], signal)));
    return found;
  }

  /** First come, first kept: in passes over data that do not fit, dropping the oldest would always drop what comes next. */
  async #remember(texts: readonly Tokens[], signal: AbortSignal | undefined): Promise<TextKeys[]> {
    const key = texts.map((text) => text.join()).join(';');
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const made = await this.#compute(texts, signal);
    const bytes = made.reduce((sum, text) => sum + bytesOf(text), 0);
    if (this.#bytes + bytes <= mostBytes) {
      this.#bytes += bytes;
      this.#kept.set(key, made);
    }
    return made;
  }

  async #compute(texts: readonly Tokens[], signal: AbortSignal | undefined): Promise<TextKeys[]> {
    throwIfCancelled(signal);
    const decoder = await this.decoder();
    const longest = Math.max(...texts.map(({ length }) => length));
    // A cache of one row has no places to spare.
    const cache = decoder.newCache(texts.length, longest, null, texts.length === 1);
    for (const _ of texts) cache.addRow();
    await decoder.read(cache, 0, texts, [], { signal });
    return texts.map(({ length }, row) => ({
      length,
      tensors: cache.views(row, row + 1).map(({ name, data, dims: [, heads = 0, capacity = 0, headSize = 0] }) => ({
        name,
        heads,
        headSize,
        capacity,
        data,
      })),
    }));
  }
}

const bytesOf = ({ tensors }: TextKeys): number => tensors.reduce((sum, { data }) => sum + data.byteLength, 0);
