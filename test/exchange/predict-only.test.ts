/** Runs whose outputs nobody scored, as lm-evaluation-harness writes them with --predict_only (make/predict_only.py). */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withoutScores } from '../../src/evaluate/predict-only.ts';
import { notJudged } from '../../src/evaluate/records.ts';
import { exportRuns, importResults } from '../../src/exchange/index.ts';
import { type DiskRunStore, openRunStore } from '../../src/runs/index.ts';
import type { ItemRecord, RunFile, RunSummary } from '../../src/shared/results.ts';

const theirs = resolve('test/fixtures/exchange/predict-only');
let folder: string;
let store: DiskRunStore;
const ids: string[] = [];

/** Runs as --predict_only makes them, with the harness's outputs and likelihoods. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-predict-only-'));
  const imported = openRunStore(join(folder, 'imported'));
  await importResults([theirs], imported, { softbench: '0' });
  store = openRunStore(join(folder, 'store'));
  for (const { run, folder: from } of (await imported.list()).runs) {
    const task = run.benchmark.task.replace('parity_', '');
    const { source, ...rest } = run;
    const own: RunFile = {
      ...rest,
      model: { ...run.model, name: 'stories260k', folder: '/m', graphFile: 'model.onnx' },
      benchmark: { ...run.benchmark, file: resolve('test/fixtures/parity/tasks', `${task}.yaml`) },
      settings: { ...run.settings, limit: 6 },
      predictOnly: true,
      notes: [],
    };
    const to = join(store.folder, 'runs', run.id);
    await mkdir(to, { recursive: true });
    await writeFile(join(to, 'run.json'), JSON.stringify(own));
    const records = (await imported.readItems(run.id)).map(({ metrics, ...record }): ItemRecord => {
      return { ...record, ...notJudged, scored: false };
    });
    await writeFile(join(to, 'items.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const summary = JSON.parse(await readFile(join(from, 'summary.json'), 'utf8')) as RunSummary;
    await writeFile(join(to, 'summary.json'), JSON.stringify(withoutScores(summary)));
    ids.push(run.id);
  }
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const rowsOf = async (file: string): Promise<unknown[]> =>
  (await readFile(file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('outputs that were not scored', { timeout: 60_000 }, () => {
  it('are rows and results of lm-evaluation-harness as it writes them: no metric but `bypass`', async () => {
    const place = { format: 'lm-eval', folder: join(folder, 'lm-eval') };
    const files = await exportRuns(store, ids, place, { softbench: '0' });
    const results = JSON.parse(await readFile(files.find((file) => /results_/.test(file)) ?? '', 'utf8'));
    const expected = JSON.parse(await readFile(join(theirs, 'results.json'), 'utf8'));
    for (const key of ['results', 'higher_is_better', 'n-samples', 'task_hashes'])
      expect([key, results[key]]).toEqual([key, expected[key]]);
    for (const task of Object.keys(expected.configs))
      for (const key of ['metric_list', 'process_results'])
        expect(results.configs[task][key]).toEqual(expected.configs[task][key]);
    const samples = files.filter((file) => /samples_/.test(file));
    expect(samples).toHaveLength(5);
    for (const file of samples) {
      const name = basename(file).replace(/_[^_]+\.jsonl$/, '.jsonl');
      expect([name, await rowsOf(file)]).toEqual([name, await rowsOf(join(theirs, name))]);
    }
  });

  it('are judged when they are imported, and it is said so', async () => {
    const back = openRunStore(join(folder, 'back'));
    await importResults([join(folder, 'lm-eval')], back, { softbench: '0' });
    const { runs } = await back.list();
    expect(runs).toHaveLength(5);
    const sums = runs.find(({ run }) => run.benchmark.task === 'parity_gen_sums');
    expect(sums?.summary?.scores.F.n).toBe(6);
    expect(sums?.run.notes.join(' ')).toContain('The files have no verdicts (--predict_only)');
  });

  it('are no files of Every Eval Ever, which are of scores', async () => {
    const place = { format: 'every-eval-ever', folder: join(folder, 'every-eval-ever') };
    await expect(exportRuns(store, ids, place, { softbench: '0' })).rejects.toThrow(
      /was not scored \(--predict_only\), and files of Every Eval Ever are of scores/,
    );
  });

  it('have no verdict in a table', async () => {
    const out = join(folder, 'csv');
    await exportRuns(store, ids, { format: 'csv', folder: out }, { softbench: '0' });
    const [head = '', ...lines] = (await readFile(join(out, 'items.csv'), 'utf8')).split('\r\n');
    const columns = head.split(',');
    const at = ['in_format', 'right', 'lenient_right', 'likeliest_right'].map((name) => columns.indexOf(name));
    const sums = lines.filter((line) => line.startsWith('parity_mc_letter'));
    expect(sums.map((line) => at.map((column) => line.split(',')[column]))).toEqual(sums.map(() => ['', '', '', '']));
    expect(await readFile(join(out, 'scores.csv'), 'utf8')).toContain('"measured, not scored"');
  });
});
