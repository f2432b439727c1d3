/** Runs the command line as a process of its own. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { bundle } from '../support/bundle.ts';

export interface Program {
  program: string;
  workerFile: string;
}

/** The command line with a scripted model behind it: bundled before the tests of a file, removed after them. */
export function scriptedProgram(): Program {
  const built: Program = { program: '', workerFile: '' };
  beforeAll(async () => {
    built.program = await bundle('test/cli/scripted-cli.ts');
    built.workerFile = await bundle('test/cli/scripted-worker.ts');
  }, 60_000);
  afterAll(() => {
    // A bundle that failed has no folder to remove: that of an empty path would be the project's own.
    for (const file of Object.values(built).filter(Boolean)) rmSync(dirname(file), { recursive: true, force: true });
  });
  return built;
}

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
  lastLine: string;
}

/** May act on what has been printed so far. */
export type OnOutput = (stderr: string, child: { kill(signal: 'SIGINT'): void }) => void;

/** Runs `softbench ARGS` in a folder, with the worker of a file; `environment` in place of this process's own. */
export function runProgram(
  {
    program,
    workerFile,
    folder,
    environment = process.env,
  }: Program & { folder: string; environment?: NodeJS.ProcessEnv },
  args: string[],
  onOutput?: OnOutput,
): Promise<Outcome> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...environment, WORKER_FILE: workerFile },
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
