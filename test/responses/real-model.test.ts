// The bundled model on a bundled benchmark, in all its modes: a second run asks the engine nothing and says the same.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBenchmark } from '../../src/benchmark/index.ts';
import { engineSchema, type OnnxLanguageModel, openLanguageModel } from '../../src/engine/index.ts';
import { type JobRooms, rescore, runJob } from '../../src/evaluate/index.ts';
import { openResponseCache } from '../../src/responses/index.ts';
import { openRunStore } from '../../src/runs/index.ts';
import type { JobRequest } from '../../src/shared/protocol.ts';
import type { ItemRecord, RunSummary } from '../../src/shared/results.ts';

const examples = resolve(import.meta.dirname, '../../examples');
let folder: string;
let model: OnnxLanguageModel;
/** Requests that reached the engine. */
const asked = { generated: 0, scored: 0 };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-real-cache-'));
  await cp(join(examples, 'benchmarks'), join(folder, 'benchmarks'), { recursive: true });
  // The same questions with candidates, so that likelihoods are asked for.
  const file = join(folder, 'benchmarks', 'stories-yes-no.yaml');
  const text = await readFile(file, 'utf8');
  const choices = text
    .replace('task: stories_yes_no', 'task: stories_choices')
    .replace('output_type: generate_until', 'output_type: multiple_choice\ndoc_to_choice: ["yes", "no"]')
    .replace(/^filter_list:[\s\S]*?^metric_list:[\s\S]*?^metadata:[\s\S]*/m, 'metric_list:\n  - metric: acc\n');
  await writeFile(join(folder, 'benchmarks', 'stories-choices.yaml'), choices);
  const opened = await openLanguageModel(join(examples, 'models', 'stories260k'), {
    executionProvider: 'cpu',
    threads: 1,
  });
  const { generate, logLikelihood } = opened;
  opened.generate = (requests, ...rest) => {
    asked.generated += requests.length;
    return generate.call(opened, requests, ...rest);
  };
  opened.logLikelihood = (requests, ...rest) => {
    asked.scored += requests.length;
    return logLikelihood.call(opened, requests, ...rest);
  };
  model = opened;
});
afterAll(async () => {
  await model.close();
  await rm(folder, { recursive: true, force: true });
});

const rooms: JobRooms = {
  openModel: async () => model,
  openBenchmark,
  openStore: openRunStore,
  readSoftPromptFile: () => Promise.reject(new Error('not in this test')),
  openResponseCache: async (inner, settings) =>
    openResponseCache(inner, { onnxruntime: 'one', engine: engineSchema }, settings),
  versions: { softbench: '0', onnxruntime: 'one' },
};
const signal = new AbortController().signal;

async function run(benchmark: string, group: string, change: Partial<JobRequest> = {}) {
  const before = { ...asked };
  const summaries = await runJob(
    {
      benchmarkFile: join(folder, 'benchmarks', benchmark),
      modelFolder: 'stories260k',
      modes: ['zero-shot', 'few-shot'],
      storeFolder: folder,
      group,
      reuseFinished: false,
      engine: { executionProvider: 'cpu', threads: 1 },
      responseCache: { limitBytes: 2 ** 30, lookUp: true },
      overrides: { limit: 24, shots: 2, batchSize: 8 },
      ...change,
    },
    rooms,
    { signal, progress: () => undefined },
  );
  return {
    summaries,
    items: await itemsOf(summaries),
    asked: { generated: asked.generated - before.generated, scored: asked.scored - before.scored },
  };
}

const itemsOf = async (summaries: readonly RunSummary[]): Promise<ItemRecord[][]> =>
  (await Promise.all(summaries.map(({ run }) => openRunStore(folder).readItems(run)))).map((items) =>
    items.sort((a, b) => a.index - b.index),
  );

describe('the bundled model', () => {
  it('is asked once: a second run, with another batch size, comes from the cache and is equal', async () => {
    const first = await run('stories-yes-no.yaml', 'first');
    expect(first.asked).toEqual({ generated: 48, scored: 0 });
    const second = await run('stories-yes-no.yaml', 'second', { overrides: { limit: 24, shots: 2, batchSize: 1 } });
    expect(second.asked).toEqual({ generated: 0, scored: 0 });
    expect(second.items).toEqual(first.items);
    expect(second.summaries.map(({ responses }) => responses)).toEqual([
      { cached: 24, computed: 0 },
      { cached: 24, computed: 0 },
    ]);
    const whole = await run('stories-yes-no.yaml', 'without', { responseCache: null });
    expect(whole.asked).toEqual({ generated: 48, scored: 0 });
    expect(whole.items).toEqual(first.items);
  });

  it('is asked for likelihoods once, and for more items only for those', async () => {
    const first = await run('stories-choices.yaml', 'choices');
    expect(first.asked.scored).toBe(96);
    const second = await run('stories-choices.yaml', 'choices again');
    expect(second.asked).toEqual({ generated: 0, scored: 0 });
    expect(second.items).toEqual(first.items);
    const more = await run('stories-choices.yaml', 'more', {
      modes: ['zero-shot'],
      overrides: { limit: 30, shots: 2, batchSize: 8 },
    });
    expect(more.asked).toEqual({ generated: 6, scored: 12 });
    expect(more.items[0]?.slice(0, 24)).toEqual(first.items[0]);
  });

  it('is not asked where a changed scorer scores again: as an evaluation with that scorer', async () => {
    const [zero] = (await run('stories-yes-no.yaml', 'old scorer', { modes: ['zero-shot'] })).summaries;
    const file = join(folder, 'benchmarks', 'stories-yes-no.yaml');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('"^\\\\s*(yes|no)\\\\s*$"', '"([a-zA-Z]+)"'));
    const before = { ...asked };
    const { openBenchmark: open, openStore, versions } = rooms;
    const again = await rescore(
      { runs: [zero?.run ?? ''], storeFolder: folder, group: 'again', skipChanged: false },
      { openBenchmark: open, openStore, versions },
      { signal, progress: () => undefined },
    );
    expect(asked).toEqual(before);
    const fresh = await run('stories-yes-no.yaml', 'fresh', { modes: ['zero-shot'], responseCache: null });
    expect(again[0]?.scores).toEqual(fresh.summaries[0]?.scores);
    expect(again[0]?.measures).toEqual(fresh.summaries[0]?.measures);
    expect(again[0]?.scores.F.count).not.toBe(zero?.scores.F.count);
    expect(await itemsOf(again)).toEqual(fresh.items);
  });
});
