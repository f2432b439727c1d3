/** Benchmark files of the workspace, and the examples that come with the extension. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { findTask } from '../editor/detect.ts';
import { copyUnlessChanged } from './copy.ts';
import { throttle } from './emitter.ts';

export interface BenchmarkFile {
  file: string;
  task: string;
  isExample: boolean;
}

/** Task files of lm-evaluation-harness and of BIG-bench. */
const candidates = '**/{*.yaml,*.yml,task.json}';
const excluded = '**/{node_modules,.git,.softbench,.venv,site-packages}/**';
/** A harness checkout has thousands of task files: list so many, the editor finds the others as they are opened. */
const mostFiles = 2000;

export class Benchmarks implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #watcher: vscode.FileSystemWatcher;
  readonly #forget = throttle(1000, () => this.refresh());
  #known: Promise<BenchmarkFile[]> | null = null;

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
    this.#watcher = vscode.workspace.createFileSystemWatcher(candidates);
    this.#watcher.onDidCreate(this.#forget);
    this.#watcher.onDidChange(this.#forget);
    this.#watcher.onDidDelete(this.#forget);
  }

  known(): Promise<BenchmarkFile[]> {
    this.#known ??= this.#find();
    return this.#known;
  }

  refresh(): void {
    // Nobody has asked yet: nothing to forget.
    if (!this.#known) return;
    this.#known = null;
    this.#changed.fire();
  }

  async #find(): Promise<BenchmarkFile[]> {
    const files = (await vscode.workspace.findFiles(candidates, excluded, mostFiles)).map(({ fsPath }) => fsPath);
    const found = await Promise.all(files.sort().map((file) => describe(file, false)));
    const examples = await this.examples();
    return [...found.filter((one) => one !== null), ...examples];
  }

  get #bundled(): string {
    return join(this.#context.extensionPath, 'examples', 'benchmarks');
  }

  /** Where the examples are opened from: a copy that may be edited and that an update does not move. */
  get #copies(): string {
    return join(this.#context.globalStorageUri.fsPath, 'examples', 'benchmarks');
  }

  /** The examples, as files of the copy; they need not be copied yet. */
  async examples(): Promise<BenchmarkFile[]> {
    const names = (await readdir(this.#bundled).catch(() => [])).filter((name) => /\.ya?ml$/.test(name)).sort();
    const found = await Promise.all(names.map((name) => describe(join(this.#bundled, name), true)));
    return found.filter((one) => one !== null).map((one) => ({ ...one, file: join(this.#copies, basename(one.file)) }));
  }

  /** Makes sure that the copy of an example is there, with the data it reads. */
  async provide(benchmark: BenchmarkFile): Promise<void> {
    if (benchmark.isExample) await copyUnlessChanged(this.#bundled, this.#copies);
  }

  dispose(): void {
    this.#forget.dispose();
    this.#watcher.dispose();
    this.#changed.dispose();
  }
}

async function describe(file: string, isExample: boolean): Promise<BenchmarkFile | null> {
  try {
    const found = findTask(await readFile(file, 'utf8'));
    return found && { file, task: found.task, isExample };
  } catch {
    return null;
  }
}
