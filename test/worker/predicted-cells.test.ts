/** Predicted cells of the leaderboard, from a store of runs: which cells, on which scale, with which words. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRunStore } from '../../src/runs/index.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { LeaderboardView } from '../../src/shared/protocol.ts';
import { leaderboard } from '../../src/study/index.ts';
import { predictionHandlers } from '../../src/worker/prediction.ts';
import { sampleRun, sampleSummary } from '../runs/sample.ts';

const models = ['alpha-1b', 'alpha-7b', 'beta-1b', 'beta-7b', 'gamma-7b'];
const tasks = ['one', 'two', 'three', 'four'];
/** What nobody ran: a cell of a family that was seen on the task, and one of a family that was not. */
const empty = new Set(['alpha-7b two', 'gamma-7b three']);

let store: string;
let view: LeaderboardView;
beforeAll(async () => {
  store = await mkdtemp(join(tmpdir(), 'softbench-cells-'));
  const mode: PromptMode = 'zero-shot';
  for (const [m, model] of models.entries())
    for (const [t, task] of tasks.entries()) {
      if (empty.has(`${model} ${task}`)) continue;
      const id = `run-${m}-${t}`;
      const run = sampleRun({ mode, group: id });
      const right = 10 + 12 * m + 15 * t + ((7 * m + 5 * t) % 4);
      const folder = join(store, 'runs', id);
      await mkdir(folder, { recursive: true });
      await writeFile(
        join(folder, 'run.json'),
        JSON.stringify({
          ...run,
          id,
          created: `2026-01-01T00:${m}${t}:00.000Z`,
          updated: `2026-01-01T00:${m}${t}:30.000Z`,
          status: 'finished',
          model: { ...run.model, name: model, folder: `/models/${model}` },
          benchmark: { ...run.benchmark, task, file: `/benchmarks/${task}.yaml` },
        }),
      );
      await writeFile(
        join(folder, 'summary.json'),
        JSON.stringify(sampleSummary(id, mode, { right, inFormat: 150, n: 150 })),
      );
    }
  view = leaderboard((await openRunStore(store).list()).runs);
});
afterAll(() => rm(store, { recursive: true, force: true }));

const context = { signal: new AbortController().signal, progress: () => {} };
const predict = (metric: string, of = view) =>
  predictionHandlers().predictCells(
    { places: { storeFolders: [store], files: [] }, predictor: 'mean', metric, seed: 1, view: of },
    context,
  );

describe('predicted cells', () => {
  it('are those that nobody ran, with an interval around them, by the baseline where records are few', async () => {
    expect(view.cells).toHaveLength(models.length * tasks.length - empty.size);
    const { cells, reason } = await predict('S');
    expect(reason).toBeNull();
    expect(new Set(cells.map(({ model, task }) => `${model} ${task}`))).toEqual(empty);
    for (const { mode, metric, prediction, by } of cells) {
      expect([mode, metric]).toEqual(['zero-shot', 'S']);
      expect(prediction.low).toBeLessThanOrEqual(prediction.value);
      expect(prediction.high).toBeGreaterThanOrEqual(prediction.value);
      expect(by).toMatch(/^model \+ task of \d+ records$/);
    }
    const of = (model: string) => cells.find((cell) => cell.model === model)?.prediction;
    // What its model and its task let one expect: about (10 + 12 × 1 + 15 × 1) ÷ 150.
    expect(of('alpha-7b')?.value).toBeGreaterThan(0.17);
    expect(of('alpha-7b')?.value).toBeLessThan(0.33);
    expect(of('gamma-7b')?.extrapolates).toMatch(/No model of the family .* has a score on three|too few records/);
  });

  it('say why there is none', async () => {
    const { cells, reason } = await predict('LL');
    expect(cells).toEqual([]);
    expect(reason).toContain('No empty cell can be predicted');
  });

  it('leave out models and benchmarks without any record', async () => {
    const more = {
      ...view,
      models: [...view.models, { name: 'unseen', folder: '/models/unseen' }],
      benchmarks: [...view.benchmarks, { task: 'five', file: '/benchmarks/five.yaml' }],
    };
    const { cells } = await predict('S', more);
    expect(new Set(cells.map(({ model, task }) => `${model} ${task}`))).toEqual(empty);
  });
});
