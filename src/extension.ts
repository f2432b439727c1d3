/**
 * Activation: makes the parts and wires them together. Nothing of ONNX Runtime, of a tokenizer or of a parser is loaded
 * here: the rooms behind are imported when they are first used.
 */
import * as vscode from 'vscode';
import {
  BenchmarkDiagnostics,
  BenchmarkLenses,
  benchmarkFiles,
  findTask,
  mayBeBenchmark,
  PromptPreviews,
  registerCompletion,
  registerDataActions,
} from './editor/index.ts';
import { setDatasetFolders } from './shared/dataset-folders.ts';
import {
  BenchmarksTree,
  leaderboardTabType,
  leaderboardViewType,
  ModelsTree,
  onSettingsChange,
  predictorViewType,
  RunsTree,
  registerCommands,
  resultsViewType,
  StatusBar,
  settings,
  Workbench,
} from './views/index.ts';

let workbench: Workbench | null = null;

export function activate(context: vscode.ExtensionContext): { workbench: Workbench } | undefined {
  const log = vscode.window.createOutputChannel('Softbench', { log: true });
  const made = new Workbench(context, log);
  workbench = made;
  made.previews = new PromptPreviews(made);
  const lenses = new BenchmarkLenses(made);
  setDatasetFolders(settings.datasetFolders);
  const diagnostics = new BenchmarkDiagnostics(async (file, text) => {
    const { checkBenchmark } = await import('./benchmark/index.ts');
    return (await checkBenchmark(file, text)).problems;
  }, log);
  context.subscriptions.push(
    log,
    made,
    made.previews,
    lenses,
    vscode.languages.registerCodeLensProvider(benchmarkFiles, lenses),
    diagnostics,
    registerCompletion(),
    registerDataActions(),
    made.onDataChange((file) => {
      diagnostics.refresh();
      if (file !== null) made.previews?.refresh(file);
    }),
    registerCommands(made),
    vscode.window.registerTreeDataProvider('softbench.models', new ModelsTree(made.models)),
    vscode.window.registerTreeDataProvider(
      'softbench.benchmarks',
      new BenchmarksTree(made.benchmarks, made.models, made.runs),
    ),
    made.showRuns(new RunsTree(made.runs, made.queue)),
    vscode.window.registerWebviewViewProvider(leaderboardViewType, made.leaderboard),
    vscode.window.registerWebviewPanelSerializer(leaderboardTabType, made.leaderboard.tab),
    vscode.window.registerWebviewPanelSerializer(resultsViewType, made.panels),
    vscode.window.registerWebviewPanelSerializer(predictorViewType, made.predictor.tab),
    new StatusBar(made.queue),
    followEditor(),
    followJobs(made),
    onSettingsChange((affects) => {
      if (affects('modelFolders')) made.models.refresh();
      if (affects('datasetFolders')) {
        setDatasetFolders(settings.datasetFolders);
        // The worker knows them by its environment.
        void made.restartWorker().then(() => made.dataChanged(null));
      }
      if (affects('store')) made.runs.refreshSoon();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      made.models.refresh();
      made.benchmarks.refresh();
      made.runs.refreshSoon();
    }),
  );
  // The lens of a benchmark shows earlier results: read them once the editor has had its turn.
  setTimeout(() => void made.runs.load().catch((thrown) => log.error(thrown)), 0);
  if (!process.env.SOFTBENCH_TEST) return undefined;
  // The one thing that a test cannot do by clicks: a worker that dies under its work.
  context.subscriptions.push(
    vscode.commands.registerCommand('softbench.test.killWorker', async () => (await made.worker()).kill()),
  );
  return { workbench: made };
}

export async function deactivate(): Promise<void> {
  await workbench?.shutDown();
  workbench = null;
}

/** Menus of the editor's title ask whether a benchmark is in front. */
function followEditor(): vscode.Disposable {
  let shown: boolean | undefined;
  const update = (): void => {
    const document = vscode.window.activeTextEditor?.document;
    const isBenchmark =
      document !== undefined &&
      mayBeBenchmark(document) &&
      document.uri.scheme === 'file' &&
      findTask(document.getText()) !== null;
    if (isBenchmark === shown) return;
    shown = isBenchmark;
    void vscode.commands.executeCommand('setContext', 'softbench.isBenchmark', isBenchmark);
  };
  update();
  return vscode.Disposable.from(
    vscode.window.onDidChangeActiveTextEditor(update),
    vscode.workspace.onDidSaveTextDocument(update),
  );
}

/** Views ask whether a job runs; a bar in the Runs view moves while one does. */
function followJobs({ queue, runs }: Workbench): vscode.Disposable {
  let isRunning = false;
  let end = (): void => {};
  return vscode.Disposable.from(
    queue.onChange(() => {
      const now = queue.jobs.length > 0;
      if (now === isRunning) return;
      isRunning = now;
      void vscode.commands.executeCommand('setContext', 'softbench.running', now);
      end();
      if (now)
        void vscode.window.withProgress(
          { location: { viewId: 'softbench.runs' } },
          () =>
            new Promise<void>((resolve) => {
              end = resolve;
            }),
        );
    }),
    queue.onProgress(({ progress }) => {
      if (progress.kind === 'run' || progress.kind === 'summary') runs.refreshSoon();
    }),
  );
}
