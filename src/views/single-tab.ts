/** A page of which there is one editor tab at most: opened or brought to the front, and found again after a restart. */
import * as vscode from 'vscode';
import { pageIcon, pageOptions } from './page.ts';

export class SingleTab implements vscode.WebviewPanelSerializer<unknown>, vscode.Disposable {
  readonly #type: string;
  readonly #title: string;
  readonly #extension: vscode.Uri;
  readonly #serve: (panel: vscode.WebviewPanel) => void;
  #panel: vscode.WebviewPanel | null = null;

  /** @param serve fills a new tab, and answers its page until the tab is disposed of */
  constructor(
    tab: { type: string; title: string; extension: vscode.Uri },
    serve: (panel: vscode.WebviewPanel) => void,
  ) {
    this.#type = tab.type;
    this.#title = tab.title;
    this.#extension = tab.extension;
    this.#serve = serve;
  }

  show(): void {
    if (this.#panel) this.#panel.reveal();
    else
      this.#adopt(
        vscode.window.createWebviewPanel(
          this.#type,
          this.#title,
          vscode.ViewColumn.Active,
          pageOptions(this.#extension),
        ),
      );
  }

  get isVisible(): boolean {
    return this.#panel?.visible ?? false;
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    // There is one tab; a second one of an earlier window is not brought back.
    if (this.#panel) panel.dispose();
    else {
      panel.webview.options = pageOptions(this.#extension);
      this.#adopt(panel);
    }
  }

  #adopt(panel: vscode.WebviewPanel): void {
    this.#panel = panel;
    panel.iconPath = pageIcon(this.#extension);
    panel.onDidDispose(() => {
      if (this.#panel === panel) this.#panel = null;
    });
    this.#serve(panel);
  }

  dispose(): void {
    this.#panel?.dispose();
  }
}
