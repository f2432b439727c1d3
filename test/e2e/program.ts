// The command line as a program: started, interrupted, killed, and read.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const project = process.cwd();
export const bundledModel = join(project, 'examples', 'models', 'stories260k');
export const example = (name: string): string => join(project, 'examples', 'benchmarks', `${name}.yaml`);

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** The last line of standard output, as `--json` promises it. */
  json(): unknown;
}

export interface Started {
  child: ChildProcess;
  stderr(): string;
  ended: Promise<Ended>;
}

/** Starts `softbench` with these arguments. */
export function start(...args: string[]): Started {
  const child = spawn(process.execPath, [join(project, 'dist', 'cli.js'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data: Buffer) => {
    stdout += data;
  });
  child.stderr.on('data', (data: Buffer) => {
    stderr += data;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve({
        code,
        signal,
        stdout,
        stderr,
        json: () => {
          const last = stdout.trimEnd().split('\n').at(-1) ?? '';
          try {
            return JSON.parse(last);
          } catch {
            throw new Error(`The last line is no JSON: ${last}\n${stderr}`);
          }
        },
      }),
    );
  });
  return { child, stderr: () => stderr, ended };
}

export const softbench = (...args: string[]): Promise<Ended> => start(...args).ended;

/** Runs `softbench`, which must succeed. */
export async function must(...args: string[]): Promise<void> {
  const { code, stderr } = await softbench(...args);
  assert.equal(code, 0, stderr);
}

/** A folder for one test file. */
export function temporaryFolder(): { folder: string; remove(): void } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'softbench-test-')));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

export function copyOf(folder: string, to: string): string {
  cpSync(folder, to, { recursive: true });
  return to;
}

/** The lines of a file of JSON lines; none where the file is not there. */
export function jsonLines<T>(file: string): T[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as T];
      } catch {
        // A line that is being written.
        return [];
      }
    });
}

export interface RunOnDisk {
  folder: string;
  id: string;
  mode: string;
  status: string;
}

/** The runs of a store, as their files say. */
export function runsIn(store: string): RunOnDisk[] {
  let names: string[];
  try {
    names = readdirSync(join(store, 'runs'));
  } catch {
    return [];
  }
  return names.sort().flatMap((name) => {
    const folder = join(store, 'runs', name);
    try {
      const { id, mode, status } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as RunOnDisk;
      return [{ folder, id, mode, status }];
    } catch {
      return [];
    }
  });
}

interface Step {
  kind: string;
  step: number;
  loss: number;
  F?: number;
  S?: number;
}

/** What a run computed, without what a clock says: for comparing an interrupted run with an unbroken one. */
export function computed(run: RunOnDisk): { tuning: unknown[]; items: unknown[] } {
  return {
    tuning: jsonLines<Step>(join(run.folder, 'tuning.jsonl')).map(({ kind, step, loss, F, S }) => ({
      kind,
      step,
      loss,
      F,
      S,
    })),
    items: jsonLines<{ index: number; output: string; right: boolean; inFormat: boolean }>(
      join(run.folder, 'items.jsonl'),
    )
      .map(({ index, output, right, inFormat }) => ({ index, output, right, inFormat }))
      .sort((a, b) => a.index - b.index),
  };
}

/** Steps of tuning that are on disk. */
export const stepsOf = (store: string): number =>
  runsIn(store)
    .filter(({ mode }) => mode === 'soft-prompt')
    .flatMap(({ folder }) => jsonLines<Step>(join(folder, 'tuning.jsonl')))
    .filter(({ kind }) => kind === 'step').length;
