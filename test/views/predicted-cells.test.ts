import { describe, expect, it } from 'vitest';
import type { ExtensionContext, LogOutputChannel } from 'vscode';
import type { LeaderboardView, PredictedCell } from '../../src/shared/protocol.ts';
import { Emitter } from '../../src/views/emitter.ts';
import { PredictedCells } from '../../src/views/predicted-cells.ts';
import type { Predictions } from '../../src/views/predictions.ts';

const view: LeaderboardView = {
  models: ['a', 'b'].map((name) => ({ name, folder: `/models/${name}` })),
  benchmarks: [{ task: 't', file: '/t.yaml' }],
  cells: [],
};
const cell = (metric: string): PredictedCell => ({
  model: 'a',
  task: 't',
  mode: 'zero-shot',
  metric,
  prediction: { value: 0.5, low: 0.4, high: 0.6, extrapolates: null },
  by: 'model + task of 12 records',
});

/** The parts that stand around it: a workspace state, and a process whose answers are given by hand. */
function made(state = new Map<string, unknown>()) {
  const asked: {
    metric: string;
    signal: AbortSignal;
    answer(cells: PredictedCell[]): void;
    fail(why: string): void;
  }[] = [];
  const records = new Emitter<void>();
  const predictions = {
    onDidChangeRecords: records.event,
    places: async () => ({ storeFolders: [], files: [] }),
    settings: async () => ({ predictor: 'additive', seed: 42 }),
    process: async () => ({
      call: {
        predictCells: ({ metric }: { metric: string }, { signal }: { signal: AbortSignal }) =>
          new Promise((resolve, reject) => {
            asked.push({
              metric,
              signal,
              answer: (cells) => resolve({ cells, reason: null }),
              fail: (why) => reject(new Error(why)),
            });
          }),
      },
    }),
  } as unknown as Predictions;
  const context = {
    subscriptions: [],
    workspaceState: {
      get: (key: string) => state.get(key),
      update: async (key: string, value: unknown) => void state.set(key, value),
    },
  } as unknown as ExtensionContext;
  const cells = new PredictedCells(context, predictions, { warn: () => {} } as unknown as LogOutputChannel);
  let changes = 0;
  cells.onDidChange(() => changes++);
  return { cells, asked, records, changes: () => changes, state };
}
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('predicted cells of the leaderboard', () => {
  it('are not computed before they are wished for', async () => {
    const { cells, asked } = made();
    expect(cells.of(view)).toEqual({ predictions: { shown: false, busy: false, note: null } });
    await settled();
    expect(asked).toHaveLength(0);
  });

  it('come when they are there, once for the same runs, and the wish outlives the window', async () => {
    const { cells, asked, changes, state } = made();
    await cells.show({ shown: true, metric: 'S' });
    expect(cells.of(view).predictions).toEqual({ shown: true, busy: true, note: null });
    await settled();
    cells.of(view);
    expect(asked).toHaveLength(1);
    const before = changes();
    asked[0]?.answer([cell('S')]);
    await settled();
    expect(changes()).toBe(before + 1);
    expect(cells.of(view)).toEqual({
      predicted: [cell('S')],
      predictions: { shown: true, busy: false, note: null },
    });
    await settled();
    expect(asked).toHaveLength(1);
    expect(made(state).cells.of(view).predictions?.shown).toBe(true);
  });

  it('are computed again for other runs, another metric and other records; what is late is nobody’s', async () => {
    const { cells, asked, records } = made();
    await cells.show({ shown: true, metric: 'S' });
    cells.of(view);
    await settled();
    await cells.show({ shown: true, metric: 'F' });
    cells.of(view);
    await settled();
    expect(asked.map(({ metric }) => metric)).toEqual(['S', 'F']);
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[0]?.answer([cell('S')]);
    asked[1]?.answer([cell('F')]);
    await settled();
    expect(cells.of(view).predicted).toEqual([cell('F')]);
    cells.of({ ...view, models: [...view.models, { name: 'c', folder: '/models/c' }] });
    await settled();
    expect(asked).toHaveLength(3);
    records.fire();
    cells.of(view);
    await settled();
    expect(asked).toHaveLength(4);
  });

  it('say why there are none, and go when nobody wishes for them', async () => {
    const { cells, asked } = made();
    await cells.show({ shown: true, metric: 'S' });
    cells.of(view);
    await settled();
    asked[0]?.fail('There are no records to predict from.');
    await settled();
    expect(cells.of(view)).toEqual({
      predicted: [],
      predictions: { shown: true, busy: false, note: 'There are no records to predict from.' },
    });
    await cells.show({ shown: false, metric: 'S' });
    expect(cells.of(view).predicted).toBeUndefined();
  });
});
