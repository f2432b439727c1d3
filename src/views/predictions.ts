/** What is predicted, for the predictor page and the leaderboard: the process that computes it, its records, its results. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { CancelledError, HumanError, sentenceOf } from '../shared/errors.ts';
import {
  type NamedChoice,
  type PredictionSettings,
  type PredictionTask,
  type PredictionWork,
  type PredictorView,
  predictionTasks,
  type RecordPlaces,
  type RecordsReport,
} from '../shared/predictions.ts';
import type { PredictionApi } from '../shared/protocol.ts';
import type { WorkerClient } from '../worker/index.ts';
import { throttle } from './emitter.ts';
import type { RunIndex } from './run-index.ts';
import { onSettingsChange, settings, settingsSection } from './settings.ts';

type Results = Pick<PredictorView, 'fit' | 'map' | 'smallBench' | 'next'>;

const settingsKey = 'softbench.predictor.settings';
const exampleKey = 'softbench.predictor.example';
/** Results of a workspace, kept so that a window that is opened again shows them. */
const resultsFile = 'predictor.json';

/** Until the workspace says otherwise. The predictor is the process's first choice. */
const usualSettings: PredictionSettings = {
  predictor: '',
  folds: 10,
  seed: 42,
  clusters: 0,
  search: '',
  budgets: [2, 4, 8, 16, 24],
  budgetIn: 'tasks',
  seconds: 120,
  model: '',
};

/** Why a workspace that is not trusted predicts nothing. */
export const needsTrust =
  'Scores are read and predicted only in a trusted workspace: records are files that somebody wrote.';

export class Predictions implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;
  readonly #runs: RunIndex;
  readonly #changed = new vscode.EventEmitter<void>();
  /** Anything but the progress of what is under way. */
  readonly onDidChange = this.#changed.event;
  readonly #worked = new vscode.EventEmitter<PredictionWork | null>();
  readonly onDidWork = this.#worked.event;
  readonly #recordsChanged = new vscode.EventEmitter<void>();
  /** Files of records have changed, or what predicts. Runs tell of themselves. */
  readonly onDidChangeRecords = this.#recordsChanged.event;
  readonly #subscriptions: vscode.Disposable[];
  readonly #forgetSoon = throttle(1000, () => {
    this.#records = null;
    this.#changed.fire();
  });
  #client: Promise<WorkerClient<PredictionApi>> | null = null;
  #choices: { predictors: NamedChoice[]; searches: NamedChoice[] } | null = null;
  #records: Promise<RecordsReport> | null = null;
  #loaded: Promise<void> | null = null;
  #shown: Results = { fit: null, map: null, smallBench: null, next: null };
  #work: PredictionWork | null = null;
  #stop: AbortController | null = null;
  #problem: string | null = null;

  constructor(context: vscode.ExtensionContext, runs: RunIndex, log: vscode.LogOutputChannel) {
    this.#context = context;
    this.#log = log;
    this.#runs = runs;
    this.#subscriptions = [
      runs.onDidChange(this.#forgetSoon),
      onSettingsChange((affects) => {
        if (affects('predictionRecords')) this.#forget();
      }),
    ];
  }

  /** The process; nothing of it is loaded before the first use. */
  process(): Promise<WorkerClient<PredictionApi>> {
    this.#client ??= import('../worker/index.ts').then(
      ({ WorkerClient }) =>
        new WorkerClient<PredictionApi>({
          file: vscode.Uri.joinPath(this.#context.extensionUri, 'dist', 'prediction.js').fsPath,
          idleMilliseconds: 2 * 60_000,
          log: (message) => this.#log.info(message),
        }),
    );
    return this.#client;
  }

  /** The records that come with the extension. */
  get #example(): string {
    return join(this.#context.extensionPath, 'examples', 'predictions', 'obs-scaling-bbh.yaml');
  }

  get hasExample(): boolean {
    return this.#context.workspaceState.get(exampleKey) === true;
  }

  /** @throws HumanError in a workspace that is not trusted */
  async places(): Promise<RecordPlaces> {
    if (!vscode.workspace.isTrusted) throw new HumanError('unsupported', needsTrust);
    await this.#runs.load();
    return {
      storeFolders: [...this.#runs.storeFolders],
      files: [...settings.predictionRecords, ...(this.hasExample ? [this.#example] : [])],
    };
  }

  async choices(): Promise<{ predictors: NamedChoice[]; searches: NamedChoice[] }> {
    this.#choices ??= await (await this.process()).call.choices(undefined);
    return this.#choices;
  }

  async settings(): Promise<PredictionSettings> {
    const { predictors, searches } = await this.choices();
    const kept = this.#context.workspaceState.get<Partial<PredictionSettings>>(settingsKey);
    const wanted = { ...usualSettings, ...kept };
    const known = (choices: readonly NamedChoice[], name: string): string =>
      (choices.find((one) => one.name === name) ?? choices[0])?.name ?? '';
    return { ...wanted, predictor: known(predictors, wanted.predictor), search: known(searches, wanted.search) };
  }

  async set(change: Partial<PredictionSettings>): Promise<void> {
    const kept = this.#context.workspaceState.get<Partial<PredictionSettings>>(settingsKey);
    await this.#context.workspaceState.update(settingsKey, { ...kept, ...change });
    if (change.predictor !== undefined || change.seed !== undefined) this.#recordsChanged.fire();
  }

  async records(): Promise<RecordsReport> {
    if (this.#records) return this.#records;
    const records = this.places().then(async (places) => (await this.process()).call.records(places));
    this.#records = records;
    // What failed is tried again; what has been asked for since then stays.
    records.catch(() => {
      if (this.#records === records) this.#records = null;
    });
    return records;
  }

  async view(): Promise<PredictorView> {
    const [records, choices, wanted] = await Promise.all([this.records(), this.choices(), this.settings()]);
    await this.#load();
    return { records, ...choices, settings: wanted, ...this.#shown, work: this.#work, problem: this.#problem };
  }

  /** Begins; what is under way is stopped first. */
  start(task: PredictionTask): void {
    if (!predictionTasks.includes(task)) return;
    this.stop();
    const stop = new AbortController();
    this.#stop = stop;
    this.#problem = null;
    this.#setWork({ task, message: 'Reading records', fraction: null, smallBench: null });
    void this.#run(task, stop.signal)
      .catch((thrown) => {
        if (thrown instanceof CancelledError || stop.signal.aborted) return;
        this.#problem = sentenceOf(thrown);
        if (!(thrown instanceof HumanError)) this.#log.error(thrown as Error);
      })
      .finally(() => {
        if (this.#stop !== stop) return;
        this.#stop = null;
        this.#work = null;
        this.#worked.fire(null);
        this.#changed.fire();
      });
  }

  stop(): void {
    this.#stop?.abort();
  }

  async #run(task: PredictionTask, signal: AbortSignal): Promise<void> {
    await this.#load();
    const [places, wanted] = await Promise.all([this.places(), this.settings()]);
    const { call } = await this.process();
    /** Late progress of what was stopped for something else is nobody's. */
    const tell = (work: Omit<PredictionWork, 'task'>): void => {
      if (this.#stop?.signal === signal) this.#setWork({ task, ...work });
    };
    const onProgress = ({ message, fraction }: { message: string; fraction: number | null }): void =>
      tell({ message, fraction, smallBench: null });
    const { predictor, folds, seed } = wanted;
    switch (task) {
      case 'fit': {
        const { predictors } = await this.choices();
        const { digest, used } = await this.records();
        const title = predictors.find(({ name }) => name === predictor)?.title ?? predictor;
        const splits: NonNullable<Results['fit']>['splits'] = [];
        const fit = await call.fit(
          { places, predictor, folds, seed },
          {
            signal,
            onProgress: (progress) => {
              onProgress(progress);
              if (!progress.done || this.#stop?.signal !== signal) return;
              splits.push(progress.done);
              this.#show({ fit: { predictor, title, splits: [...splits], records: used, digest, seconds: 0 } });
            },
          },
        );
        return this.#keep({ fit });
      }
      case 'map':
        return this.#keep({
          map: await call.taskMap({ places, predictor, clusters: wanted.clusters, seed }, { signal, onProgress }),
        });
      case 'smallBench': {
        const { search, budgets, budgetIn, seconds } = wanted;
        const smallBench = await call.smallBench(
          { places, search, budgets, budgetIn, seconds, seed },
          { signal, onProgress: ({ message, fraction, best }) => tell({ message, fraction, smallBench: best }) },
        );
        // Stopped before there was a list, it leaves what was there.
        return smallBench.curve.length > 0 ? this.#keep({ smallBench }) : undefined;
      }
      case 'next':
        return this.#keep({
          next: await call.nextBenchmark({ places, model: wanted.model }, { signal, onProgress }),
        });
    }
  }

  #setWork(work: PredictionWork): void {
    this.#work = work;
    this.#worked.fire(work);
  }

  #show(change: Partial<Results>): void {
    this.#shown = { ...this.#shown, ...change };
    this.#changed.fire();
  }

  async #keep(change: Partial<Results>): Promise<void> {
    this.#show(change);
    const folder = this.#folder;
    if (folder === null) return;
    try {
      const { writeWhole } = await import('../system/index.ts');
      await mkdir(folder, { recursive: true });
      await writeWhole(join(folder, resultsFile), JSON.stringify(this.#shown));
    } catch (thrown) {
      // They are on the screen, and can be computed again.
      this.#log.warn(sentenceOf(thrown));
    }
  }

  /** Null where no folder is open: results belong to a workspace. */
  get #folder(): string | null {
    return this.#context.storageUri?.fsPath ?? null;
  }

  /** What was computed before this window was opened. */
  #load(): Promise<void> {
    this.#loaded ??= this.#readResults();
    return this.#loaded;
  }

  async #readResults(): Promise<void> {
    const folder = this.#folder;
    const text = folder === null ? null : await readFile(join(folder, resultsFile), 'utf8').catch(() => null);
    if (text === null) return;
    try {
      const kept = JSON.parse(text) as Partial<Results>;
      const { fit = null, map = null, smallBench = null, next = null } = kept;
      this.#shown = { fit, map, smallBench, next };
    } catch {
      this.#log.warn(`${resultsFile} is damaged; what it held is computed again.`);
    }
  }

  async addFiles(files: readonly string[]): Promise<void> {
    const known = settings.predictionRecords;
    const added = files.filter((file) => !known.includes(file));
    if (added.length > 0) await this.#setFiles((listed) => [...listed, ...added]);
  }

  async removeFile(path: string): Promise<void> {
    if (path === this.#example) await this.useExample(false);
    else await this.#setFiles((listed) => listed.filter((one) => settings.resolve(one) !== path));
  }

  async useExample(use: boolean): Promise<void> {
    await this.#context.workspaceState.update(exampleKey, use);
    this.#forget();
  }

  /** In the workspace's settings where they have the list or none has, else in the user's. */
  async #setFiles(change: (listed: string[]) => string[]): Promise<void> {
    const configuration = vscode.workspace.getConfiguration(settingsSection);
    const inspected = configuration.inspect<string[]>('predictionRecords');
    const hasFolder = (vscode.workspace.workspaceFolders ?? []).length > 0;
    const inWorkspace = hasFolder && (inspected?.workspaceValue !== undefined || !inspected?.globalValue);
    const listed = (inWorkspace ? inspected?.workspaceValue : inspected?.globalValue) ?? [];
    await configuration.update(
      'predictionRecords',
      change([...listed]),
      inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global,
    );
  }

  #forget(): void {
    this.#records = null;
    this.#changed.fire();
    this.#recordsChanged.fire();
  }

  dispose(): void {
    this.stop();
    this.#forgetSoon.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
    this.#worked.dispose();
    this.#recordsChanged.dispose();
  }

  async shutDown(): Promise<void> {
    await (await this.#client)?.dispose();
  }
}
