/** Findings of the benchmark room as editor diagnostics: on opening, soon after a change, and on saving. */
import * as vscode from 'vscode';
import type { Problem } from '../benchmark/types.ts';
import { sentenceOf } from '../shared/errors.ts';
import { findGroup, findTask, mayBeBenchmark } from './detect.ts';

/** @param text the file as it stands in the editor */
export type Checker = (file: string, text: string) => Promise<readonly Problem[]>;

const severities: Record<Problem['severity'], vscode.DiagnosticSeverity> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
};
/** Long enough that typing does not flicker. */
const delayMilliseconds = 350;

export class BenchmarkDiagnostics implements vscode.Disposable {
  readonly #check: Checker;
  readonly #log: vscode.LogOutputChannel;
  readonly #collection = vscode.languages.createDiagnosticCollection('softbench');
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** Other files that a benchmark's check put diagnostics on (includes, data). */
  readonly #elsewhere = new Map<string, vscode.Uri[]>();
  readonly #subscriptions: vscode.Disposable[];

  constructor(check: Checker, log: vscode.LogOutputChannel) {
    this.#check = check;
    this.#log = log;
    this.#subscriptions = [
      this.#collection,
      vscode.workspace.onDidOpenTextDocument((document) => this.#soon(document, 0)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#soon(document, delayMilliseconds)),
      // A file that others include, or data that others read, may have changed: check all that is open.
      vscode.workspace.onDidSaveTextDocument(() => {
        for (const open of vscode.workspace.textDocuments) this.#soon(open, 0);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => this.#clear(document)),
    ];
    for (const open of vscode.workspace.textDocuments) this.#soon(open, 0);
  }

  /** Checks again what is open: data that was missing may be there. */
  refresh(): void {
    for (const open of vscode.workspace.textDocuments) this.#soon(open, 0);
  }

  #soon(document: vscode.TextDocument, milliseconds: number): void {
    if (!mayBeBenchmark(document) || document.uri.scheme !== 'file') return;
    const key = document.uri.toString();
    clearTimeout(this.#timers.get(key));
    this.#timers.set(
      key,
      setTimeout(() => {
        this.#timers.delete(key);
        void this.#run(document);
      }, milliseconds),
    );
  }

  async #run(document: vscode.TextDocument): Promise<void> {
    const text = document.getText();
    if (!findTask(text) && !findGroup(text)) {
      this.#clear(document);
      return;
    }
    const { version } = document;
    let problems: readonly Problem[];
    try {
      problems = await this.#check(document.uri.fsPath, text);
    } catch (thrown) {
      this.#log.error(`${document.uri.fsPath}: ${sentenceOf(thrown)}`);
      return;
    }
    if (document.isClosed || document.version !== version) return;
    this.#clear(document);
    const byFile = new Map<string, vscode.Diagnostic[]>();
    for (const problem of problems) {
      const file = problem.place.file;
      const own = file === document.uri.fsPath ? document : undefined;
      byFile.set(file, [...(byFile.get(file) ?? []), diagnosticOf(problem, own)]);
    }
    for (const [file, diagnostics] of byFile) {
      const uri = vscode.Uri.file(file);
      this.#collection.set(uri, diagnostics);
      if (file !== document.uri.fsPath)
        this.#elsewhere.set(document.uri.toString(), [...(this.#elsewhere.get(document.uri.toString()) ?? []), uri]);
    }
  }

  #clear(document: vscode.TextDocument): void {
    this.#collection.delete(document.uri);
    for (const uri of this.#elsewhere.get(document.uri.toString()) ?? []) this.#collection.delete(uri);
    this.#elsewhere.delete(document.uri.toString());
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

function diagnosticOf(problem: Problem, document: vscode.TextDocument | undefined): vscode.Diagnostic {
  const { line = 1, column = 1 } = problem.place;
  const start = new vscode.Position(Math.max(0, line - 1), Math.max(0, column - 1));
  const end = problem.end
    ? new vscode.Position(Math.max(0, problem.end.line - 1), Math.max(0, problem.end.column - 1))
    : start;
  const range = visible(new vscode.Range(start, end), document);
  const diagnostic = new vscode.Diagnostic(range, problem.message, severities[problem.severity]);
  diagnostic.source = 'Softbench';
  diagnostic.code = problem.code;
  return diagnostic;
}

/**
 * A range that can be seen: an empty one becomes its word or the rest of its line, and the end of a file (where a parser
 * notices what is missing) the last line with text.
 */
function visible(range: vscode.Range, document: vscode.TextDocument | undefined): vscode.Range {
  if (!document) return range;
  const { start } = range;
  let line = Math.min(start.line, document.lineCount - 1);
  if (document.lineAt(line).isEmptyOrWhitespace) {
    while (line > 0 && document.lineAt(line).isEmptyOrWhitespace) line--;
    const { text, range: whole } = document.lineAt(line);
    return new vscode.Range(line, text.length - text.trimStart().length, line, whole.end.character);
  }
  if (!range.isEmpty) return range;
  const rest = new vscode.Range(start, document.lineAt(line).range.end);
  return document.getWordRangeAtPosition(start) ?? (rest.isEmpty ? document.lineAt(line).range : rest);
}
