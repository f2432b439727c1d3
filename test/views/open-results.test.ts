import { describe, expect, it } from 'vitest';
import type { Comparison, Subject } from '../../src/views/live-results.ts';
import { OpenResults, titleOf } from '../../src/views/open-results.ts';

function memento(kept: Record<string, unknown> = {}) {
  return {
    kept,
    keys: () => Object.keys(kept),
    get: <T>(key: string, usual?: T) => (key in kept ? (kept[key] as T) : (usual as T)),
    update: async (key: string, value: unknown) => {
      kept[key] = JSON.parse(JSON.stringify(value));
    },
  };
}
const subject = (folder: string): Subject => ({
  task: 'gsm8k',
  benchmarkFile: `${folder}/gsm8k.yaml`,
  modelName: 'tiny',
  modelFolder: `${folder}/tiny`,
});
const nothingOpen = (): boolean => false;

describe('what open results tabs show', () => {
  it('is found by the title of a tab in the next window', async () => {
    const state = memento();
    const comparison: Comparison = { task: 'gsm8k', runs: ['a', 'b'] };
    const open = new OpenResults(state);
    await open.opened(subject('/one'));
    await open.opened(comparison);
    const next = new OpenResults(memento(state.kept));
    expect(next.find('gsm8k · tiny', nothingOpen)).toEqual(subject('/one'));
    expect(next.find('gsm8k · 2 runs', nothingOpen)).toEqual(comparison);
    expect(next.find('gsm8k · large', nothingOpen)).toBeNull();
  });

  it('is forgotten once the tab is closed', async () => {
    const open = new OpenResults(memento());
    await open.opened(subject('/one'));
    await open.closed(subject('/one'));
    expect(open.find(titleOf(subject('/one')), nothingOpen)).toBeNull();
  });

  it('goes to each of several tabs with the same title once, the newest first', async () => {
    const open = new OpenResults(memento());
    for (const folder of ['/one', '/two', '/one']) await open.opened(subject(folder));
    const keys = new Set<string>();
    const next = (): string | undefined => {
      const found = open.find('gsm8k · tiny', (key) => keys.has(key)) as Subject | null;
      if (found) keys.add(`${found.benchmarkFile}\n${found.modelFolder}`);
      return found?.modelFolder;
    };
    expect([next(), next(), next()]).toEqual(['/one/tiny', '/two/tiny', undefined]);
  });

  it('takes nothing that it does not understand from what was kept', () => {
    for (const kept of [null, 'x', [null], [{ title: 'gsm8k · tiny' }], [{ title: 1, shown: subject('/one') }]]) {
      const open = new OpenResults(memento({ 'softbench.openResults': kept }));
      expect(open.find('gsm8k · tiny', nothingOpen)).toBeNull();
    }
  });
});
