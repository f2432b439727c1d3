/**
 * Tuning: learn a soft prompt for a frozen model, by gradient descent on the answers of the training split.
 * The method: arXiv 2606.12117 (10 vectors, 80 steps of 8 samples); choices that the study leaves open are in
 * docs/architecture.md, "Tuning".
 */
import type { Benchmark } from '../benchmark/types.ts';
import { likelihoodVerdict } from '../metrics/index.ts';
import { CancelledError, throwIfCancelled } from '../shared/errors.ts';
import { Random } from '../shared/random.ts';
import type { SoftPromptSettings, TuningRecord } from '../shared/results.ts';
import { newAdamState } from './adam.ts';
import { type PreparedItem, prepareItem, scoreItems } from './asking.ts';
import { planBatches } from './examples.ts';
import type { LanguageModel, SoftPrompt } from './language-model.ts';
import { decideLearningRate } from './rate-trials.ts';
import { promptFacts, recordOf } from './records.ts';
import type { RunWriter, TuningCheckpoint } from './run-store.ts';
import { prepareExamples } from './tuning-data.ts';
import { heldOutLoss, isSound, notFinite, type Tuning, type TuningHooks, takeStep } from './tuning-step.ts';
import { turn } from './turn.ts';

export type { TuningHooks } from './tuning-step.ts';

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
  settings: SoftPromptSettings,
  run: RunWriter,
  hooks: TuningHooks = {},
): Promise<TuningOutcome> {
  const data = await prepareExamples(model, benchmark, settings);
  const batches = planBatches(data.training, settings.batchSize, settings.steps, settings.seed);
  const state = (await run.loadCheckpoint()) ?? (await start(model, settings));
  await run.truncateTuning(state.step);
  const { vectors, batchSize, position = 'prefix', recompute, microBatchSize } = settings;
  for (const each of [state, ...(state.best ? [state.best] : [])]) each.softPrompt = { ...each.softPrompt, position };
  const passes = (settings.steps * batchSize) / data.training.length;
  const training = await model.openTraining({ vectors, batchSize, position, passes, recompute, microBatchSize });
  const clock = new StepClock(settings);
  const tuning: Tuning = { model, benchmark, settings, run, hooks, data, batches, training };
  let mark = performance.now();

  const report = async (record: TuningRecord): Promise<void> => {
    await run.appendTuning(record);
    state.seconds += (performance.now() - mark) / 1000;
    mark = performance.now();
    hooks.onRecord?.(record, clock.secondsLeft(state.step));
  };

  try {
    if (needsValidation(run, state.step, settings)) {
      await report(await validate(tuning, state));
      await run.saveCheckpoint(state);
    }
    const { value: peak, steps: made } = await decideLearningRate(tuning, state, report);
    for (let step = state.step + 1; step <= settings.steps; step++) {
      throwIfCancelled(hooks.signal);
      // The first steps have been made already where the search has just chosen this rate.
      const { record, after } = made[step - 1] ?? (await takeStep(tuning, state, step, peak));
      if (!isSound(record)) throw notFinite(step, record.loss, state.best);
      Object.assign(state, after);
      clock.stepped(record.seconds);
      await report(record);
      if (isValidationStep(step, settings)) {
        const before = performance.now();
        await report(await validate(tuning, state));
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
  const notes = [...data.notes, ...(training.notes ?? [])];
  if (best.step === 0)
    notes.push(
      'No step of tuning was better on the held-out items than the vectors that it began with: those are evaluated. More steps or another learning rate may help.',
    );
  return { softPrompt: best.softPrompt, bestStep: best.step, seconds: state.seconds, notes };
}

async function start(model: LanguageModel, settings: SoftPromptSettings): Promise<TuningCheckpoint> {
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

/**
 * Scores the held-out slice; keeps the vectors if they are the best so far: by S, then F, then loss; where nothing is
 * generated by the share of items whose right answer is the likeliest, then loss.
 */
async function validate(tuning: Tuning, state: TuningCheckpoint): Promise<TuningRecord> {
  const n = tuning.data.validation.length;
  if (tuning.benchmark.generates === false) {
    const LL = await likelihoodShare(tuning, state.softPrompt);
    const loss = await heldOutLoss(tuning, state.softPrompt);
    const best = keepBest(state, { F: 0, S: LL ?? 0, loss });
    const unread = { n, F: 0, S: 0, K: null, generated: false as const };
    return { schema: 1, kind: 'validation', step: state.step, ...unread, loss, best, ...(LL !== null && { LL }) };
  }
  const { inFormat, right } = await generateHeldOut(tuning, state);
  const loss = await heldOutLoss(tuning, state.softPrompt);
  const F = inFormat / n;
  const S = right / n;
  const best = keepBest(state, { F, S, loss });
  const K = inFormat > 0 ? right / inFormat : null;
  return { schema: 1, kind: 'validation', step: state.step, n, F, S, K, loss, best };
}

/** Share of the held-out items whose right candidate is the likeliest, or whose target is what the model would write. */
async function likelihoodShare(tuning: Tuning, softPrompt: SoftPrompt): Promise<number | null> {
  const { model, benchmark, data, settings, hooks } = tuning;
  if (benchmark.outputType === 'loglikelihood_rolling') return null;
  const reader = { model, vectors: softPrompt.vectors };
  const prepared: PreparedItem[] = [];
  for (const { item } of data.validation) prepared.push(await prepareItem(reader, benchmark, item, 0));
  let right = 0;
  const { batchSize } = settings;
  await scoreItems(
    model,
    prepared,
    { batchSize, softPrompt },
    ({ item, prompt }, { likelihoods, tokens }) => {
      const answered = { prompt: promptFacts(prompt), likelihoods, tokens, outputs: [], truncated: 0 };
      if (likelihoodVerdict(recordOf(benchmark, item, answered))) right++;
    },
    { signal: hooks.signal },
  );
  return right / prepared.length;
}

async function generateHeldOut(tuning: Tuning, state: TuningCheckpoint): Promise<{ inFormat: number; right: number }> {
  const { model, benchmark, data, settings } = tuning;
  const { validation } = data;
  let inFormat = 0;
  let right = 0;
  await model.generate(
    validation.map(({ prompt }, index) => ({ index, tokens: prompt })),
    { ...benchmark.generation, batchSize: settings.batchSize, softPrompt: state.softPrompt },
    {
      signal: tuning.hooks.signal,
      onResult: ({ index, text, stop }) => {
        const entry = validation[index];
        if (!entry) return;
        const verdict = benchmark.judge(entry.item, text, stop);
        if (verdict.inFormat) inFormat++;
        if (verdict.right) right++;
      },
    },
  );
  return { inFormat, right };
}

/** Keeps the vectors if they are better than all before. @returns whether they are */
function keepBest(state: TuningCheckpoint, { F, S, loss }: { F: number; S: number; loss: number }): boolean {
  const { best } = state;
  const better = best === null || S > best.S || (S === best.S && (F > best.F || (F === best.F && loss < best.loss)));
  if (better) {
    const copy: SoftPrompt = { ...state.softPrompt, data: state.softPrompt.data.slice() };
    state.best = { step: state.step, softPrompt: copy, F, S, loss };
  }
  return better;
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
    position: best.softPrompt.position ?? 'prefix',
  });

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
