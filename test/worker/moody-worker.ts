/** A worker that does what the test tells it: reports progress, waits, fails, dies, runs out of memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CancelledError, HumanError } from '../../src/shared/errors.ts';
import type { Method } from '../../src/shared/rpc.ts';
import { serveHost } from '../../src/worker/serve.ts';

export type MoodyApi = {
  count: Method<{ to: number }, number, { at: number }>;
  untilCancelled: Method<void, string, 'started'>;
  fail: Method<{ kind: 'human' | 'plain' }, never>;
  exit: Method<{ code: number }, never>;
  throwLater: Method<void, never>;
  fillMemory: Method<void, never>;
  processId: Method<void, number>;
};

serveHost<MoodyApi>({
  count: async ({ to }, { progress }) => {
    for (let at = 1; at <= to; at++) progress({ at });
    return to;
  },
  untilCancelled: async (_, { signal, progress }) => {
    progress('started');
    while (!signal.aborted) await sleep(1);
    throw new CancelledError();
  },
  fail: ({ kind }) => {
    if (kind === 'plain') throw new TypeError('a bug');
    throw new HumanError('bad-input', 'The file is wrong.', {
      place: { file: 'a.yaml', line: 3, column: 5 },
      todo: 'Correct it.',
    });
  },
  exit: ({ code }) => process.exit(code),
  throwLater: () =>
    new Promise<never>(() => {
      setTimeout(() => {
        throw new Error('out of nowhere');
      });
    }),
  fillMemory: () => {
    const hoard: number[][] = [];
    for (;;) hoard.push(Array.from({ length: 100_000 }, (_, i) => i + hoard.length + 0.5));
  },
  processId: () => process.pid,
});
