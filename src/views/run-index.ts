/** The runs of all stores of this window, kept current: read when asked first, read again when their files change. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { DiskRunStore, RunFolder } from '../runs/index.ts';
import { sentenceOf } from '../shared/errors.ts';
import type { RunFile, RunSummary } from '../shared/results.ts';
import { throttle } from './emitter.ts';
import { settings } from './settings.ts';

export interface UnreadableRun {
  folder: string;
  reason: string;
}

/** Files of a run that change what is known of it, without their `.json`. */
const watchedFiles = ['run', 'summary', 'marks'];
/** How often their times are looked at, in milliseconds. */
const lookEvery = 3000;

export class RunIndex implements vscode.Disposable {
  readonly #globalStore: string;
  readonly #log: vscode.LogOutputChannel;
  #stores: ReadonlyMap<string, DiskRunStore> = new Map();
  readonly #watchers = new Map<string, vscode.FileSystemWatcher>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #refreshSoon = throttle(400, () => void this.refresh());
  #runs: RunFolder[] = [];
  #storeOfRun = new Map<string, DiskRunStore>();
  #unreadable: UnreadableRun[] = [];
  #reading: Promise<void> | null = null;
  #again = false;
  /** When runs were last added to a store, and a file of a run under way was last written, by path; 0 where there is none. */
  readonly #times = new Map<string, number>();
  readonly #looking = setInterval(() => void this.#look(), lookEvery);

  /** @param globalStore where runs go when no folder is open */
  constructor(globalStore: string, log: vscode.LogOutputChannel) {
    this.#globalStore = globalStore;
    this.#log = log;
  }

  /** Newest first. Empty before {@link load}. */
  get runs(): readonly RunFolder[] {
    return this.#runs;
  }

  /** Folders that are there but cannot be read, and why. */
  get unreadable(): readonly UnreadableRun[] {
    return this.#unreadable;
  }

  /** The store that runs of a benchmark file go to. */
  storeFolderFor(file: string): string {
    const folder =
      vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file)) ?? (vscode.workspace.workspaceFolders ?? [])[0];
    return settings.store(folder) ?? this.#globalStore;
  }

  /** All stores of this window, the workspace's first. */
  get storeFolders(): readonly string[] {
    return this.#folders();
  }

  storeOf(run: string): DiskRunStore | null {
    return this.#storeOfRun.get(run) ?? null;
  }

  /** Newest finished run of each mode. */
  finishedRuns(benchmarkFile: string, modelFolder: string): (RunFolder & { summary: RunSummary })[] {
    const newest = new Map<string, RunFolder & { summary: RunSummary }>();
    for (const folder of this.#runs) {
      const { run, summary } = folder;
      if (
        run.status === 'finished' &&
        summary &&
        run.benchmark.file === benchmarkFile &&
        run.model.folder === modelFolder &&
        !newest.has(run.mode)
      )
        newest.set(run.mode, { ...folder, summary });
    }
    return [...newest.values()];
  }

  /** Their figures. */
  finished(benchmarkFile: string, modelFolder: string): RunSummary[] {
    return this.finishedRuns(benchmarkFile, modelFolder).map(({ summary }) => summary);
  }

  ofGroup(group: string): RunFile[] {
    return this.#runs.filter(({ run }) => run.group === group).map(({ run }) => run);
  }

  /** Reads the stores unless that was done. */
  async load(): Promise<void> {
    if (this.#stores.size === 0) await this.refresh();
    else await this.#reading;
  }

  /** Reads the stores again soon; many calls become one. */
  refreshSoon(): void {
    this.#refreshSoon();
  }

  async refresh(): Promise<void> {
    if (this.#reading) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#read();
    try {
      await this.#reading;
    } finally {
      this.#reading = null;
    }
    if (this.#again) {
      this.#again = false;
      await this.refresh();
    }
  }

  async #read(): Promise<void> {
    const { openRunStore } = await import('../runs/index.ts');
    const runs: RunFolder[] = [];
    const unreadable: UnreadableRun[] = [];
    const storeOfRun = new Map<string, DiskRunStore>();
    const folders = this.#folders();
    this.#stores = new Map(folders.map((folder) => [folder, this.#stores.get(folder) ?? openRunStore(folder)]));
    // What is read now need not be read again because of its time.
    await this.#noteTimes();
    for (const store of this.#stores.values()) {
      try {
        const list = await store.list();
        runs.push(...list.runs);
        unreadable.push(...list.unreadable);
        for (const { run } of list.runs) storeOfRun.set(run.id, store);
      } catch (thrown) {
        this.#log.warn(sentenceOf(thrown));
      }
    }
    this.#watch(folders);
    for (const { folder, reason } of unreadable)
      if (!this.#unreadable.some((known) => known.folder === folder)) this.#log.warn(`${folder}: ${reason}`);
    this.#runs = runs.sort((a, b) => (a.run.created < b.run.created ? 1 : a.run.created > b.run.created ? -1 : 0));
    this.#storeOfRun = storeOfRun;
    this.#unreadable = unreadable;
    this.#changed.fire();
  }

  #folders(): string[] {
    const folders = vscode.workspace.workspaceFolders ?? [];
    return [...new Set([...folders.map((folder) => settings.store(folder) ?? this.#globalStore), this.#globalStore])];
  }

  /** Another window or the command line may write to the same store. */
  #watch(folders: string[]): void {
    for (const [folder, watcher] of this.#watchers)
      if (!folders.includes(folder)) {
        watcher.dispose();
        this.#watchers.delete(folder);
      }
    for (const folder of folders) {
      if (this.#watchers.has(folder)) continue;
      const watcher = vscode.workspace.createFileSystemWatcher(
        new vscode.RelativePattern(vscode.Uri.file(folder), `runs/*/{${watchedFiles.join(',')}}.json`),
      );
      watcher.onDidCreate(this.#refreshSoon);
      watcher.onDidChange(this.#refreshSoon);
      watcher.onDidDelete(this.#refreshSoon);
      this.#watchers.set(folder, watcher);
    }
  }

  /**
   * The editor's watchers miss what is written into folders that were made a moment before (the first run of a store):
   * times tell. Of a run under way those of its files: its folder changes with each checkpoint too.
   */
  async #look(): Promise<void> {
    if (await this.#noteTimes()) this.#refreshSoon();
  }

  /** @returns whether a time is another than before */
  async #noteTimes(): Promise<boolean> {
    const underWay = this.#runs.filter(({ run }) => run.status === 'running');
    const paths = [
      ...[...this.#stores.keys()].map((store) => join(store, 'runs')),
      ...underWay.flatMap(({ folder }) => watchedFiles.map((name) => join(folder, `${name}.json`))),
    ];
    let changed = false;
    for (const path of paths) {
      const time = await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      );
      if (time !== (this.#times.get(path) ?? 0)) changed = true;
      this.#times.set(path, time);
    }
    return changed;
  }

  dispose(): void {
    clearInterval(this.#looking);
    this.#refreshSoon.dispose();
    for (const watcher of this.#watchers.values()) watcher.dispose();
    this.#changed.dispose();
  }
}
