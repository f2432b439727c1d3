/** The worker's end of the channel to the host. */
import { parentPort, workerData } from 'node:worker_threads';
import { setLockOwner } from '../runs/index.ts';
import type { WorkerApi } from '../shared/protocol.ts';
import { type Handlers, serve } from '../shared/rpc.ts';
import type { WorkerStart } from './start.ts';

/** Serves the host's calls until the thread ends. Only in a worker thread. */
export function serveHost(handlers: Handlers<WorkerApi>): void {
  const port = parentPort;
  if (!port) throw new Error('This is the entry of a worker thread: WorkerClient starts it.');
  const { owner, deadOwners } = workerData as WorkerStart;
  setLockOwner(owner, deadOwners);
  serve<WorkerApi>(
    {
      post: (message) => port.postMessage(message),
      onMessage: (listener) => {
        port.on('message', listener);
        return () => port.off('message', listener);
      },
    },
    handlers,
  );
}
