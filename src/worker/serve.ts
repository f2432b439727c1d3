/** The worker's end of the channel to the host. */
import type { WorkerApi } from '../shared/protocol.ts';
import { type Api, type Handlers, serve } from '../shared/rpc.ts';

/** Serves the host's calls until the host has gone. Only in a process that WorkerClient started. */
export function serveHost<A extends Api = WorkerApi>(handlers: Handlers<A>): void {
  if (!process.send) throw new Error('This is the entry of a worker process: WorkerClient starts it.');
  process.title = 'softbench worker';
  // Ctrl-C in a terminal, and the end of a job under a process manager, reach every process there; the host decides what
  // they mean and tells this one.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
  process.on('disconnect', () => process.exit());
  serve<A>(
    {
      post: (message) => {
        if (process.connected) process.send?.(message);
      },
      onMessage: (listener) => {
        process.on('message', listener);
        return () => process.off('message', listener);
      },
    },
    handlers,
  );
}
