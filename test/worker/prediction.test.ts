/** The prediction process as the host uses it: a process of its own, records from files, progress, stops. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordPlaces, SplitFit } from '../../src/shared/predictions.ts';
import type { PredictionApi } from '../../src/shared/protocol.ts';
import { Random } from '../../src/shared/random.ts';
import { WorkerClient } from '../../src/worker/index.ts';
import { bundle } from '../support/bundle.ts';
import { errorOf } from '../support/error-of.ts';

const families = ['Alpha', 'Beta', 'Gamma', 'Delta'];
const sizes = [1, 3, 7, 13];
/** Two kinds of tasks: on those of the second the large models gain more; the last one is noise. */
const tasks = Array.from({ length: 12 }, (_, at) => `${at % 2 === 0 ? 'recall' : 'reasoning'}_${at}`);
const noisy = 'reasoning_11';

/** What is true, without noise: level of the family, of the task, and what size brings by kind of task. */
function truth(family: number, size: number, task: number): number {
  const scale = Math.log2(size) / Math.log2(13);
  return 0.2 + 0.03 * family + 0.015 * task + (task % 2 === 0 ? 0.15 : 0.4) * scale;
}

function table(): string {
  const random = new Random(3);
  const rows = ['model_name,model_family,total_params,task,metric_name,score'];
  for (const [f, family] of families.entries())
    for (const size of sizes)
      for (const [t, task] of tasks.entries()) {
        const score = task === noisy ? random.uniform() : truth(f, size, t) + 0.01 * (random.uniform() - 0.5);
        rows.push(`${family}-${size}b,${family},${size}e9,${task},acc,${score.toFixed(4)}`);
      }
  rows.push('Alpha-1b,Alpha,1e9,recall_0,acc,0.2', 'Alpha-3b,Alpha,3e9,recall_2,acc,NaN');
  return `${rows.join('\n')}\n`;
}

let entry: string;
let folder: string;
let process: WorkerClient<PredictionApi>;
let places: RecordPlaces;
beforeAll(async () => {
  entry = await bundle('src/worker/prediction-main.ts');
  folder = await mkdtemp(join(tmpdir(), 'softbench-prediction-'));
  const [scores, damaged] = ['scores.csv', 'damaged.csv'].map((name) => join(folder, name)) as [string, string];
  await writeFile(scores, table());
  await writeFile(damaged, 'model_name,task\nA,b\n');
  places = { storeFolders: [join(folder, 'store')], files: [scores, damaged, join(folder, 'gone.csv')] };
  process = new WorkerClient<PredictionApi>({ file: entry });
});
afterAll(async () => {
  await process.dispose();
  await rm(folder, { recursive: true, force: true });
  await rm(dirname(entry), { recursive: true, force: true });
});

describe('the prediction process', () => {
  it('counts records by source, and says what is left out and what cannot be read', async () => {
    const report = await process.call.records(places);
    expect(report.used).toBe(families.length * sizes.length * tasks.length);
    expect([report.models.length, report.families.length, report.tasks]).toEqual([16, 4, 12]);
    expect(report.leftOut.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    expect(report.leftOut.flatMap(({ examples }) => examples).join()).not.toContain(folder);
    const [runs, scores, damaged, gone] = report.sources;
    expect(runs).toMatchObject({ kind: 'runs', used: 0, problem: null });
    expect(scores).toMatchObject({ kind: 'file', used: report.used, problem: null });
    expect(damaged?.problem).toContain('score');
    expect(gone?.problem).toBe('The file is not there.');
    expect((await process.call.records(places)).digest).toBe(report.digest);
  });

  it('reads a file again when it has changed', async () => {
    const file = join(folder, 'changing.csv');
    const of = async (text: string) => {
      await writeFile(file, text);
      return process.call.records({ storeFolders: [], files: [file] });
    };
    const before = await of('model_name,model_family,task,metric_name,score\nA,F,t,acc,0.5\n');
    const after = await of('model_name,model_family,task,metric_name,score\nA,F,t,acc,0.5\nB,F,t,acc,0.625\n');
    expect([before.used, after.used]).toEqual([1, 2]);
    expect(after.digest).not.toBe(before.digest);
  });

  it('measures the baseline on all splits, tells of each as it is done, and finds the task that is noise', async () => {
    const done: SplitFit[] = [];
    const fit = await process.call.fit(
      { places, predictor: 'additive', folds: 5, seed: 42 },
      { onProgress: ({ done: split }) => split && done.push(split) },
    );
    expect(fit.splits.map(({ split }) => split)).toEqual(['L1', 'L2.1', 'L2.2', 'L3', 'L4', 'family', 'task']);
    expect(done.map(({ split }) => split)).toEqual(fit.splits.map(({ split }) => split));
    const [random] = fit.splits;
    expect(random?.fits).toHaveLength(1);
    expect(random?.total).toBe(16 * 12);
    expect(random?.points).toHaveLength(16 * 12);
    expect(random?.tasks[0]?.name).toBe(noisy);
    // Nobody says how many items there are: there is no ceiling to draw.
    expect(random?.ceiling).toBeNull();
    // R² of all held-out records, from its definition; folds are close to it.
    const points = random?.points ?? [];
    const mean = points.reduce((sum, { actual }) => sum + actual, 0) / points.length;
    const error = points.reduce((sum, { actual, predicted }) => sum + (actual - predicted) ** 2, 0);
    const variance = points.reduce((sum, { actual }) => sum + (actual - mean) ** 2, 0);
    expect(Math.abs((random?.fits[0]?.r2.mean ?? 0) - (1 - error / variance))).toBeLessThan(0.1);
    const worst = random?.tasks[0];
    const ofWorst = points.filter(({ subtask }) => subtask === noisy);
    expect(worst?.rmse).toBeCloseTo(
      Math.sqrt(ofWorst.reduce((sum, { actual, predicted }) => sum + (actual - predicted) ** 2, 0) / ofWorst.length),
      12,
    );
  });

  it('hands back the splits that are done where it is stopped', async () => {
    const stop = new AbortController();
    const fit = await process.call.fit(
      { places, predictor: 'additive', folds: 5, seed: 42 },
      { signal: stop.signal, onProgress: ({ done }) => done?.split === 'L2.1' && stop.abort() },
    );
    expect(fit.splits.length).toBeGreaterThanOrEqual(2);
    expect(fit.splits.length).toBeLessThan(7);
    const early = errorOf(
      process.call.fit({ places, predictor: 'additive', folds: 5, seed: 42 }, { signal: AbortSignal.abort() }),
    );
    expect((await early).kind).toBe('cancelled');
  });

  it('answers other calls while it computes', async () => {
    let ended = false;
    let answeredBefore = false;
    const fit = process.call
      .fit(
        { places, predictor: 'additive', folds: 10, seed: 1 },
        {
          onProgress: ({ done }) => {
            if (done?.split !== 'L1') return;
            void process.call.choices(undefined).then(() => {
              answeredBefore = !ended;
            });
          },
        },
      )
      .finally(() => {
        ended = true;
      });
    await fit;
    expect(answeredBefore).toBe(true);
  });

  it('maps tasks that behave alike together', async () => {
    const map = await process.call.taskMap({ places, predictor: 'additive', clusters: 0, seed: 1 });
    expect(map.points.map(({ subtask }) => subtask).sort()).toEqual([...tasks].sort());
    const where = (task: string) => map.points.find(({ subtask }) => subtask === task);
    const kinds = ['recall', 'reasoning'].map((kind) =>
      tasks.filter((task) => task.startsWith(kind) && task !== noisy).map((task) => where(task)?.x ?? 0),
    ) as [number[], number[]];
    // The first component parts the two kinds.
    const [a, b] = kinds;
    expect(Math.max(...a) < Math.min(...b) || Math.max(...b) < Math.min(...a)).toBe(true);
    expect(where('recall_0')?.records).toBe(16);
  });

  it('searches small benches with a best so far, and hands it back where it is stopped', async () => {
    const request = { places, search: 'greedy', budgets: [2, 4, 99], budgetIn: 'tasks', seconds: 60, seed: 1 } as const;
    const done = await process.call.smallBench({ ...request, budgets: [...request.budgets] });
    expect(done.curve.map(({ budget, subtasks }) => [budget, subtasks.length])).toEqual([
      [2, 2],
      [4, 4],
    ]);
    expect(done.curve.every(({ recovery }) => recovery?.mean != null)).toBe(true);
    expect(done).toMatchObject({ unit: 'tasks', ended: 'done', rows: 16, heldOut: 'families' });
    const stop = new AbortController();
    const stopped = await process.call.smallBench(
      { ...request, search: 'annealing', budgets: [2, 3, 4, 5, 6, 7, 8, 9, 10] },
      { signal: stop.signal, onProgress: ({ best }) => best.curve.length > 0 && stop.abort() },
    );
    expect(stopped.ended).toBe('stopped');
    expect(stopped.curve[0]?.subtasks).toHaveLength(2);
    const none = await errorOf(process.call.smallBench({ ...request, budgets: [99] }));
    expect(none.message).toContain('between the cheapest task and all 12 tasks');
  });

  it('suggests the next benchmark of the model with the fewest scores, best for its cost first', async () => {
    const file = join(folder, 'few.csv');
    const known = new Set(['recall_0', 'reasoning_1']);
    const rows = table()
      .split('\n')
      .filter((row) => !row.startsWith('Delta-13b') || known.has(row.split(',')[3] ?? ''));
    await writeFile(file, rows.join('\n'));
    const next = await process.call.nextBenchmark({ places: { storeFolders: [], files: [file] }, model: '' });
    expect(next).toMatchObject({ model: 'Delta-13b', known: 2, open: 10, costUnit: 'items' });
    expect(next.rows).toHaveLength(10);
    const worth = next.rows.map(({ before, after, cost }) => (before - after) / cost);
    expect(worth).toEqual([...worth].sort((a, b) => b - a));
    expect(worth.at(-1)).toBeGreaterThan(0);
    // What is random varies most and says nothing of the others.
    const least = next.rows.reduce((low, row) => (row.before < low.before ? row : low));
    expect([next.rows.at(-1)?.task, least.task]).toEqual([noisy, noisy]);
  });

  it('reads a source again where a file behind it has changed: a mapped table, a result in a folder', async () => {
    const [mapping, mapped] = [join(folder, 'map.yaml'), join(folder, 'mapped.csv')];
    await writeFile(mapping, 'table: mapped.csv\nfields: { model_name: M, task: T }\n');
    await writeFile(mapped, 'M,T,score\na,b,0.5\n');
    const results = join(folder, 'tasks', 'navigate', 'results');
    await mkdir(results, { recursive: true });
    const result = (model: string) =>
      writeFile(
        join(results, `scores_${model}.json`),
        JSON.stringify({
          model: { model_family: 'F', model_name: model },
          scores: [
            {
              subtask_description: 'navigate',
              number_of_shots: 0,
              preferred_score: 'exact_str_match',
              score_dict: { exact_str_match: 0.5 },
            },
          ],
        }),
      );
    await result('1b');
    const used = async () => {
      const { sources } = await process.call.records({ storeFolders: [], files: [mapping, join(folder, 'tasks')] });
      return sources.map((source) => [source.used, source.problem]);
    };
    expect(await used()).toEqual([
      [1, null],
      [1, null],
    ]);
    await writeFile(mapped, 'M,T,score\na,b,0.5\nc,b,0.25\n');
    await result('2b');
    expect(await used()).toEqual([
      [2, null],
      [2, null],
    ]);
  });

  it('says what is missing: records, a predictor, a search', async () => {
    const empty = { storeFolders: [], files: [] };
    const fit = { places: empty, predictor: 'additive', folds: 5, seed: 1 };
    expect((await errorOf(process.call.fit(fit))).message).toBe('There are no records to predict from.');
    expect((await errorOf(process.call.fit({ ...fit, places, predictor: 'oracle' }))).message).toContain('"oracle"');
  });
});
