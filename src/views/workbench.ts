/** Everything that commands and views share, in one place: made once by the extension, handed to whoever needs it. */
import * as vscode from 'vscode';
import type { LensSource, LensState, PreviewSource, PromptPreviews } from '../editor/index.ts';
import type { RunFolder } from '../runs/index.ts';
import { foldersVariable } from '../shared/dataset-folders.ts';
import type { ModelReport, PromptPreview, WorkerApi } from '../shared/protocol.ts';
import type { WorkerClient } from '../worker/index.ts';
import { Benchmarks } from './benchmarks.ts';
import { throttle } from './emitter.ts';
import { JobQueue, jobWords } from './jobs.ts';
import { LeaderboardSource } from './leaderboard-source.ts';
import { LeaderboardPages } from './leaderboard-view.ts';
import { Models } from './models.ts';
import { PredictedCells } from './predicted-cells.ts';
import { Predictions } from './predictions.ts';
import { PredictorPanel } from './predictor-panel.ts';
import { ResultsPanels } from './results-panels.ts';
import { RunIndex } from './run-index.ts';
import { ScoringChanges } from './scoring-changes.ts';
import { settings } from './settings.ts';
import { shareRuns } from './share-page.ts';
import { StartJobs } from './start-jobs.ts';
import type { Row } from './trees.ts';

export class Workbench implements vscode.Disposable, LensSource, PreviewSource {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly queue: JobQueue;
  readonly runs: RunIndex;
  readonly models: Models;
  readonly benchmarks: Benchmarks;
  readonly panels: ResultsPanels;
  readonly leaderboardSource: LeaderboardSource;
  readonly leaderboard: LeaderboardPages;
  readonly predictions: Predictions;
  readonly predictor: PredictorPanel;
  readonly start: StartJobs;
  readonly scoring: ScoringChanges;
  /** Set by the extension, which makes the editor's parts. */
  previews: PromptPreviews | null = null;
  #worker: Promise<WorkerClient> | null = null;

  constructor(context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    this.context = context;
    this.log = log;
    this.queue = new JobQueue(async (request, options) => (await this.worker()).call.runJob(request, options));
    this.runs = new RunIndex(vscode.Uri.joinPath(context.globalStorageUri, 'store').fsPath, log);
    this.models = new Models(context, (folder) => this.inspect(folder));
    this.benchmarks = new Benchmarks(context);
    this.start = new StartJobs(this);
    this.scoring = new ScoringChanges(log);
    this.panels = new ResultsPanels({
      context,
      log,
      queue: this.queue,
      runs: this.runs,
      share: (runs) => this.share(runs),
      resume: async (what) => {
        if ('group' in what) this.start.resume(what.group);
        else await this.start.resumeNewest(what.benchmarkFile, what.modelFolder);
      },
      worker: () => this.worker(),
    });
    this.predictions = new Predictions(context, this.runs, log);
    const predicted = new PredictedCells(context, this.predictions, log);
    this.leaderboardSource = new LeaderboardSource(this.runs, this.queue, predicted, log);
    this.leaderboard = new LeaderboardPages({
      context,
      runs: this.runs,
      source: this.leaderboardSource,
      open: (subject) => this.panels.show(subject),
    });
    this.predictor = new PredictorPanel(context, this.predictions);
  }

  /** The worker's client; nothing of it is loaded before the first use. */
  worker(): Promise<WorkerClient> {
    this.#worker ??= Promise.all([import('../worker/index.ts'), import('../libraries/index.ts')]).then(
      ([{ WorkerClient }, { libraryEnvironment }]) =>
        new WorkerClient<WorkerApi>({
          file: vscode.Uri.joinPath(this.context.extensionUri, 'dist', 'worker.js').fsPath,
          environment: () => ({ ...libraryEnvironment(this.librariesFolder), ...dataEnvironment() }),
          log: (message) => this.log.info(message),
        }),
    );
    return this.#worker;
  }

  /** Where provider libraries are kept: what the environment names, else the extension's own storage. */
  get librariesFolder(): string {
    return process.env.SOFTBENCH_LIBRARIES || vscode.Uri.joinPath(this.context.globalStorageUri, 'libraries').fsPath;
  }

  /**
   * Ends the worker, so that the next one sees what has been installed; one that works on something ends after it.
   * @returns whether that is still to come
   */
  async restartWorker(): Promise<boolean> {
    const worker = await this.#worker;
    if (!worker?.isBusy) {
      await worker?.kill();
      return false;
    }
    const waiting = this.queue.onEnd(() =>
      // The call itself ends just after its job, and the next job may begin at once: then it is that one's turn.
      setTimeout(() => {
        if (worker.isBusy) return;
        waiting.dispose();
        void worker.kill();
      }),
    );
    return true;
  }

  /** Saves runs as one HTML file. */
  share(runs: readonly RunFolder[]): Promise<void> {
    return shareRuns({ worker: () => this.worker(), storeOf: (run) => this.runs.storeOf(run) }, runs);
  }

  #runsView: vscode.TreeView<Row> | null = null;
  /** Several of its rows can be selected: to compare, to export, to delete. */
  showRuns(treeDataProvider: vscode.TreeDataProvider<Row>): vscode.Disposable {
    this.#runsView = vscode.window.createTreeView('softbench.runs', { treeDataProvider, canSelectMany: true });
    return this.#runsView;
  }

  /** Rows that are selected in the Runs view. */
  selectedRuns(): readonly Row[] {
    return this.#runsView?.selection ?? [];
  }

  /** Data of a benchmark has come, or others are read now: problems are looked for and previews drawn again. */
  readonly #dataChanged = new vscode.EventEmitter<string | null>();
  readonly onDataChange = this.#dataChanged.event;
  /** @param file null: any */
  dataChanged(file: string | null): void {
    this.#dataChanged.fire(file);
  }

  async inspect(folder: string): Promise<ModelReport> {
    return (await this.worker()).call.inspectModel({ folder });
  }

  async previewPrompts(
    benchmarkFile: string,
    modelFolder: string | null,
    index: number,
  ): Promise<{ total: number; previews: PromptPreview[] }> {
    const chat = settings.chat(vscode.Uri.file(benchmarkFile));
    return (await this.worker()).call.previewPrompts({ benchmarkFile, modelFolder, index, ...(chat && { chat }) });
  }

  model(benchmarkFile: string): { name: string; folder: string } | null {
    return this.models.chosen(benchmarkFile);
  }

  state(file: string): LensState {
    const model = this.models.chosen(file);
    const job = this.queue.find(file);
    const shown = job ? { name: job.modelName, folder: job.request.modelFolder } : model;
    const unfinished = shown && !job ? unfinishedNewest(this.runs.runs, file, shown.folder) : null;
    return {
      model: shown,
      job:
        job && (job.state === 'queued' || job.state === 'running' || job.state === 'stopping')
          ? { state: job.state, text: jobWords(job) }
          : null,
      results: shown ? this.runs.finished(file, shown.folder) : [],
      rescorable: shown && !job ? this.#rescorable(file, shown.folder) : null,
      resumable: unfinished && {
        group: unfinished.run.group,
        text:
          unfinished.run.status === 'failed'
            ? `The last run failed: ${unfinished.run.message ?? 'see the log'}`
            : 'The last run was stopped.',
      },
    };
  }

  #rescorable(file: string, modelFolder: string): LensState['rescorable'] {
    const runs = this.scoring.rescorable(file, this.runs.finishedRuns(file, modelFolder));
    if (runs.length === 0) return null;
    return {
      runs: runs.map(({ run }) => run.id),
      modes: runs.map(({ run }) => run.mode),
      neverScored: runs.every(({ run }) => run.predictOnly),
    };
  }

  onDidChange(listener: () => void): { dispose(): void } {
    // The editor asks for lenses again once it has been told nothing for a moment: told more often, it never would.
    const soon = throttle(1000, listener);
    return vscode.Disposable.from(
      this.models.onDidChange(soon),
      this.runs.onDidChange(soon),
      this.queue.onChange(soon),
      this.scoring.onDidChange(soon),
      soon,
    );
  }

  dispose(): void {
    this.panels.dispose();
    this.leaderboard.dispose();
    this.leaderboardSource.dispose();
    this.predictor.dispose();
    this.predictions.dispose();
    this.scoring.dispose();
    this.runs.dispose();
    this.models.dispose();
    this.benchmarks.dispose();
  }

  /** Stops what runs and ends the worker; what is on disk can be resumed. */
  async shutDown(): Promise<void> {
    await Promise.all([(await this.#worker)?.dispose(), this.predictions.shutDown()]);
  }
}

/** The mapped folders for the worker, which is a process of its own. */
function dataEnvironment(): NodeJS.ProcessEnv {
  const folders = settings.datasetFolders;
  return Object.keys(folders).length > 0 ? { [foldersVariable]: JSON.stringify(folders) } : {};
}

/** The newest run of a benchmark × model, where it did not finish. */
export function unfinishedNewest(
  runs: readonly RunFolder[],
  benchmarkFile: string,
  modelFolder: string,
): RunFolder | null {
  const newest = runs.find(({ run }) => run.benchmark.file === benchmarkFile && run.model.folder === modelFolder);
  if (!newest) return null;
  // Modes of one job begin one after another: an earlier one of the same job may be the unfinished one.
  const group = runs.filter(({ run }) => run.group === newest.run.group);
  return group.find(({ run }) => run.status === 'stopped' || run.status === 'failed') ?? null;
}
