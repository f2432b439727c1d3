/** The learning rate of a tuning, decided before its first step: the trials that learning-rate.ts asks for. */
import { throwIfCancelled } from '../shared/errors.ts';
import type { LearningRateChoice, LearningRateTrial, TuningRecord } from '../shared/results.ts';
import {
  expectedTrials,
  formulaLearningRate,
  type SearchPlan,
  searchLearningRate,
  searchPlan,
} from './learning-rate.ts';
import type { TuningCheckpoint } from './run-store.ts';
import {
  heldOutLoss,
  isSound,
  type MadeStep,
  notFinite,
  type Parameters,
  type Tuning,
  takeStep,
} from './tuning-step.ts';
import { turn } from './turn.ts';

/**
 * The learning rate: as set, by formula, or by search; decided once in a run and kept in run.json. A search that was
 * stopped goes on behind the trials that tuning.jsonl has: everything in it follows from the seed.
 * @returns with it, the steps that the search has made at that rate: they are the tuning's own first ones
 */
export async function decideLearningRate(
  tuning: Tuning,
  state: TuningCheckpoint,
  report: (record: TuningRecord) => Promise<void>,
): Promise<{ value: number; steps: readonly MadeStep[] }> {
  const { model, run, settings } = tuning;
  if (run.run.learningRate) return { value: run.run.learningRate.value, steps: [] };
  const setting = settings.learningRate;
  const formula = formulaLearningRate(model.embeddingScale, model.hiddenSize);
  const plan = setting === 'auto' || setting === 'search' ? searchPlan(setting, settings.steps) : null;
  const made = new Map<number, readonly MadeStep[]>();
  let choice: LearningRateChoice;
  if (typeof setting === 'number') choice = { value: setting, by: 'setting', trials: [] };
  else if (plan === null) choice = { value: formula, by: 'formula', trials: [] };
  else {
    const known = run.tuningRecords.filter((record) => record.kind === 'trial');
    let done = 0;
    choice = await searchLearningRate(formula, plan, async (rate) => {
      done++;
      const before = known.find((record) => record.rate === rate && record.steps === plan.steps);
      if (before) return { rate, steps: before.steps, loss: before.loss };
      const trial = await tryLearningRate(tuning, state, plan, rate, `${done} of ${expectedTrials(plan, done)}`);
      made.set(rate, trial.made);
      await report(trial.record);
      return { rate, steps: plan.steps, loss: trial.record.loss };
    });
  }
  await run.update({ learningRate: choice });
  return { value: choice.value, steps: made.get(choice.value) ?? [] };
}

/** Held-out items that a trial's loss is taken on, at most: one or two batches. */
const trialItems = 16;

/** The first steps at one rate, from the start of the tuning, and the held-out loss that they lead to. */
async function tryLearningRate(
  tuning: Tuning,
  start: Parameters,
  plan: SearchPlan,
  rate: number,
  which: string,
): Promise<{ record: Extract<TuningRecord, { kind: 'trial' }>; made: readonly MadeStep[] }> {
  const { hooks } = tuning;
  const started = performance.now();
  const made: MadeStep[] = [];
  let at = start;
  hooks.onPhase?.(`learning rate ${which}: ${plan.steps} steps at ${rate}`);
  let loss: number | null = null;
  for (let step = 1; step <= plan.steps; step++) {
    throwIfCancelled(hooks.signal);
    const one = await takeStep(tuning, at, step, rate);
    made.push(one);
    at = one.after;
    await turn();
    if (isSound(one.record)) continue;
    // Before the first update no rate has had a say in it.
    if (step === 1) throw notFinite(step, one.record.loss);
    break;
  }
  if (made.every(({ record }) => isSound(record))) {
    loss = await heldOutLoss(tuning, at.softPrompt, trialItems);
    if (!Number.isFinite(loss)) loss = null;
  }
  const trial: LearningRateTrial = { rate, steps: plan.steps, loss };
  return {
    record: {
      schema: 1,
      kind: 'trial',
      step: 0,
      ...trial,
      losses: made.map(({ record }) => record.loss),
      seconds: (performance.now() - started) / 1000,
    },
    made,
  };
}
