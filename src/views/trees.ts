/** The trees of the side panel: models, benchmarks, runs. */
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { resultLines, resultWords } from '../editor/words.ts';
import { formatBytes, formatSeconds, headline } from '../metrics/index.ts';
import type { RunFolder } from '../runs/index.ts';
import { sentenceOf } from '../shared/errors.ts';
import { importedWords } from '../shared/imported.ts';
import type { ModelReport } from '../shared/protocol.ts';
import { providerSentences } from '../shared/provider-words.ts';
import { timeMark } from '../shared/response-words.ts';
import type { RunSource, RunStatus } from '../shared/results.ts';
import type { BenchmarkFile, Benchmarks } from './benchmarks.ts';
import { throttle } from './emitter.ts';
import { type Job, type JobQueue, jobWords } from './jobs.ts';
import { subjectOfRun } from './live-results.ts';
import type { KnownModel, Models } from './models.ts';
import type { RunIndex, UnreadableRun } from './run-index.ts';

/** What a row of any tree is about: commands get it as their argument. */
export type Row =
  | { kind: 'model'; model: KnownModel }
  | { kind: 'fact'; label: string; value: string; icon?: string }
  | { kind: 'benchmark'; benchmark: BenchmarkFile }
  | { kind: 'job'; job: Job }
  | { kind: 'group'; task: string; benchmarkFile: string; modelName: string; modelFolder: string; runs: RunFolder[] }
  | { kind: 'run'; run: RunFolder }
  | { kind: 'unreadable'; unreadable: UnreadableRun };

/** One look a status: shape, colour and word. */
const statusLooks: Record<RunStatus, { icon: string; color: string; word: string }> = {
  running: { icon: 'sync~spin', color: 'charts.blue', word: 'running' },
  stopped: { icon: 'debug-pause', color: 'charts.yellow', word: 'stopped' },
  failed: { icon: 'error', color: 'charts.red', word: 'failed' },
  finished: { icon: 'check', color: 'charts.green', word: 'finished' },
};

const statusIcon = (status: RunStatus): vscode.ThemeIcon =>
  new vscode.ThemeIcon(statusLooks[status].icon, new vscode.ThemeColor(statusLooks[status].color));

function item(
  label: string,
  options: Partial<vscode.TreeItem> & { spoken?: string; folded?: boolean },
): vscode.TreeItem {
  const { spoken, folded, ...rest } = options;
  const made = new vscode.TreeItem(
    label,
    folded === undefined
      ? vscode.TreeItemCollapsibleState.None
      : folded
        ? vscode.TreeItemCollapsibleState.Collapsed
        : vscode.TreeItemCollapsibleState.Expanded,
  );
  Object.assign(made, rest);
  if (spoken) made.accessibilityInformation = { label: spoken };
  return made;
}

abstract class Tree implements vscode.TreeDataProvider<Row> {
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  protected readonly changeSoon = throttle(500, () => this.#changed.fire(undefined));
  abstract getTreeItem(row: Row): vscode.TreeItem;
  abstract getChildren(row?: Row): Promise<Row[]>;
}

export class ModelsTree extends Tree {
  readonly #models: Models;

  constructor(models: Models) {
    super();
    this.#models = models;
    models.onDidChange(() => this.changeSoon());
  }

  override async getChildren(row?: Row): Promise<Row[]> {
    if (!row) return (await this.#models.known()).map((model) => ({ kind: 'model', model }));
    if (row.kind !== 'model') return [];
    try {
      return modelFacts(await this.#models.report(row.model.folder));
    } catch (thrown) {
      return [{ kind: 'fact', label: 'Problem', value: sentenceOf(thrown), icon: 'error' }];
    }
  }

  override getTreeItem(row: Row): vscode.TreeItem {
    if (row.kind === 'model') {
      const { name, folder, origin } = row.model;
      const place = origin === 'bundled' ? 'bundled' : vscode.workspace.asRelativePath(dirname(folder));
      const isChosen = folder === this.#models.last;
      return item(name, {
        folded: true,
        description: isChosen ? `${place} · chosen` : place,
        tooltip: folder,
        iconPath: new vscode.ThemeIcon(isChosen ? 'pass-filled' : 'chip'),
        contextValue: origin === 'added' ? 'model.added' : 'model',
        spoken: `Model ${name}, ${origin}${isChosen ? ', chosen' : ''}`,
      });
    }
    if (row.kind === 'fact')
      return item(row.label, {
        description: row.value,
        tooltip: `${row.label}: ${row.value}`,
        iconPath: row.icon ? new vscode.ThemeIcon(row.icon) : undefined,
        spoken: `${row.label}: ${row.value}`,
      });
    return item('', {});
  }
}

/** What was understood of a model folder, most useful first. */
function modelFacts(report: ModelReport): Row[] {
  const fact = (label: string, value: string | number | null, icon?: string): Row[] =>
    value === null || value === '' ? [] : [{ kind: 'fact', label, value: String(value), icon }];
  return [
    ...(report.ok ? [] : fact('Cannot run', report.reason ?? 'unknown', 'error')),
    ...fact('Architecture', report.modelType),
    ...fact('Parameters', report.parameters === null ? null : report.parameters.toLocaleString('en-US')),
    ...fact('Graph', report.graphFile && `${basename(report.graphFile)}${report.dtype ? `, ${report.dtype}` : ''}`),
    ...fact('Size', formatBytes(report.bytes)),
    ...fact(
      'Shape',
      report.layers && report.hiddenSize ? `${report.layers} layers, hidden size ${report.hiddenSize}` : null,
    ),
    ...fact('Context length', report.contextLength),
    ...fact('Vocabulary', report.vocabularySize),
    ...fact('KV cache', report.cache ? `${report.cache.kind}, ${report.cache.heads} heads` : 'none'),
    ...fact('Chat template', report.chatTemplate ? 'yes' : 'no'),
    ...report.missing.flatMap(({ operator, advice }) => fact(`Cannot tune: ${operator}`, advice, 'warning')),
    ...report.notes.flatMap((note) => fact('Note', note, 'info')),
  ];
}

export class BenchmarksTree extends Tree {
  readonly #benchmarks: Benchmarks;
  readonly #models: Models;
  readonly #runs: RunIndex;

  constructor(benchmarks: Benchmarks, models: Models, runs: RunIndex) {
    super();
    this.#benchmarks = benchmarks;
    this.#models = models;
    this.#runs = runs;
    for (const source of [benchmarks, models, runs]) source.onDidChange(() => this.changeSoon());
  }

  override async getChildren(row?: Row): Promise<Row[]> {
    if (row) return [];
    await this.#runs.load();
    return (await this.#benchmarks.known()).map((benchmark) => ({ kind: 'benchmark', benchmark }));
  }

  override getTreeItem(row: Row): vscode.TreeItem {
    if (row.kind !== 'benchmark') return item('', {});
    const { task, file, isExample } = row.benchmark;
    const model = this.#models.chosen(file);
    const results = model ? this.#runs.finished(file, model.folder) : [];
    const place = isExample ? 'example' : vscode.workspace.asRelativePath(file);
    return item(task, {
      description: results.length > 0 ? resultWords(results) : place,
      tooltip: [file, ...(model ? [`On ${model.name}:`, ...resultLines(results)] : [])].join('\n'),
      iconPath: new vscode.ThemeIcon(isExample ? 'book' : 'checklist'),
      resourceUri: undefined,
      contextValue: 'benchmark',
      command: { command: 'softbench.openBenchmark', title: 'Open Benchmark File', arguments: [row] },
      spoken: `Benchmark ${task}, ${place}${results.length > 0 ? `, ${resultWords(results)}` : ''}`,
    });
  }
}

export class RunsTree extends Tree {
  readonly #runs: RunIndex;
  readonly #queue: JobQueue;

  constructor(runs: RunIndex, queue: JobQueue) {
    super();
    this.#runs = runs;
    this.#queue = queue;
    runs.onDidChange(() => this.changeSoon());
    queue.onChange(() => this.changeSoon());
  }

  override async getChildren(row?: Row): Promise<Row[]> {
    if (row) return row.kind === 'group' ? row.runs.map((run) => ({ kind: 'run', run })) : [];
    await this.#runs.load();
    return [
      ...this.#queue.jobs.map((job): Row => ({ kind: 'job', job })),
      ...groups(this.#runs.runs),
      ...this.#runs.unreadable.map((unreadable): Row => ({ kind: 'unreadable', unreadable })),
    ];
  }

  override getTreeItem(row: Row): vscode.TreeItem {
    switch (row.kind) {
      case 'job': {
        const { task, modelName, state } = row.job;
        return item(`${task} · ${modelName}`, {
          id: `job ${row.job.request.group}`,
          description: jobWords(row.job),
          tooltip: `${task} on ${modelName}\n${jobWords(row.job)}`,
          iconPath: new vscode.ThemeIcon(state === 'queued' ? 'clock' : 'sync~spin'),
          contextValue: 'job',
          command: { command: 'softbench.openResults', title: 'Open Results', arguments: [row] },
          spoken: `Job ${task} on ${modelName}: ${jobWords(row.job)}`,
        });
      }
      case 'group': {
        const source = row.runs[0]?.run.source;
        const count = `${row.runs.length} ${row.runs.length === 1 ? 'run' : 'runs'}`;
        return item(`${row.task} · ${row.modelName}`, {
          id: `group ${row.benchmarkFile} ${row.modelFolder}`,
          folded: true,
          description: source ? `imported · ${count}` : count,
          tooltip: source ? importedLines(source).join('\n') : `${row.benchmarkFile}\n${row.modelFolder}`,
          iconPath: new vscode.ThemeIcon(source ? importedIcon : 'graph'),
          contextValue: source ? 'group.imported' : 'group',
          spoken: `${row.task} on ${row.modelName}, ${source ? 'imported, ' : ''}${count}`,
        });
      }
      case 'run':
        return runItem(row);
      case 'unreadable':
        return item(basename(row.unreadable.folder), {
          description: 'cannot be read',
          tooltip: `${row.unreadable.folder}\n${row.unreadable.reason}`,
          iconPath: new vscode.ThemeIcon('warning', new vscode.ThemeColor('charts.yellow')),
          contextValue: 'run.unreadable',
          spoken: `Run ${basename(row.unreadable.folder)} cannot be read: ${row.unreadable.reason}`,
        });
      default:
        return item('', {});
    }
  }
}

/** Icon of what was imported; the word stands beside it. */
const importedIcon = 'cloud-download';

function importedLines(source: RunSource): string[] {
  const words = importedWords(source);
  return [
    `${words.charAt(0).toUpperCase()}${words.slice(1)}.`,
    ...(source.evaluated ? [`Evaluated ${new Date(source.evaluated).toLocaleString()}.`] : []),
    source.file,
  ];
}

function runItem(row: Row & { kind: 'run' }): vscode.TreeItem {
  const { run, summary } = row.run;
  const { source } = run;
  const word = source && run.status === 'finished' ? 'imported' : statusLooks[run.status].word;
  const score = run.predictOnly ? 'not scored' : summary ? `${headline(summary)} of ${summary.scores.n}` : '';
  const mark = summary ? timeMark(run, summary) : '';
  const when = new Date(run.created).toLocaleString();
  const seconds = summary ? summary.seconds + summary.tuningSeconds : null;
  return item(run.mode, {
    id: `run ${row.run.folder}`,
    description: [run.status === 'finished' && !source ? '' : word, score, when].filter(Boolean).join(' · '),
    tooltip: [
      `${run.benchmark.task} on ${run.model.name}, ${run.mode}: ${word}`,
      ...(run.message ? [run.message] : []),
      ...(summary ? resultLines([summary]) : []),
      ...(source ? importedLines(source) : []),
      ...(run.rescoredFrom ? [`Re-scored from ${run.rescoredFrom}.`] : []),
      ...(seconds === null || source ? [] : [`It took ${formatSeconds(seconds)}${mark && ` (${mark})`}.`]),
      ...providerSentences(run.provider),
      run.id,
    ].join('\n'),
    iconPath: source && run.status === 'finished' ? new vscode.ThemeIcon(importedIcon) : statusIcon(run.status),
    contextValue: source ? `run.${run.status}.imported` : `run.${run.status}`,
    command: { command: 'softbench.openResults', title: 'Open Results', arguments: [row] },
    spoken: `${run.mode}, ${word}${score ? `, score ${score}` : ''}, ${when}`,
  });
}

/** Benchmark × model, the one with the newest run first. */
function groups(runs: readonly RunFolder[]): Row[] {
  const found = new Map<string, Row & { kind: 'group' }>();
  for (const folder of runs) {
    const { benchmark, model } = folder.run;
    const key = JSON.stringify([benchmark.file, model.folder]);
    const group = found.get(key);
    if (group) group.runs.push(folder);
    else found.set(key, { kind: 'group', ...subjectOfRun(folder.run), runs: [folder] });
  }
  return [...found.values()];
}

/** The folder that "reveal" means for a row. */
export function folderOf(row: Row): string | null {
  const folder =
    row.kind === 'model'
      ? row.model.folder
      : row.kind === 'run'
        ? row.run.folder
        : row.kind === 'unreadable'
          ? row.unreadable.folder
          : null;
  return folder && existsSync(folder) ? folder : null;
}
