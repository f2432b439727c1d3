/** What a command shows of runs of one benchmark and one model: a table, notes, where they lie; or the same as JSON. */
import { dirname } from 'node:path';
import type { DiskRunStore } from '../runs/index.ts';
import { writeReport } from './report.ts';
import { type ModeOutcome, modeJson, resultLines } from './tables.ts';
import type { Terminal } from './terminal.ts';

export interface Shown {
  model: string | null;
  benchmark: string | null;
  group: string;
  store: string;
  report?: string;
  modes: Record<string, unknown>[];
}

/**
 * Prints the runs as a table. @returns them for JSON
 * @param reportFile where the results page is written to
 */
export async function showOutcomes(
  terminal: Terminal,
  store: DiskRunStore,
  runs: readonly string[],
  group: string,
  reportFile?: string,
): Promise<Shown> {
  const outcomes: ModeOutcome[] = await Promise.all(
    runs.map(async (id) => {
      const { run, summary } = await store.read(id);
      if (!summary) throw new Error(`The run ${id} has no summary.`);
      return { run, summary, items: await store.readItems(id) };
    }),
  );
  await writeReport(reportFile, runs, store, terminal);
  const first = outcomes[0];
  if (!terminal.json) {
    for (const line of resultLines(outcomes)) terminal.print(line);
    const notes = new Set(outcomes.flatMap(({ run }) => run.notes));
    for (const note of notes) terminal.note(`Note: ${note}`);
    terminal.note(`Runs: ${first ? dirname(store.folderOf(first.run.id)) : store.folder}`);
  }
  return {
    model: first?.run.model.name ?? null,
    benchmark: first?.run.benchmark.task ?? null,
    group,
    store: store.folder,
    ...(reportFile && { report: reportFile }),
    modes: outcomes.map(modeJson),
  };
}
