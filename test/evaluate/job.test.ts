// The loops' own promises, on a scripted model and the real run store.
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Benchmark } from '../../src/benchmark/types.ts';
import { type JobRooms, runJob } from '../../src/evaluate/index.ts';
import { openRunStore } from '../../src/runs/index.ts';
import { HumanError } from '../../src/shared/errors.ts';
import type { JobProgress, JobRequest } from '../../src/shared/protocol.ts';
import type { RunSummary } from '../../src/shared/results.ts';
import {
  changeSteps,
  type ScriptedModel,
  scriptedModel,
  scriptedRequest,
  scriptedRooms,
  sumsBenchmark,
} from './scripted.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-job-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const request = (change: Partial<JobRequest> = {}): JobRequest => scriptedRequest(folder, change);

const rooms = (model: ScriptedModel, benchmark: Benchmark = sumsBenchmark()): JobRooms =>
  scriptedRooms(model, benchmark);

async function run(
  model = scriptedModel(),
  change: Partial<JobRequest> = {},
  benchmark?: Benchmark,
  onProgress: (progress: JobProgress) => void = () => undefined,
  signal = new AbortController().signal,
): Promise<RunSummary[]> {
  return runJob(request(change), rooms(model, benchmark), { signal, progress: onProgress });
}

const figures = (summaries: RunSummary[]): unknown =>
  summaries.map(({ mode, scores, bestStep }) => ({ mode, scores, bestStep }));

describe('a job over three modes', () => {
  it('counts F, S, K, L: the scripted model knows all sums, follows the form once tuned, and then errs on every fourth item', async () => {
    const [zero, few, soft] = await run();
    expect(zero?.scores).toMatchObject({
      n: 12,
      F: { count: 0 },
      S: { count: 0 },
      K: { value: null },
      L: { count: 12 },
    });
    expect(zero?.scores.causes).toEqual({ 'answer not in the required form': 12 });
    expect(few?.scores.F.count).toBe(0);
    expect(soft?.scores).toMatchObject({ F: { count: 12 }, S: { count: 9 }, K: { value: 0.75 }, L: { count: 9 } });
    // Golds are 3·index: all different, so a constant answer is right once.
    expect(soft?.scores.constant?.share.count).toBe(1);
  });

  it('tunes until the held-out loss is low, keeps the best step and a curve from step 0 on', async () => {
    const records: JobProgress[] = [];
    await run(undefined, {}, undefined, (progress) => records.push(progress));
    const validations = records.flatMap((p) => (p.kind === 'tuning' && p.record.kind === 'validation' ? p.record : []));
    expect(validations.map(({ step }) => step)).toEqual([0, 5, 10, 15, 20]);
    expect(validations[0]).toMatchObject({ F: 0, n: 8 });
    expect(validations.at(-1)).toMatchObject({ F: 1 });
    expect(records.filter((p) => p.kind === 'tuning' && p.record.kind === 'step')).toHaveLength(20);
  });

  it('never trains on the held-out slice', async () => {
    const seen = new Set<string>();
    const model = scriptedModel();
    changeSteps(model, (engine) => (examples, ...rest) => {
      for (const example of examples) seen.add(model.tokenizer.decode(example.prompt));
      return engine.step(examples, ...rest);
    });
    const generated = new Set<string>();
    const { generate } = model;
    model.generate = (requests, settings, hooks) => {
      if (settings.softPrompt) for (const { tokens } of requests) generated.add(model.tokenizer.decode(tokens));
      return generate(requests, settings, hooks);
    };
    await run(model, { modes: ['soft-prompt'] });
    expect(seen.size).toBe(52);
    for (const text of seen) expect(generated.has(text)).toBe(false);
  });
});

describe('stopping and resuming', () => {
  it('keeps finished items and asks only for the rest', async () => {
    const controller = new AbortController();
    const model = scriptedModel({ onGenerate: () => model.asked.generated.length === 5 && controller.abort() });
    await expect(run(model, { modes: ['zero-shot'] }, undefined, undefined, controller.signal)).rejects.toMatchObject({
      kind: 'cancelled',
    });
    const store = openRunStore(folder);
    const [stopped] = (await store.list()).runs;
    expect(stopped?.run.status).toBe('stopped');
    expect(await store.readItems(stopped?.run.id ?? '')).toHaveLength(5);
    const again = scriptedModel();
    const [summary] = await run(again, { modes: ['zero-shot'] });
    expect(again.asked.generated).toEqual([5, 6, 7, 8, 9, 10, 11]);
    expect(summary?.run).toBe(stopped?.run.id);
    expect(summary?.scores.n).toBe(12);
  });

  it.each([1, 7, 10, 18])(
    'a tuning stopped at step %i and resumed has the numbers of an unbroken one',
    async (step) => {
      const unbroken = await run(undefined, { group: 'unbroken' });
      const controller = new AbortController();
      const model = scriptedModel({ onStep: (n) => n === step && controller.abort() });
      await expect(run(model, {}, undefined, undefined, controller.signal)).rejects.toMatchObject({
        kind: 'cancelled',
      });
      const again = scriptedModel();
      const resumed = await run(again);
      expect(again.asked.steps).toBeLessThan(20);
      expect(figures(resumed)).toEqual(figures(unbroken));
      const tuning = async (id: string | undefined): Promise<unknown> =>
        (await openRunStore(folder).readTuning(id ?? '')).map((r) => (r.kind === 'step' ? { ...r, seconds: 0 } : r));
      expect(await tuning(resumed[2]?.run)).toEqual(await tuning(unbroken[2]?.run));
    },
  );

  it('goes on after a kill that left half a line', async () => {
    const unbroken = await run(undefined, { group: 'unbroken', modes: ['zero-shot'] });
    const failing = scriptedModel({
      onGenerate: (index) => {
        if (index === 8) throw new Error('the process is gone');
      },
    });
    await expect(run(failing, { modes: ['zero-shot'] })).rejects.toThrow('the process is gone');
    const runs = join(folder, 'runs');
    const name =
      (await readdir(runs)).find((entry) => entry.includes('zero-shot') && !unbroken[0]?.run.includes(entry)) ?? '';
    const items = join(runs, name, 'items.jsonl');
    const bytes = (await readFile(items)).length;
    await truncate(items, bytes - 30);
    const again = scriptedModel();
    const resumed = await run(again, { modes: ['zero-shot'] });
    expect(again.asked.generated).toEqual([7, 8, 9, 10, 11]);
    expect(figures(resumed)).toEqual(figures(unbroken));
  });

  it('refuses to resume when the benchmark has changed, and says so', async () => {
    const controller = new AbortController();
    const model = scriptedModel({ onGenerate: () => controller.abort() });
    await expect(run(model, { modes: ['zero-shot'] }, undefined, undefined, controller.signal)).rejects.toThrow();
    await expect(run(undefined, { modes: ['zero-shot'] }, sumsBenchmark({ configDigest: 'other' }))).rejects.toThrow(
      /cannot be resumed\. Changed since it began: benchmark file\./,
    );
  });
});

describe('reuse', () => {
  it('takes finished baselines and tunes again', async () => {
    await run(undefined, { group: 'first' });
    const model = scriptedModel();
    await run(model, { group: 'second', reuseFinished: true });
    expect(model.asked.steps).toBe(20);
    const evaluated = model.asked.generated.filter((index) => index < 12).length - 5 * 8;
    expect(evaluated).toBe(12);
  });
});

describe('what can go wrong', () => {
  it('a loss that is no number stops with the best vectors kept', async () => {
    const model = scriptedModel();
    let steps = 0;
    changeSteps(
      model,
      (engine) =>
        async (...call) =>
          ++steps === 12 ? { ...(await engine.step(...call)), loss: Number.NaN } : engine.step(...call),
    );
    await expect(run(model, { modes: ['soft-prompt'] })).rejects.toThrow(/step 12 is NaN.*step 10\) are kept/);
    const store = openRunStore(folder);
    const [failed] = (await store.list()).runs;
    expect(failed?.run.status).toBe('failed');
    expect((await store.readSoftPrompt(failed?.run.id ?? ''))?.data.every(Number.isFinite)).toBe(true);
  });

  it('a benchmark without training data says what to add', async () => {
    await expect(run(undefined, { modes: ['soft-prompt'] }, sumsBenchmark({ trainingSplit: null }))).rejects.toThrow(
      /no training items/,
    );
  });

  it('more vectors than positions says so, not that the prompts are too long', async () => {
    await expect(
      run(undefined, { modes: ['soft-prompt'], overrides: { softPrompt: { vectors: 5000 } } }),
    ).rejects.toThrow(/5000 vectors leave no room for a prompt/);
  });

  it('what keeps a soft prompt from being tuned is said before any mode runs', async () => {
    const model = scriptedModel();
    model.checkTuning = () => {
      throw new HumanError('unsupported', 'Tuning does not know the operator Loop.');
    };
    await expect(run(model)).rejects.toThrow(/operator Loop/);
    await expect(run(model, { overrides: { softPrompt: { vectors: 5000 } } })).rejects.toThrow(/leave no room/);
    await expect(run(model, {}, sumsBenchmark({ trainingSplit: null }))).rejects.toThrow(/no training items/);
    expect(model.asked.generated).toEqual([]);
    expect((await openRunStore(folder).list()).runs).toEqual([]);
    expect(await run(model, { modes: ['zero-shot', 'few-shot'] })).toHaveLength(2);
  });

  it('a tuning that never gets better than its start says so', async () => {
    const model = scriptedModel();
    // The gradient's sign turned: every step leads away.
    changeSteps(model, (engine) => async (...call) => {
      const result = await engine.step(...call);
      return { ...result, gradient: result.gradient.map((x) => -x) };
    });
    const [summary] = await run(model, { modes: ['soft-prompt'] });
    expect(summary?.bestStep).toBe(0);
    const [{ run: file } = { run: null }] = (await openRunStore(folder).list()).runs;
    expect(file?.notes.join()).toContain('No step of tuning was better');
  });

  it('a prompt longer than the context loses its beginning, and the run says so', async () => {
    const [summary] = await run(undefined, { modes: ['few-shot'], overrides: { shots: 40 } });
    expect(summary?.truncated).toBe(12);
    const [made] = (await openRunStore(folder).list()).runs;
    expect(made?.run.notes.join()).toMatch(/12 items were longer than the model's context of 400 tokens/);
    // 16 of the 400 positions are kept for the output.
    const records = await openRunStore(folder).readItems(summary?.run ?? '');
    expect(new Set(records.map(({ prompt }) => prompt.tokens))).toEqual(new Set([384]));
  });

  it('a soft prompt of another width is refused', async () => {
    const file = join(folder, 'p.safetensors');
    await writeFile(file, '');
    await expect(run(undefined, { modes: ['soft-prompt'], overrides: { softPromptFile: file } })).rejects.toThrow(
      /width 3.*has 4/,
    );
  });

  it('a soft prompt of another model is noted in the run', async () => {
    const foreign = { vectors: 1, hiddenSize: 4, data: new Float32Array(4), tunedOn: 'another' };
    await runJob(
      request({ modes: ['soft-prompt'], overrides: { softPromptFile: 'foreign.safetensors' } }),
      { ...rooms(scriptedModel()), readSoftPromptFile: async () => foreign },
      { signal: new AbortController().signal, progress: () => undefined },
    );
    const [made] = (await openRunStore(folder).list()).runs;
    expect(made?.run.notes.join()).toMatch(/tuned on the model "another", not on/);
  });
});
