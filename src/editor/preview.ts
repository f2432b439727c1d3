/** Prompt previews: a read-only document per benchmark that shows one item in every prompt mode. */
import * as vscode from 'vscode';
import { sentenceOf } from '../shared/errors.ts';
import type { PromptPreview } from '../shared/protocol.ts';
import { type Mark, type MarkKind, markAt, markMeanings, previewText } from './preview-text.ts';

export const previewScheme = 'softbench-prompt';

export interface PreviewSource {
  previewPrompts(
    benchmarkFile: string,
    modelFolder: string | null,
    index: number,
  ): Promise<{ total: number; previews: PromptPreview[] }>;
  model(benchmarkFile: string): { name: string; folder: string } | null;
}

interface Preview {
  file: string;
  task: string;
  index: number;
  total: number | null;
  marks: Mark[];
}

/** Colours of the theme only; borders tell the parts in high contrast. */
const looks: Partial<Record<MarkKind, vscode.DecorationRenderOptions>> = {
  heading: { color: new vscode.ThemeColor('descriptionForeground'), fontWeight: 'bold' },
  description: { backgroundColor: new vscode.ThemeColor('editor.wordHighlightBackground') },
  template: { color: new vscode.ThemeColor('charts.blue') },
  example: { color: new vscode.ThemeColor('descriptionForeground') },
  'generation-prefix': { textDecoration: 'underline' },
  'soft-prompt': { color: new vscode.ThemeColor('charts.purple'), fontWeight: 'bold' },
  answer: {
    backgroundColor: new vscode.ThemeColor('diffEditor.insertedTextBackground'),
    border: '1px solid',
    borderColor: new vscode.ThemeColor('charts.green'),
    overviewRulerColor: new vscode.ThemeColor('charts.green'),
  },
  stop: { color: new vscode.ThemeColor('charts.red'), fontWeight: 'bold' },
  tokens: { color: new vscode.ThemeColor('descriptionForeground'), fontStyle: 'italic' },
};

export class PromptPreviews implements vscode.TextDocumentContentProvider, vscode.HoverProvider, vscode.Disposable {
  readonly #source: PreviewSource;
  readonly #previews = new Map<string, Preview>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #decorations: Map<MarkKind, vscode.TextEditorDecorationType>;
  readonly #subscriptions: vscode.Disposable[];

  constructor(source: PreviewSource) {
    this.#source = source;
    this.#decorations = new Map(
      Object.entries(looks).map(([kind, look]) => [
        kind as MarkKind,
        vscode.window.createTextEditorDecorationType({
          ...look,
          rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
        }),
      ]),
    );
    this.#subscriptions = [
      ...this.#decorations.values(),
      this.#changed,
      vscode.workspace.registerTextDocumentContentProvider(previewScheme, this),
      vscode.languages.registerHoverProvider({ scheme: previewScheme }, this),
      vscode.window.onDidChangeVisibleTextEditors((editors) => {
        for (const editor of editors) this.#decorate(editor);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme !== previewScheme) return;
        for (const editor of vscode.window.visibleTextEditors) if (editor.document === document) this.#decorate(editor);
      }),
      vscode.workspace.onDidSaveTextDocument((document) => this.refresh(document.uri.fsPath)),
    ];
  }

  async show(file: string, task: string, index = 0): Promise<void> {
    const uri = vscode.Uri.from({
      scheme: previewScheme,
      path: `/${task.replace(/[^\w.-]+/g, '_')}.prompt`,
      query: file,
    });
    this.#previews.set(uri.toString(), { file, task, index, total: null, marks: [] });
    this.#changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: false,
      preview: true,
    });
    this.#decorate(editor);
  }

  /** Shows another item in the preview that is in front; `by` items on, or the item that `to` names (from 0). */
  step(move: { by: number } | { to: number }): void {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const preview = uri && this.#previews.get(uri.toString());
    if (!uri || !preview) return;
    const last = (preview.total ?? Number.POSITIVE_INFINITY) - 1;
    const index = 'to' in move ? move.to : preview.index + move.by;
    preview.index = Math.max(0, Math.min(last, index));
    this.#changed.fire(uri);
  }

  /** How many items the preview in front can show, and which it does (from 0). */
  get current(): { index: number; total: number | null } | null {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const preview = uri && this.#previews.get(uri.toString());
    return preview ? { index: preview.index, total: preview.total } : null;
  }

  /** Renders the previews of a file again. */
  refresh(file: string): void {
    for (const [uri, preview] of this.#previews) if (preview.file === file) this.#changed.fire(vscode.Uri.parse(uri));
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const key = uri.toString();
    // A preview that was open before a restart comes back with its first item.
    const preview = this.#previews.get(key) ?? {
      file: uri.query,
      task: uri.path.slice(1).replace(/\.prompt$/, ''),
      index: 0,
      total: null,
      marks: [],
    };
    this.#previews.set(key, preview);
    const model = this.#source.model(preview.file);
    try {
      const { total, previews } = await this.#render(preview, model?.folder ?? null);
      preview.total = total;
      const { text, marks } = previewText(previews, {
        task: preview.task,
        index: preview.index,
        total,
        model: previews.some(({ tokens }) => tokens.length > 0) ? (model?.name ?? null) : null,
      });
      preview.marks = marks;
      return text;
    } catch (thrown) {
      preview.marks = [];
      return `⟦The prompts of this benchmark cannot be shown.⟧\n\n${sentenceOf(thrown)}\n`;
    }
  }

  /** Without tokens where the model cannot be read: the text is worth showing all the same. */
  async #render(preview: Preview, modelFolder: string | null) {
    try {
      return await this.#source.previewPrompts(preview.file, modelFolder, preview.index);
    } catch (thrown) {
      if (modelFolder === null) throw thrown;
      return this.#source.previewPrompts(preview.file, null, preview.index);
    }
  }

  provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | null {
    const marks = this.#previews.get(document.uri.toString())?.marks ?? [];
    const mark = markAt(marks, document.offsetAt(position));
    return (
      mark &&
      new vscode.Hover(
        new vscode.MarkdownString(markMeanings[mark.kind]),
        new vscode.Range(document.positionAt(mark.start), document.positionAt(mark.end)),
      )
    );
  }

  #decorate(editor: vscode.TextEditor): void {
    const { document } = editor;
    const preview = this.#previews.get(document.uri.toString());
    if (document.uri.scheme !== previewScheme || !preview) return;
    for (const [kind, decoration] of this.#decorations)
      editor.setDecorations(
        decoration,
        preview.marks
          .filter((mark) => mark.kind === kind)
          .map(({ start, end }) => new vscode.Range(document.positionAt(start), document.positionAt(end))),
      );
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
