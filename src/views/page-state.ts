/** What pages keep between showings: each its own, and `shared` for all pages of the workspace (saved filters). */
import type { Memento } from 'vscode';

const sharedKey = 'softbench.page.shared';
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export async function savePageState(memento: Memento, key: string, state: unknown): Promise<void> {
  if (!isObject(state)) return memento.update(key, state);
  const { shared, ...own } = state;
  await memento.update(key, own);
  if (shared !== undefined && JSON.stringify(shared) !== JSON.stringify(memento.get(sharedKey)))
    await memento.update(sharedKey, shared);
}

export function loadPageState(memento: Memento, key: string): unknown {
  const own = memento.get(key) ?? null;
  const shared = memento.get(sharedKey);
  if (shared === undefined) return own;
  return { ...(isObject(own) ? own : {}), shared };
}
