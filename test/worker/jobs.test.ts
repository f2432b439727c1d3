/** Jobs through a real worker thread: killed in the middle, stopped, queued. The model and the benchmark are scripted. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRunStore } from '../../src/runs/index.ts';
import type { JobProgress, JobRequest } from '../../src/shared/protocol.ts';
import type { RunSummary } from '../../src/shared/results.ts';
import { WorkerClient } from '../../src/worker/index.ts';
import { bundle } from '../support/bundle.ts';
import { errorOf } from '../support/error-of.ts';

let file: string;
let folder: string;
let worker: WorkerClient;
beforeAll(async () => {
  file = await bundle('test/cli/scripted-worker.ts');
});
afterAll(() => rm(dirname(file), { recursive: true, force: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-jobs-'));
  worker = new WorkerClient({ file });
});
afterEach(async () => {
  await worker.dispose();
  await rm(folder, { recursive: true, force: true });
});

const request = (change: Partial<JobRequest> = {}): JobRequest => ({
  benchmarkFile: '/benchmarks/sums.yaml',
  modelFolder: '/models/slow-5',
  modes: ['zero-shot', 'soft-prompt'],
  storeFolder: folder,
  group: 'job-1',
  reuseFinished: false,
  engine: { executionProvider: 'auto', threads: 1 },
  overrides: {},
  ...change,
});

const scoresOf = (summaries: RunSummary[]): unknown =>
  summaries.map(({ mode, scores, bestStep }) => ({ mode, scores, bestStep }));

describe('a job whose worker is killed', () => {
  it.each([
    ['while it evaluates', (p: JobProgress) => p.kind === 'items' && p.mode === 'zero-shot'],
    ['while it tunes', (p: JobProgress) => p.kind === 'tuning' && p.record.kind === 'step' && p.record.step === 13],
    ['while it evaluates with the soft prompt', (p: JobProgress) => p.kind === 'items' && p.mode === 'soft-prompt'],
  ])('%s says so, and resumes in a new worker to the numbers of an unbroken one', async (_, when) => {
    let isKilled = false;
    const killed = errorOf(
      worker.call.runJob(request(), {
        onProgress: (progress) => {
          if (!isKilled && when(progress)) {
            isKilled = true;
            void worker.kill();
          }
        },
      }),
    );
    expect((await killed).kind).toBe('worker-lost');
    expect((await killed).sentence).toContain('run it again to resume');
    const { runs } = await openRunStore(folder).list();
    // The thread is dead though its process is not: nobody may take the run for one that is still on.
    expect(runs[0]?.run.status).toBe('stopped');

    const resumed = await worker.call.runJob(request());
    const unbroken = await worker.call.runJob(request({ group: 'job-2' }));
    expect(scoresOf(resumed)).toEqual(scoresOf(unbroken));
    const store = openRunStore(folder);
    const [again, whole] = await Promise.all([resumed, unbroken].map(([, soft]) => store.readTuning(soft?.run ?? '')));
    const withoutTime = (records: typeof again): unknown => records?.map((record) => ({ ...record, seconds: 0 }));
    expect(withoutTime(again)).toEqual(withoutTime(whole));
    for (const { run } of resumed) {
      const indices = (await store.readItems(run)).map(({ index }) => index);
      expect(indices.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i));
    }
    expect((await store.list()).runs.every(({ run }) => run.status === 'finished')).toBe(true);
  });
});

describe('a job with a cache whose worker is killed', () => {
  const responseCache = { limitBytes: 2 ** 30, lookUp: true };
  /** Kills the worker in the middle of the evaluation. */
  const killed = async (change: Partial<JobRequest>): Promise<void> => {
    let isKilled = false;
    const job = errorOf(
      worker.call.runJob(request({ modes: ['zero-shot'], responseCache, modelFolder: '/models/slow-60', ...change }), {
        onProgress: (progress) => {
          if (isKilled || progress.kind !== 'items' || progress.done < 6) return;
          isKilled = true;
          void worker.kill();
        },
      }),
    );
    expect((await job).kind).toBe('worker-lost');
  };
  const resume = async (): Promise<RunSummary | undefined> =>
    (await worker.call.runJob(request({ modes: ['zero-shot'], responseCache })))[0];
  const wholeScores = async (): Promise<unknown> =>
    (await worker.call.runJob(request({ modes: ['zero-shot'], group: 'whole' })))[0]?.scores;

  it.each([
    ['as it was left', async () => undefined],
    ['deleted meanwhile', async () => rm(join(folder, 'responses'), { recursive: true, force: true })],
  ])('resumes to the numbers of an unbroken one, the cache %s', async (_, between) => {
    await killed({});
    await between();
    const resumed = await resume();
    expect(resumed?.scores).toEqual(await wholeScores());
    const items = await openRunStore(folder).readItems(resumed?.run ?? '');
    expect(items.map(({ index }) => index).sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i));
  });

  it('leaves what it computed to any other run of the same model', async () => {
    await killed({});
    const [other] = await worker.call.runJob(request({ modes: ['zero-shot'], group: 'other', responseCache }));
    expect(other?.scores).toEqual(await wholeScores());
    // Six items were there at least, at 60 ms each; a quarter of a second's worth may not have been written.
    expect(other?.responses?.cached).toBeGreaterThanOrEqual(1);
    expect((other?.responses?.cached ?? 0) + (other?.responses?.computed ?? 0)).toBe(12);
  });
});

describe('a worker with several jobs', () => {
  it('does one after the other, and a waiting one can be cancelled', async () => {
    const events: string[] = [];
    const follow = (name: string) => (progress: JobProgress) => {
      if (progress.kind === 'phase') events.push(`${name}: ${progress.message}`);
    };
    const one = worker.call.runJob(request({ modes: ['zero-shot'] }), { onProgress: follow('one') });
    const stop = new AbortController();
    const two = errorOf(
      worker.call.runJob(request({ modes: ['zero-shot'], group: 'job-2' }), {
        signal: stop.signal,
        onProgress: (progress) => {
          follow('two')(progress);
          stop.abort();
        },
      }),
    );
    const three = worker.call.runJob(request({ modes: ['zero-shot'], group: 'job-3' }), {
      onProgress: follow('three'),
    });
    expect((await two).kind).toBe('cancelled');
    expect((await one)[0]?.scores.n).toBe(12);
    expect((await three)[0]?.scores.n).toBe(12);
    expect(events).toContain('two: Waiting for the job before it to end');
    const startOfThree = events.indexOf('three: Reading the benchmark');
    expect(events.slice(startOfThree).some((event) => event.startsWith('one:'))).toBe(false);
    expect(events.filter((event) => event === 'two: Reading the benchmark')).toEqual([]);
  });

  it('previews prompts meanwhile', async () => {
    const job = worker.call.runJob(request({ modes: ['zero-shot'] }));
    const { total, previews } = await worker.call.previewPrompts({
      benchmarkFile: '/benchmarks/sums.yaml',
      modelFolder: '/models/any',
      index: 3,
    });
    expect(total).toBe(12);
    expect(previews.map(({ mode, softPromptVectors }) => [mode, softPromptVectors])).toEqual([
      ['zero-shot', 0],
      ['few-shot', 0],
      ['soft-prompt', 2],
    ]);
    expect(previews[0]).toMatchObject({
      parts: [{ kind: 'question', text: 'The sum of 3 and 6 is' }],
      answer: ' #9\n',
      stop: ['\n'],
    });
    expect(previews[0]?.tokens.join('')).toBe('The sum of 3 and 6 is');
    const none = await errorOf(
      worker.call.previewPrompts({ benchmarkFile: '/benchmarks/sums.yaml', modelFolder: null, index: 12 }),
    );
    expect(none.sentence).toContain('There is no item 12');
    await job;
  });
});
