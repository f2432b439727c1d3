/** Which finished runs were scored otherwise than their benchmark file would score them now. */
import * as vscode from 'vscode';
import type { ConfigurationDigests } from '../benchmark/index.ts';
import type { RunFolder } from '../runs/index.ts';
import { sentenceOf } from '../shared/errors.ts';

export class ScoringChanges implements vscode.Disposable {
  readonly #log: vscode.LogOutputChannel;
  /** Null where the file is no task file or cannot be read; undefined while it is being read. */
  readonly #digests = new Map<string, ConfigurationDigests | null | undefined>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable;
  /** A file was read, or files have changed. */
  readonly onDidChange = this.#changed.event;

  constructor(log: vscode.LogOutputChannel) {
    this.#log = log;
    const forget = (): void => this.#forget();
    // Any of them may be included by another one.
    const watcher = vscode.workspace.createFileSystemWatcher('**/*.{yaml,yml}');
    this.#subscriptions = vscode.Disposable.from(
      watcher,
      watcher.onDidChange(forget),
      watcher.onDidCreate(forget),
      watcher.onDidDelete(forget),
      // Files outside of the workspace are not watched.
      vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        if (/\.ya?ml$/.test(uri.path)) this.#forget();
      }),
    );
  }

  #forget(): void {
    if (this.#digests.size === 0) return;
    this.#digests.clear();
    this.#changed.fire();
  }

  /**
   * Those of `runs` whose outputs the file as it is on disk would score otherwise, and those that were never scored. None
   * where what is asked of the model has changed too. Begins to read the file where that is not done yet.
   */
  rescorable(file: string, runs: readonly RunFolder[]): RunFolder[] {
    if (runs.length === 0) return [];
    if (!this.#digests.has(file)) void this.#read(file);
    const now = this.#digests.get(file);
    if (!now) return [];
    return runs.filter(({ run: { benchmark, predictOnly } }) => {
      const { requests, scoring } = benchmark.digests;
      return requests === now.requests && (predictOnly || scoring !== now.scoring);
    });
  }

  async #read(file: string): Promise<void> {
    this.#digests.set(file, undefined);
    let digests: ConfigurationDigests | null = null;
    try {
      const { digestsOfFile } = await import('../benchmark/index.ts');
      digests = await digestsOfFile(file);
    } catch (thrown) {
      // Diagnostics say what is wrong with it.
      this.#log.info(`${file}: ${sentenceOf(thrown)}`);
    }
    // It was forgotten meanwhile: the next question reads it again.
    if (!this.#digests.has(file)) return;
    this.#digests.set(file, digests);
    this.#changed.fire();
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#changed.dispose();
  }
}
