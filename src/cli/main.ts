/** Entry of the program `softbench`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { librariesFolder, libraryEnvironment } from '../libraries/index.ts';
import { WorkerClient } from '../worker/index.ts';
import { exitCodes } from './command.ts';
import { runCommandLine } from './run.ts';

// This file is bundled to dist/cli.js, beside dist/worker.js and below package.json.
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const { version } = JSON.parse(readFileSync(here('../package.json'), 'utf8')) as { version: string };

const stop = new AbortController();
function interrupt(): void {
  if (stop.signal.aborted) {
    void worker.kill();
    process.exit(exitCodes.stopped);
  }
  stop.abort();
  process.stderr.write('\nStopping after the current step; press Ctrl-C again to end at once.\n');
}
process.on('SIGINT', interrupt);
process.on('SIGTERM', interrupt);
// A reader such as `head` that closes the pipe is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.done);
  throw error;
});

const worker = new WorkerClient({
  file: here('./worker.js'),
  environment: () => libraryEnvironment(librariesFolder()),
});
async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question, { signal: stop.signal });
  } finally {
    lines.close();
  }
}

process.exitCode = await runCommandLine(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  ...(process.stdin.isTTY && process.stderr.isTTY && { ask }),
  worker,
  signal: stop.signal,
  version,
  pages: here('./webview'),
});
await worker.dispose();
