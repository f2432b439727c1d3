/** Commands of group files: evaluate all benchmarks, show their aggregated scores, open one of them. */
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Group } from '../benchmark/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { PromptMode } from '../shared/modes.ts';
import { markdownRow } from '../shared/table-text.ts';
import { groupTable, scoresOfGroups } from '../study/index.ts';
import { openAt } from './results-panels.ts';
import type { Workbench } from './workbench.ts';

async function groupOf(file: string): Promise<Group> {
  const { openGroup } = await import('../benchmark/index.ts');
  const group = await openGroup(file);
  if (!group) throw new HumanError('bad-input', `${basename(file)} is not a group of benchmarks.`, { place: { file } });
  return group;
}

/** Queues a job for every benchmark of the group, in the modes that the user picks. */
export async function evaluateGroup(workbench: Workbench, file: string): Promise<void> {
  const { tasksOf } = await import('../benchmark/index.ts');
  const tasks = tasksOf(await groupOf(file));
  const picked = await vscode.window.showQuickPick(
    [
      { label: 'zero-shot' as PromptMode, picked: true, detail: 'The prompt of each item as it is' },
      { label: 'few-shot' as PromptMode, picked: false, detail: 'With as many examples as each benchmark says' },
    ],
    { canPickMany: true, title: `Evaluate ${tasks.length} benchmarks`, placeHolder: 'Prompt modes to evaluate' },
  );
  if (!picked || picked.length === 0) return;
  await workbench.start.evaluateAll(
    file,
    tasks.map(({ address, name }) => ({ file: address, task: name })),
    picked.map(({ label }) => label),
  );
}

/** Shows the aggregated scores as a Markdown document. */
export async function showGroupScores(workbench: Workbench, file: string): Promise<void> {
  const { groupsOf, leavesOf } = await import('../benchmark/index.ts');
  const group = await groupOf(file);
  await workbench.runs.load();
  const scores = scoresOfGroups(
    groupsOf(group).map((each) => ({ ...each, leaves: leavesOf(each).map(({ name }) => name) })),
    workbench.runs.runs,
  );
  const [titles = [], ...rows] = groupTable(scores);
  const missing = scores.filter((one) => one.missing.length > 0);
  const lines = [
    `# ${group.alias ?? group.name}`,
    '',
    ...(rows.length > 0
      ? [titles, titles.map(() => '---'), ...rows].map(markdownRow)
      : ['No benchmark of this group has a finished run yet.']),
    '',
    ...missing.map(
      (one) => `${one.group}, ${one.mode}: without ${one.missing.join(', ')}, which have no finished run.`,
    ),
  ];
  const document = await vscode.workspace.openTextDocument({ language: 'markdown', content: `${lines.join('\n')}\n` });
  await vscode.window.showTextDocument(document, { preview: true });
}

/** Opens the file of a benchmark that the user picks. */
export async function openGroupBenchmark(file: string): Promise<void> {
  const { tasksOf } = await import('../benchmark/index.ts');
  const picked = await vscode.window.showQuickPick(
    tasksOf(await groupOf(file)).map((task) => ({
      label: task.name,
      description: vscode.workspace.asRelativePath(task.file),
      ...(task.keys && { detail: `The group gives it: ${Object.keys(task.keys).join(', ')}` }),
      task,
    })),
    { title: 'Benchmarks of the group', matchOnDescription: true },
  );
  if (picked) await openAt(picked.task.file, 1);
}
