/** A script that stands for the editor in a page test: answers the page's calls from data and notes them. */
import type { Page } from 'playwright-core';
import { embed } from './browser.ts';
import type { ResultsData } from './data.ts';

/** What `window.scripted` is, as the tests use it. */
interface Scripted {
  calls: { method: string; argument: unknown }[];
  state: unknown;
  fail: Record<string, string>;
  hold: string[];
  cancelled: number;
  data: ResultsData;
  send(method: string, argument: unknown): void;
}
declare global {
  interface Window {
    scripted: Scripted;
    /** Set by hostile data that a page would run. */
    hacked?: number;
  }
}

/** The arguments of the calls of a method that the page has made so far. */
export const calls = (page: Page, method: string): Promise<unknown[]> =>
  page.evaluate(
    (name) => window.scripted.calls.filter((call) => call.method === name).map(({ argument }) => argument),
    method,
  );

/**
 * `window.scripted` on the page: `calls` made by the page, `send(method, argument)` as the editor would, `data` to
 * change, `fail` (method → message) to refuse calls, `hold` (methods) to leave calls without an answer; `cancelled` counts
 * the calls that the page gave up.
 */
export const scriptedHost = (data: unknown): string => `
window.scripted = { calls: [], data: ${embed(data)}, fail: {}, hold: [], cancelled: 0, state: null, next: 1e6,
  send(method, argument) { window.postMessage({ rpc: 'call', id: window.scripted.next++, method, argument }, '*'); } };
window.acquireVsCodeApi = () => ({
  postMessage(message) {
    const host = window.scripted;
    if (message.rpc === 'cancel') host.cancelled++;
    if (message.rpc !== 'call') return;
    host.calls.push({ method: message.method, argument: message.argument });
    const answers = {
      view: () => host.data.view,
      items: ({ run, from, limit }) => (host.data.items[run] || []).slice(from, from + limit),
      detail: ({ index }) => host.data.details.find((each) => each.index === index),
      tokens: ({ run }) => (host.data.tokens || {})[run] || { texts: [], notes: [] },
      mark: ({ index, mark }) => {
        const others = (host.data.view.marks || []).filter((each) => each.index !== index);
        const time = 'change ' + host.calls.length;
        return (host.data.view.marks = mark ? [...others, { ...mark, index, time }] : others);
      },
      saveState: ({ state }) => { host.state = state; },
      loadState: () => host.data.state || null,
      ranks: ({ models }) => host.data.ranks && { drawn: 'items', ranks: models.map((model) => host.data.ranks[model]) },
    };
    if (host.hold.includes(message.method)) return;
    setTimeout(() => {
      const refusal = host.fail[message.method];
      window.postMessage(refusal
        ? { rpc: 'error', id: message.id, error: { kind: 'missing', message: refusal } }
        : { rpc: 'result', id: message.id, value: (answers[message.method] || (() => undefined))(message.argument) }, '*');
    });
  },
});
document.documentElement.classList.add('softbench-standalone');
`;
