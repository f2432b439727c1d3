/**
 * Where a page's data comes from: the extension host over messages, or data embedded in the HTML file (README.md).
 * A page is written against its API and does not know which it is, but for `live`.
 */
import { type Api, type Channel, type Client, connect, type Handlers, serve } from '../src/shared/rpc.ts';
import { type EmbeddedData, readEmbedded } from './embedded.ts';

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

export interface Host<A extends Api> {
  api: Client<A>;
  /** False for a file opened in a browser: nothing runs, stops or opens behind it. */
  live: boolean;
}

function editorChannel(): Channel {
  const editor = acquireVsCodeApi();
  return {
    post: (message) => editor.postMessage(message),
    onMessage(listener) {
      const onMessage = (event: MessageEvent): void => listener(event.data);
      window.addEventListener('message', onMessage);
      return () => window.removeEventListener('message', onMessage);
    },
  };
}

/** `embeddedApi` answers the page's calls from embedded data; it is used outside the editor only. */
export function openHost<A extends Api, E extends Api>(
  page: EmbeddedData['page'],
  events: Handlers<E>,
  embeddedApi: (data: EmbeddedData) => Client<A>,
): Host<A> {
  if (typeof acquireVsCodeApi === 'function') {
    const channel = editorChannel();
    serve<E>(channel, events);
    return { api: connect<A>(channel).call, live: true };
  }
  useDefaultTheme();
  return { api: embeddedApi(readEmbedded(page)), live: false };
}

/** Outside the editor: the theme variables of style.css, by what the reader's system prefers. */
function useDefaultTheme(): void {
  document.documentElement.classList.add('softbench-standalone');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const contrast = matchMedia('(prefers-contrast: more)');
  const apply = (): void => {
    const kind = contrast.matches
      ? dark.matches
        ? 'vscode-high-contrast'
        : 'vscode-high-contrast-light'
      : dark.matches
        ? 'vscode-dark'
        : 'vscode-light';
    document.body.dataset.vscodeThemeKind = kind;
    document.body.classList.remove('vscode-light', 'vscode-dark', 'vscode-high-contrast', 'vscode-high-contrast-light');
    document.body.classList.add(kind);
  };
  apply();
  for (const query of [dark, contrast]) query.addEventListener('change', apply);
}
