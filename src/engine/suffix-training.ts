/**
 * Training with the soft prompt behind the text: rows [text, soft prompt, answer]. The text does not see the soft prompt,
 * so its keys and values are constants: the decoder computes them once, without gradient, and a step runs over the soft
 * prompt and the answer only, with the text in the cache inputs.
 *
 * Graphs that take positions from the cache's size, or have no cache, get the whole row at every step, with the soft
 * prompt spliced in behind each row's text: the same numbers without the saving.
 */
import type { TrainingExample } from '../evaluate/language-model.ts';
import { type TrainingSizes, trainingForward, trainingGraph } from '../gradient/index.ts';
import type { ModelFiles } from '../model/index.ts';
import { type OnnxModel, weightsInPlace } from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { Decoder } from './decoder.ts';
import { type TextKeys, TextMemory } from './text-memory.ts';
import type { TrainingLayout } from './training.ts';
import { type TrainingBatch, trainingBatch } from './training-batch.ts';

export interface SuffixSettings {
  padTokenId: number;
  contextLength: number | null;
  /** How often each training example is seen. */
  passes: number;
}

/** Said in a run whose steps cannot go on from the text's keys and values. */
const wholeTextNote =
  'Tuning read the whole text at every step: this graph does not take keys and values of texts of different lengths (position: suffix saves nothing here).';

/**
 * `count` rounded up to one of two sizes an octave, `least` or more apart. Coarser than for a soft prompt in front: a
 * further compiled graph costs as much as several of these steps.
 */
export function paddedTo(count: number, least: number): number {
  const step = Math.max(least, 2 ** Math.floor(Math.log2(Math.max(count, 1))) / 2);
  return Math.ceil(count / step) * step;
}

/** Room for a row that has `longest` positions in all. */
function checkContext(examples: readonly TrainingExample[], vectors: number, contextLength: number | null): void {
  const longest = vectors + Math.max(...examples.map(({ prompt, answer }) => prompt.length + answer.length - 1));
  if (contextLength !== null && longest > contextLength)
    throw new HumanError(
      'bad-input',
      `A training example has ${longest} tokens with its soft prompt; the model has ${contextLength} positions.`,
      { todo: 'Shorten the prompts, or use fewer vectors.' },
    );
  if (examples.some(({ prompt }) => prompt.length === 0) && vectors === 0)
    throw new Error('A row needs a token or a vector in front of its answer.');
}

/**
 * Rows [text, soft prompt, answer], padded on the right: one graph over all of it. The soft prompt's places hold
 * placeholder ids.
 */
export function wholeTextBatch(
  examples: readonly TrainingExample[],
  vectors: number,
  padTokenId: number,
  contextLength: number | null = null,
): TrainingBatch {
  checkContext(examples, vectors, contextLength);
  const placeholders = new Array<number>(vectors).fill(padTokenId);
  const rows = examples.map(({ prompt, answer }) => ({ prompt: [...prompt, ...placeholders], answer }));
  const batch = trainingBatch(rows, 0, padTokenId, contextLength);
  const places = examples.flatMap(({ prompt }, row) =>
    placeholders.flatMap((_, vector) => [row, prompt.length + vector]),
  );
  return { ...batch, sizes: { ...batch.sizes, vectors }, places: BigInt64Array.from(places, BigInt) };
}

/**
 * Rows [soft prompt, answer] behind texts whose keys and values are given, one for each example. Rows of texts of
 * different lengths share a batch: places behind a row's own text are masked, and its positions go on from its length.
 */
export function behindTextBatch(
  examples: readonly TrainingExample[],
  vectors: number,
  padTokenId: number,
  texts: readonly TextKeys[],
  contextLength: number | null = null,
): TrainingBatch {
  checkContext(examples, vectors, contextLength);
  const sizes = behindTextSizes(examples, vectors, contextLength);
  const { batch, length, past, answers } = sizes;
  const own = trainingBatch(
    examples.map(({ answer }) => ({ prompt: [], answer })),
    vectors,
    padTokenId,
  );
  const attentionMask = new BigInt64Array(batch * (past + length));
  const positionIds = new BigInt64Array(batch * length);
  const inputIds = new BigInt64Array(batch * length).fill(BigInt(padTokenId));
  for (const [row, { prompt, answer }] of examples.entries()) {
    const count = vectors + answer.length - 1;
    const mask = row * (past + length);
    attentionMask.fill(1n, mask, mask + prompt.length);
    attentionMask.fill(1n, mask + past, mask + past + count);
    for (let at = 0; at < length; at++)
      positionIds[row * length + at] = BigInt(prompt.length + Math.min(at, count - 1));
    for (const [at, token] of answer.slice(0, -1).entries()) inputIds[row * length + vectors + at] = BigInt(token);
  }
  const resized = <Values extends BigInt64Array | Float32Array>(values: Values, made: Values): Values => {
    made.set(values.subarray(0, made.length) as never);
    return made;
  };
  return {
    sizes,
    inputIds,
    attentionMask,
    positionIds,
    positions: resized(own.positions, new BigInt64Array(answers * 2)),
    labels: resized(own.labels, new BigInt64Array(answers)),
    weights: resized(own.weights, new Float32Array(answers)),
    answerTokens: own.answerTokens,
    past: pastOf(texts, past),
  };
}

function behindTextSizes(
  examples: readonly TrainingExample[],
  vectors: number,
  contextLength: number | null,
): TrainingSizes & { past: number } {
  const room = contextLength ?? Number.POSITIVE_INFINITY;
  const longest = vectors + Math.max(...examples.map(({ answer }) => answer.length - 1));
  const text = Math.max(...examples.map(({ prompt }) => prompt.length));
  const length = Math.max(longest, Math.min(paddedTo(longest, 8), room - text));
  return {
    batch: examples.length,
    vectors,
    length,
    // A place of the text costs next to nothing: only attention reads it.
    // Older exports cut their causal mask out of a table as long as the context: padding must not go beyond.
    past: Math.max(text, Math.min(paddedTo(text, 64), room - length)),
    answers: paddedTo(
      examples.reduce((sum, { answer }) => sum + answer.length, 0),
      32,
    ),
  };
}

/** The cache inputs [rows, heads, past, head size] of texts of up to `past` tokens. */
function pastOf(texts: readonly TextKeys[], past: number): NonNullable<TrainingBatch['past']> {
  const result = new Map<string, { data: Float32Array | Uint16Array; dims: number[] }>();
  for (const { name, heads, headSize, data } of texts[0]?.tensors ?? []) {
    const block = past * headSize;
    const size = texts.length * heads * block;
    const all = data instanceof Float32Array ? new Float32Array(size) : new Uint16Array(size);
    for (const [row, text] of texts.entries()) {
      const tensor = text.tensors.find((each) => each.name === name);
      if (!tensor) throw new Error(`The text's keys and values lack ${name}.`);
      for (let head = 0; head < heads; head++) {
        const from = head * tensor.capacity * headSize;
        all.set(tensor.data.subarray(from, from + text.length * headSize), (row * heads + head) * block);
      }
    }
    result.set(name, { data: all, dims: [texts.length, heads, past, headSize] });
  }
  return result;
}

/** The layout of a training whose soft prompt stands behind the text. */
export class SuffixLayout implements TrainingLayout {
  readonly #notes: string[] = [];
  readonly #memory: TextMemory;
  readonly #file: OnnxModel;
  readonly #behindText: OnnxModel | null;
  #wholeText: OnnxModel | null = null;
  readonly sessions = 2;

  /**
   * @param decoder computes the texts' keys and values; opened at their first use
   * @throws HumanError where the graph has no token embedding
   */
  constructor(
    files: ModelFiles,
    private readonly decoder: () => Promise<Decoder>,
    private readonly settings: SuffixSettings,
  ) {
    this.#file = weightsInPlace(files.file);
    this.#behindText = behindTextForward(files, this.#file);
    this.#memory = new TextMemory(decoder, settings.passes);
  }

  get notes(): readonly string[] {
    return this.#notes;
  }

  async batch(
    examples: readonly TrainingExample[],
    vectors: number,
    withGradient: boolean,
    signal: AbortSignal | undefined,
  ): Promise<{ forward: OnnxModel; batch: TrainingBatch }> {
    const { padTokenId, contextLength } = this.settings;
    const forward = this.#behindText;
    if (forward && examples.every(({ prompt }) => prompt.length > 0)) {
      const { past, length } = behindTextSizes(examples, vectors, contextLength);
      const decoder = await this.decoder();
      // A merged decoder's branch with a cache may have been traced for one new token: the decoder has tried.
      if (!(await decoder.exactFor(past + length)) && (await decoder.continues())) {
        const prompts = examples.map(({ prompt }) => prompt);
        const texts = await this.#memory.read(prompts, withGradient, signal);
        return { forward, batch: behindTextBatch(examples, vectors, padTokenId, texts, contextLength) };
      }
    }
    if (!this.#notes.includes(wholeTextNote)) this.#notes.push(wholeTextNote);
    this.#wholeText ??= trainingForward(this.#file, { anywhere: true });
    return { forward: this.#wholeText, batch: wholeTextBatch(examples, vectors, padTokenId, contextLength) };
  }
}

/**
 * The forward graph over soft prompt and answer; null where it cannot go on from keys and values of texts of different
 * lengths.
 */
function behindTextForward({ signature }: ModelFiles, file: OnnxModel): OnnxModel | null {
  const { cache, positionIds, attentionMask } = signature;
  if (cache?.kind !== 'separate' || !positionIds || !attentionMask) return null;
  const forward = trainingForward(file, { cached: true });
  try {
    // Whether shapes and rules hold with a cache is known once it has been tried; small sizes take some milliseconds.
    trainingGraph(forward, { batch: 2, length: 5, vectors: 2, answers: 3, past: 7 });
    return forward;
  } catch (thrown) {
    if (thrown instanceof HumanError) return null;
    throw thrown;
  }
}
