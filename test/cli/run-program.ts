/** Runs the command line as a process of its own. */
import { spawn } from 'node:child_process';

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
  lastLine: string;
}

/** May act on what has been printed so far. */
export type OnOutput = (stderr: string, child: { kill(signal: 'SIGINT'): void }) => void;

/** Runs `softbench ARGS` in a folder, with the worker of a file. */
export function runProgram(
  { program, workerFile, folder }: { program: string; workerFile: string; folder: string },
  args: string[],
  onOutput?: OnOutput,
): Promise<Outcome> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...process.env, WORKER_FILE: workerFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => {
    stdout += data;
  });
  child.stderr.on('data', (data) => {
    stderr += data;
    onOutput?.(stderr, { kill: (signal) => child.kill(signal) });
  });
  return new Promise((resolve) =>
    child.on('close', (code) => resolve({ code, stdout, stderr, lastLine: stdout.trimEnd().split('\n').at(-1) ?? '' })),
  );
}
