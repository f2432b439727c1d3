/** The command line with the scripted worker: `WORKER_FILE` is its bundle. */
import { exitCodes } from '../../src/cli/command.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { WorkerClient } from '../../src/worker/index.ts';

const stop = new AbortController();
process.on('SIGINT', () => {
  if (stop.signal.aborted) process.exit(exitCodes.stopped);
  stop.abort();
});
const worker = new WorkerClient({ file: process.env.WORKER_FILE ?? '' });
process.exitCode = await runCommandLine(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  worker,
  signal: stop.signal,
  version: '1.2.3',
  pages: process.env.PAGES_FOLDER ?? '/nowhere',
});
await worker.dispose();
