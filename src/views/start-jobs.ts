/** From a click to a job: what is run, on which model, and what the user is told when it ends. */
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Benchmark } from '../benchmark/types.ts';
import { resultWords } from '../editor/words.ts';
import { headline } from '../metrics/index.ts';
import { CancelledError, HumanError, sentenceOf } from '../shared/errors.ts';
import type { PromptMode } from '../shared/modes.ts';
import type { JobRequest } from '../shared/protocol.ts';
import type { ChatRequest, ChatSettings, RunFile } from '../shared/results.ts';
import { offerData } from './downloads.ts';
import { isOver, type Job, type JobKind, newGroup } from './jobs.ts';
import { chooseModel } from './pick-model.ts';
import { openAt } from './results-panels.ts';
import { settings } from './settings.ts';
import { unfinishedNewest, type Workbench } from './workbench.ts';

const requestsKey = 'softbench.requests';
/** Requests of so many jobs are kept, so that a resumed job does all that was asked for. */
const mostRequests = 100;

export class StartJobs {
  readonly #workbench: Workbench;

  constructor(workbench: Workbench) {
    this.#workbench = workbench;
    workbench.queue.onEnd((job) => void this.#tell(job));
  }

  /** Evaluates in the modes that the user picks. */
  async evaluate(file: string): Promise<Job | null> {
    const benchmark = await this.#open(file);
    const behind = benchmark.softPrompt.position === 'suffix';
    const shown: { label: PromptMode; picked: boolean; detail: string }[] = [
      { label: 'zero-shot', picked: true, detail: 'The prompt of each item as it is' },
      { label: 'few-shot', picked: true, detail: `${benchmark.shots} examples in front of each item` },
      {
        label: 'soft-prompt',
        picked: false,
        detail: `Tuned first, on the training split${behind ? ', to stand behind the text (position: suffix)' : ''}`,
      },
      {
        label: 'few-shot+soft-prompt',
        picked: false,
        detail: `Examples, and a soft prompt ${behind ? 'behind the text' : 'in front of them'}`,
      },
    ];
    const offered = shown.filter(
      ({ label }) =>
        label === 'zero-shot' ||
        benchmark.trainingSplit !== null ||
        (!label.includes('soft-prompt') && benchmark.modes.includes(label)),
    );
    const picked = await vscode.window.showQuickPick(offered, {
      canPickMany: true,
      title: `Evaluate ${benchmark.task}`,
      placeHolder: 'Prompt modes to evaluate',
    });
    if (!picked || picked.length === 0) return null;
    return this.#start(
      'evaluate',
      file,
      benchmark.task,
      picked.map(({ label }) => label),
      false,
    );
  }

  /** Queues one job for each benchmark of a group, on one model. */
  async evaluateAll(
    group: string,
    benchmarks: readonly { file: string; task: string }[],
    modes: PromptMode[],
  ): Promise<void> {
    const { models } = this.#workbench;
    const model = models.chosen(group) ?? (await chooseModel(this.#workbench, group));
    if (!model) return;
    const only = { model, show: benchmarks.length === 1 };
    for (const { file, task } of benchmarks) await this.#start('evaluate', file, task, modes, true, only);
  }

  /** Tunes a soft prompt; other modes of the benchmark run too unless they have finished before. */
  async tune(file: string): Promise<Job | null> {
    const benchmark = await this.#open(file);
    const modes = benchmark.modes.some((mode) => mode === 'soft-prompt')
      ? [...benchmark.modes]
      : [...benchmark.modes, 'soft-prompt' as const];
    return this.#start('tune', file, benchmark.task, modes, true);
  }

  /** Runs all modes of the benchmark afresh. */
  async compare(file: string): Promise<Job | null> {
    const benchmark = await this.#open(file);
    return this.#start('compare', file, benchmark.task, [...benchmark.modes], false);
  }

  async resumeNewest(benchmarkFile: string, modelFolder: string): Promise<void> {
    await this.#workbench.runs.load();
    const unfinished = unfinishedNewest(this.#workbench.runs.runs, benchmarkFile, modelFolder);
    if (!unfinished) throw new HumanError('bad-input', 'There is no unfinished run of this benchmark and model.');
    this.resume(unfinished.run.group);
  }

  /** Goes on with a job: finished runs of it stay, unfinished ones go on where they stopped. */
  resume(group: string): Job {
    const { runs, queue, context } = this.#workbench;
    const remembered = context.workspaceState.get<Record<string, JobRequest>>(requestsKey, {})[group];
    const ofGroup = runs.ofGroup(group);
    const [first] = ofGroup;
    const request = remembered ?? (first && requestOf(ofGroup, first, runs.storeFolderFor(first.benchmark.file)));
    if (!request) throw new HumanError('missing', 'There is nothing left of this job that could be resumed.');
    const job = queue.add(
      'resume',
      { ...request, engine: settings.engine, responseCache: settings.responseCache },
      {
        task: first?.benchmark.task ?? basename(request.benchmarkFile),
        modelName: first?.model.name ?? basename(request.modelFolder),
      },
    );
    this.#show(job);
    return job;
  }

  async #open(file: string): Promise<Benchmark> {
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === file);
    // What runs is what is on disk.
    if (document?.isDirty && !(await document.save()))
      throw new HumanError('disk', 'The benchmark file could not be saved, so it was not run.', { place: { file } });
    if (!(await offerData(this.#workbench, file)))
      throw new CancelledError('Not run: its data is not on this machine.');
    const { openBenchmark } = await import('../benchmark/index.ts');
    return openBenchmark(file);
  }

  async #start(
    kind: JobKind,
    file: string,
    task: string,
    modes: PromptMode[],
    reuseFinished: boolean,
    chosen?: { model: { name: string; folder: string }; show: boolean },
  ): Promise<Job | null> {
    const { models, runs, queue } = this.#workbench;
    const model = chosen?.model ?? models.chosen(file) ?? (await chooseModel(this.#workbench, file));
    if (!model) return null;
    const request: JobRequest = {
      benchmarkFile: file,
      modelFolder: model.folder,
      modes,
      storeFolder: runs.storeFolderFor(file),
      group: newGroup(),
      reuseFinished,
      engine: settings.engine,
      responseCache: settings.responseCache,
      overrides: {
        limit: settings.limit(vscode.Uri.file(file)),
        batchSize: settings.batchSize,
        chat: settings.chat(vscode.Uri.file(file)),
      },
    };
    const job = queue.add(kind, request, { task, modelName: model.name });
    await this.#remember(request);
    this.#workbench.log.info(`${kind}: ${task} on ${model.name}, ${modes.join(', ')}`);
    if (chosen?.show !== false) this.#show(job);
    return job;
  }

  async #remember(request: JobRequest): Promise<void> {
    const { workspaceState } = this.#workbench.context;
    const known = Object.entries(workspaceState.get<Record<string, JobRequest>>(requestsKey, {}));
    await workspaceState.update(
      requestsKey,
      Object.fromEntries([...known.slice(-mostRequests + 1), [request.group, request]]),
    );
  }

  #show(job: Job): void {
    if (!settings.openResultsOnStart) return;
    const { benchmarkFile, modelFolder } = job.request;
    this.#workbench.panels.show(
      { task: job.task, benchmarkFile, modelName: job.modelName, modelFolder },
      { preserveFocus: true },
    );
  }

  /** Says how a job ended. A stop is what the user asked for: the CodeLens and the panel show it. */
  async #tell(job: Job): Promise<void> {
    const { log, runs } = this.#workbench;
    await runs.refresh();
    if (!isOver(job) || job.state === 'stopped') return;
    const title = `${job.task} on ${job.modelName}`;
    if (job.state === 'finished') {
      log.info(`${title}: ${resultWords(job.summaries)}`);
      // Whoever looks at the results need not be told of them.
      if (this.#workbench.panels.isVisible(job.request.benchmarkFile, job.request.modelFolder)) return;
      const choice = await vscode.window.showInformationMessage(
        `${title}: ${job.summaries.map((summary) => `${summary.mode} ${headline(summary)}`).join(' · ')}`,
        'Show Results',
      );
      if (choice) this.#reveal(job);
      return;
    }
    if (!job.error) return;
    const isLost = job.error instanceof HumanError && job.error.kind === 'worker-lost';
    const canResume = isLost || runs.ofGroup(job.request.group).length > 0;
    await this.tellError(job.error, title, canResume ? job : null);
  }

  /** Shows an error with what can be done about it. @param resumable a job that can go on */
  async tellError(error: Error, title: string, resumable: Job | null): Promise<void> {
    const { log } = this.#workbench;
    log.error(`${title}: ${error instanceof HumanError ? error.sentence : (error.stack ?? error.message)}`);
    if (error instanceof HumanError && error.kind === 'cancelled') return;
    const place = error instanceof HumanError ? error.details.place : undefined;
    const actions = [...(resumable ? ['Resume'] : []), ...(place ? ['Open File'] : []), 'Show Log'];
    const choice = await vscode.window.showErrorMessage(`${title}: ${shortSentence(error)}`, ...actions);
    try {
      if (choice === 'Resume' && resumable) this.resume(resumable.request.group);
      else if (choice === 'Open File' && place) await openAt(place.file, place.line ?? 1, place.column ?? 1);
      else if (choice === 'Show Log') log.show();
    } catch (thrown) {
      void vscode.window.showErrorMessage(sentenceOf(thrown));
    }
  }

  #reveal(job: Job): void {
    const { benchmarkFile, modelFolder } = job.request;
    this.#workbench.panels.show({ task: job.task, benchmarkFile, modelName: job.modelName, modelFolder });
  }
}

/** Message and advice; of the place only the file's name, since a button opens it. */
function shortSentence(error: Error): string {
  if (!(error instanceof HumanError)) return error.message;
  const { place, todo } = error.details;
  const where = place ? `${basename(place.file)}${place.line ? `, line ${place.line}` : ''}: ` : '';
  return `${where}${error.message}${todo ? ` ${todo}` : ''}`;
}

/** What a job asked for, as far as its runs tell: used where the request is not remembered (another window began it). */
export function requestOf(runs: readonly RunFile[], first: RunFile, storeFolder: string): JobRequest {
  const tuned = runs.find(({ settings }) => settings.softPrompt !== null)?.settings.softPrompt;
  const shots = runs.find(({ settings }) => settings.shots > 0)?.settings.shots;
  return {
    benchmarkFile: first.benchmark.file,
    modelFolder: first.model.folder,
    modes: [...runs].sort((a, b) => (a.created < b.created ? -1 : 1)).map(({ mode }) => mode),
    storeFolder,
    group: first.group,
    reuseFinished: true,
    engine: settings.engine,
    overrides: {
      limit: first.settings.limit,
      batchSize: first.settings.batchSize,
      ...(shots !== undefined && { shots }),
      chat: chatRequestOf(first.settings.chat),
      ...(tuned && { softPrompt: tuned }),
    },
  };
}

/** What a run asked for of conversations, so that it is the same whatever the settings say by now. */
const chatRequestOf = (chat: ChatSettings | undefined): ChatRequest =>
  chat
    ? {
        template: chat.template?.name ?? false,
        systemInstruction: chat.systemInstruction ?? '',
        fewshotAsMultiturn: chat.fewshotAsMultiturn,
      }
    : { template: false, systemInstruction: '' };
