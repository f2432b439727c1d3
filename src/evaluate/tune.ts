/**
 * Tuning: learn a soft prompt in front of a frozen model, by gradient descent on the answers of the training split.
 * The method: arXiv 2606.12117 (10 vectors, 80 steps of 8 samples); choices that the study leaves open are in
 * docs/architecture.md, "Tuning".
 */
import type { Benchmark, Item } from '../benchmark/types.ts';
import { CancelledError, HumanError, throwIfCancelled } from '../shared/errors.ts';
import type { SoftPromptSettings, TuningRecord } from '../shared/results.ts';
import { adamStep, cosineLearningRate, newAdamState, norm } from './adam.ts';
import { planBatches } from './examples.ts';
import type { LanguageModel, SoftPrompt, TrainingEngine, TrainingExample } from './language-model.ts';
import { Random } from './random.ts';
import type { RunWriter, TuningCheckpoint } from './run-store.ts';
import { encodeExample } from './text.ts';
import { turn } from './turn.ts';

/** Settings with the learning rate as a number. */
export type ResolvedSoftPromptSettings = SoftPromptSettings & { learningRate: number };

export interface TuningHooks {
  signal?: AbortSignal;
  onRecord?(record: TuningRecord, secondsLeft: number | null): void;
}

export interface TuningOutcome {
  softPrompt: SoftPrompt;
  bestStep: number;
  seconds: number;
  /** Things to know about how the data were used. */
  notes: string[];
}

/**
 * Tunes a soft prompt and leaves it, the curve and a checkpoint in the run. A run that was stopped or killed goes on
 * from its last checkpoint with the numbers that an unbroken one would have.
 * @throws HumanError where there is no usable training split, or the loss is no longer a finite number
 */
export async function tune(
  model: LanguageModel,
  benchmark: Benchmark,
  settings: ResolvedSoftPromptSettings,
  run: RunWriter,
  hooks: TuningHooks = {},
): Promise<TuningOutcome> {
  const data = await prepareExamples(model, benchmark, settings);
  const batches = planBatches(data.training, settings.batchSize, settings.steps, settings.seed);
  const state = (await run.loadCheckpoint()) ?? (await start(model, settings));
  await run.truncateTuning(state.step);
  const training = await model.openTraining({ vectors: settings.vectors, batchSize: settings.batchSize });
  const clock = new StepClock(settings);
  let mark = performance.now();

  const report = async (record: TuningRecord): Promise<void> => {
    await run.appendTuning(record);
    state.seconds += (performance.now() - mark) / 1000;
    mark = performance.now();
    hooks.onRecord?.(record, clock.secondsLeft(state.step));
  };

  try {
    if (needsValidation(run, state.step, settings)) {
      await report(await validate(model, benchmark, training, data, settings, state, hooks.signal));
    }
    for (let step = state.step + 1; step <= settings.steps; step++) {
      throwIfCancelled(hooks.signal);
      const batch = batches[step - 1] ?? [];
      const started = performance.now();
      const { loss, gradient, answerTokens, batch: shape } = await training.step(batch, state.softPrompt, hooks.signal);
      const gradientNorm = norm(gradient);
      if (!Number.isFinite(loss) || !Number.isFinite(gradientNorm)) throw notFinite(step, loss, state);
      const learningRate = cosineLearningRate(settings.learningRate, step, settings.steps);
      adamStep(state.softPrompt.data, gradient, state, step, learningRate);
      state.step = step;
      const seconds = (performance.now() - started) / 1000;
      clock.stepped(seconds);
      await report({
        schema: 1,
        kind: 'step',
        step,
        loss,
        gradientNorm,
        learningRate,
        seconds,
        batch: shape,
        answerTokens,
      });
      if (isValidationStep(step, settings)) {
        const before = performance.now();
        await report(await validate(model, benchmark, training, data, settings, state, hooks.signal));
        clock.validated((performance.now() - before) / 1000);
        await run.saveCheckpoint(state);
      }
      await turn();
    }
  } catch (thrown) {
    // Keep what can be kept; where the disk is what failed, the first error is the one to report.
    const keep = [
      thrown instanceof CancelledError ? run.saveCheckpoint(state) : null,
      state.best ? save(run, model, benchmark, state.best) : null,
    ];
    await Promise.allSettled(keep);
    throw thrown;
  } finally {
    await training.close();
  }
  const best = state.best ?? { step: state.step, softPrompt: state.softPrompt };
  await save(run, model, benchmark, best);
  return { softPrompt: best.softPrompt, bestStep: best.step, seconds: state.seconds, notes: data.notes };
}

interface TuningData {
  training: TrainingExample[];
  /** Held out from the training split: never trained on, generated at each validation. */
  validation: { item: Item; prompt: readonly number[]; example: TrainingExample }[];
  notes: string[];
}

async function prepareExamples(
  model: LanguageModel,
  benchmark: Benchmark,
  settings: ResolvedSoftPromptSettings,
): Promise<TuningData> {
  const items = benchmark.trainingSplit === null ? [] : await benchmark.items('training');
  const notes: string[] = [];
  if (items.length < 2) {
    throw new HumanError(
      'bad-input',
      `The benchmark "${benchmark.task}" has ${items.length === 0 ? 'no training items' : 'only one training item'} to tune a soft prompt on; it needs two, one of them to validate with.`,
      {
        place: { file: benchmark.file },
        todo: 'Name a split with data as `training_split:` (or `validation_split:`) in the benchmark file.',
      },
    );
  }
  const shuffled = new Random(settings.seed ^ 0x5eed).shuffle(items);
  const heldOut = Math.max(1, Math.min(settings.validationItems, Math.floor(items.length / 5)));
  const encode = async (item: Item): Promise<TrainingExample> =>
    encodeExample(model.tokenizer, (await benchmark.prompt(item, 0)).text, benchmark.trainingAnswer(item));
  const room = (model.contextLength ?? Number.POSITIVE_INFINITY) - settings.vectors;
  if (room < 1) {
    throw new HumanError(
      'bad-input',
      `${settings.vectors} vectors leave no room for a prompt: the model has ${model.contextLength} positions.`,
      { place: { file: benchmark.file }, todo: 'Lower `vectors` under `metadata: softbench: soft_prompt:`.' },
    );
  }

  const validation: TuningData['validation'] = [];
  const training: TrainingExample[] = [];
  let leftOut = 0;
  for (const item of shuffled) {
    if (training.length >= settings.steps * settings.batchSize) break;
    const example = await encode(item);
    if (example.answer.length === 0 || example.prompt.length + example.answer.length > room) leftOut++;
    else if (validation.length < heldOut) validation.push({ item, prompt: example.prompt, example });
    else training.push(example);
  }
  if (training.length === 0) {
    throw new HumanError(
      'bad-input',
      `None of the ${items.length} training items of "${benchmark.task}" fits into the model's ${model.contextLength} positions behind ${settings.vectors} vectors.`,
      { place: { file: benchmark.file }, todo: 'Shorten the prompt or choose a model with a longer context.' },
    );
  }
  if (leftOut > 0)
    notes.push(`${leftOut} training items were left out: longer than the model's context, or without an answer.`);
  const needed = settings.steps * settings.batchSize;
  if (training.length < needed) {
    notes.push(
      `${training.length} training items for ${needed} samples: each was seen about ${(needed / training.length).toFixed(1)} times.`,
    );
  }
  return { training, validation, notes };
}

async function start(model: LanguageModel, settings: ResolvedSoftPromptSettings): Promise<TuningCheckpoint> {
  const { vectors, init, seed } = settings;
  const size = vectors * model.hiddenSize;
  const random = new Random(seed);
  let data: Float32Array;
  if (init === 'vocabulary') {
    const reserved = new Set<number>([
      ...model.tokenizer.eosTokenIds,
      model.tokenizer.padTokenId,
      ...(model.tokenizer.bosTokenId === null ? [] : [model.tokenizer.bosTokenId]),
    ]);
    const ids: number[] = [];
    while (ids.length < vectors) {
      const id = random.below(model.tokenizer.vocabularySize);
      if (!reserved.has(id) || model.tokenizer.vocabularySize <= reserved.size) ids.push(id);
    }
    data = Float32Array.from(await model.embeddingRows(ids));
  } else {
    data = Float32Array.from({ length: size }, () => random.normal() * model.embeddingScale);
  }
  return {
    step: 0,
    softPrompt: { vectors, hiddenSize: model.hiddenSize, data },
    ...newAdamState(size),
    best: null,
    seconds: 0,
  };
}

const isValidationStep = (step: number, settings: SoftPromptSettings): boolean =>
  step === 0 || step === settings.steps || (settings.validateEvery > 0 && step % settings.validateEvery === 0);

/** True where a stop or a kill came between a step and its validation. */
const needsValidation = (run: RunWriter, step: number, settings: SoftPromptSettings): boolean =>
  isValidationStep(step, settings) &&
  !run.tuningRecords.some((record) => record.kind === 'validation' && record.step === step);

/** Generates and scores the held-out slice; keeps the vectors if they are the best so far (S, then F, then loss). */
async function validate(
  model: LanguageModel,
  benchmark: Benchmark,
  training: TrainingEngine,
  data: TuningData,
  settings: ResolvedSoftPromptSettings,
  state: TuningCheckpoint,
  signal: AbortSignal | undefined,
): Promise<TuningRecord> {
  const { validation } = data;
  let inFormat = 0;
  let right = 0;
  await model.generate(
    validation.map(({ prompt }, index) => ({ index, tokens: prompt })),
    { ...benchmark.generation, batchSize: settings.batchSize, softPrompt: state.softPrompt },
    {
      signal,
      onResult: ({ index, text, stop }) => {
        const entry = validation[index];
        if (!entry) return;
        const verdict = benchmark.judge(entry.item, text, stop);
        if (verdict.inFormat) inFormat++;
        if (verdict.right) right++;
      },
    },
  );
  let lossSum = 0;
  let tokens = 0;
  for (let i = 0; i < validation.length; i += settings.batchSize) {
    throwIfCancelled(signal);
    const part = validation.slice(i, i + settings.batchSize).map(({ example }) => example);
    const { loss, answerTokens } = await training.loss(part, state.softPrompt, signal);
    lossSum += loss * answerTokens;
    tokens += answerTokens;
    await turn();
  }
  // prepareExamples() leaves at least one item here, and no answer is empty.
  const n = validation.length;
  const F = inFormat / n;
  const S = right / n;
  const loss = lossSum / tokens;
  const { best } = state;
  const better = best === null || S > best.S || (S === best.S && (F > best.F || (F === best.F && loss < best.loss)));
  if (better) {
    const copy: SoftPrompt = { ...state.softPrompt, data: state.softPrompt.data.slice() };
    state.best = { step: state.step, softPrompt: copy, F, S, loss };
  }
  return {
    schema: 1,
    kind: 'validation',
    step: state.step,
    n,
    F,
    S,
    K: inFormat > 0 ? right / inFormat : null,
    loss,
    best: better,
  };
}

const save = (
  run: RunWriter,
  model: LanguageModel,
  benchmark: Benchmark,
  best: { step: number; softPrompt: SoftPrompt },
): Promise<void> =>
  run.saveSoftPrompt(best.softPrompt, {
    benchmark: benchmark.task,
    model: model.identity.name,
    step: String(best.step),
  });

function notFinite(step: number, loss: number, state: TuningCheckpoint): HumanError {
  const kept = state.best ? ` The best vectors so far (step ${state.best.step}) are kept.` : '';
  return new HumanError('engine', `The loss at step ${step} is ${loss}: tuning has diverged.${kept}`, {
    todo: 'Lower `learning_rate` under `metadata: softbench: soft_prompt:`, or use the fp32 file of this model.',
  });
}

/** Estimates the time left from the median step and the mean validation. */
class StepClock {
  private readonly steps: number[] = [];
  private readonly validations: number[] = [];
  constructor(private readonly settings: SoftPromptSettings) {}

  stepped(seconds: number): void {
    this.steps.push(seconds);
  }
  validated(seconds: number): void {
    this.validations.push(seconds);
  }
  secondsLeft(step: number): number | null {
    if (this.steps.length < 2) return null;
    const { steps, validateEvery } = this.settings;
    const sorted = this.steps.slice(-9).sort((a, b) => a - b);
    const median = sorted[sorted.length >> 1] ?? 0;
    const mean = this.validations.reduce((sum, s) => sum + s, 0) / Math.max(1, this.validations.length);
    const validationsLeft = validateEvery > 0 ? Math.ceil((steps - step) / validateEvery) : 1;
    return (steps - step) * median + validationsLeft * mean;
  }
}
