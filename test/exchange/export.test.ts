/**
 * Exports of runs with the outputs of real models: lm-eval's own hashes, and files that the tools of both projects have read
 * (make/check_exports.py): what is written now is, byte for byte, what they accepted.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportRuns, importResults } from '../../src/exchange/index.ts';
import { type DiskRunStore, openRunStore } from '../../src/runs/index.ts';
import type { RunFile } from '../../src/shared/results.ts';

const parity = resolve('test/fixtures/parity');
const checkedFile = resolve('test/fixtures/exchange/checked.json');
const tasks = ['gen_choice', 'gen_sums', 'gen_vote', 'll_word', 'mc_letter', 'mc_binary'];
let folder: string;
let store: DiskRunStore;
let ids: string[];

/** Runs as if they had been measured: outputs of stories260k as lm-eval has them, and a benchmark file each. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-export-'));
  const before = openRunStore(join(folder, 'imported'));
  const settings = ['zero-shot', 'few-shot'].map((setting) => join(parity, 'runs', 'stories260k', setting));
  await importResults(settings, before, { softbench: '0.1.0', tasks: tasks.map((task) => `parity_${task}`) });
  store = openRunStore(join(folder, 'store'));
  ids = [];
  const { runs } = await before.list();
  for (const { run: imported, folder: from } of runs.sort((a, b) => (a.run.id < b.run.id ? -1 : 1))) {
    const task = imported.benchmark.task.replace('parity_', '');
    if (!tasks.includes(task)) continue;
    const { source, ...rest } = imported;
    const number = tasks.indexOf(task);
    const time = `2026-02-03T04:05:${10 + number}.${imported.mode === 'few-shot' ? 600 : 500}Z`;
    const id = `20260203-0405${10 + number}-${imported.benchmark.task}-stories260k-${imported.mode}`;
    const run: RunFile = {
      ...rest,
      id,
      group: 'job',
      created: '2026-02-03T04:05:00.250Z',
      updated: time,
      softbench: '0.1.0',
      onnxruntime: '1.24.0',
      notes: [],
      model: {
        name: 'stories260k',
        folder: '/models/stories260k',
        graphFile: 'model.onnx',
        digests: { graph: 'a1', weights: 'b2', tokenizer: 'c3', config: 'd4' },
      },
      benchmark: {
        ...imported.benchmark,
        file: join(parity, 'tasks', `${task}.yaml`),
        digests: { config: 'e5', data: 'f6' },
      },
      settings: { ...imported.settings, batchSize: 8 },
      provider: { asked: 'auto', running: 'cpu', reason: 'no GPU', threads: 2 },
    };
    const to = join(store.folder, 'runs', id);
    await mkdir(to, { recursive: true });
    await writeFile(join(to, 'run.json'), JSON.stringify(run));
    await cp(join(from, 'items.jsonl'), join(to, 'items.jsonl'));
    const summary = JSON.parse(await readFile(join(from, 'summary.json'), 'utf8'));
    await writeFile(join(to, 'summary.json'), JSON.stringify({ ...summary, run: id, seconds: 1.5 }));
    ids.push(id);
  }
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const write = async (format: string, to = join(folder, format)): Promise<string[]> =>
  (await exportRuns(store, ids, { format, folder: to }, { softbench: '0.1.0' })).sort();

describe('files of lm-evaluation-harness', { timeout: 60_000 }, () => {
  it('have the hashes of every task that lm-eval itself computed for the same rows', async () => {
    const files = await write('lm-eval');
    const results = files.filter((file) => /results_/.test(file));
    expect(results).toHaveLength(2);
    for (const file of results) {
      const ours = JSON.parse(await readFile(file, 'utf8'));
      const setting = Object.values(ours['n-shot'])[0] === 0 ? 'zero-shot' : 'few-shot';
      const theirs = JSON.parse(await readFile(join(parity, 'runs', 'stories260k', setting, 'results.json'), 'utf8'));
      for (const task of tasks.map((name) => `parity_${name}`)) {
        expect(ours.task_hashes[task]).toBe(theirs.task_hashes[task]);
        expect(ours.results[task]).toEqual(theirs.results[task]);
        expect(ours.versions[task]).toEqual(theirs.versions[task]);
        expect(ours['n-samples'][task]).toEqual(theirs['n-samples'][task]);
        expect(ours.higher_is_better[task]).toEqual(theirs.higher_is_better[task]);
        const { metadata, ...config } = theirs.configs[task];
        expect(ours.configs[task]).toMatchObject(config);
        expect(metadata).toMatchObject(ours.configs[task].metadata);
      }
    }
  });

  it('of runs whose benchmark file has changed are refused', async () => {
    const [id = ''] = ids;
    const changed = openRunStore(join(folder, 'changed'));
    const to = join(changed.folder, 'runs', id);
    await cp(join(store.folder, 'runs', id), to, { recursive: true });
    const run = JSON.parse(await readFile(join(to, 'run.json'), 'utf8'));
    await writeFile(join(to, 'run.json'), JSON.stringify({ ...run, settings: { ...run.settings, shots: 1 } }));
    const place = { format: 'lm-eval', folder: join(folder, 'refused') };
    await expect(exportRuns(changed, [id], place, { softbench: '0' })).rejects.toThrow(
      /Item 0 has another prompt today than in the run/,
    );
    expect(await readdir(join(folder, 'refused', 'stories260k'))).toEqual([]);
  });

  it('lie in the folder whatever a task and a model are called', async () => {
    const [id = ''] = ids;
    const named = openRunStore(join(folder, 'named'));
    const to = join(named.folder, 'runs', id);
    await cp(join(store.folder, 'runs', id), to, { recursive: true });
    const run: RunFile = JSON.parse(await readFile(join(to, 'run.json'), 'utf8'));
    const other = {
      ...run,
      model: { ...run.model, name: '..' },
      benchmark: { ...run.benchmark, task: '../../a\u0007b' },
    };
    await writeFile(join(to, 'run.json'), JSON.stringify(other));
    const place = join(folder, 'deep', 'named');
    const files = await exportRuns(named, [id], { format: 'lm-eval', folder: place }, { softbench: '0' });
    const time = /results_(.*)\.json$/.exec(files[0] ?? '')?.[1];
    expect(files.map((file) => relative(place, file).replaceAll('\\', '/'))).toEqual([
      `__/results_${time}.json`,
      `__/samples_..__..__a__b_${time}.jsonl`,
    ]);
    const again = openRunStore(join(folder, 'named-again'));
    await importResults([place], again, { softbench: '0' });
    const [back] = (await again.list()).runs;
    expect(back?.run.model.name).toBe('..');
    expect(back?.run.benchmark.task).toBe('../../a\u0007b');
  });

  it('come back with the same scores', async () => {
    const back = openRunStore(join(folder, 'back'));
    await write('lm-eval', join(folder, 'again'));
    await importResults([join(folder, 'again')], back, { softbench: '0.1.0' });
    const { runs } = await back.list();
    expect(runs).toHaveLength(ids.length);
    for (const { run, summary } of runs) {
      const original = ids.find((id) => id.includes(`${run.benchmark.task}-`) && id.endsWith(run.mode)) ?? '';
      const { summary: before } = await store.read(original);
      for (const name of ['F', 'S', 'L', 'LL'] as const)
        expect([run.id, name, summary?.scores[name]?.count]).toEqual([run.id, name, before?.scores[name]?.count]);
    }
  });
});

describe('files of Every Eval Ever', { timeout: 60_000 }, () => {
  it('come back with the same scores and items', async () => {
    const back = openRunStore(join(folder, 'back-eee'));
    await write('every-eval-ever', join(folder, 'again-eee'));
    await importResults([join(folder, 'again-eee')], back, { softbench: '0.1.0' });
    const { runs } = await back.list();
    expect(runs).toHaveLength(ids.length);
    for (const { run, summary } of runs) {
      const original = ids.find((id) => id.includes(`${run.benchmark.task}-`) && id.endsWith(run.mode)) ?? '';
      const { summary: before } = await store.read(original);
      expect(run.source).toMatchObject({ tool: 'every-eval-ever', version: '0.3.0', library: 'softbench 0.1.0' });
      for (const name of ['F', 'S', 'L', 'LL'] as const)
        expect([run.id, name, summary?.scores[name]?.value ?? null]).toEqual([
          run.id,
          name,
          before?.scores[name]?.value ?? null,
        ]);
      const shown = new Map((await store.readItems(original)).map((item) => [item.index, item]));
      for (const item of (await back.readItems(run.id)).filter(({ generated }) => generated !== false)) {
        const other = shown.get(item.index);
        if (other?.generated === false) continue;
        const { output, inFormat, right, lenientRight, cause, stop } = item;
        expect(other).toMatchObject({ output, inFormat, right, lenientRight, cause, stop });
      }
    }
  });
});

describe('files that the tools of their projects have read', { timeout: 60_000 }, () => {
  it.each(['lm-eval', 'every-eval-ever'])('%s: the same, byte for byte', async (format) => {
    const kept = process.env.SOFTBENCH_EXPORTS;
    const to = join(kept ?? join(folder, 'checked'), format);
    const files = await write(format, to);
    if (kept) return;
    const checked = JSON.parse(await readFile(checkedFile, 'utf8'));
    const expected = Object.entries(checked.files).filter(([name]) => name.startsWith(`${format}/`));
    const found = await Promise.all(
      files.map(async (file) => [
        `${format}/${relative(to, file).replaceAll('\\', '/')}`,
        createHash('sha256')
          .update(await readFile(file))
          .digest('hex'),
      ]),
    );
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });
});

describe('tables', () => {
  it('CSV has every number of every run and every item, Markdown is for people', async () => {
    const [items = '', scores = ''] = await write('csv');
    const lines = (await readFile(scores, 'utf8')).trimEnd().split('\r\n');
    expect(lines).toHaveLength(ids.length + 1);
    expect(lines[0]).toMatch(/^benchmark,model,mode,origin,run,n,F,F_low,F_high,S,/);
    expect(lines[1]).toContain('measured');
    const counts = await Promise.all(ids.map(async (id) => (await store.readItems(id)).length));
    const text = await readFile(items, 'utf8');
    const outputs = text.split('\r\n').length - 2;
    expect(outputs).toBe(counts.reduce((sum, n) => sum + n, 0));
    const [markdown = ''] = await write('markdown');
    const rows = (await readFile(markdown, 'utf8')).trimEnd().split('\n');
    expect(rows).toHaveLength(ids.length + 2);
    expect(new Set(rows.map((row) => row.split(/(?<!\\)\|/).length)).size).toBe(1);
  });

  it('a format that is not there is named with those that are', async () => {
    await expect(write('xlsx')).rejects.toThrow('There is no export format "xlsx".');
  });
});
