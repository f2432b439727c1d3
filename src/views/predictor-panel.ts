/** The predictor page as an editor tab: fed from one source, live while something is computed, found again after a restart. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { HumanError, sentenceOf } from '../shared/errors.ts';
import type { PredictionTask, PredictorView, SmallBenchResult } from '../shared/predictions.ts';
import type { PredictorCommand, PredictorPageApi, PredictorPageEvents } from '../shared/protocol.ts';
import { connect, type Handlers, serve } from '../shared/rpc.ts';
import { throttle } from './emitter.ts';
import { pageChannel, pageHtml, pageOptions } from './page.ts';
import type { Predictions } from './predictions.ts';

export const predictorViewType = 'softbench.predictor';

const stateKey = 'softbench.page.predictor';
const title = 'Predictor';

export class PredictorPanels implements vscode.WebviewPanelSerializer<unknown>, vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #predictions: Predictions;
  #panel: vscode.WebviewPanel | null = null;

  constructor(context: vscode.ExtensionContext, predictions: Predictions) {
    this.#context = context;
    this.#predictions = predictions;
  }

  /**
   * Shows the page.
   * @param task what to compute where that has not been done for the records as they are
   */
  async show(task: PredictionTask | null = null): Promise<void> {
    if (this.#panel) this.#panel.reveal();
    else
      this.#adopt(
        vscode.window.createWebviewPanel(
          predictorViewType,
          title,
          vscode.ViewColumn.Active,
          pageOptions(this.#context.extensionUri),
        ),
      );
    if (task === null) return;
    const { records, work, ...results } = await this.#predictions.view();
    const isThere = results[task]?.digest === records?.digest;
    if (records && records.used > 0 && !isThere && work?.task !== task) this.#predictions.start(task);
  }

  get isVisible(): boolean {
    return this.#panel?.visible ?? false;
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    if (this.#panel) panel.dispose();
    else {
      panel.webview.options = pageOptions(this.#context.extensionUri);
      this.#adopt(panel);
    }
  }

  #adopt(panel: vscode.WebviewPanel): void {
    this.#panel = panel;
    const { extensionUri } = this.#context;
    const icon = (name: string): vscode.Uri => vscode.Uri.joinPath(extensionUri, 'media', name);
    panel.iconPath = { light: icon('softbench-light.svg'), dark: icon('softbench-dark.svg') };
    const channel = pageChannel(panel.webview);
    const page = connect<PredictorPageEvents>(channel);
    const stopServing = serve<PredictorPageApi>(channel, this.#handlers());
    // A hidden page is told nothing and costs nothing.
    const push = throttle(300, () => {
      if (!panel.visible) return;
      void this.#predictions
        .view()
        .then((view) => page.call.viewChanged(view))
        .catch(() => {});
    });
    const subscriptions = [
      this.#predictions.onDidChange(push),
      this.#predictions.onDidWork((work) => {
        if (panel.visible) void page.call.workChanged(work).catch(() => {});
      }),
      panel.onDidChangeViewState(() => {
        if (panel.visible) push();
      }),
    ];
    panel.onDidDispose(() => {
      if (this.#panel === panel) this.#panel = null;
      stopServing();
      page.dispose();
      push.dispose();
      for (const subscription of subscriptions) subscription.dispose();
      // Nobody looks on: what was asked for on the page is not wanted any more.
      this.#predictions.stop();
    });
    panel.webview.html = pageHtml(panel.webview, extensionUri, 'predictor', { title, restore: {} });
  }

  #handlers(): Handlers<PredictorPageApi> {
    const { workspaceState } = this.#context;
    return {
      view: () => this.#predictions.view(),
      set: (change) => this.#predictions.set(change),
      start: ({ task }) => this.#predictions.start(task),
      stop: () => this.#predictions.stop(),
      runCommand: async ({ command }) => {
        if (Object.hasOwn(this.#commands, command)) await this.#commands[command]();
      },
      removeFile: ({ path }) => this.#predictions.removeFile(path),
      exportSmallBench: async ({ budget }) => {
        const { smallBench, work } = await this.#predictions.view();
        const result = work?.smallBench ?? smallBench;
        if (result) await exportSmallBench(result, budget);
      },
      copy: async ({ text }) => vscode.env.clipboard.writeText(text),
      saveState: async ({ state }) => workspaceState.update(stateKey, state),
      loadState: () => workspaceState.get(stateKey) ?? null,
    };
  }

  readonly #commands: Record<PredictorCommand, () => Promise<unknown>> = {
    addRecords: () => addRecords(this.#predictions),
    openExample: () => this.#predictions.useExample(true),
    importResults: async () => vscode.commands.executeCommand('softbench.importResults'),
    openSettings: async () =>
      vscode.commands.executeCommand('workbench.action.openSettings', 'softbench.predictionRecords'),
    share: async () =>
      sharePredictor(await this.#predictions.view(), join(this.#context.extensionPath, 'dist', 'webview')),
  };

  dispose(): void {
    this.#panel?.dispose();
  }
}

async function addRecords(predictions: Predictions): Promise<void> {
  const picked = await vscode.window.showOpenDialog({
    title: 'Add records',
    openLabel: 'Add',
    canSelectMany: true,
    filters: { 'Tables of scores, mapping files': ['csv', 'json', 'jsonl', 'yaml', 'yml'] },
  });
  if (picked) await predictions.addFiles(picked.map(({ fsPath }) => fsPath));
}

/** Asks where to, and writes the list as a group file. */
async function exportSmallBench(result: SmallBenchResult, budget: number): Promise<void> {
  const point = result.curve.find((one) => one.budget === budget);
  if (!point) throw new HumanError('missing', `There is no list for a budget of ${budget} ${result.unit}.`);
  const { groupYaml } = await import('../predict/index.ts');
  const name = `small_bench_${point.subtasks.length}`;
  const recovery = point.recovery?.mean ?? null;
  const text = groupYaml({
    name,
    tasks: point.subtasks,
    comment: [
      `Found by Softbench: ${result.title} over ${result.rows} models × ${result.subtasks} tasks.`,
      recovery === null
        ? `R² on the other tasks of what it was searched with: ${point.inSample.toFixed(3)}.`
        : `R² on the other tasks of ${result.heldOut} that were held out: ${recovery.toFixed(3)}.`,
    ],
  });
  const target = await saveAs(`${name}.yaml`, 'Group file', ['yaml'], text, 'The list');
  if (!target) return;
  void vscode.window.showInformationMessage(`Saved as ${target.fsPath}.`, 'Open').then(async (shown) => {
    if (shown === 'Open') await vscode.window.showTextDocument(target);
  });
}

/** The page as one HTML file. */
async function sharePredictor(view: PredictorView, pages: string): Promise<void> {
  const target = await saveAs('predictor.html', 'Web page', ['html'], await predictorFile(view, pages), 'The page');
  if (!target) return;
  void vscode.window.showInformationMessage(`Saved as ${target.fsPath}.`, 'Open').then(async (shown) => {
    if (shown === 'Open') await vscode.env.openExternal(target);
  });
}

async function saveAs(
  name: string,
  kind: string,
  extensions: string[],
  text: string,
  what: string,
): Promise<vscode.Uri | null> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const target = await vscode.window.showSaveDialog({
    title: `Save as ${kind}`,
    filters: { [kind]: extensions },
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder.uri, name) }),
  });
  if (!target) return null;
  try {
    await writeFile(target.fsPath, text);
  } catch (cause) {
    throw new HumanError('disk', `${what} cannot be saved as ${target.fsPath}: ${sentenceOf(cause)}`, {
      todo: 'Choose another folder, or make room.',
      cause,
    });
  }
  return target;
}

/** Without the places of files on this machine. @param pages folder with `predictor.js` and `predictor.css` */
export async function predictorFile(view: PredictorView, pages: string): Promise<string> {
  const { pageHtml: oneFile } = await import('../study/index.ts');
  const part = async (name: string): Promise<string> => {
    try {
      return (await readFile(join(pages, name), 'utf8')).replace(/^(\/\/|\/\*)# sourceMappingURL=.*$/m, '');
    } catch (cause) {
      throw new HumanError('missing', `A part of Softbench is missing: ${join(pages, name)}.`, {
        todo: 'Build or install it again.',
        cause,
      });
    }
  };
  return oneFile({
    title,
    data: { page: 'predictor', view: withoutPlaces(view) },
    script: await part('predictor.js'),
    style: await part('predictor.css'),
  });
}

function withoutPlaces({ records, ...view }: PredictorView): PredictorView {
  return {
    ...view,
    work: null,
    problem: null,
    records: records && {
      ...records,
      sources: records.sources.map(({ path, problem, ...source }) => ({
        ...source,
        path: basename(path),
        problem: problem?.replaceAll(path, basename(path)) ?? null,
      })),
    },
  };
}
