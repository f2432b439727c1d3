/** The results page of runs as one HTML file, and what is said of it. */
import { resolve } from 'node:path';
import { writeResultsPage } from '../exchange/index.ts';
import { formatBytes } from '../metrics/index.ts';
import type { DiskRunStore } from '../runs/index.ts';
import type { PageContent } from '../shared/protocol.ts';
import type { Given, Options } from './arguments.ts';
import type { Terminal } from './terminal.ts';

/** Browsers take long to open more. */
export const largePage = 50_000_000;

export const pageOptions = {
  'no-outputs': { type: 'flag', help: 'HTML without the outputs of the model: scores and verdicts only' },
  'no-prompts': { type: 'flag', help: 'HTML without prompts' },
} as const satisfies Options;

export const pageContent = (given: Given): PageContent => ({
  outputs: !given.flag('no-outputs'),
  prompts: !given.flag('no-prompts'),
});

/** @param file what `--report` names; nothing is written where it is not given */
export async function writeReport(
  file: string | undefined,
  runs: readonly string[],
  store: DiskRunStore,
  terminal: Terminal,
  content: PageContent = { outputs: true, prompts: true },
): Promise<void> {
  if (file === undefined) return;
  const { pages, signal } = terminal.surroundings;
  const { bytes, noPrompts } = await writeResultsPage(
    resolve(file),
    runs.map((id) => ({ id, store })),
    content,
    { pages, signal },
  );
  terminal.note(`Report: ${resolve(file)}, ${formatBytes(bytes)}.${largeWords(bytes)}`);
  if (noPrompts !== null) terminal.note(`Without prompts: ${noPrompts}`);
}

export const largeWords = (bytes: number): string =>
  bytes > largePage ? ' Browsers take long to open it: --no-prompts and --no-outputs make it smaller.' : '';
