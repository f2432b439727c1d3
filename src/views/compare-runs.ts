/** Comparing runs: which ones are meant, by rows of the tree, by its selection, or by a quick pick. */
import * as vscode from 'vscode';
import { headline } from '../metrics/index.ts';
import type { RunFolder } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import { byMode } from '../shared/modes.ts';
import { checkComparable, newestPerMode } from '../study/index.ts';
import type { Comparison } from './live-results.ts';
import { isRow, subjectOfGroup } from './subjects.ts';
import type { Row } from './trees.ts';
import type { Workbench } from './workbench.ts';

/** The rows that a command of the tree means: all that are selected where the clicked one is among them. */
export function rowsOf(first: unknown, second: unknown): Row[] {
  const selected = Array.isArray(second) ? second.filter(isRow) : [];
  if (isRow(first)) return selected.includes(first) ? selected : [first];
  return selected;
}

/** The runs of rows: of a benchmark × model, the one that its results page shows for each mode. */
export function runsOfRows(rows: readonly Row[], runs: readonly RunFolder[]): RunFolder[] {
  const found = rows.flatMap((row): RunFolder[] => {
    if (row.kind === 'run') return [row.run];
    if (row.kind === 'group') return newestPerMode(row.runs, subjectOfGroup(row));
    if (row.kind === 'job') return runs.filter(({ run }) => row.job.runs.includes(run.id));
    return [];
  });
  return [...new Map(found.map((folder) => [folder.run.id, folder])).values()];
}

/** In the order of modes, the older first: what was there before is what the new is compared with. */
export const inColumnOrder = (runs: readonly RunFolder[]): RunFolder[] =>
  [...runs].sort((a, b) => byMode(a.run, b.run) || (a.run.created < b.run.created ? -1 : 1));

export async function compareRuns(workbench: Workbench, first: unknown, second: unknown): Promise<void> {
  await workbench.runs.load();
  const all = workbench.runs.runs;
  const given = rowsOf(first, second);
  const rows = given.length > 0 ? given : workbench.selectedRuns();
  const meant = runsOfRows(rows, all);
  const chosen = meant.length > 1 ? meant : await pickRuns(all, meant);
  if (!chosen) return;
  checkComparable(chosen);
  workbench.panels.show(comparisonOf(chosen));
}

function comparisonOf(runs: readonly RunFolder[]): Comparison {
  const sorted = inColumnOrder(runs);
  return { task: sorted[0]?.run.benchmark.task ?? '', runs: sorted.map(({ run }) => run.id) };
}

/** @param meant run to begin with, where there is one. @returns null where the user thinks better of it */
async function pickRuns(all: readonly RunFolder[], meant: readonly RunFolder[]): Promise<RunFolder[] | null> {
  const byTask = grouped(all, ({ run }) => run.benchmark.task);
  const task = meant[0]?.run.benchmark.task ?? (await pickTask(byTask));
  if (task === undefined) return null;
  const runs = byTask.get(task) ?? [];
  if (runs.length < 2)
    throw new HumanError('missing', `There is only one run of ${task}: nothing to compare it with.`, {
      todo: 'Evaluate the benchmark on another model, or in another mode.',
    });
  const picked = await vscode.window.showQuickPick(
    runs.map((folder) => ({ ...runItem(folder), picked: meant.includes(folder), folder })),
    {
      title: `Compare runs of ${task}`,
      placeHolder: 'Choose two runs or more',
      canPickMany: true,
      matchOnDescription: true,
      matchOnDetail: true,
    },
  );
  return picked ? picked.map(({ folder }) => folder) : null;
}

function grouped<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return groups;
}

async function pickTask(byTask: ReadonlyMap<string, readonly RunFolder[]>): Promise<string | undefined> {
  const tasks = [...byTask].filter(([, runs]) => runs.length > 1);
  if (tasks.length === 0)
    throw new HumanError('missing', 'There are no two runs of one benchmark to compare.', {
      todo: 'Evaluate a benchmark on two models, or in two modes.',
    });
  const [only, ...others] = tasks;
  if (only && others.length === 0) return only[0];
  const picked = await vscode.window.showQuickPick(
    tasks.map(([task, runs]) => ({ label: `$(checklist) ${task}`, description: `${runs.length} runs`, task })),
    { title: 'Compare runs', placeHolder: 'Benchmark' },
  );
  return picked?.task;
}

function runItem({ run, summary }: RunFolder): vscode.QuickPickItem {
  return {
    label: `${run.model.name} · ${run.mode}`,
    description: summary && !run.predictOnly ? headline(summary) : run.status,
    detail: [new Date(run.created).toLocaleString(), run.source ? 'imported' : '', run.id].filter(Boolean).join(' · '),
  };
}
