/** The predictor page as an editor tab: fed from one source, live while something is computed, found again after a restart. */
import { join } from 'node:path';
import * as vscode from 'vscode';
import { HumanError } from '../shared/errors.ts';
import type { PredictionTask, PredictorView, SmallBenchResult } from '../shared/predictions.ts';
import type { PredictorCommand, PredictorPageApi, PredictorPageEvents } from '../shared/protocol.ts';
import { connect, type Handlers, serve } from '../shared/rpc.ts';
import { throttle } from './emitter.ts';
import { pageChannel, pageHtml } from './page.ts';
import type { Predictions } from './predictions.ts';
import { askWhereTo, tellSaved, writeTo } from './save-file.ts';
import { SingleTab } from './single-tab.ts';

export const predictorViewType = 'softbench.predictor';

const stateKey = 'softbench.page.predictor';
const title = 'Predictor';

export class PredictorPanel implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #predictions: Predictions;
  readonly tab: SingleTab;

  constructor(context: vscode.ExtensionContext, predictions: Predictions) {
    this.#context = context;
    this.#predictions = predictions;
    this.tab = new SingleTab({ type: predictorViewType, title, extension: context.extensionUri }, (panel) =>
      this.#serve(panel),
    );
  }

  /**
   * Shows the page.
   * @param task what to compute where that has not been done for the records as they are
   */
  async show(task: PredictionTask | null = null): Promise<void> {
    this.tab.show();
    if (task === null) return;
    const { records, work, ...results } = await this.#predictions.view();
    const isThere = results[task]?.digest === records?.digest;
    if (records && records.used > 0 && !isThere && work?.task !== task) this.#predictions.start(task);
  }

  get isVisible(): boolean {
    return this.tab.isVisible;
  }

  #serve(panel: vscode.WebviewPanel): void {
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
      stopServing();
      page.dispose();
      push.dispose();
      for (const subscription of subscriptions) subscription.dispose();
      // Nobody looks on: what was asked for on the page is not wanted any more.
      this.#predictions.stop();
    });
    panel.webview.html = pageHtml(panel.webview, this.#context.extensionUri, 'predictor', { title, restore: {} });
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
    this.tab.dispose();
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
  const target = await askWhereTo('Save the list as group file', `${name}.yaml`, 'Group file', 'yaml');
  if (!target) return;
  await writeTo(target, text, 'The list');
  tellSaved(target);
}

/** The page as one HTML file. */
async function sharePredictor(view: PredictorView, pages: string): Promise<void> {
  const { predictorFile } = await import('../study/index.ts');
  const html = await predictorFile(view, pages);
  const target = await askWhereTo('Save the page as HTML', 'predictor.html', 'Web page', 'html');
  if (!target) return;
  await writeTo(target, html, 'The page');
  tellSaved(target, ', without personal paths');
}
