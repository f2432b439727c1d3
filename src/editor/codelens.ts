/** Places the lenses above `task:` of a benchmark file, or above `"name":` of a BIG-bench task. */
import * as vscode from 'vscode';
import { findGroup, findTask } from './detect.ts';
import { groupLenses, type LensState, lensesOf } from './lenses.ts';

/** Who knows about models, jobs and runs. */
export interface LensSource {
  state(file: string): LensState;
  onDidChange(listener: () => void): { dispose(): void };
}

/** Task files of lm-evaluation-harness. */
export const yamlBenchmarkFiles: readonly vscode.DocumentFilter[] = [
  { language: 'yaml', scheme: 'file' },
  { pattern: '**/*.{yaml,yml}', scheme: 'file' },
];

export const benchmarkFiles: vscode.DocumentSelector = [
  ...yamlBenchmarkFiles,
  { pattern: '**/task.json', scheme: 'file' },
];

export class BenchmarkLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #source: LensSource;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscription: { dispose(): void };
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(source: LensSource) {
    this.#source = source;
    this.#subscription = source.onDidChange(() => this.#changed.fire());
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const text = document.getText();
    const group = findGroup(text);
    const task = group ?? findTask(text);
    if (!task) return [];
    const range = new vscode.Range(task.line, task.start, task.line, task.end);
    return (group ? groupLenses : lensesOf)(this.#source.state(document.uri.fsPath)).map(
      ({ title, tooltip, command, more }) =>
        new vscode.CodeLens(range, { title, tooltip, command, arguments: [document.uri, ...(more ?? [])] }),
    );
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}
