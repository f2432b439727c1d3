/** One step of a tuning, and the loss on what is held out: what the loop and the search for a learning rate share. */
import type { Benchmark } from '../benchmark/types.ts';
import { HumanError, throwIfCancelled } from '../shared/errors.ts';
import type { SoftPromptSettings, TuningRecord } from '../shared/results.ts';
import { adamStep, cosineLearningRate } from './adam.ts';
import type { LanguageModel, SoftPrompt, TrainingEngine, TrainingExample } from './language-model.ts';
import type { RunWriter, TuningCheckpoint } from './run-store.ts';
import type { TuningData } from './tuning-data.ts';
import { turn } from './turn.ts';

export interface TuningHooks {
  signal?: AbortSignal;
  /** What it is at, where no record tells it. */
  onPhase?(message: string): void;
  onRecord?(record: TuningRecord, secondsLeft: number | null): void;
}

/** What stays the same all through a tuning. */
export interface Tuning {
  model: LanguageModel;
  benchmark: Benchmark;
  settings: SoftPromptSettings;
  run: RunWriter;
  hooks: TuningHooks;
  data: TuningData;
  batches: readonly TrainingExample[][];
  training: TrainingEngine;
}

export type StepRecord = Extract<TuningRecord, { kind: 'step' }>;
/** What a step changes. */
export type Parameters = Pick<TuningCheckpoint, 'step' | 'softPrompt' | 'firstMoment' | 'secondMoment'>;

export interface MadeStep {
  record: StepRecord;
  after: Parameters;
}

export const isSound = ({ loss, gradientNorm }: StepRecord): boolean =>
  Number.isFinite(loss) && Number.isFinite(gradientNorm);

/** One optimiser step on its batch, from `before`, which stays as it is. @param peak learning rate before its decay */
export async function takeStep(tuning: Tuning, before: Parameters, step: number, peak: number): Promise<MadeStep> {
  const { settings, batches, training, hooks } = tuning;
  const started = performance.now();
  const result = await training.step(batches[step - 1] ?? [], before.softPrompt, hooks.signal);
  const learningRate = cosineLearningRate(peak, step, settings.steps);
  const after: Parameters = {
    step,
    softPrompt: { ...before.softPrompt, data: before.softPrompt.data.slice() },
    firstMoment: before.firstMoment.slice(),
    secondMoment: before.secondMoment.slice(),
  };
  const gradientNorm = adamStep(after.softPrompt.data, result.gradient, after, step, learningRate);
  const record: StepRecord = {
    schema: 1,
    kind: 'step',
    step,
    loss: result.loss,
    gradientNorm,
    learningRate,
    seconds: (performance.now() - started) / 1000,
    batch: result.batch,
    answerTokens: result.answerTokens,
  };
  return { record, after };
}

/** Mean cross-entropy (nats) per answer token over the first `most` items of the held-out slice. */
export async function heldOutLoss(
  { data, settings, training, hooks }: Tuning,
  softPrompt: SoftPrompt,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  const examples = data.validation.slice(0, most).map(({ example }) => example);
  let sum = 0;
  let tokens = 0;
  for (let i = 0; i < examples.length; i += settings.batchSize) {
    throwIfCancelled(hooks.signal);
    const { loss, answerTokens } = await training.loss(
      examples.slice(i, i + settings.batchSize),
      softPrompt,
      hooks.signal,
    );
    sum += loss * answerTokens;
    tokens += answerTokens;
    await turn();
  }
  // prepareExamples() leaves at least one item here, and no answer is empty.
  return sum / tokens;
}

/** What to say of a loss or gradient that is no number. */
export function notFinite(step: number, loss: number, best: TuningCheckpoint['best'] = null): HumanError {
  const kept = best ? ` The best vectors so far (step ${best.step}) are kept.` : '';
  return new HumanError('engine', `The loss at step ${step} is ${loss}: tuning has diverged.${kept}`, {
    todo: 'Set a lower `learning_rate` under `metadata: softbench: soft_prompt:`, or `search`, or use the fp32 file of this model.',
  });
}
