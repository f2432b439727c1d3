/** What a command is about: the benchmark, or benchmark × model, of its argument, of the editor in front or of the user's choice. */
import * as vscode from 'vscode';
import { findGroup, findTask } from '../editor/detect.ts';
import { resultWords } from '../editor/words.ts';
import { HumanError } from '../shared/errors.ts';
import { isImportedPlace } from '../shared/imported.ts';
import { type Subject, subjectOfRun } from './live-results.ts';
import type { Row } from './trees.ts';
import type { Workbench } from './workbench.ts';

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string';

/** The benchmark file that an argument names: a URI from the editor, a row of a tree. Imported runs have none here. */
export function fileOf(argument: unknown): string | null {
  const file = namedFile(argument);
  return file !== null && isImportedPlace(file) ? null : file;
}

function namedFile(argument: unknown): string | null {
  if (argument instanceof vscode.Uri) return argument.scheme === 'file' ? argument.fsPath : null;
  if (!isRow(argument)) return null;
  if (argument.kind === 'benchmark') return argument.benchmark.file;
  if (argument.kind === 'group') return argument.benchmarkFile;
  if (argument.kind === 'run') return argument.run.run.benchmark.file;
  if (argument.kind === 'job') return argument.job.request.benchmarkFile;
  return null;
}

/** The benchmark in front; where something else is (a page, the walkthrough), the only one that can be seen. */
export function activeBenchmark(): string | null {
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  const editors = activeTextEditor ? [activeTextEditor] : visibleTextEditors;
  const files = editors
    .map(({ document }) => document)
    .filter(({ uri, getText }) => uri.scheme === 'file' && findTask(getText()))
    .map(({ uri }) => uri.fsPath);
  const [only, ...others] = new Set(files);
  return others.length === 0 ? (only ?? null) : null;
}

/** The argument's file, else the one in front, else the one the user picks. */
export async function benchmarkOf(workbench: Workbench, argument: unknown): Promise<string | null> {
  if (isRow(argument) && argument.kind === 'benchmark') await workbench.benchmarks.provide(argument.benchmark);
  const known = fileOf(argument) ?? activeBenchmark();
  if (known) {
    if (!(await taskOf(known)))
      throw new HumanError(
        'bad-input',
        'This file is no benchmark: it has neither `task:` (YAML) nor `"name":` and `"preferred_score":` (JSON) at its top level.',
        {
          place: { file: known },
          todo: 'Open a task file of lm-evaluation-harness or a task.json of BIG-bench.',
        },
      );
    return known;
  }
  const picked = await vscode.window.showQuickPick(
    (await workbench.benchmarks.known()).map((benchmark) => ({
      label: `$(${benchmark.isExample ? 'book' : 'checklist'}) ${benchmark.task}`,
      description: benchmark.isExample ? 'example' : vscode.workspace.asRelativePath(benchmark.file),
      benchmark,
    })),
    { title: 'Benchmark', placeHolder: 'Choose a benchmark' },
  );
  if (!picked) return null;
  await workbench.benchmarks.provide(picked.benchmark);
  return picked.benchmark.file;
}

export async function taskOf(file: string): Promise<string> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file));
  return (findTask(document.getText()) ?? findGroup(document.getText()))?.task ?? '';
}

/** Of a row without its runs: a list of runs would be taken for a comparison of them. */
export const subjectOfGroup = ({ task, benchmarkFile, modelName, modelFolder }: Subject): Subject => ({
  task,
  benchmarkFile,
  modelName,
  modelFolder,
});

/** Benchmark × model of an argument; of a file without results, the model chosen for it. */
export async function subjectOfArgument(
  { runs, models, queue }: Workbench,
  argument: unknown,
): Promise<Subject | null> {
  if (isRow(argument)) {
    if (argument.kind === 'group') return subjectOfGroup(argument);
    if (argument.kind === 'run') return subjectOfRun(argument.run.run);
    if (argument.kind === 'job') {
      const { task, modelName, request } = argument.job;
      return { task, modelName, benchmarkFile: request.benchmarkFile, modelFolder: request.modelFolder };
    }
  }
  const file = fileOf(argument) ?? activeBenchmark();
  if (!file) return null;
  const job = queue.find(file);
  const newest = runs.runs.find(({ run }) => run.benchmark.file === file)?.run.model;
  const model = job ? { name: job.modelName, folder: job.request.modelFolder } : (models.chosen(file) ?? newest);
  if (!model) return null;
  return { task: await taskOf(file), benchmarkFile: file, modelName: model.name, modelFolder: model.folder };
}

export async function pickSubject({ runs }: Workbench): Promise<Subject | null> {
  const subjects = new Map<string, Subject>();
  for (const { run } of runs.runs)
    subjects.set(JSON.stringify([run.benchmark.file, run.model.folder]), subjectOfRun(run));
  if (subjects.size === 0)
    throw new HumanError('missing', 'There are no results yet.', {
      todo: 'Open a benchmark file and choose “Tune soft prompt” above its task.',
    });
  const picked = await vscode.window.showQuickPick(
    [...subjects.values()].map((subject) => ({
      label: `$(graph) ${subject.task} · ${subject.modelName}`,
      description: resultWords(runs.finished(subject.benchmarkFile, subject.modelFolder)),
      subject,
    })),
    { title: 'Results', placeHolder: 'Choose the results to open' },
  );
  return picked?.subject ?? null;
}
