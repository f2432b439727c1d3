/** Importing results of other tools and exporting runs: dialogs, progress, and what is said at the end. */
import * as vscode from 'vscode';
import { HumanError, sentenceOf } from '../shared/errors.ts';
import { type ExportFormat, exportFormats, type ImportReport } from '../shared/protocol.ts';
import { inColumnOrder, runsOfRows } from './compare-runs.ts';
import { cancellable } from './progress.ts';
import type { Row } from './trees.ts';
import type { Workbench } from './workbench.ts';

/**
 * Imports files or folders into the store of the workspace; asks for them where none are given.
 * @param first what was clicked in the explorer
 * @param selected all that is selected there
 */
export async function importResults(workbench: Workbench, first?: unknown, selected?: unknown): Promise<void> {
  const given = pathsOf(first, selected);
  const paths = given.length > 0 ? given : await pickResults();
  if (paths.length === 0) return;
  const storeFolder = workbench.runs.storeFolderFor(paths[0] ?? '');
  const worker = await workbench.worker();
  const report = await cancellable('Importing results', (signal, progress) =>
    worker.call.importResults(
      { paths, storeFolder },
      { signal, onProgress: ({ message }) => progress.report({ message }) },
    ),
  );
  await workbench.runs.refresh();
  for (const { file, reason } of report.skipped) workbench.log.info(`${file} was left out: ${reason}`);
  // Not waited for: the command is done when its message is shown.
  void tellImported(workbench, report);
}

async function tellImported(workbench: Workbench, report: ImportReport): Promise<void> {
  const shown = await vscode.window.showInformationMessage(
    reportWords(report),
    ...(report.imported.length > 0 ? ['Show Leaderboard', 'Open Results'] : []),
  );
  if (shown === 'Show Leaderboard') await vscode.commands.executeCommand('softbench.leaderboard.focus');
  const run = report.imported[0]?.run;
  const folder = workbench.runs.runs.find((one) => one.run.id === run);
  if (shown === 'Open Results' && folder) {
    const row: Row = { kind: 'run', run: folder };
    await vscode.commands.executeCommand('softbench.openResults', row);
  }
}

function pathsOf(first: unknown, selected: unknown): string[] {
  const uris = Array.isArray(selected) ? selected : [first];
  return uris.flatMap((uri) => (uri instanceof vscode.Uri && uri.scheme === 'file' ? [uri.fsPath] : []));
}

async function pickResults(): Promise<string[]> {
  // One dialog for both works on macOS only; elsewhere folders would hide the files.
  const kind = await vscode.window.showQuickPick(
    [
      {
        label: '$(file) Results files…',
        detail: 'results_*.json or samples_*.jsonl of lm-evaluation-harness, JSON files of Every Eval Ever',
        folders: false,
      },
      { label: '$(folder) A folder…', detail: 'All results in it, with their samples', folders: true },
    ],
    { title: 'Import results', placeHolder: 'What to import' },
  );
  if (!kind) return [];
  const picked = await vscode.window.showOpenDialog({
    title: 'Import results',
    openLabel: 'Import',
    canSelectMany: true,
    canSelectFiles: !kind.folders,
    canSelectFolders: kind.folders,
    ...(!kind.folders && { filters: { Results: ['json', 'jsonl', 'gz'] } }),
    defaultUri: vscode.workspace.workspaceFolders?.[0]?.uri,
  });
  return (picked ?? []).map(({ fsPath }) => fsPath);
}

function reportWords({ imported, known, skipped }: ImportReport): string {
  const count = (n: number, one: string): string => `${n} ${one}${n === 1 ? '' : 's'}`;
  const models = new Set(imported.map(({ model }) => model)).size;
  const means = imported.filter(({ items }) => items === 0).length;
  return [
    imported.length > 0
      ? `${count(imported.length, 'run')} of ${count(models, 'model')} imported${means > 0 ? `, ${means} of them means without samples` : ''}.`
      : 'Nothing was imported.',
    ...(known.length > 0 ? [`${count(known.length, 'run')} ${known.length === 1 ? 'is' : 'are'} here already.`] : []),
    ...(skipped.length > 0 ? [`${count(skipped.length, 'file')} left out (see the log).`] : []),
  ].join(' ');
}

/** Runs of a row of the tree that have scores. */
function runsOf(row: Row): string[] {
  if (row.kind === 'run') return [row.run.run.id];
  return row.kind === 'group' ? row.runs.filter(({ summary }) => summary !== null).map(({ run }) => run.id) : [];
}

/** Saves the runs of rows as one HTML file. */
export async function shareRows(workbench: Workbench, rows: readonly Row[]): Promise<void> {
  await workbench.runs.load();
  await workbench.share(inColumnOrder(runsOfRows(rows, workbench.runs.runs)));
}

export async function exportRuns(workbench: Workbench, rows: readonly Row[]): Promise<void> {
  const runs = [...new Set(rows.flatMap(runsOf))];
  const [first] = runs;
  const store = first === undefined ? null : workbench.runs.storeOf(first);
  if (!store)
    throw new HumanError('missing', 'There is no run with results to export.', {
      todo: 'Let one of these runs finish first.',
    });
  const format = await vscode.window.showQuickPick(
    exportFormats.map(({ name, title, description }) => ({ label: title, detail: description, name })),
    { title: runs.length === 1 ? 'Export the run' : `Export ${runs.length} runs`, placeHolder: 'Format' },
  );
  if (!format) return;
  if (format.name === 'html') {
    await shareRows(workbench, rows);
    return;
  }
  const [target] =
    (await vscode.window.showOpenDialog({
      title: `Export as ${format.label}`,
      openLabel: 'Export here',
      canSelectFiles: false,
      canSelectFolders: true,
      defaultUri: vscode.workspace.workspaceFolders?.[0]?.uri,
    })) ?? [];
  if (target) await writeRuns(workbench, runs, store.folder, format.name, target.fsPath);
}

async function writeRuns(
  workbench: Workbench,
  runs: string[],
  storeFolder: string,
  format: ExportFormat,
  folder: string,
): Promise<void> {
  const worker = await workbench.worker();
  const files = await cancellable('Exporting', (signal) =>
    worker.call.exportRuns({ runs, storeFolder, format, folder }, { signal }),
  );
  void tellExported(workbench, files, folder);
}

async function tellExported(workbench: Workbench, files: readonly string[], folder: string): Promise<void> {
  const [first] = files;
  const said = `${files.length} ${files.length === 1 ? 'file' : 'files'} written to ${folder}.`;
  const shown = await vscode.window.showInformationMessage(said, ...(first ? ['Open'] : []));
  if (shown === 'Open' && first)
    await vscode.window
      .showTextDocument(vscode.Uri.file(first))
      .then(undefined, (thrown) => workbench.log.warn(sentenceOf(thrown)));
}
