/**
 * Several outputs an item: F, S, K and L are of the first, in a run of ours as in one that was imported. What
 * lm-evaluation-harness's filter makes of the first output alone is in test/benchmark/metrics.json (make/metrics.py).
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBenchmark } from '../../src/benchmark/index.ts';
import { recordOf } from '../../src/evaluate/records.ts';
import { summarise } from '../../src/evaluate/summarise.ts';
import { benchmarkOfRun } from '../../src/evaluate/wanted-run.ts';
import { exportRuns, importResults } from '../../src/exchange/index.ts';
import { openRunStore } from '../../src/runs/index.ts';
import type { FilteredMetrics, ItemRecord } from '../../src/shared/results.ts';

interface Task {
  name: string;
  config: Record<string, unknown>;
  rows: unknown[];
  items: { responses: string[][]; measured: FilteredMetrics[] }[];
}
let folder: string;
let task: Task;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-repeats-'));
  const oracle = JSON.parse(await readFile(resolve('test/benchmark/metrics.json'), 'utf8')) as { tasks: Task[] };
  const found = oracle.tasks.find(({ name }) => name === 'votes');
  if (!found) throw new Error('The oracle has no task with votes.');
  task = found;
  await writeFile(join(folder, 'rows.jsonl'), task.rows.map((row) => JSON.stringify(row)).join('\n'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A run with the oracle's outputs, with the filter named as the strict one. */
async function runOf(strict: string): Promise<{ store: ReturnType<typeof openRunStore>; id: string }> {
  const file = join(folder, `${strict}.yaml`);
  const data = { dataset_kwargs: { data_files: { test: 'rows.jsonl' } }, metadata: { softbench: { strict } } };
  await writeFile(file, JSON.stringify({ ...task.config, task: 'votes', ...data }));
  const benchmark = await openBenchmark(file);
  const items = await benchmark.items('evaluation');
  const records = await Promise.all(
    items.map(async (item, at): Promise<ItemRecord> => {
      const prompt = await benchmark.prompt(item, 0);
      const outputs = (task.items[at]?.responses[0] ?? []).map((text) => ({
        text,
        tokens: 3,
        stop: { reason: 'stop-string' as const, marker: '\n' },
      }));
      return recordOf(benchmark, item, {
        prompt: { hash: createHash('sha256').update(prompt.text).digest('hex'), tokens: 9 },
        likelihoods: [],
        tokens: [],
        outputs,
        truncated: 0,
      });
    }),
  );
  const store = openRunStore(join(folder, `store-${strict}`));
  const digests = { graph: 'g', weights: 'w', tokenizer: 't', config: 'c' };
  const writer = await store.create({
    schema: 1,
    softbench: '0',
    onnxruntime: '0',
    group: 'job',
    mode: 'zero-shot',
    model: { name: 'm', folder: '/m', graphFile: 'model.onnx', digests },
    benchmark: await benchmarkOfRun(benchmark, items.length),
    settings: {
      ...{ limit: null, shots: 0, fewShotSeed: 1234, batchSize: 1, softPrompt: null, softPromptFrom: null },
      generation: benchmark.generation,
      repeats: benchmark.repeats,
    },
    provider: { asked: 'cpu', running: 'cpu', reason: '', threads: 1 },
    notes: [],
  });
  for (const record of records) await writer.appendItem(record);
  const { id } = writer.run;
  const facts = { run: id, mode: 'zero-shot' as const, seconds: 1, tuningSeconds: 0, bestStep: null };
  await writer.saveSummary(await summarise(benchmark, items, records, { ...facts, peakMemoryBytes: null }));
  await writer.update({ status: 'finished' });
  await writer.close();
  return { store, id };
}

describe.each(['first', 'maj@4', 'maj@3'])('with the strict filter %s', (strict) => {
  it('the scores are the same when the run comes back, and of the first output', async () => {
    const { store, id } = await runOf(strict);
    const { summary: before } = await store.read(id);
    const out = join(folder, `out-${strict}`);
    await exportRuns(store, [id], { format: 'lm-eval', folder: out }, { softbench: '0' });
    const back = openRunStore(join(folder, `back-${strict}`));
    await importResults([out], back, { softbench: '0' });
    const [imported] = (await back.list()).runs;
    for (const name of ['F', 'S', 'K', 'L'] as const)
      expect([name, imported?.summary?.scores[name]]).toEqual([name, before?.scores[name]]);
    expect(imported?.summary?.measures).toEqual(before?.measures);
    expect(imported?.run.notes.join(' ')).toContain('Items have several outputs: F, S, K and L are of the first');
    const judged = (records: readonly ItemRecord[]): unknown[] =>
      records.map(({ index, output, inFormat, right, strict: read, lenientRight }) => ({
        ...{ index, output, inFormat, right, lenientRight },
        answer: read.answer,
      }));
    const items = await back.readItems(imported?.run.id ?? '');
    expect(judged(items)).toEqual(judged(await store.readItems(id)));
    // Each filter of this task begins with the same pattern as the one that takes the first output.
    const first = task.items.map(({ measured }) => measured.find(({ filter }) => filter === 'first'));
    expect(items.map(({ inFormat }) => inFormat)).toEqual(
      task.items.map(({ responses: [outputs] }) => /\d/.test(outputs?.[0] ?? '')),
    );
    expect(items.map(({ inFormat, right }) => inFormat && right)).toEqual(
      first.map((row) => row?.values.exact_match === 1),
    );
  });
});
