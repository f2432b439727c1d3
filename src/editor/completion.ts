/** Completion and hover in benchmark files of YAML. */
import * as vscode from 'vscode';
import { yamlBenchmarkFiles } from './codelens.ts';
import { findTask } from './detect.ts';

const provider: vscode.CompletionItemProvider & vscode.HoverProvider = {
  async provideCompletionItems(document, position) {
    const text = document.getText();
    if (!findTask(text)) return [];
    const { suggestionsAt } = await import('./suggest.ts');
    return suggestionsAt(text, position.line, position.character).map((suggestion, order) => {
      const item = new vscode.CompletionItem(
        suggestion.label,
        suggestion.kind === 'key' ? vscode.CompletionItemKind.Property : vscode.CompletionItemKind.EnumMember,
      );
      item.insertText = suggestion.insert;
      item.detail = suggestion.detail;
      if (suggestion.meaning) item.documentation = new vscode.MarkdownString(suggestion.meaning);
      // In the order of the table: what a new file needs first stands first.
      item.sortText = String(order).padStart(3, '0');
      return item;
    });
  },
  async provideHover(document, position) {
    const text = document.getText();
    if (!findTask(text)) return null;
    const { hoverAt } = await import('./suggest.ts');
    const found = hoverAt(text, position.line, position.character);
    return (
      found &&
      new vscode.Hover(
        new vscode.MarkdownString(found.markdown),
        new vscode.Range(position.line, found.start, position.line, found.end),
      )
    );
  },
};

export function registerCompletion(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.languages.registerCompletionItemProvider(yamlBenchmarkFiles, provider, ' ', ':', '-'),
    vscode.languages.registerHoverProvider(yamlBenchmarkFiles, provider),
  );
}
