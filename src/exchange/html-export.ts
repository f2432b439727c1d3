/** Runs as HTML pages: one file a benchmark, with all its runs side by side. */
import { join } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import { pageName } from '../study/index.ts';
import type { ExportContext, ExportedRun } from './export.ts';
import { writeResultsPage } from './results-page.ts';

export async function exportHtml(
  runs: readonly ExportedRun[],
  folder: string,
  { store, pages, content = { outputs: true, prompts: true }, signal }: ExportContext,
): Promise<string[]> {
  if (pages === undefined) throw new HumanError('missing', 'The bundled pages are not here: no HTML can be written.');
  const byTask = new Map<string, ExportedRun[]>();
  for (const each of runs) {
    const { task } = each.run.benchmark;
    byTask.set(task, [...(byTask.get(task) ?? []), each]);
  }
  const names = new Set<string>();
  const files: string[] = [];
  for (const [task, ofTask] of byTask) {
    const file = join(
      folder,
      `${unused(
        pageName(
          ofTask.map(({ run }) => run.model.name),
          task,
        ),
        names,
      )}.html`,
    );
    await writeResultsPage(
      file,
      ofTask.map(({ run: { id } }) => ({ id, store })),
      content,
      { pages, signal },
    );
    files.push(file);
  }
  return files;
}

function unused(name: string, taken: Set<string>): string {
  let free = name;
  for (let at = 2; taken.has(free.toLowerCase()); at++) free = `${name}-${at}`;
  taken.add(free.toLowerCase());
  return free;
}
