/** Quick fixes for data that is not here, and a hover with the rows of each split. */
import * as vscode from 'vscode';
import { yamlBenchmarkFiles } from './codelens.ts';
import { dataHover, dataKeyLine } from './data-words.ts';
import { findTask } from './detect.ts';

const missingDataset = 'missing-dataset';

const actions: vscode.CodeActionProvider = {
  provideCodeActions(document, _, { diagnostics }) {
    const missing = diagnostics.filter(({ source, code }) => source === 'Softbench' && code === missingDataset);
    if (missing.length === 0) return [];
    const action = (title: string, command: string, isPreferred: boolean): vscode.CodeAction => {
      const made = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      made.command = { title, command, arguments: [document.uri] };
      made.diagnostics = missing;
      made.isPreferred = isPreferred;
      return made;
    };
    return [
      action('Download from Hugging Face…', 'softbench.downloadDataset', true),
      action('Map to a folder…', 'softbench.mapDataset', false),
    ];
  },
};

const hovers: vscode.HoverProvider = {
  async provideHover(document, position, token) {
    const line = document.lineAt(position.line);
    if (!dataKeyLine.test(line.text) || !findTask(document.getText())) return null;
    const { datasetOf, splitSizes } = await import('../benchmark/index.ts');
    const dataset = await datasetOf(document.uri.fsPath, document.getText()).catch(() => null);
    if (!dataset || token.isCancellationRequested) return null;
    const sizes = dataset.located ? await splitSizes(dataset.located) : [];
    return new vscode.Hover(new vscode.MarkdownString(dataHover(dataset, sizes)), line.range);
  },
};

export function registerDataActions(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.languages.registerCodeActionsProvider(yamlBenchmarkFiles, actions, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    vscode.languages.registerHoverProvider(yamlBenchmarkFiles, hovers),
  );
}
