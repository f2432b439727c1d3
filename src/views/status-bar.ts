/** The status bar: what computes, and the job under way. */
import * as vscode from 'vscode';
import { providerSentences, providerTitle } from '../shared/provider-words.ts';
import type { ProviderReport } from '../shared/results.ts';
import { throttle } from './emitter.ts';
import { type JobQueue, jobWords } from './jobs.ts';
import { settings } from './settings.ts';

export class StatusBar implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;
  readonly #queue: JobQueue;
  readonly #subscriptions: { dispose(): void }[];
  /** What the last job ran on; null before the first. */
  #provider: ProviderReport | null = null;

  constructor(queue: JobQueue) {
    this.#queue = queue;
    this.#item = vscode.window.createStatusBarItem('softbench.status', vscode.StatusBarAlignment.Left, 10);
    this.#item.name = 'Softbench';
    this.#item.command = 'softbench.menu';
    const update = throttle(300, () => this.#update());
    this.#subscriptions = [
      queue.onChange((job) => {
        this.#provider = job.provider ?? this.#provider;
        update();
      }),
      update,
    ];
    this.#update();
    this.#item.show();
  }

  #update(): void {
    const job = this.#queue.running;
    const waiting = this.#queue.jobs.length - (job ? 1 : 0);
    const { executionProvider } = settings.engine;
    const provider = this.#provider ? providerTitle(this.#provider.running) : providerTitle(executionProvider);
    const percent = job?.fraction === null || job?.fraction === undefined ? '' : ` ${Math.floor(job.fraction * 100)} %`;
    this.#item.text = job
      ? `$(sync~spin) ${job.task}: ${job.mode ?? job.activity}${percent}${waiting > 0 ? ` (+${waiting})` : ''}`
      : `$(beaker) Softbench: ${provider}`;
    const tooltip = new vscode.MarkdownString('', true);
    const line = (text: string): void => {
      tooltip.appendText(text);
      tooltip.appendMarkdown('\n\n');
    };
    if (job) line(`${job.task} on ${job.modelName}: ${jobWords(job)}`);
    if (waiting > 0) line(`${waiting} more ${waiting === 1 ? 'job waits' : 'jobs wait'}.`);
    if (this.#provider) {
      for (const sentence of providerSentences(this.#provider)) line(sentence);
    } else line(`Asked for ${providerTitle(executionProvider)}. What runs is decided when the first model is opened.`);
    line('Click for actions.');
    this.#item.tooltip = tooltip;
    this.#item.accessibilityInformation = {
      label: job ? `Softbench, ${job.task} on ${job.modelName}: ${jobWords(job)}` : `Softbench, runs on ${provider}`,
      role: 'button',
    };
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#item.dispose();
  }
}
