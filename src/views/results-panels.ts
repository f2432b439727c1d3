/**
 * Results panels: one editor tab per benchmark × model or per comparison, live while a job runs, found again after a
 * restart.
 */
import * as vscode from 'vscode';
import type { DiskRunStore, RunFolder } from '../runs/index.ts';
import { HumanError, sentenceOf } from '../shared/errors.ts';
import { packRows } from '../shared/item-rows.ts';
import type { ResultsPageApi, ResultsPageEvents, ResultsView } from '../shared/protocol.ts';
import type { RunFile } from '../shared/results.ts';
import { connect, type Handlers, serve } from '../shared/rpc.ts';
import type { WorkerClient } from '../worker/index.ts';
import { throttle } from './emitter.ts';
import { ItemInspector } from './item-inspector.ts';
import { type Job, type JobQueue, jobSubject, subjectOf } from './jobs.ts';
import { type Comparison, isComparison, LiveResults, type Shown, type Subject } from './live-results.ts';
import { isShown, keyOf, OpenResults, titleOf } from './open-results.ts';
import { pageChannel, pageHtml, pageIcon, pageOptions } from './page.ts';
import { loadPageState, savePageState } from './page-state.ts';
import type { RunIndex } from './run-index.ts';
import { settings } from './settings.ts';

export const resultsViewType = 'softbench.results';

export interface ResultsPanelHost {
  context: vscode.ExtensionContext;
  log: vscode.LogOutputChannel;
  queue: JobQueue;
  runs: RunIndex;
  resume(what: Subject | { group: string }): Promise<void>;
  worker(): Promise<WorkerClient>;
  /** Saves runs as one HTML file. */
  share(runs: readonly RunFolder[]): Promise<void>;
}

export class ResultsPanels implements vscode.WebviewPanelSerializer<Shown>, vscode.Disposable {
  readonly #host: ResultsPanelHost;
  readonly #panels = new Map<string, ResultsPanel>();
  readonly #open: OpenResults;
  #isEnding = false;

  constructor(host: ResultsPanelHost) {
    this.#host = host;
    this.#open = new OpenResults(host.context.workspaceState);
  }

  show(subject: Shown, options: { preserveFocus?: boolean } = {}): void {
    const key = keyOf(subject);
    const existing = this.#panels.get(key);
    if (existing) {
      existing.panel.reveal(undefined, options.preserveFocus);
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      resultsViewType,
      titleOf(subject),
      { viewColumn: columnForResults(), preserveFocus: options.preserveFocus },
      pageOptions(this.#host.context.extensionUri),
    );
    this.#adopt(panel, subject);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const shown = isShown(state) ? state : this.#open.find(panel.title, (key) => this.#panels.has(key));
    if (!shown) {
      panel.dispose();
      return;
    }
    const twin = this.#panels.get(keyOf(shown));
    if (twin) {
      // Opened anew before this tab of the earlier window was looked at.
      twin.panel.reveal();
      panel.dispose();
      return;
    }
    panel.webview.options = pageOptions(this.#host.context.extensionUri);
    this.#adopt(panel, shown);
  }

  isVisible(benchmarkFile: string, modelFolder: string): boolean {
    return this.#panels.get(subjectOf(benchmarkFile, modelFolder))?.isVisible ?? false;
  }

  /** Comparisons that are open. */
  get comparisons(): Comparison[] {
    return [...this.#panels.values()].flatMap(({ shown }) => (isComparison(shown) ? [shown] : []));
  }

  /** What the results of this subject show now; for tests. */
  async view(subject: Shown): Promise<ResultsView | null> {
    return this.#panels.get(keyOf(subject))?.view() ?? null;
  }

  #adopt(panel: vscode.WebviewPanel, subject: Shown): void {
    const key = keyOf(subject);
    this.#panels.set(key, new ResultsPanel(this.#host, panel, subject));
    void this.#open.opened(subject);
    panel.onDidDispose(() => {
      this.#panels.delete(key);
      // Where the window ends, its tabs come back in the next one.
      if (!this.#isEnding) void this.#open.closed(subject);
    });
  }

  dispose(): void {
    this.#isEnding = true;
    for (const { panel } of [...this.#panels.values()]) panel.dispose();
  }
}

/** Beside the benchmark file where that is in front, else where the user is. */
const columnForResults = (): vscode.ViewColumn =>
  vscode.window.activeTextEditor ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active;

/** What a message with items holds at most, in bytes of their file: the editor copies messages several times. */
const messageBytes = 8 << 20;

class ResultsPanel {
  readonly panel: vscode.WebviewPanel;
  readonly #host: ResultsPanelHost;
  readonly #results: LiveResults;
  readonly #key: string;
  readonly #page: ReturnType<typeof connect<ResultsPageEvents>>;
  readonly #pushSoon = throttle(200, () => void this.#push());
  readonly #subscriptions: { dispose(): void }[] = [];
  #isDisposed = false;
  #problem: string | null = null;
  #loaded: Promise<void> | null = null;
  #reading: Promise<void> = Promise.resolve();
  readonly #inspector: ItemInspector;

  constructor(host: ResultsPanelHost, panel: vscode.WebviewPanel, subject: Shown) {
    this.#host = host;
    this.panel = panel;
    this.#results = new LiveResults(subject);
    this.#key = keyOf(subject);
    this.#inspector = new ItemInspector({
      storeOf: (run) => this.#storeOf(run),
      knownStoreOf: (run) => host.runs.storeOf(run),
      worker: async () => (await host.worker()).call,
      engine: () => settings.engine,
      isBusy: () => host.queue.running !== null,
    });
    const channel = pageChannel(panel.webview);
    this.#page = connect<ResultsPageEvents>(channel);
    const stopServing = serve<ResultsPageApi>(channel, this.#handlers());
    panel.iconPath = pageIcon(host.context.extensionUri);
    panel.webview.html = pageHtml(panel.webview, host.context.extensionUri, 'results', {
      title: titleOf(subject),
      restore: subject,
    });
    this.#subscriptions.push(
      // A hidden page is told nothing and costs nothing. It is told the whole view when it is shown: it may have been
      // unloaded (then it asks by itself too) or out of sight for a moment only (then it would not ask).
      panel.onDidChangeViewState(() => {
        if (this.isVisible) this.#pushSoon();
      }),
      host.queue.onProgress(({ job, progress }) => {
        if (!this.#concerns(job)) return;
        const added = this.#results.follow(progress);
        if (added && this.isVisible) void this.#page.call.itemsAdded(added).catch(() => {});
        this.#pushSoon();
      }),
      host.queue.onChange((job) => {
        if (this.#concerns(job)) this.#pushSoon();
      }),
      host.queue.onEnd((job) => {
        if (!this.#concerns(job)) return;
        this.#problem = job.state === 'failed' && job.error ? sentenceOf(job.error) : null;
      }),
      host.runs.onDidChange(() => {
        // Read when somebody looks: a hidden page reads nothing.
        this.#loaded = null;
        this.#pushSoon();
      }),
    );
    panel.onDidDispose(() => {
      this.#isDisposed = true;
      stopServing();
      this.#page.dispose();
      this.#pushSoon.dispose();
      for (const subscription of this.#subscriptions) subscription.dispose();
    });
  }

  /** A panel that is gone throws where it is asked, and what was being read for it comes later. */
  get isVisible(): boolean {
    return !this.#isDisposed && this.panel.visible;
  }

  async view(): Promise<ResultsView> {
    await this.#ensureLoaded();
    const view = this.#results.view(this.#job, this.#problem);
    const { marks, problems } = await this.#inspector.marks(view.columns.map(({ run }) => run));
    return { ...view, marks, markProblems: problems };
  }

  get shown(): Shown {
    return this.#results.subject;
  }

  get #job(): Job | null {
    return this.#host.queue.jobs.find((job) => this.#concerns(job)) ?? null;
  }

  /** It makes runs that are shown here. */
  #concerns(job: Job): boolean {
    const { subject } = this.#results;
    return isComparison(subject) ? job.runs.some((run) => subject.runs.includes(run)) : jobSubject(job) === this.#key;
  }

  async #resume(): Promise<void> {
    const { subject } = this.#results;
    if (!isComparison(subject)) return this.#host.resume(subject);
    const unfinished = (await this.#shownRuns()).find(({ status }) => status === 'stopped' || status === 'failed');
    if (!unfinished) throw new HumanError('bad-input', 'All of these runs are finished.');
    await this.#host.resume({ group: unfinished.group });
  }

  #ensureLoaded(): Promise<void> {
    // One after the other: an earlier reading must not replace a later one.
    this.#loaded ??= this.#reading = this.#reading
      .catch(() => {})
      .then(() => this.#host.runs.load())
      .then(() => this.#load());
    return this.#loaded;
  }

  async #load(): Promise<void> {
    try {
      await this.#results.load(this.#host.runs.runs, (run) => this.#host.runs.storeOf(run));
    } catch (thrown) {
      this.#host.log.error(sentenceOf(thrown));
    }
  }

  async #push(): Promise<void> {
    if (!this.isVisible) return;
    const view = await this.view();
    if (this.isVisible) await this.#page.call.viewChanged(view).catch(() => {});
  }

  #handlers(): Handlers<ResultsPageApi> {
    const { context } = this.#host;
    const stateKey = `softbench.page.${this.#key}`;
    return {
      view: () => this.view(),
      items: async ({ run, from, limit }) => {
        const store = await this.#storeOf(run);
        return packRows(await store.readItems(run, from, { limit, bytes: messageBytes }));
      },
      detail: async ({ index }) => this.#inspector.detail(index, await this.#shownRuns()),
      tokens: (of, { signal, progress }) => this.#inspector.tokens(of, { signal, onProgress: progress }),
      mark: async ({ index, mark }) => this.#inspector.mark(index, mark, await this.#shownRuns()),
      openSource: ({ file, line }) => openAt(file, line),
      stop: () => {
        const job = this.#job;
        if (job) this.#host.queue.stop(job);
      },
      resume: () => this.#resume(),
      share: async () => {
        const { columns } = await this.view();
        await this.#host.share(columns.map(({ run, summary }) => ({ folder: '', run, summary })));
      },
      copy: async ({ text }) => vscode.env.clipboard.writeText(text),
      saveState: ({ state }) => savePageState(context.workspaceState, stateKey, state),
      loadState: () => loadPageState(context.workspaceState, stateKey),
    };
  }

  async #storeOf(run: string): Promise<DiskRunStore> {
    const { runs } = this.#host;
    // A run that has just begun is not in the list yet.
    if (!runs.storeOf(run)) await runs.refresh();
    const store = runs.storeOf(run);
    if (!store) throw new HumanError('missing', `The run ${run} is not there any more.`);
    return store;
  }

  async #shownRuns(): Promise<RunFile[]> {
    await this.#ensureLoaded();
    return this.#results.view(null, null).columns.map(({ run }) => run);
  }
}

/** Opens a text file at a line (from 1), where text is shown already, else beside the page that asked. */
export async function openAt(file: string, line: number, column = 1): Promise<void> {
  const position = new vscode.Position(Math.max(0, line - 1), Math.max(0, column - 1));
  await vscode.window.showTextDocument(vscode.Uri.file(file), {
    selection: new vscode.Range(position, position),
    viewColumn: vscode.window.visibleTextEditors[0]?.viewColumn ?? vscode.ViewColumn.Beside,
  });
}
