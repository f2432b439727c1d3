// A job on a BIG-bench task: graded choices in the records, the file's own scores in the summary, examples held out.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkBenchmark, openBenchmark } from '../../src/benchmark/index.ts';
import type { Benchmark } from '../../src/benchmark/types.ts';
import { runJob } from '../../src/evaluate/index.ts';
import { meanStandardError } from '../../src/metrics/index.ts';
import { openRunStore } from '../../src/runs/index.ts';
import type { RunSummary } from '../../src/shared/results.ts';
import { scriptedModel } from './scripted.ts';

const fixtures = join(import.meta.dirname, '..', 'fixtures', 'big-bench');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-big-bench-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs the modes; the model finds `favourite` likeliest wherever it is a choice, else the longest choice. */
function run(benchmark: Benchmark, modes: Benchmark['modes'], favourite: string): Promise<RunSummary[]> {
  const model = scriptedModel();
  return runJob(
    {
      benchmarkFile: benchmark.file,
      modelFolder: '/models/scripted',
      modes: [...modes],
      storeFolder: folder,
      group: 'g1',
      reuseFinished: false,
      engine: { executionProvider: 'auto', threads: 0 },
      overrides: {},
    },
    {
      openModel: async () => ({
        ...model,
        contextLength: null,
        async logLikelihood(requests, _settings, { onResult }) {
          for (const { index, continuation } of requests) {
            const choice = model.tokenizer.decode(continuation);
            const sum = choice === favourite ? -1 : -100 + choice.length;
            await onResult({ index, tokens: [], sum, greedy: false });
          }
        },
      }),
      openBenchmark: async () => benchmark,
      openStore: openRunStore,
      readSoftPromptFile: async () => ({ vectors: 1, hiddenSize: 3, data: new Float32Array(3) }),
      versions: { softbench: '0', onnxruntime: '0' },
    },
    { signal: new AbortController().signal, progress: () => undefined },
  );
}

it('any of the best choices is right, and the grade is the mean of the scores of the likeliest', async () => {
  const benchmark = await openBenchmark(join(fixtures, 'all_fields', 'task.json'));
  const [summary] = await run(benchmark, ['zero-shot'], 'blue');
  if (!summary) throw new Error('There is no summary.');
  const records = await openRunStore(folder).readItems(summary.run);
  const items = await benchmark.items('evaluation');
  expect(records.length).toBe(items.length);
  let grade = 0;
  let best = 0;
  for (const { index, choices } of records) {
    const scores = (items[index]?.fields.target_scores ?? {}) as Record<string, number>;
    const names = Object.keys(scores);
    const longest = names.reduce(
      (found, name) => (Array.from(name).length > Array.from(found).length ? name : found),
      '',
    );
    const likeliest = names.includes('blue') ? 'blue' : longest;
    const values = Object.values(scores).map(Number);
    expect(choices?.scores?.length).toBe(names.length);
    expect(choices?.right).toBe(Number(scores[likeliest]) === Math.max(...values));
    grade += Number(scores[likeliest]) / items.length;
    best += values.filter((value) => value === Math.max(...values)).length / values.length / items.length;
  }
  expect(summary.metrics?.multiple_choice_grade).toBeCloseTo(grade, 12);
  // The same as a metric of the file: by item, with its standard error.
  const measured = summary.measures?.find(({ metric }) => metric === 'multiple_choice_grade');
  expect(measured?.value).toBeCloseTo(grade, 12);
  const values = records.map(({ metrics }) => Number(metrics?.[0]?.values.multiple_choice_grade));
  expect(values.reduce((sum, value) => sum + value, 0) / items.length).toBeCloseTo(grade, 12);
  expect(measured?.standardError).toBeCloseTo(meanStandardError(values), 12);
  expect(summary.scores.LL?.count).toBe(records.filter(({ choices }) => choices?.right).length);
  expect(summary.scores.chance).toBeCloseTo(best, 12);
});

it('tunes on the examples held out, in all modes, and says so', async () => {
  const benchmark = await openBenchmark(join(fixtures, 'sums', 'task.json'));
  const summaries = await run(benchmark, benchmark.modes, '');
  const held = (await benchmark.items('training')).length;
  expect(held).toBeGreaterThanOrEqual(2);
  expect(summaries.map(({ mode, scores }) => [mode, scores.n])).toEqual(
    ['zero-shot', 'few-shot', 'soft-prompt'].map((mode) => [mode, 16 - held]),
  );
  const { runs } = await openRunStore(folder).list();
  for (const { run } of runs) expect(run.notes.join(' ')).toContain(`${held} of 16 examples, drawn with seed 42`);
  for (const { metrics } of summaries)
    expect(Object.keys(metrics ?? {})).toEqual(['exact_str_match', 'rouge1', 'rouge2', 'rougeLsum']);
});

it('says which setting gives training items where none are held out', async () => {
  const text =
    '{"name":"x","metrics":["exact_str_match"],"preferred_score":"exact_str_match","examples":[{"input":"a","target":"b"},{"input":"c","target":"d"}]}';
  const { benchmark } = await checkBenchmark(join(folder, 'task.json'), text);
  if (!benchmark) throw new Error('It should open.');
  expect(benchmark.modes).toEqual(['zero-shot', 'few-shot']);
  await expect(run(benchmark, ['soft-prompt'], '')).rejects.toMatchObject({
    details: { todo: expect.stringContaining('training_share') },
  });
});
