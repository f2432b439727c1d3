/** The HTML around a page's script, and the channel to it. The same for panels and views. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Channel } from '../shared/rpc.ts';

export type PageName = 'results' | 'leaderboard' | 'predictor';

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Where pages may load scripts, styles and fonts from. */
const pageRoot = (extension: vscode.Uri): vscode.Uri => vscode.Uri.joinPath(extension, 'dist', 'webview');

export const pageOptions = (extension: vscode.Uri): vscode.WebviewOptions => ({
  enableScripts: true,
  localResourceRoots: [pageRoot(extension)],
  enableCommandUris: false,
});

/** Of a page's tab. A tab shows it as a picture, which does not take the theme's colour by itself. */
export function pageIcon(extension: vscode.Uri): { light: vscode.Uri; dark: vscode.Uri } {
  const icon = (name: string): vscode.Uri => vscode.Uri.joinPath(extension, 'media', name);
  return { light: icon('softbench-light.svg'), dark: icon('softbench-dark.svg') };
}

/**
 * Nothing is allowed but the page's own script and styles. `restore` is what a panel is found again by after a restart:
 * the editor keeps it, the page need not know of it.
 */
export function pageHtml(
  webview: vscode.Webview,
  extension: vscode.Uri,
  page: PageName,
  options: { title: string; restore?: unknown },
): string {
  const nonce = randomBytes(18).toString('base64url');
  const file = (name: string): string =>
    webview.asWebviewUri(vscode.Uri.joinPath(pageRoot(extension), name)).toString();
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`,
  ].join('; ');
  const style = existsSync(join(pageRoot(extension).fsPath, `${page}.css`))
    ? `<link rel="stylesheet" href="${file(`${page}.css`)}">`
    : '';
  // The API may be taken once only: it is taken here, and handed on to the page.
  const keep =
    options.restore === undefined
      ? ''
      : `<script nonce="${nonce}">{const api=acquireVsCodeApi();api.setState(${JSON.stringify(options.restore).replaceAll('<', '\\u003c')});globalThis.acquireVsCodeApi=()=>api;}</script>`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(options.title)}</title>
${style}
</head>
<body data-page="${page}">
${keep}
<script nonce="${nonce}" src="${file(`${page}.js`)}"></script>
</body>
</html>`;
}

export function pageChannel(webview: vscode.Webview): Channel {
  return {
    post: (message) => void webview.postMessage(message).then(undefined, () => {}),
    onMessage(listener) {
      const subscription = webview.onDidReceiveMessage(listener);
      return () => subscription.dispose();
    },
  };
}
