import { describe, expect, it } from 'vitest';
import type { RunFolder } from '../../src/runs/index.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { ItemRecord, RunFile, RunSummary, TuningRecord } from '../../src/shared/results.ts';
import type { Job } from '../../src/views/jobs.ts';
import { LiveResults, type ResultsReader } from '../../src/views/live-results.ts';
import { sampleItem, sampleRun, sampleSummary } from '../runs/sample.ts';

const subject = { task: 't', benchmarkFile: '/b.yaml', modelName: 'm', modelFolder: '/m' };

const runFile = (id: string, mode: PromptMode, status: RunFile['status'], created: string): RunFile => {
  const run = sampleRun({ mode, group: 'g' });
  return {
    ...run,
    id,
    created,
    updated: created,
    status,
    model: { ...run.model, name: 'm', folder: '/m' },
    benchmark: { ...run.benchmark, task: 't', file: '/b.yaml', items: 9 },
  };
};
const summary = (run: string, mode: PromptMode): RunSummary =>
  sampleSummary(run, mode, { right: 9, inFormat: 9, n: 9 });
const step = (number: number, loss: number): TuningRecord => ({
  schema: 1,
  kind: 'step',
  step: number,
  loss,
  gradientNorm: 1,
  learningRate: 1,
  seconds: 1,
  batch: [1, 1],
  answerTokens: 1,
});
const reader = (items: ItemRecord[], tuning: TuningRecord[] = []): ResultsReader => ({
  readItems: async (_, from = 0) => items.slice(from),
  readItem: async (_, index) => items.find((item) => item.index === index) ?? null,
  countItems: async () => items.length,
  readTuning: async () => tuning,
});

const old: RunFolder = {
  folder: '/s/old',
  run: runFile('old', 'zero-shot', 'finished', '2026-01-01'),
  summary: summary('old', 'zero-shot'),
};

describe('live results', () => {
  it('begin with what is on disk', async () => {
    const stopped: RunFolder = {
      folder: '/s/half',
      run: runFile('half', 'few-shot', 'stopped', '2026-01-02'),
      summary: null,
    };
    const results = new LiveResults(subject);
    await results.load([stopped, old], () => reader([sampleItem(0), sampleItem(1)]));
    expect(results.view(null, null).columns.map(({ run, done, total }) => [run.id, done, total])).toEqual([
      ['old', 9, 9],
      ['half', 2, 9],
    ]);
  });

  it('are of this benchmark and model only', async () => {
    const other: RunFolder = { ...old, run: { ...old.run, id: 'other', model: { ...old.run.model, folder: '/n' } } };
    const results = new LiveResults(subject);
    await results.load([other], () => reader([]));
    expect(results.view(null, null)).toMatchObject({ title: 't · m', columns: [] });
  });

  it('follow a new run, which takes the place of the older one of its mode', async () => {
    const results = new LiveResults(subject);
    await results.load([old], () => reader([]));
    results.follow({ kind: 'run', run: runFile('new', 'zero-shot', 'running', '2026-02-01') });
    const added = results.follow({
      kind: 'items',
      run: 'new',
      mode: 'zero-shot',
      done: 3,
      total: 5,
      secondsLeft: 1,
      records: [sampleItem(1), sampleItem(0)],
    });
    // Of three finished items the last two came now: they begin at position 1 of the file.
    expect(added).toMatchObject({ run: 'new', from: 1 });
    const [mode] = results.view(null, null).columns;
    expect(mode).toMatchObject({ run: { id: 'new' }, done: 3, total: 5, summary: null });
    results.follow({ kind: 'summary', summary: summary('new', 'zero-shot') });
    expect(results.view(null, null).columns[0]).toMatchObject({ run: { status: 'finished' }, done: 9 });
  });

  it('keep what the job has told when the list on disk is older', async () => {
    const results = new LiveResults(subject);
    results.follow({ kind: 'run', run: runFile('new', 'zero-shot', 'running', '2026-02-01') });
    results.follow({
      kind: 'items',
      run: 'new',
      mode: 'zero-shot',
      done: 4,
      total: 5,
      secondsLeft: 1,
      records: [],
    });
    await results.load([], () => null);
    expect(results.view(null, null).columns[0]).toMatchObject({ run: { id: 'new' }, done: 4 });
  });

  it('give the time left beside what the job does, not in it', async () => {
    const results = new LiveResults(subject);
    const job: Job = {
      kind: 'tune',
      request: {} as Job['request'],
      task: 't',
      modelName: 'm',
      state: 'running',
      mode: 'soft-prompt',
      phase: 'tuning',
      activity: 'tuning, step 3 of 80',
      fraction: 3 / 80,
      secondsLeft: 50,
      provider: null,
      runs: [],
      summaries: [],
      error: null,
    };
    expect(results.view(job, 'an earlier problem')).toMatchObject({
      job: { phase: 'soft-prompt tuning', message: 'soft-prompt: tuning, step 3 of 80', secondsLeft: 50 },
      problem: null,
    });
    expect(results.view({ ...job, state: 'failed' }, 'The worker ended.')).toMatchObject({
      job: null,
      problem: 'The worker ended.',
    });
  });

  it('forget a run that was deleted', async () => {
    const results = new LiveResults(subject);
    await results.load([old], () => reader([]));
    await results.load([], () => reader([]));
    expect(results.view(null, null).columns).toEqual([]);
  });

  it('redo the steps after a checkpoint when tuning is resumed', async () => {
    const results = new LiveResults(subject);
    const run = runFile('r', 'soft-prompt', 'running', '2026-02-01');
    await results.load([{ folder: '/s/r', run, summary: null }], () =>
      reader([], [step(1, 3), step(2, 2), step(3, 1)]),
    );
    results.follow({ kind: 'tuning', run: 'r', record: step(2, 1.5), steps: 80, secondsLeft: null });
    const losses = results.view(null, null).columns[0]?.tuning.map((record) => record.loss);
    expect(losses).toEqual([3, 1.5]);
  });
});
