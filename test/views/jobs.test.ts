import { describe, expect, it } from 'vitest';
import { HumanError } from '../../src/shared/errors.ts';
import type { JobProgress, JobRequest } from '../../src/shared/protocol.ts';
import type { RunSummary } from '../../src/shared/results.ts';
import type { CallOptions } from '../../src/shared/rpc.ts';
import { type Job, JobQueue, jobWords } from '../../src/views/jobs.ts';

interface Call {
  request: JobRequest;
  options: CallOptions<JobProgress>;
  finish(summaries?: RunSummary[]): void;
  fail(error: Error): void;
}

function scripted() {
  const calls: Call[] = [];
  const queue = new JobQueue(
    (request, options) =>
      new Promise((resolve, reject) => {
        calls.push({ request, options, finish: (summaries = []) => resolve(summaries), fail: reject });
      }),
  );
  const ended: Job[] = [];
  queue.onEnd((job) => ended.push(job));
  return { queue, calls, ended };
}

const request = (benchmarkFile: string, modelFolder = '/m'): JobRequest => ({
  benchmarkFile,
  modelFolder,
  modes: ['zero-shot'],
  storeFolder: '/s',
  group: `group of ${benchmarkFile} ${modelFolder}`,
  reuseFinished: false,
  engine: { executionProvider: 'cpu', threads: 1 },
  overrides: {},
});
const names = { task: 't', modelName: 'm' };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the queue of jobs', () => {
  it('runs one at a time, in order', async () => {
    const { queue, calls, ended } = scripted();
    const first = queue.add('tune', request('/a'), names);
    const second = queue.add('tune', request('/b'), names);
    expect([first.state, second.state]).toEqual(['running', 'queued']);
    expect(queue.jobs).toEqual([first, second]);
    expect(calls).toHaveLength(1);
    calls[0]?.finish();
    await settled();
    expect([first.state, second.state]).toEqual(['finished', 'running']);
    expect(calls[1]?.request.benchmarkFile).toBe('/b');
    calls[1]?.finish();
    await settled();
    expect(ended).toEqual([first, second]);
    expect(queue.jobs).toEqual([]);
  });

  it('refuses the same benchmark and model twice, but takes another model', () => {
    const { queue } = scripted();
    queue.add('tune', request('/a'), names);
    expect(() => queue.add('evaluate', request('/a'), names)).toThrow(HumanError);
    expect(() => queue.add('evaluate', request('/a', '/other'), names)).not.toThrow();
    expect(() => queue.add('evaluate', request('/a', '/other'), names)).toThrow(/already waiting/);
  });

  it('stops the running job by cancelling it, and says so until it has ended', async () => {
    const { queue, calls } = scripted();
    const job = queue.add('tune', request('/a'), names);
    queue.stop(job);
    expect(job.state).toBe('stopping');
    expect(calls[0]?.options.signal?.aborted).toBe(true);
    calls[0]?.fail(new HumanError('cancelled', 'Stopped.'));
    await settled();
    expect(job).toMatchObject({ state: 'stopped', error: null });
  });

  it('takes a waiting job out without running it', async () => {
    const { queue, calls, ended } = scripted();
    queue.add('tune', request('/a'), names);
    const waiting = queue.add('tune', request('/b'), names);
    queue.stop(waiting);
    expect(waiting.state).toBe('stopped');
    expect(ended).toEqual([waiting]);
    calls[0]?.finish();
    await settled();
    expect(calls).toHaveLength(1);
  });

  it('keeps the error of a failed job and goes on with the next', async () => {
    const { queue, calls } = scripted();
    const job = queue.add('tune', request('/a'), names);
    const next = queue.add('tune', request('/b'), names);
    const error = new HumanError('worker-lost', 'The worker ended.');
    calls[0]?.fail(error);
    await settled();
    expect(job).toMatchObject({ state: 'failed', error });
    expect(next.state).toBe('running');
  });

  it('follows progress in words', () => {
    const { queue, calls } = scripted();
    const job = queue.add('tune', request('/a'), names);
    expect(jobWords(job)).toBe('starting');
    const progress = (value: JobProgress): void => calls[0]?.options.onProgress?.(value);
    progress({ kind: 'phase', phase: 'tuning', mode: 'soft-prompt', message: 'Tuning the soft prompt' });
    expect(jobWords(job)).toBe('soft-prompt: Tuning the soft prompt');
    progress({
      kind: 'tuning',
      run: 'r',
      record: { schema: 1, kind: 'validation', step: 34, n: 1, F: 1, S: 1, K: 1, loss: 1, best: true },
      steps: 80,
      secondsLeft: 20.4,
    });
    expect(jobWords(job)).toBe('soft-prompt: tuning, step 34 of 80, about 20 s left');
    expect(job.fraction).toBeCloseTo(34 / 80);
    progress({ kind: 'items', run: 'r', mode: 'zero-shot', done: 3, total: 4, secondsLeft: null, records: [] });
    expect(jobWords(job)).toBe('zero-shot: item 3 of 4');
    queue.stop(job);
    expect(jobWords(job)).toBe('stopping (zero-shot: item 3 of 4)');
  });
});
