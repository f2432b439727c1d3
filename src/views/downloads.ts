/** Data sets and models from the Hugging Face Hub: agreed to, fetched with progress; and folders in place of data sets. */
import { basename, relative } from 'node:path';
import * as vscode from 'vscode';
import type { BenchmarkDataset } from '../benchmark/index.ts';
import type { FetchProgress, HubSettings } from '../hub/index.ts';
import { formatBytes } from '../metrics/index.ts';
import { HumanError } from '../shared/errors.ts';
import { proxyEnvironment } from './gpu-libraries.ts';
import { cancellable } from './progress.ts';
import { settingsSection } from './settings.ts';
import type { Workbench } from './workbench.ts';

const downloadLabel = 'Download from Hugging Face…';
const mapLabel = 'Map to a Folder…';

/** Runs with a notification that shows how much has arrived. */
const working = <T>(
  title: string,
  run: (signal: AbortSignal, show: (now: FetchProgress) => void) => Promise<T>,
): Promise<T> =>
  cancellable(title, (signal, progress) => {
    let shown = 0;
    return run(signal, ({ bytes, total, file, files, waits }) => {
      const percent = total > 0 ? (100 * bytes) / total : 100;
      const message = waits
        ? `The server asks to wait ${Math.ceil(waits / 1000)} s`
        : `${formatBytes(bytes)} of ${formatBytes(total)}, file ${file} of ${files}`;
      progress.report({ increment: percent - shown, message });
      shown = percent;
    });
  });

async function hub(): Promise<{ rooms: typeof import('../hub/index.ts'); settings: HubSettings }> {
  const rooms = await import('../hub/index.ts');
  return { rooms, settings: { ...rooms.hubSettings(), proxies: proxyEnvironment() } };
}

async function agreed(question: string, lines: readonly string[], button: string): Promise<boolean> {
  return (
    (await vscode.window.showInformationMessage(question, { modal: true, detail: lines.join('\n') }, button)) === button
  );
}

/** The data set of a benchmark, as the file stands in the editor. @throws HumanError where it names none of the Hub */
async function datasetOfFile(file: string): Promise<BenchmarkDataset> {
  const { datasetOf } = await import('../benchmark/index.ts');
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === file);
  const dataset = await datasetOf(file, open?.getText());
  if (!dataset)
    throw new HumanError('bad-input', 'This benchmark names no data set of the Hugging Face Hub.', {
      place: { file },
      todo: 'Its data lies in files of its own.',
    });
  return dataset;
}

/** Asks the Hub, shows what would be fetched, and fetches it. @returns whether it is there now */
export async function downloadDataset(workbench: Workbench, file: string): Promise<boolean> {
  const { planDataset, datasetConsent, fetchDataset, canDownload } = await import('../benchmark/index.ts');
  const dataset = await datasetOfFile(file);
  const { path } = dataset.request;
  if (!canDownload(dataset))
    throw new HumanError('bad-input', `"${path}" is not the id of a data set on the Hugging Face Hub.`, {
      place: { file },
    });
  const { settings } = await hub();
  const plan = await working(`Asking ${settings.endpoint.host} for ${path}`, (signal) =>
    planDataset(dataset, settings, signal),
  );
  const [first = path, ...lines] = await datasetConsent(plan, settings);
  if (!(await agreed(`Download ${first[0]?.toLowerCase()}${first.slice(1)}?`, lines, 'Download'))) return false;
  await working(path, (signal, show) => fetchDataset(plan, settings, { signal, onProgress: show }));
  workbench.dataChanged(file);
  void vscode.window.setStatusBarMessage(`$(check) ${path} is here.`, 5000);
  return true;
}

/** Lets the user choose a folder in place of the data set, and keeps it in the settings. @returns whether one was chosen */
export async function mapDataset(workbench: Workbench, file: string): Promise<boolean> {
  const { path } = (await datasetOfFile(file)).request;
  const [uri] =
    (await vscode.window.showOpenDialog({
      canSelectFolders: true,
      canSelectFiles: false,
      canSelectMany: false,
      title: `Folder with the files of ${path}`,
      openLabel: 'Use in Place of the Data Set',
    })) ?? [];
  if (!uri) return false;
  const configuration = vscode.workspace.getConfiguration(settingsSection);
  const before = configuration.get<Record<string, string>>('datasetFolders', {});
  const workspace = vscode.workspace.getWorkspaceFolder(uri);
  // A folder of the workspace is kept with it, by a path that others have too; any other one with the user.
  const isInside = workspace !== undefined && workspace === vscode.workspace.workspaceFolders?.[0];
  const folder = isInside
    ? `\${workspaceFolder}/${relative(workspace.uri.fsPath, uri.fsPath).replaceAll('\\', '/')}`
    : uri.fsPath;
  const inspected = configuration.inspect<Record<string, string>>('datasetFolders');
  const target = isInside ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  const own = (isInside ? inspected?.workspaceValue : inspected?.globalValue) ?? {};
  await configuration.update('datasetFolders', { ...own, [path]: folder }, target);
  if (before[path] === folder) workbench.dataChanged(file);
  return true;
}

/**
 * Before a benchmark is run or previewed: where its data is not here, offers to fetch it or to map a folder.
 * @returns whether to go on: the data is here, or opening the benchmark will say what is wrong
 */
export async function offerData(workbench: Workbench, file: string): Promise<boolean> {
  if (!/\.ya?ml$/i.test(file)) return true;
  const { datasetOf, canDownload } = await import('../benchmark/index.ts');
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === file);
  const dataset = await datasetOf(file, open?.getText()).catch(() => null);
  if (dataset?.missing?.kind !== 'missing' || !canDownload(dataset)) return true;
  if (!vscode.workspace.isTrusted) return true;
  const picked = await vscode.window.showWarningMessage(dataset.missing.message, downloadLabel, mapLabel);
  if (picked === downloadLabel) return downloadDataset(workbench, file);
  if (picked === mapLabel) return mapDataset(workbench, file);
  return false;
}

/** Asks for the id of a model and which of its graphs, shows what would be fetched, and adds the folder to the models. */
export async function downloadModel(workbench: Workbench): Promise<void> {
  const id = await vscode.window.showInputBox({
    title: 'Download a model from Hugging Face',
    prompt: 'Its id; the repository must hold an ONNX file',
    placeHolder: 'owner/name',
    validateInput: (text) =>
      /^\s*[\w.-]+\/[\w.-]+\s*$/.test(text) ? null : 'Type owner/name, as the page of the model shows it.',
  });
  if (!id) return;
  const { rooms, settings } = await hub();
  const { planModel } = await import('../model/download.ts');
  const name = id.trim();
  const asked = await working(`Asking ${settings.endpoint.host} for ${name}`, (signal) =>
    planModel(name, null, null, settings, signal),
  );
  let plan = asked;
  if (asked.variants.length > 1) {
    const picked = await vscode.window.showQuickPick(
      asked.variants.map(({ graph, bytes }) => ({ label: `$(chip) ${graph}`, description: formatBytes(bytes), graph })),
      { title: `Graphs of ${name}`, placeHolder: 'Choose one; the first is the most exact' },
    );
    if (!picked) return;
    if (picked.graph !== asked.graph)
      plan = await working(`Asking ${settings.endpoint.host} for ${name}`, (signal) =>
        planModel(name, null, picked.graph, settings, signal),
      );
  }
  const [first = name, ...lines] = await rooms.consentLines(plan.listing, plan.files, settings, [plan.graph]);
  if (!(await agreed(`Download ${first[0]?.toLowerCase()}${first.slice(1)}?`, lines, 'Download'))) return;
  const folder = await working(name, (signal, show) =>
    rooms.fetchFiles(plan.listing, plan.files, settings, { signal, onProgress: show }),
  );
  await workbench.models.add(folder);
  void vscode.window.showInformationMessage(`${basename(name)} is here: ${folder}`);
}
