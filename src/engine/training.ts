/** Loss and gradient of soft-prompt tuning: batches in, one ONNX Runtime call a step. */
import type { SoftPrompt, StepResult, TrainingEngine, TrainingExample } from '../evaluate/language-model.ts';
import {
  answerPositionsInput,
  arithmeticNotes,
  gradientOutput,
  labelsInput,
  lossOutput,
  memoryNeed,
  softPromptInput,
  softPromptPlacesInput,
  type TrainingSizes,
  trainingForward,
  trainingModel,
  typedTrainingGraph,
  weightsInput,
} from '../gradient/index.ts';
import { type OnnxFile, type OnnxModel, weightsInPlace } from '../onnx/index.ts';
import { HumanError, throwIfCancelled } from '../shared/errors.ts';
import type { ProviderReport, Recomputation } from '../shared/results.ts';
import { answerTokensOf, inParts, memoryForSteps, NotEnoughMemory, partsNote, saysOutOfMemory } from './parts.ts';
import { providerOf } from './providers.ts';
import {
  createSession,
  loadOnnxRuntime,
  type OrtTensor,
  type PlacementSettings,
  runtimeWords,
  type Session,
} from './runtime.ts';
import { type TrainingBatch, trainingBatch } from './training-batch.ts';

export interface TrainingSettings {
  vectors: number;
  batchSize: number;
  provider: ProviderReport;
  padTokenId: number;
  /** Positions that the model has, where that is known: padding must not go beyond. */
  contextLength?: number | null;
  /** What the way back computes again to take less memory. Default: none. */
  recompute?: Recomputation;
  /** Items of a step that are computed at a time; absent: as many as memory holds. */
  microBatchSize?: number;
  /** Bytes that a step may take besides the weights; absent: what is free. */
  memoryBytes?: number;
  /** How rows are laid out, where the soft prompt does not stand in front of the text. */
  layout?: TrainingLayout;
  /** Told once which nodes of the training graph the CPU computes, where another provider runs. */
  onPlacement?: PlacementSettings['report'];
}

/** Where the soft prompt stands in a row: makes batches, and names the forward graph that each is for. */
export interface TrainingLayout {
  /** `withGradient`: the examples are trained on, not only scored. */
  batch(
    examples: readonly TrainingExample[],
    vectors: number,
    withGradient: boolean,
    signal: AbortSignal | undefined,
  ): Promise<{ forward: OnnxModel; batch: TrainingBatch }>;
  /** Things that the user should know about the steps so far. */
  readonly notes: readonly string[];
  /** Compiled graphs held for each one that a provider holds by default; steps are short beside making one. Default: 1. */
  readonly sessions?: number;
}

/** The soft prompt in front of the text. */
function prefixLayout(forward: OnnxModel, settings: TrainingSettings, most: () => number): TrainingLayout {
  const { padTokenId, contextLength, provider } = settings;
  const { shapes } = providerOf(provider);
  // The last batch of a pass is filled up where a further shape would cost more than the rows.
  return {
    batch: async (examples, vectors) => {
      const rows = shapes === 'few' ? Math.min(settings.batchSize, most()) : 1;
      return { forward, batch: trainingBatch(examples, vectors, padTokenId, contextLength, { shapes, rows }) };
    },
    notes: [],
  };
}

/**
 * No block planned for the whole step, no arena: a plan from the second run on came on top of what the first had taken
 * (4.4 against 2.6 GB for SmolLM2-135M at 8 × 128 tokens), and an arena keeps the peak of every length it has met.
 */
const workingMemory = { enableMemPattern: false, enableCpuMemArena: false };

/**
 * On the CPU the graph runs as it was written: the order of its nodes decides how long values are kept, and ONNX Runtime's
 * optimiser would make one node of two that compute the same, which is what recomputation is made of, and copies of
 * transposed weights. It had nothing to add (the same time; sessions open in half of it).
 */
const asItStands = { ...workingMemory, graphOptimizationLevel: 'disabled' as const };

/** Elsewhere the optimiser makes the graph fit the provider; it only must not merge what is computed twice. */
const withCopies = {
  ...workingMemory,
  extra: { optimization: { disable_specified_optimizers: 'CommonSubexpressionElimination' } },
};

/** Training of one soft prompt on one model; sessions are compiled as sizes come up. */
export class OnnxTraining implements TrainingEngine {
  readonly #file: OnnxFile;
  readonly #layout: TrainingLayout;
  readonly #arithmetic: readonly string[];
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>();
  /** Whether a session has been asked where its nodes run: the same for all of them, more or less. */
  #placed = false;
  /** Examples that are computed at a time. */
  #most: number;
  /** Whether memory was short. */
  #short = false;
  /** Bytes that were free for steps before the first. */
  readonly #memory: number;

  /** @throws HumanError where the graph has no token embedding */
  constructor(
    file: OnnxFile,
    private readonly settings: TrainingSettings,
  ) {
    this.#file = weightsInPlace(file);
    this.#arithmetic = arithmeticNotes(this.#file);
    this.#most = settings.microBatchSize ?? Number.POSITIVE_INFINITY;
    this.#memory = settings.memoryBytes ?? memoryForSteps();
    this.#layout = settings.layout ?? prefixLayout(trainingForward(this.#file), settings, () => this.#most);
    this.#checked = settings.provider.running === 'cpu';
  }

  get notes(): readonly string[] {
    return [...this.#arithmetic, ...this.#layout.notes, ...(this.#short ? [partsNote(this.#most)] : [])];
  }

  async step(examples: readonly TrainingExample[], softPrompt: SoftPrompt, signal?: AbortSignal): Promise<StepResult> {
    // Parts are added in float64, so that a batch in many parts is as exact as one at once.
    const gradient = new Float64Array(softPrompt.vectors * softPrompt.hiddenSize);
    const total = await this.#inParts(
      examples,
      softPrompt,
      true,
      signal,
      (outputs, share) => {
        const part = outputs[gradientOutput]?.data;
        if (!(part instanceof Float32Array)) throw new Error('the training graph gives a float32 gradient');
        if (share === 1) gradient.set(part);
        else for (const [at, value] of part.entries()) gradient[at] = (gradient[at] ?? 0) + share * value;
      },
      () => gradient.fill(0),
    );
    return { ...total, gradient: Float32Array.from(gradient) };
  }

  async loss(
    examples: readonly TrainingExample[],
    softPrompt: SoftPrompt,
    signal?: AbortSignal,
  ): Promise<{ loss: number; answerTokens: number }> {
    const { loss, answerTokens } = await this.#inParts(examples, softPrompt, false, signal);
    return { loss, answerTokens };
  }

  /**
   * Runs the examples, all at once or in parts, and adds up: the loss is the mean over all answer tokens, so a part
   * counts by its share of these. Where memory runs out, with half as many at a time from then on.
   * @param onPart outputs of a part and its share of the answer tokens
   * @param onRestart what `onPart` was told so far does not count
   */
  async #inParts(
    examples: readonly TrainingExample[],
    softPrompt: SoftPrompt,
    withGradient: boolean,
    signal: AbortSignal | undefined,
    onPart: (outputs: Record<string, OrtTensor>, share: number) => void = () => {},
    onRestart: () => void = () => {},
  ): Promise<{ loss: number; answerTokens: number; batch: [number, number] }> {
    const answerTokens = answerTokensOf(examples);
    for (;;) {
      const parts = inParts(examples, this.#most);
      let loss = 0;
      let [rows, longest] = [0, 0];
      try {
        for (const part of parts) {
          const { batch, outputs } = await this.#run(part, softPrompt, withGradient, signal);
          if (withGradient && !this.#checked) await this.#check(batch, outputs, part, softPrompt, signal);
          const share = parts.length === 1 ? 1 : batch.answerTokens / answerTokens;
          loss += share * lossOf(outputs);
          rows += batch.sizes.batch;
          longest = Math.max(longest, batch.sizes.length + (batch.sizes.past ?? 0));
          onPart(outputs, share);
        }
        return { loss, answerTokens, batch: [rows, longest] };
      } catch (thrown) {
        const most = Math.max(...parts.map(({ length }) => length));
        if (most <= 1 || !saysOutOfMemory(thrown)) throw asStepError(thrown);
        this.#most = Math.ceil(most / 2);
        this.#short = true;
        await this.close();
        onRestart();
      }
    }
  }

  /** Whether a step on this provider is known to be right. */
  #checked: boolean;

  /**
   * The first step on a device, computed on the CPU too. A provider may have a kernel that computes something else without
   * a word (WebGPU did), and a soft prompt tuned on wrong gradients would look like a model that cannot be tuned.
   * @throws HumanError('engine') where loss or gradient differ by more than half precision explains
   */
  async #check(
    batch: TrainingBatch,
    outputs: Record<string, OrtTensor>,
    examples: readonly TrainingExample[],
    softPrompt: SoftPrompt,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { running, threads } = this.settings.provider;
    const provider = { asked: 'cpu', running: 'cpu', reason: '', threads };
    const beside = new OnnxTraining(this.#file, {
      ...this.settings,
      provider,
      onPlacement: undefined,
      layout: this.#layout,
    });
    try {
      const expected = await beside.#run(examples, softPrompt, true, signal);
      const wrong = stepDifference(
        { loss: lossOf(outputs), gradient: outputs[gradientOutput]?.data },
        { loss: lossOf(expected.outputs), gradient: expected.outputs[gradientOutput]?.data },
      );
      if (wrong !== null)
        throw new HumanError(
          'engine',
          `The execution provider "${running}" computes this model's training step wrongly: on the first batch of ${batch.sizes.batch} rows ${wrong}.`,
          { todo: 'Tune on the CPU (--provider cpu), and report the model and the provider.' },
        );
      this.#checked = true;
    } finally {
      await beside.close();
    }
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const session of sessions) await session.release();
  }

  async #run(
    examples: readonly TrainingExample[],
    softPrompt: SoftPrompt,
    withGradient: boolean,
    signal: AbortSignal | undefined,
  ): Promise<{ batch: TrainingBatch; outputs: Record<string, OrtTensor> }> {
    throwIfCancelled(signal);
    const { forward, batch } = await this.#layout.batch(examples, softPrompt.vectors, withGradient, signal);
    const session = await this.#session(forward, batch.sizes, withGradient);
    throwIfCancelled(signal);
    const { Tensor } = await loadOnnxRuntime();
    const { batch: rows, length, answers, past = 0 } = batch.sizes;
    const all: Record<string, OrtTensor> = {
      input_ids: new Tensor('int64', batch.inputIds, [rows, length]),
      attention_mask: new Tensor('int64', batch.attentionMask, [rows, past + length]),
      position_ids: new Tensor('int64', batch.positionIds, [rows, length]),
      token_type_ids: new Tensor('int64', new BigInt64Array(rows * length), [rows, length]),
      [softPromptInput]: new Tensor('float32', softPrompt.data, [softPrompt.vectors, softPrompt.hiddenSize]),
      [answerPositionsInput]: new Tensor('int64', batch.positions, [answers, 2]),
      [labelsInput]: new Tensor('int64', batch.labels, [answers]),
      [weightsInput]: new Tensor('float32', batch.weights, [answers]),
    };
    if (batch.places) all[softPromptPlacesInput] = new Tensor('int64', batch.places, [rows, softPrompt.vectors, 2]);
    for (const [name, { data, dims }] of batch.past ?? [])
      all[name] = data instanceof Float32Array ? new Tensor('float32', data, dims) : new Tensor('float16', data, dims);
    const narrow = new Set(forward.graph.inputs.filter(({ dtype }) => dtype === 'int32').map(({ name }) => name));
    const feeds: Record<string, OrtTensor> = {};
    for (const name of session.inputNames) {
      const whole = all[name];
      const { data } = whole ?? {};
      const tensor =
        narrow.has(name) && data instanceof BigInt64Array
          ? new Tensor('int32', Int32Array.from(data, Number), whole?.dims)
          : whole;
      if (!tensor)
        throw new HumanError('unsupported', `The graph has an input "${name}" that tuning cannot give.`, {
          place: { file: this.#file.file },
          todo: 'Export the model with optimum (task text-generation-with-past).',
        });
      feeds[name] = tensor;
    }
    return { batch, outputs: await session.run(feeds) };
  }

  async #session(forward: OnnxModel, sizes: TrainingSizes, withGradient: boolean): Promise<Session> {
    const key = `${sizes.batch}×${sizes.past ?? 0}+${sizes.length}, ${sizes.answers}, ${sizes.vectors}${withGradient ? '' : ', loss only'}`;
    const held = this.#sessions.get(key);
    if (held) {
      this.#sessions.delete(key);
      this.#sessions.set(key, held);
      return held;
    }
    const { mostTrainingSessions } = providerOf(this.settings.provider);
    while (this.#sessions.size >= mostTrainingSessions * (this.#layout.sessions ?? 1)) {
      const [oldest] = this.#sessions;
      if (!oldest) break;
      this.#sessions.delete(oldest[0]);
      await oldest[1].release();
    }
    const { onPlacement, provider, recompute } = this.settings;
    const g = typedTrainingGraph(forward, sizes, { withGradient, recompute });
    if (provider.running === 'cpu') {
      const { peak } = memoryNeed(g);
      if (peak > this.#memory) throw new NotEnoughMemory(peak, this.#memory);
    }
    const session = await createSession(trainingModel(forward, g), {
      provider,
      weightFolder: this.#file.folder,
      options: provider.running === 'cpu' ? asItStands : withCopies,
      ...(withGradient && !this.#placed && onPlacement && { placement: { graph: 'training', report: onPlacement } }),
    });
    this.#placed ||= withGradient;
    this.#sessions.set(key, session);
    return session;
  }
}

/** What half precision and another order of sums may make of a loss and of a gradient (relative L2). */
const largestLossDifference = 0.02;
const largestGradientDifference = 0.05;

interface Step {
  loss: number;
  gradient: OrtTensor['data'] | undefined;
}

/** How a step differs from the same one on the CPU, as a clause; null where precision explains it. */
export function stepDifference(found: Step, expected: Step): string | null {
  const gradient = relativeDifference(found.gradient, expected.gradient);
  const loss = Math.abs(found.loss - expected.loss) / Math.max(1, expected.loss);
  // Not >: NaN is no match either.
  if (loss <= largestLossDifference && gradient <= largestGradientDifference) return null;
  return `its loss is ${found.loss.toPrecision(5)}, the CPU's ${expected.loss.toPrecision(5)}, and the gradients differ by ${gradient.toPrecision(2)} of their length`;
}

/** ‖a − b‖ ÷ ‖b‖; NaN where there is nothing to compare. */
function relativeDifference(a: OrtTensor['data'] | undefined, b: OrtTensor['data'] | undefined): number {
  if (!(a instanceof Float32Array && b instanceof Float32Array) || a.length !== b.length) return Number.NaN;
  let [difference, length] = [0, 0];
  for (const [index, value] of b.entries()) {
    difference += ((a[index] ?? Number.NaN) - value) ** 2;
    length += value ** 2;
  }
  return length === 0 ? Math.sqrt(difference) : Math.sqrt(difference / length);
}

/** What a step failed of, for people; errors that say it already stay as they are. */
function asStepError(thrown: unknown): unknown {
  if (thrown instanceof HumanError) return thrown;
  const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
  const message =
    thrown instanceof NotEnoughMemory
      ? `One training example needs ${gigabytes(thrown.needed)} besides the weights; ${gigabytes(thrown.available)} are free.`
      : `The training step failed in ONNX Runtime: ${runtimeWords(thrown)}`;
  return new HumanError('engine', message, {
    todo:
      thrown instanceof NotEnoughMemory || saysOutOfMemory(thrown)
        ? 'Shorter prompts need less memory, and so does recompute: blocks.'
        : 'Report the message together with how the model was exported.',
    cause: thrown,
  });
}

function lossOf(outputs: Record<string, OrtTensor>): number {
  const value = outputs[lossOutput]?.data[0];
  if (typeof value !== 'number') throw new Error('the training graph gives a float32 loss');
  return value;
}
