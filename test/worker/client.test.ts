import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HumanError } from '../../src/shared/errors.ts';
import { WorkerClient, type WorkerClientOptions } from '../../src/worker/index.ts';
import { bundle } from '../support/bundle.ts';
import { errorOf } from '../support/error-of.ts';
import type { MoodyApi } from './moody-worker.ts';

let file: string;
beforeAll(async () => {
  file = await bundle('test/worker/moody-worker.ts');
});
afterAll(() => rm(dirname(file), { recursive: true, force: true }));

const clients: WorkerClient<MoodyApi>[] = [];
function client(options: Partial<WorkerClientOptions> = {}): WorkerClient<MoodyApi> {
  const made = new WorkerClient<MoodyApi>({ file, ...options });
  clients.push(made);
  return made;
}
afterEach(async () => {
  for (const one of clients.splice(0)) await one.dispose();
});

describe('a call to the worker', () => {
  it('starts it at the first call only, reports progress in order and returns the result', async () => {
    const worker = client();
    expect(worker.isRunning).toBe(false);
    const seen: number[] = [];
    expect(await worker.call.count({ to: 5 }, { onProgress: ({ at }) => seen.push(at) })).toBe(5);
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    expect(worker.isRunning).toBe(true);
    expect(worker.isBusy).toBe(false);
  });

  it('can be cancelled, alone', async () => {
    const worker = client();
    const stop = new AbortController();
    const other = new AbortController();
    const started: string[] = [];
    const one = errorOf(worker.call.untilCancelled(undefined, { signal: stop.signal, onProgress: () => stop.abort() }));
    const two = errorOf(
      worker.call.untilCancelled(undefined, { signal: other.signal, onProgress: (value) => started.push(value) }),
    );
    expect((await one).kind).toBe('cancelled');
    expect(worker.isBusy).toBe(true);
    other.abort();
    expect((await two).kind).toBe('cancelled');
    const late = errorOf(worker.call.untilCancelled(undefined, { signal: AbortSignal.abort() }));
    expect((await late).kind).toBe('cancelled');
  });

  it('brings errors back with kind, place and advice, or with their stack', async () => {
    const worker = client();
    const human = await errorOf(worker.call.fail({ kind: 'human' }));
    expect(human).toBeInstanceOf(HumanError);
    expect(human.kind).toBe('bad-input');
    expect(human.sentence).toBe('a.yaml:3:5: The file is wrong. Correct it.');
    const plain = await errorOf(worker.call.fail({ kind: 'plain' }));
    expect(plain).not.toBeInstanceOf(HumanError);
    expect(plain.message).toBe('a bug');
    expect(plain.stack).toContain('entry.mjs');
    expect((await errorOf((worker.call as never as { nothing(): Promise<void> }).nothing())).message).toContain(
      '"nothing"',
    );
  });
});

describe('a worker that dies', () => {
  it('rejects what was pending, says that it can be resumed, and is started anew by the next call', async () => {
    const worker = client();
    const waiting = errorOf(worker.call.untilCancelled(undefined));
    const fatal = errorOf(worker.call.exit({ code: 7 }));
    for (const error of [await waiting, await fatal]) {
      expect(error.kind).toBe('worker-lost');
      expect(error.sentence).toContain('code 7');
      expect(error.sentence).toContain('run it again to resume');
    }
    expect(worker.isRunning).toBe(false);
    expect(await worker.call.count({ to: 1 })).toBe(1);
  });

  it('by an error of its own gives that error', async () => {
    const error = await errorOf(client().call.throwLater(undefined));
    expect(error.kind).toBe('worker-lost');
    expect(error.message).toContain('out of nowhere');
  });

  it('by running out of memory says so', async () => {
    const error = await errorOf(client({ heapMegabytes: 32 }).call.fillMemory(undefined));
    expect(error.kind).toBe('worker-lost');
    expect(error.sentence).toContain('ran out of memory');
    expect(error.sentence).toContain('smaller batch size');
  });

  it('because the system killed it says what that mostly means', async () => {
    const worker = client();
    const pid = await worker.call.processId(undefined);
    const error = errorOf(
      worker.call.untilCancelled(undefined, { onProgress: () => void process.kill(pid, 'SIGKILL') }),
    );
    expect((await error).kind).toBe('worker-lost');
    // Windows knows no signals: there it is an exit code.
    if (process.platform !== 'win32') expect((await error).sentence).toContain('most often because memory ran out');
  });

  it('by a signal that also stopped the call is a stop; one that nobody asked for does not end it', async () => {
    if (process.platform === 'win32') return;
    const worker = client();
    const pid = await worker.call.processId(undefined);
    process.kill(pid, 'SIGTERM');
    expect(await worker.call.processId(undefined)).toBe(pid);
    const stop = new AbortController();
    const error = errorOf(
      worker.call.untilCancelled(undefined, {
        signal: stop.signal,
        onProgress: () => {
          process.kill(pid, 'SIGKILL');
          stop.abort();
        },
      }),
    );
    expect((await error).kind).toBe('cancelled');
  });

  it('by kill() too', async () => {
    const worker = client();
    const error = errorOf(worker.call.untilCancelled(undefined, { onProgress: () => void worker.kill() }));
    expect((await error).kind).toBe('worker-lost');
  });

  it('because its file is not there gives a message', async () => {
    const error = await errorOf(client({ file: '/nowhere/worker.js' }).call.count({ to: 1 }));
    expect(error).toBeInstanceOf(HumanError);
    expect(error.sentence).toContain('/nowhere/worker.js');
  });
});

describe('an idle worker', () => {
  it('ends, but never while it works', async () => {
    const worker = client({ idleMilliseconds: 20 });
    const stop = new AbortController();
    const long = errorOf(worker.call.untilCancelled(undefined, { signal: stop.signal }));
    await worker.call.count({ to: 1 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(worker.isRunning).toBe(true);
    stop.abort();
    expect((await long).kind).toBe('cancelled');
    await expect.poll(() => worker.isRunning, { timeout: 10_000 }).toBe(false);
    expect(await worker.call.count({ to: 2 })).toBe(2);
  });

  it('is disposed of with what it was doing stopped first', async () => {
    const worker = client();
    const pending = errorOf(worker.call.untilCancelled(undefined, { onProgress: () => void worker.dispose() }));
    expect((await pending).kind).toBe('cancelled');
    expect((await errorOf(worker.call.count({ to: 1 }))).kind).toBe('cancelled');
  });
});
