// How a learning rate is searched, on losses whose best rate is known, and how a tuning goes on behind the search.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { adamStep, newAdamState } from '../../src/evaluate/adam.ts';
import { runJob } from '../../src/evaluate/index.ts';
import { formulaLearningRate, rateOf, searchLearningRate, searchPlan } from '../../src/evaluate/learning-rate.ts';
import { openRunStore } from '../../src/runs/index.ts';
import type { JobProgress } from '../../src/shared/protocol.ts';
import type { LearningRateChoice, SoftPromptSettings, TuningRecord } from '../../src/shared/results.ts';
import {
  changeSteps,
  type ScriptedModel,
  scriptedModel,
  scriptedRequest,
  scriptedRooms,
  sumsBenchmark,
} from './scripted.ts';

describe('the formula', () => {
  it('is proportional to the scale of the embedding', () => {
    for (const factor of [0.01, 0.1, 10])
      expect(formulaLearningRate(0.31 * factor, 64)).toBeCloseTo(factor * formulaLearningRate(0.31, 64), 6);
  });
  it('asks less per entry of a wider model', () => {
    // Both are rounded to two digits.
    expect(formulaLearningRate(0.1, 4 * 576) / formulaLearningRate(0.1, 576)).toBeCloseTo(0.5, 1);
  });
});

describe('Adam with gradients of length 1', () => {
  it('takes the same steps, in units of the scale of its parameter, whatever the scale', () => {
    // f(p) = g(p / scale): gradients are 1/scale of those of g.
    const run = (scale: number): number[] => {
      const parameter = Float32Array.from([0.5, -1, 2, 0.25], (x) => x * scale);
      const state = newAdamState(4);
      for (let step = 1; step <= 12; step++) {
        const gradient = parameter.map((p, i) => (2 * (p / scale - i) * (step % 3 === 0 ? 5 : 0.1)) / scale);
        adamStep(parameter, gradient, state, step, 0.1 * scale);
      }
      return [...parameter].map((p) => p / scale);
    };
    // Powers of two: the floating-point numbers are the same but for their exponents.
    expect(run(2 ** -6)).toEqual(run(1));
    expect(run(2 ** 5)).toEqual(run(1));
  });
  it('leaves the parameter where it is when there is no gradient', () => {
    const parameter = Float32Array.from([1, 2]);
    adamStep(parameter, new Float32Array(2), newAdamState(2), 1, 0.1);
    expect([...parameter]).toEqual([1, 2]);
  });
});

describe('a search', () => {
  /** A loss with its least at `best`, growing with the distance in octaves. */
  const search = async (best: number, setting: 'auto' | 'search' = 'auto', diverges = Number.POSITIVE_INFINITY) => {
    const plan = searchPlan(setting, 80);
    if (!plan) throw new Error('a tuning of 80 steps has room for a search');
    const asked: number[] = [];
    const choice = await searchLearningRate(0.6, plan, async (rate) => {
      asked.push(rate);
      return { rate, steps: plan.steps, loss: rate >= diverges ? null : 1 + Math.log2(rate / best) ** 2 };
    });
    return { choice, asked };
  };

  it('takes three rates where the formula is right', async () => {
    const { choice, asked } = await search(0.6);
    expect(asked).toEqual([0.6, 1.8, 0.2]);
    expect(choice).toMatchObject({ value: 0.6, by: 'search' });
    expect(choice.trials.map(({ rate }) => rate)).toEqual([0.2, 0.6, 1.8]);
  });

  it('stays at the formula where others are not better by more than noise', async () => {
    const plan = searchPlan('auto', 80);
    if (!plan) throw new Error('a tuning of 80 steps has room for a search');
    const losses = new Map([
      [0.2, 3],
      [0.6, 3],
      [1.8, 2.99],
    ]);
    const trial = async (rate: number) => ({ rate, steps: 6, loss: losses.get(rate) ?? null });
    expect((await searchLearningRate(0.6, plan, trial)).value).toBe(0.6);
    losses.set(1.8, 2.5);
    expect((await searchLearningRate(0.6, plan, trial)).value).toBe(1.8);
  });

  it.each([0.067, 0.2, 1.8, 5.4])('finds %d from 0.6 with at most five rates', async (best) => {
    const { choice, asked } = await search(best);
    expect(choice.value).toBe(best);
    expect(asked.length).toBeLessThanOrEqual(5);
  });

  it('asked for by name goes farther', async () => {
    expect((await search(0.0074, 'search')).choice.value).toBe(0.0074);
    expect((await search(50, 'search')).choice.value).toBe(49);
  });

  it('never takes a rate that diverged, and goes down where all have', async () => {
    expect((await search(0.6, 'auto', 0.1)).choice.value).toBe(0.067);
    const { choice } = await search(0.6, 'auto', 1);
    expect(choice.value).toBe(0.6);
    expect(choice.trials.at(-1)).toMatchObject({ rate: 1.8, loss: null });
  });

  it('is left out of a short tuning, unless asked for by name', () => {
    expect(searchPlan('auto', 20)).toBeNull();
    expect(searchPlan('auto', 80)).not.toBeNull();
    expect(searchPlan('search', 5)).toMatchObject({ steps: 5 });
  });
});

describe('a tuning that searches', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'softbench-rate-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  interface Told {
    choice: LearningRateChoice | undefined;
    records: TuningRecord[];
    softPrompt: number[];
    progress: JobProgress[];
  }

  async function tuned(
    group: string,
    learningRate: SoftPromptSettings['learningRate'],
    model: ScriptedModel = scriptedModel(),
    signal = new AbortController().signal,
  ): Promise<Told> {
    const progress: JobProgress[] = [];
    const [summary] = await runJob(
      scriptedRequest(folder, {
        modes: ['soft-prompt'],
        group,
        overrides: { softPrompt: { learningRate, steps: 40 } },
      }),
      scriptedRooms(model, sumsBenchmark()),
      { signal, progress: (one) => progress.push(one) },
    );
    const store = openRunStore(folder);
    const id = summary?.run ?? '';
    const records = (await store.readTuning(id)).map((record) =>
      record.kind === 'validation' ? record : { ...record, seconds: 0 },
    );
    const softPrompt = [...((await store.readSoftPrompt(id))?.data ?? [])];
    return { choice: (await store.read(id)).run.learningRate, records, softPrompt, progress };
  }

  it('goes on from the steps of the best trial: the numbers of a tuning at that rate, and none of its steps twice', async () => {
    const model = scriptedModel();
    const searched = await tuned('searched', 'auto', model);
    const { choice } = searched;
    expect(choice?.by).toBe('search');
    const trials = searched.records.filter((record) => record.kind === 'trial');
    expect(trials.map(({ rate }) => rate).sort((a, b) => a - b)).toEqual(choice?.trials.map(({ rate }) => rate));
    const least = Math.min(...trials.map(({ loss }) => loss ?? Number.POSITIVE_INFINITY));
    expect(trials.find(({ rate }) => rate === choice?.value)?.loss).toBeLessThan(least / 0.97);
    // Steps of all trials, and what is left of the tuning behind those of the best.
    expect(model.asked.steps).toBe(6 * trials.length + 40 - 6);

    const fixed = await tuned('fixed', choice?.value ?? 0);
    expect(fixed.choice).toEqual({ value: choice?.value, by: 'setting', trials: [] });
    expect(searched.records.filter(({ kind }) => kind !== 'trial')).toEqual(fixed.records);
    expect(searched.softPrompt).toEqual(fixed.softPrompt);
  });

  it('says which rate it tries', async () => {
    const { progress } = await tuned('told', 'auto');
    const phases = progress.flatMap((one) => (one.kind === 'phase' && one.phase === 'tuning' ? one.message : []));
    expect(phases.some((message) => /^learning rate 2 of \d: 6 steps at [\d.]+$/.test(message))).toBe(true);
  });

  // In the first trial, at the end of one, in the second, and behind the search.
  it.each([2, 6, 9, 14, 25])(
    'stopped at step %i of all and resumed has the numbers of an unbroken one',
    async (stop) => {
      const unbroken = await tuned('unbroken', 'auto');
      const controller = new AbortController();
      const model = scriptedModel({ onStep: (step) => step === stop && controller.abort() });
      await expect(tuned('broken', 'auto', model, controller.signal)).rejects.toMatchObject({ kind: 'cancelled' });
      const resumed = await tuned('broken', 'auto');
      expect(resumed.choice).toEqual(unbroken.choice);
      expect(resumed.records).toEqual(unbroken.records);
      expect(resumed.softPrompt).toEqual(unbroken.softPrompt);
    },
  );

  it('makes no trials where the formula is asked for', async () => {
    const { choice, records } = await tuned('formula', 'formula');
    // The scripted model has a width of 4 and entries of 0.1.
    expect(choice).toEqual({ value: Number(((15.5 * 0.1) / 2).toPrecision(2)), by: 'formula', trials: [] });
    expect(records.some(({ kind }) => kind === 'trial')).toBe(false);
  });

  it('that has a loss of no number before the first update says so, and tries no other rate', async () => {
    const model = scriptedModel();
    changeSteps(model, (engine) => async (...call) => ({ ...(await engine.step(...call)), loss: Number.NaN }));
    await expect(tuned('broken', 'auto', model)).rejects.toThrow(/loss at step 1 is NaN/);
    expect(model.asked.steps).toBe(1);
  });

  it('does without a rate at which the loss becomes no number', async () => {
    const model = scriptedModel();
    changeSteps(model, (engine) => async (examples, softPrompt, signal) => {
      const result = await engine.step(examples, softPrompt, signal);
      return softPrompt.data.some((x) => Math.abs(x) > 2) ? { ...result, loss: Number.POSITIVE_INFINITY } : result;
    });
    const { choice } = await tuned('overflow', 'auto', model);
    expect(choice?.trials.some(({ loss }) => loss === null)).toBe(true);
    expect(choice?.trials.find(({ rate }) => rate === choice.value)?.loss).not.toBeNull();
  });
});

describe('the ladder', () => {
  it('has rungs a factor of 3 apart, the formula at 0', () => {
    expect([-1, 0, 1].map((rung) => rateOf(0.6, rung))).toEqual([0.2, 0.6, 1.8]);
  });
});
