/** All commands in one table. A command that cannot run now says why. Titles stand in package.json. */
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { asError, HumanError } from '../shared/errors.ts';
import { compareRuns, rowsOf } from './compare-runs.ts';
import { downloadDataset, downloadModel, mapDataset, offerData } from './downloads.ts';
import { exportRuns, importResults, shareRows } from './exchange.ts';
import { installLibraries, showProviders } from './gpu-libraries.ts';
import { evaluateGroup, openGroupBenchmark, showGroupScores } from './groups.ts';
import { modelReportText } from './model-text.ts';
import { browseModel, chooseModel } from './pick-model.ts';
import { needsTrust as needsTrustWords } from './predictions.ts';
import { rescoreRuns } from './rescore.ts';
import { activeBenchmark, benchmarkOf, fileOf, isRow, pickSubject, subjectOfArgument, taskOf } from './subjects.ts';
import { folderOf, type Row } from './trees.ts';
import type { Workbench } from './workbench.ts';

interface Command {
  id: string;
  /** A sentence where the command cannot run now; null where it can. */
  disabled?(workbench: Workbench): string | null;
  run(workbench: Workbench, first: unknown, second: unknown): unknown;
}

const needsTrust = (): string | null =>
  vscode.workspace.isTrusted
    ? null
    : 'Models are run only in a trusted workspace: a benchmark and a model are files that somebody wrote.';
const needsTrustToPredict = (): string | null => (vscode.workspace.isTrusted ? null : needsTrustWords);
const needsJob = ({ queue }: Workbench): string | null => (queue.jobs.length > 0 ? null : 'Nothing is running.');
const needsPreview = ({ previews }: Workbench): string | null =>
  previews?.current ? null : 'Open a preview first: “Preview prompts” above the task of a benchmark file.';

/** A command of a benchmark file: of the one that it is given or that is meant, where there is one. */
const ofBenchmark =
  (run: (workbench: Workbench, file: string) => unknown): Command['run'] =>
  async (workbench, first) => {
    const file = await benchmarkOf(workbench, first);
    return file && run(workbench, file);
  };

export const commands: readonly Command[] = [
  {
    id: 'softbench.evaluate',
    disabled: needsTrust,
    run: ofBenchmark((workbench, file) => workbench.start.evaluate(file)),
  },
  {
    id: 'softbench.tune',
    disabled: needsTrust,
    run: ofBenchmark((workbench, file) => workbench.start.tune(file)),
  },
  {
    id: 'softbench.compare',
    disabled: needsTrust,
    run: ofBenchmark((workbench, file) => workbench.start.compare(file)),
  },
  {
    id: 'softbench.evaluateGroup',
    disabled: needsTrust,
    run: ofBenchmark((workbench, file) => evaluateGroup(workbench, file)),
  },
  {
    id: 'softbench.groupScores',
    run: ofBenchmark((workbench, file) => showGroupScores(workbench, file)),
  },
  {
    id: 'softbench.openGroupBenchmark',
    run: ofBenchmark((_, file) => openGroupBenchmark(file)),
  },
  {
    id: 'softbench.previewPrompts',
    run: async (workbench, first) => {
      const file = await benchmarkOf(workbench, first);
      // Shown all the same: the page says what is wrong, and is drawn again once the data is there.
      if (file && vscode.workspace.isTrusted) void offerData(workbench, file).catch(() => false);
      if (file) await workbench.previews?.show(file, await taskOf(file));
    },
  },
  { id: 'softbench.previewNext', disabled: needsPreview, run: ({ previews }) => previews?.step({ by: 1 }) },
  { id: 'softbench.previewPrevious', disabled: needsPreview, run: ({ previews }) => previews?.step({ by: -1 }) },
  {
    id: 'softbench.previewGoTo',
    disabled: needsPreview,
    run: async ({ previews }) => {
      const total = previews?.current?.total ?? null;
      const typed = await vscode.window.showInputBox({
        title: 'Preview item',
        prompt: total === null ? 'Number of the item, from 1' : `Number of the item, 1 to ${total}`,
        validateInput: (text) =>
          /^\d+$/.test(text) && Number(text) >= 1 && (total === null || Number(text) <= total)
            ? null
            : `Type a whole number${total === null ? '' : ` from 1 to ${total}`}.`,
      });
      if (typed) previews?.step({ to: Number(typed) - 1 });
    },
  },
  {
    id: 'softbench.chooseModel',
    run: async (workbench, first) => {
      if (isRow(first) && first.kind === 'model') {
        const file = activeBenchmark();
        await workbench.models.choose(file, first.model.folder);
        void vscode.window.setStatusBarMessage(
          `$(chip) ${first.model.name} is chosen${file ? ` for ${basename(file)}` : ''}.`,
          4000,
        );
        return;
      }
      await chooseModel(workbench, fileOf(first) ?? activeBenchmark());
    },
  },
  { id: 'softbench.addModelFolder', run: (workbench) => browseModel(workbench) },
  {
    id: 'softbench.removeModelFolder',
    run: async (workbench, first) => {
      if (!isRow(first) || first.kind !== 'model') return;
      if (!(await workbench.models.remove(first.model.folder)))
        await vscode.commands.executeCommand('workbench.action.openSettings', 'softbench.modelFolders');
    },
  },
  {
    id: 'softbench.inspectModel',
    run: async (workbench, first) => {
      if (!isRow(first) || first.kind !== 'model') return;
      const report = await workbench.models.report(first.model.folder);
      const document = await vscode.workspace.openTextDocument({
        language: 'markdown',
        content: modelReportText(report),
      });
      await vscode.window.showTextDocument(document, { preview: true });
    },
  },
  {
    id: 'softbench.stop',
    disabled: needsJob,
    run: (workbench, first) => {
      const { queue } = workbench;
      const file = fileOf(first);
      const job =
        isRow(first) && first.kind === 'job'
          ? first.job
          : ((file && queue.find(file)) ?? queue.running ?? queue.jobs[0]);
      if (job) queue.stop(job);
    },
  },
  {
    id: 'softbench.resume',
    disabled: needsTrust,
    run: async (workbench, first, second) => {
      await workbench.runs.load();
      if (typeof second === 'string') return workbench.start.resume(second);
      if (isRow(first) && first.kind === 'run') return workbench.start.resume(first.run.run.group);
      const subject = await subjectOfArgument(workbench, first);
      if (subject) await workbench.start.resumeNewest(subject.benchmarkFile, subject.modelFolder);
    },
  },
  {
    id: 'softbench.rescore',
    disabled: needsTrust,
    run: async (workbench, first, second) => {
      const { runs } = workbench;
      await runs.load();
      // The CodeLens names runs; of a row, those below it; else the newest of the benchmark.
      const named = Array.isArray(second) ? runs.runs.filter(({ run }) => second.includes(run.id)) : null;
      if (named) return rescoreRuns(workbench, named);
      if (isRow(first) && first.kind === 'run') return rescoreRuns(workbench, [first.run]);
      const subject = await subjectOfArgument(workbench, first);
      if (subject) await rescoreRuns(workbench, runs.finishedRuns(subject.benchmarkFile, subject.modelFolder));
    },
  },
  {
    id: 'softbench.openResults',
    run: async (workbench, first) => {
      await workbench.runs.load();
      const subject = (await subjectOfArgument(workbench, first)) ?? (await pickSubject(workbench));
      if (subject) workbench.panels.show(subject);
    },
  },
  { id: 'softbench.openLeaderboard', run: ({ leaderboard }) => leaderboard.tab.show() },
  { id: 'softbench.linkModels', run: ({ leaderboardSource }) => leaderboardSource.editLink(null) },
  { id: 'softbench.compareRuns', run: compareRuns },
  {
    id: 'softbench.shareRuns',
    run: (workbench, first, second) => {
      const rows = rowsOf(first, second);
      return shareRows(workbench, rows.length > 0 ? rows : workbench.selectedRuns());
    },
  },
  {
    id: 'softbench.openExample',
    run: async (workbench, first) => {
      const examples = await workbench.benchmarks.examples();
      const named = typeof first === 'string' ? examples.find(({ task }) => task === first) : undefined;
      const example =
        named ??
        (
          await vscode.window.showQuickPick(
            examples.map((one) => ({ label: `$(book) ${one.task}`, detail: basename(one.file), example: one })),
            { title: 'Example benchmarks', placeHolder: 'Choose an example to open' },
          )
        )?.example;
      if (!example) return;
      await workbench.benchmarks.provide(example);
      await vscode.window.showTextDocument(vscode.Uri.file(example.file));
    },
  },
  {
    id: 'softbench.openBenchmark',
    run: async (workbench, first) => {
      if (isRow(first) && first.kind === 'benchmark') await workbench.benchmarks.provide(first.benchmark);
      const file = fileOf(first);
      if (file) await vscode.window.showTextDocument(vscode.Uri.file(file));
    },
  },
  {
    id: 'softbench.revealFolder',
    run: async (_, first) => {
      const folder = isRow(first) ? folderOf(first) : null;
      if (!folder) throw new HumanError('missing', 'The folder is not there any more.');
      const uri = vscode.Uri.file(folder);
      if (!vscode.env.remoteName) await vscode.commands.executeCommand('revealFileInOS', uri);
      // A remote window has no file manager: the explorer shows what is in the workspace.
      else if (vscode.workspace.getWorkspaceFolder(uri)) await vscode.commands.executeCommand('revealInExplorer', uri);
      else if ((await vscode.window.showInformationMessage(folder, 'Copy Path')) === 'Copy Path')
        await vscode.env.clipboard.writeText(folder);
    },
  },
  {
    id: 'softbench.deleteRun',
    run: async (workbench, first, second) => {
      if (!isRow(first)) return;
      if (first.kind === 'unreadable') {
        const { folder } = first.unreadable;
        if (await confirmed(`Delete ${basename(folder)}?`, `It cannot be read: ${first.unreadable.reason}`)) {
          await vscode.workspace.fs.delete(vscode.Uri.file(folder), { recursive: true, useTrash: true });
          await workbench.runs.refresh();
        }
        return;
      }
      if (first.kind !== 'run') return;
      const meant = rowsOf(first, second).flatMap((row) => (row.kind === 'run' ? [row.run.run] : []));
      const { benchmark, model, mode } = first.run.run;
      const question =
        meant.length === 1
          ? `Delete the run of ${benchmark.task} on ${model.name}, ${mode}?`
          : `Delete ${meant.length} runs?`;
      const detail =
        meant.length === 1
          ? 'Its items, its scores and its soft prompt are deleted from disk.'
          : `Their items, scores and soft prompts are deleted from disk:\n${meant.map(({ id }) => id).join('\n')}`;
      if (!(await confirmed(question, detail))) return;
      for (const { id } of meant) await workbench.runs.storeOf(id)?.remove(id);
      await workbench.runs.refresh();
    },
  },
  {
    id: 'softbench.predict',
    disabled: needsTrustToPredict,
    run: (workbench) => workbench.predictor.show('fit'),
  },
  {
    id: 'softbench.smallBench',
    disabled: needsTrustToPredict,
    run: (workbench) => workbench.predictor.show('smallBench'),
  },
  {
    id: 'softbench.importResults',
    run: (workbench, first, second) => importResults(workbench, first, second),
  },
  {
    id: 'softbench.exportRun',
    run: (workbench, first, second) => exportRuns(workbench, rowsOf(first, second)),
  },
  {
    id: 'softbench.copyRunId',
    run: async (_, first, second) => {
      const ids = rowsOf(first, second).flatMap((row) => (row.kind === 'run' ? [row.run.run.id] : []));
      if (ids.length > 0) await vscode.env.clipboard.writeText(ids.join('\n'));
    },
  },
  {
    id: 'softbench.refresh',
    run: async (workbench) => {
      workbench.models.refresh();
      workbench.benchmarks.refresh();
      await workbench.runs.refresh();
    },
  },
  { id: 'softbench.menu', run: showMenu },
  { id: 'softbench.showLog', run: ({ log }) => log.show() },
  {
    id: 'softbench.openSettings',
    run: () => vscode.commands.executeCommand('workbench.action.openSettings', '@ext:softbench.softbench'),
  },
  {
    id: 'softbench.downloadDataset',
    disabled: needsTrust,
    run: async (workbench, first) => {
      const file = await benchmarkOf(workbench, first);
      if (file) await downloadDataset(workbench, file);
    },
  },
  {
    id: 'softbench.mapDataset',
    disabled: needsTrust,
    run: async (workbench, first) => {
      const file = await benchmarkOf(workbench, first);
      if (file) await mapDataset(workbench, file);
    },
  },
  { id: 'softbench.downloadModel', disabled: needsTrust, run: (workbench) => downloadModel(workbench) },
  { id: 'softbench.installLibraries', disabled: needsTrust, run: (workbench) => installLibraries(workbench) },
  { id: 'softbench.showProviders', disabled: needsTrust, run: (workbench) => showProviders(workbench) },
  {
    id: 'softbench.openWalkthrough',
    run: () => vscode.commands.executeCommand('workbench.action.openWalkthrough', 'softbench.softbench#start', false),
  },
];

export function registerCommands(workbench: Workbench): vscode.Disposable {
  return vscode.Disposable.from(
    ...commands.map((command) =>
      vscode.commands.registerCommand(command.id, async (first: unknown, second: unknown) => {
        const reason = command.disabled?.(workbench) ?? null;
        if (reason) {
          void vscode.window.showInformationMessage(reason);
          return undefined;
        }
        try {
          await command.run(workbench, first, second);
        } catch (thrown) {
          // Not waited for: a command is done when its message is shown, not when it is read.
          void workbench.start.tellError(asError(thrown), 'Softbench', null);
        }
        return undefined;
      }),
    ),
  );
}

async function confirmed(question: string, detail: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, 'Delete')) === 'Delete';
}

/** What the status bar opens. */
async function showMenu(workbench: Workbench): Promise<void> {
  const { queue } = workbench;
  const entry = (label: string, command: string, argument?: unknown): vscode.QuickPickItem & { run(): unknown } => ({
    label,
    run: () => vscode.commands.executeCommand(command, argument),
  });
  const picked = await vscode.window.showQuickPick(
    [
      ...queue.jobs.flatMap((job) => {
        const row: Row = { kind: 'job', job };
        return [
          entry(`$(graph) Show results of ${job.task} on ${job.modelName}`, 'softbench.openResults', row),
          entry(`$(debug-stop) Stop ${job.task} on ${job.modelName}`, 'softbench.stop', row),
        ];
      }),
      ...(queue.jobs.length === 0 ? [entry('$(graph) Open results…', 'softbench.openResults')] : []),
      entry('$(chip) Choose model…', 'softbench.chooseModel'),
      entry('$(list-unordered) Show leaderboard', 'softbench.leaderboard.focus'),
      entry('$(graph-scatter) Predict missing scores', 'softbench.predict'),
      entry(
        '$(server-process) Choose execution provider…',
        'workbench.action.openSettings',
        'softbench.executionProvider',
      ),
      entry('$(info) Show execution providers', 'softbench.showProviders'),
      entry('$(output) Show log', 'softbench.showLog'),
    ],
    { title: 'Softbench' },
  );
  await picked?.run();
}
