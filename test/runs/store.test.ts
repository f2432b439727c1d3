import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRunStore } from '../../src/runs/index.ts';
import type { RunSummary, TuningRecord } from '../../src/shared/results.ts';
import { sampleItem, sampleRun, share } from './sample.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-runs-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const summary = (run: string): RunSummary => ({
  schema: 1,
  run,
  mode: 'zero-shot',
  scores: {
    n: 2,
    F: share(1, 2),
    S: share(1, 2),
    K: { ...share(1, 1), unreliable: true },
    L: share(2, 2),
    LL: null,
    constant: null,
    commonest: { answer: 'cat', share: share(2, 2) },
    chance: null,
    causes: { 'ran on': 1 },
  },
  seconds: 1.5,
  tuningSeconds: 0,
  promptTokens: 24,
  outputTokens: 10,
  peakMemoryBytes: 1e6,
  bestStep: null,
});
const step = (n: number): TuningRecord => ({
  schema: 1,
  kind: 'step',
  step: n,
  loss: 2 / n,
  gradientNorm: 0.1,
  learningRate: 0.03,
  seconds: 0.2,
  batch: [8, 64],
  answerTokens: 20,
});

describe('a run', () => {
  it('is read back as it was written', async () => {
    const store = openRunStore(folder);
    const writer = await store.create(sampleRun({ mode: 'soft-prompt' }));
    const { id } = writer.run;
    await Promise.all([0, 1, 2].map((index) => writer.appendItem(sampleItem(index))));
    await writer.appendTuning(step(1));
    const softPrompt = { vectors: 2, hiddenSize: 3, data: Float32Array.from([1, -2, 3.5, 1e-9, 0.1, 7]) };
    await writer.saveSoftPrompt(softPrompt, { step: '40' });
    await writer.saveSummary(summary(id));
    await writer.update({ status: 'finished' });
    await writer.close();

    const other = openRunStore(folder);
    const { runs, unreadable } = await other.list();
    expect(unreadable).toEqual([]);
    expect(runs).toHaveLength(1);
    expect(runs[0]?.run).toMatchObject({ ...sampleRun({ mode: 'soft-prompt' }), id, status: 'finished' });
    expect(runs[0]?.summary).toEqual(summary(id));
    expect(await other.readItems(id)).toEqual([0, 1, 2].map((index) => sampleItem(index)));
    expect(await other.readTuning(id)).toEqual([step(1)]);
    expect(await other.readSoftPrompt(id)).toEqual({ ...softPrompt, tunedOn: sampleRun().model.name });
    const files = await readdir(join(folder, 'runs', id));
    expect(files.sort()).toEqual([
      'items.jsonl',
      'run.json',
      'soft-prompt.safetensors',
      'summary.json',
      'tuning.jsonl',
    ]);
    await expect(other.reopen(id)).rejects.toThrow('finished');
  });

  it('has a folder name that every file system takes, and one of its own', async () => {
    const store = openRunStore(folder);
    const run = sampleRun({ mode: 'few-shot+soft-prompt' });
    run.benchmark.task = '../who: "had" <it>?';
    const writers = await Promise.all([store.create(run), store.create(run), store.create(run)]);
    const ids = writers.map((writer) => writer.run.id);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^\d{8}-\d{6}-who-had-it-tiny-llama-few-shot-soft-prompt(-\d)?$/);
    await Promise.all(writers.map((writer) => writer.close()));
    await expect(store.read('../../etc')).rejects.toThrow('not the name of a run');
  });

  it('gives a reader that follows it only what is new', async () => {
    const store = openRunStore(folder);
    const writer = await store.create(sampleRun());
    const { id } = writer.run;
    await writer.appendItem(sampleItem(0));
    expect((await store.readItems(id, 0)).map((item) => item.index)).toEqual([0]);
    await writer.appendItem(sampleItem(1));
    await writer.appendItem(sampleItem(2));
    expect((await store.readItems(id, 1)).map((item) => item.index)).toEqual([1, 2]);
    expect((await store.readItems(id, 2)).map((item) => item.index)).toEqual([2]);
    expect(await store.readItems(id, 3)).toEqual([]);
    expect((await store.readItems(id)).map((item) => item.index)).toEqual([0, 1, 2]);
    await writer.close();
  });

  it('goes on from its checkpoint, without the tuning records that came after it', async () => {
    const store = openRunStore(folder);
    const writer = await store.create(sampleRun({ mode: 'soft-prompt' }));
    const matrix = (seed: number): Float32Array =>
      Float32Array.from({ length: 6 }, (_, i) => Math.fround(seed / (i + 3)));
    const softPrompt = { vectors: 2, hiddenSize: 3, data: matrix(1) };
    const checkpoint = {
      step: 2,
      softPrompt,
      firstMoment: matrix(2),
      secondMoment: matrix(3),
      best: { step: 1, softPrompt: { ...softPrompt, data: matrix(4) }, F: 1 / 3, S: 0.1, loss: 0.7 },
      seconds: 12.345678901234567,
    };
    expect(await writer.loadCheckpoint()).toBeNull();
    for (const n of [1, 2, 3]) await writer.appendTuning(step(n));
    await writer.saveCheckpoint(checkpoint);
    await writer.close();

    const again = await store.reopen(writer.run.id);
    expect(again.tuningRecords).toEqual([step(1), step(2), step(3)]);
    expect(await again.loadCheckpoint()).toEqual(checkpoint);
    await again.truncateTuning(2);
    expect(again.tuningRecords).toEqual([step(1), step(2)]);
    await again.appendTuning(step(4));
    await again.close();
    expect(await store.readTuning(again.run.id)).toEqual([step(1), step(2), step(4)]);
  });

  it('is not deleted while it is written, and is gone afterwards', async () => {
    const store = openRunStore(folder);
    const writer = await store.create(sampleRun());
    await expect(store.remove(writer.run.id)).rejects.toThrow(`process ${process.pid}`);
    await writer.close();
    await store.remove(writer.run.id);
    expect((await store.list()).runs).toEqual([]);
    expect(await readdir(join(folder, 'runs'))).toEqual([]);
  });
});

describe('damaged files', () => {
  it('a file in the place of the store is named as such', async () => {
    const file = join(folder, 'notes.txt');
    await writeFile(file, 'mine');
    await expect(openRunStore(file).list()).rejects.toMatchObject({
      kind: 'disk',
      message: expect.stringContaining('a part of the path is a file, not a folder'),
    });
  });

  async function twoItems(): Promise<{ id: string; items: string; store: ReturnType<typeof openRunStore> }> {
    const store = openRunStore(folder);
    const writer = await store.create(sampleRun());
    await writer.appendItem(sampleItem(0));
    await writer.appendItem(sampleItem(1));
    await writer.close();
    return { id: writer.run.id, items: join(writer.folder, 'items.jsonl'), store };
  }

  it('half a last line is not read, and dropped when the run goes on', async () => {
    const { id, items, store } = await twoItems();
    const whole = await readFile(items);
    await appendFile(items, JSON.stringify(sampleItem(2)).slice(0, 50));
    expect((await store.readItems(id)).map((item) => item.index)).toEqual([0, 1]);
    const writer = await store.reopen(id);
    expect(writer.finishedItems.map((item) => item.index)).toEqual([0, 1]);
    expect(await readFile(items)).toEqual(whole);
    await writer.appendItem(sampleItem(2));
    await writer.close();
    expect((await store.readItems(id)).map((item) => item.index)).toEqual([0, 1, 2]);
    expect(await store.problems(id)).toEqual([]);
  });

  it('a block of zeros at the end (power failure) is dropped', async () => {
    const { id, items, store } = await twoItems();
    await appendFile(items, `${'\0'.repeat(64)}\n`);
    const writer = await store.reopen(id);
    await writer.appendItem(sampleItem(2));
    await writer.close();
    expect((await store.readItems(id)).map((item) => item.index)).toEqual([0, 1, 2]);
    expect(await store.problems(id)).toEqual([]);
  });

  it('a broken line in the middle is reported with its number, the rest stays readable', async () => {
    const { id, items, store } = await twoItems();
    const [first, second] = (await readFile(items, 'utf8')).split('\n');
    const newer = JSON.stringify({ ...sampleItem(7), schema: 2 });
    await writeFile(items, `${first}\n{"schema": 1, "index"\n${newer}\n${second}\n`);
    expect((await store.readItems(id)).map((item) => item.index)).toEqual([0, 1]);
    const problems = await store.problems(id);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toBe('items.jsonl, line 2 was left out: it is not valid JSON.');
    expect(problems[1]).toContain('line 3');
    expect(problems[1]).toContain('newer Softbench (schema 2');
    const writer = await store.reopen(id);
    expect(writer.finishedItems.map((item) => item.index)).toEqual([0, 1]);
    expect(writer.run.notes).toEqual(problems);
    await writer.close();
  });

  it('newer and broken runs are reported and left alone', async () => {
    const { id, store } = await twoItems();
    const put = async (name: string, text: string): Promise<void> => {
      await mkdir(join(folder, 'runs', name), { recursive: true });
      await writeFile(join(folder, 'runs', name, 'run.json'), text);
    };
    const valid = JSON.parse(await readFile(join(folder, 'runs', id, 'run.json'), 'utf8'));
    await put('a-newer', JSON.stringify({ ...valid, schema: 9 }));
    await put('b-broken', '{"schema": 1,');
    await put('c-incomplete', JSON.stringify({ ...valid, settings: { ...valid.settings, shots: 'five' } }));
    await mkdir(join(folder, 'runs', 'd-empty'));
    const { runs, unreadable } = await store.list();
    expect(runs.map(({ run }) => run.id)).toEqual([id]);
    const reasons = unreadable.map(({ reason }) => reason);
    expect(reasons).toEqual([
      expect.stringContaining('has no run.json'),
      expect.stringContaining('"settings.shots" should be a whole number'),
      expect.stringContaining('not valid JSON'),
      expect.stringContaining('newer Softbench (schema 9; this one reads schema 1): update Softbench'),
    ]);
    await expect(store.reopen('a-newer')).rejects.toThrow('newer Softbench');
    expect(await readdir(join(folder, 'runs', 'a-newer'))).toEqual(['run.json']);
  });

  it('a truncated checkpoint says what to do', async () => {
    const { id, store } = await twoItems();
    await writeFile(join(folder, 'runs', id, 'checkpoint.safetensors'), Buffer.alloc(20, 1));
    const writer = await store.reopen(id);
    await expect(writer.loadCheckpoint()).rejects.toThrow('not a whole safetensors file');
    await writer.close();
  });
});
