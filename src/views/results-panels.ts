/** Results panels: one editor tab per benchmark × model, live while a job runs, found again after a restart. */
import * as vscode from 'vscode';
import type { Benchmark, Item } from '../benchmark/types.ts';
import { HumanError, sentenceOf } from '../shared/errors.ts';
import { isImportedPlace } from '../shared/imported.ts';
import { rowOf } from '../shared/item-rows.ts';
import { usesExamples, usesSoftPrompt } from '../shared/modes.ts';
import type { ItemDetail, ResultsPageApi, ResultsPageEvents, ResultsView } from '../shared/protocol.ts';
import type { ItemRecord, RunFile } from '../shared/results.ts';
import { connect, type Handlers, serve } from '../shared/rpc.ts';
import { throttle } from './emitter.ts';
import { type Job, type JobQueue, jobSubject, subjectOf } from './jobs.ts';
import { LiveResults, type ResultsReader, type Subject } from './live-results.ts';
import { pageChannel, pageHtml, pageOptions } from './page.ts';
import type { RunIndex } from './run-index.ts';

export const resultsViewType = 'softbench.results';

export interface ResultsPanelHost {
  context: vscode.ExtensionContext;
  log: vscode.LogOutputChannel;
  queue: JobQueue;
  runs: RunIndex;
  resume(subject: Subject): Promise<void>;
}

export class ResultsPanels implements vscode.WebviewPanelSerializer<Subject>, vscode.Disposable {
  readonly #host: ResultsPanelHost;
  readonly #panels = new Map<string, ResultsPanel>();

  constructor(host: ResultsPanelHost) {
    this.#host = host;
  }

  show(subject: Subject, options: { preserveFocus?: boolean } = {}): void {
    const key = subjectOf(subject.benchmarkFile, subject.modelFolder);
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
    if (!isSubject(state)) {
      panel.dispose();
      return;
    }
    panel.webview.options = pageOptions(this.#host.context.extensionUri);
    this.#adopt(panel, state);
  }

  isVisible(benchmarkFile: string, modelFolder: string): boolean {
    return this.#panels.get(subjectOf(benchmarkFile, modelFolder))?.panel.visible ?? false;
  }

  /** What the results of this subject show now; for tests. */
  async view(subject: Subject): Promise<ResultsView | null> {
    return this.#panels.get(subjectOf(subject.benchmarkFile, subject.modelFolder))?.view() ?? null;
  }

  #adopt(panel: vscode.WebviewPanel, subject: Subject): void {
    const key = subjectOf(subject.benchmarkFile, subject.modelFolder);
    this.#panels.set(key, new ResultsPanel(this.#host, panel, subject));
    panel.onDidDispose(() => this.#panels.delete(key));
  }

  dispose(): void {
    for (const { panel } of [...this.#panels.values()]) panel.dispose();
  }
}

const titleOf = ({ task, modelName }: Subject): string => `${task} · ${modelName}`;

/** Beside the benchmark file where that is in front, else where the user is. */
const columnForResults = (): vscode.ViewColumn =>
  vscode.window.activeTextEditor ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active;

function isSubject(state: unknown): state is Subject {
  if (typeof state !== 'object' || state === null) return false;
  const subject = state as Record<string, unknown>;
  return ['task', 'benchmarkFile', 'modelName', 'modelFolder'].every((name) => typeof subject[name] === 'string');
}

/** What a message with items holds at most, in bytes of their file: the editor copies messages several times. */
const messageBytes = 2 << 20;

class ResultsPanel {
  readonly panel: vscode.WebviewPanel;
  readonly #host: ResultsPanelHost;
  readonly #results: LiveResults;
  readonly #key: string;
  readonly #page: ReturnType<typeof connect<ResultsPageEvents>>;
  readonly #pushSoon = throttle(200, () => void this.#push());
  readonly #subscriptions: { dispose(): void }[] = [];
  #problem: string | null = null;
  #loaded: Promise<void> | null = null;
  #benchmark: { stamp: string; items: Promise<{ benchmark: Benchmark; items: readonly Item[] }> } | null = null;

  constructor(host: ResultsPanelHost, panel: vscode.WebviewPanel, subject: Subject) {
    this.#host = host;
    this.panel = panel;
    this.#results = new LiveResults(subject);
    this.#key = subjectOf(subject.benchmarkFile, subject.modelFolder);
    const channel = pageChannel(panel.webview);
    this.#page = connect<ResultsPageEvents>(channel);
    const stopServing = serve<ResultsPageApi>(channel, this.#handlers());
    // A tab shows its icon as a picture, which does not take the theme's colour by itself.
    const icon = (name: string): vscode.Uri => vscode.Uri.joinPath(host.context.extensionUri, 'media', name);
    panel.iconPath = { light: icon('softbench-light.svg'), dark: icon('softbench-dark.svg') };
    panel.webview.html = pageHtml(panel.webview, host.context.extensionUri, 'results', {
      title: titleOf(subject),
      restore: subject,
    });
    this.#subscriptions.push(
      // A hidden page is told nothing and costs nothing. It is told the whole view when it is shown: it may have been
      // unloaded (then it asks by itself too) or out of sight for a moment only (then it would not ask).
      panel.onDidChangeViewState(() => {
        if (panel.visible) this.#pushSoon();
      }),
      host.queue.onProgress(({ job, progress }) => {
        if (jobSubject(job) !== this.#key) return;
        const added = this.#results.follow(progress);
        if (added && panel.visible) void this.#page.call.itemsAdded(added).catch(() => {});
        this.#pushSoon();
      }),
      host.queue.onChange((job) => {
        if (jobSubject(job) === this.#key) this.#pushSoon();
      }),
      host.queue.onEnd((job) => {
        if (jobSubject(job) !== this.#key) return;
        this.#problem = job.state === 'failed' && job.error ? sentenceOf(job.error) : null;
      }),
      host.runs.onDidChange(() => {
        this.#loaded = this.#load();
        this.#pushSoon();
      }),
    );
    panel.onDidDispose(() => {
      stopServing();
      this.#page.dispose();
      this.#pushSoon.dispose();
      for (const subscription of this.#subscriptions) subscription.dispose();
    });
  }

  async view(): Promise<ResultsView> {
    await this.#ensureLoaded();
    return this.#results.view(this.#job, this.#problem);
  }

  get #job(): Job | null {
    const { benchmarkFile, modelFolder } = this.#results.subject;
    return this.#host.queue.find(benchmarkFile, modelFolder);
  }

  #ensureLoaded(): Promise<void> {
    this.#loaded ??= this.#host.runs.load().then(() => this.#load());
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
    if (!this.panel.visible) return;
    const view = await this.view();
    if (this.panel.visible) await this.#page.call.viewChanged(view).catch(() => {});
  }

  #handlers(): Handlers<ResultsPageApi> {
    const { context } = this.#host;
    const stateKey = `softbench.page.${this.#key}`;
    return {
      view: () => this.view(),
      items: async ({ run, from, limit }) => {
        const store = await this.#storeOf(run);
        return (await store.readItems(run, from, { limit, bytes: messageBytes })).map(rowOf);
      },
      detail: ({ index }) => this.#detail(index),
      openSource: ({ file, line }) => openAt(file, line),
      stop: () => {
        const job = this.#job;
        if (job) this.#host.queue.stop(job);
      },
      resume: () => this.#host.resume(this.#results.subject),
      copy: async ({ text }) => vscode.env.clipboard.writeText(text),
      saveState: async ({ state }) => context.workspaceState.update(stateKey, state),
      loadState: () => context.workspaceState.get(stateKey) ?? null,
    };
  }

  async #storeOf(run: string): Promise<ResultsReader> {
    const { runs } = this.#host;
    // A run that has just begun is not in the list yet.
    if (!runs.storeOf(run)) await runs.refresh();
    const store = runs.storeOf(run);
    if (!store) throw new HumanError('missing', `The run ${run} is not there any more.`);
    return store;
  }

  async #detail(index: number): Promise<ItemDetail> {
    const { columns } = await this.view();
    const records: { run: RunFile; record: ItemRecord }[] = [];
    for (const { run } of columns) {
      const record = await (await this.#storeOf(run.id)).readItem(run.id, index);
      if (record) records.push({ run, record });
    }
    const detail: ItemDetail = {
      index,
      prompts: [],
      records: records.map(({ run, record }) => ({ run: run.id, record })),
      gold: records[0]?.record.gold ?? '',
      source: null,
    };
    try {
      const { benchmark, items } = await this.#openBenchmark();
      const { chatOf } = await import('../benchmark/index.ts');
      const item = items.find((one) => one.index === index);
      if (!item) return detail;
      for (const { run } of records) {
        const prompt = await benchmark
          .withChat(chatOf(run.settings.chat))
          .prompt(item, usesExamples(run.mode) ? run.settings.shots : 0);
        const parts: { kind: string; text: string }[] = [];
        // The text is rendered again: where the file has changed since, it need not be what the model saw.
        if (run.benchmark.digests.config !== benchmark.configDigest)
          parts.push({
            kind: 'note',
            text: 'The benchmark file has changed since this run; this is the prompt as it would be now.\n',
          });
        if (usesSoftPrompt(run.mode)) parts.push({ kind: 'soft-prompt', text: '' });
        detail.prompts.push({ run: run.id, parts: [...parts, ...prompt.parts] });
      }
      detail.gold = benchmark.target(item).text;
      detail.source = { file: item.place.file, line: item.place.line ?? 1 };
    } catch (thrown) {
      // The outputs are there even where the benchmark is not any more.
      detail.prompts = records.map(({ run }) => ({
        run: run.id,
        parts: [{ kind: 'note', text: `The prompt cannot be shown: ${sentenceOf(thrown)}` }],
      }));
    }
    return detail;
  }

  /** Opened once per version of the file. */
  #openBenchmark(): Promise<{ benchmark: Benchmark; items: readonly Item[] }> {
    const file = this.#results.subject.benchmarkFile;
    if (isImportedPlace(file))
      return Promise.reject(
        new HumanError('missing', 'These results were imported: their benchmark file is not here.'),
      );
    const open = async (): Promise<{ benchmark: Benchmark; items: readonly Item[] }> => {
      const { openBenchmark } = await import('../benchmark/index.ts');
      const benchmark = await openBenchmark(file);
      return { benchmark, items: await benchmark.items('evaluation') };
    };
    return Promise.resolve(vscode.workspace.fs.stat(vscode.Uri.file(file))).then(({ mtime, size }) => {
      const stamp = `${mtime} ${size}`;
      if (this.#benchmark?.stamp !== stamp) this.#benchmark = { stamp, items: open() };
      return this.#benchmark.items;
    });
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
