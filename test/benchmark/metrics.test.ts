/**
 * Requests of an item, what its responses add to the metrics, scores and standard errors: against lm-evaluation-harness
 * (make/metrics.py), with the same made-up responses.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Benchmark, openBenchmark } from '../../src/benchmark/index.ts';
import { metricTable } from '../../src/benchmark/metric-list.ts';
import { PythonRandom } from '../../src/benchmark/python-random.ts';
import type { ItemRequest, ItemResponse } from '../../src/benchmark/types.ts';
import { metricScore } from '../../src/metrics/index.ts';
import type { FilteredMetrics, MetricValue } from '../../src/shared/results.ts';

interface Task {
  name: string;
  config: Record<string, unknown>;
  rows: unknown[];
  shots: number;
  items: {
    requests: string[][];
    /** By request, then by repeat: an output, [likelihood, greedy], or the likelihood of a whole text. */
    responses: (string | [number, boolean] | number)[][];
    measured: FilteredMetrics[];
  }[];
  higher: Record<string, boolean>;
  scores: Record<string, number | 'N/A'>;
  n: number;
}
const oracle = JSON.parse(readFileSync(new URL('metrics.json', import.meta.url), 'utf8')) as {
  iterations: number;
  tasks: Task[];
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-metrics-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function open({ name, config, rows }: Task, softbench: Record<string, unknown> = {}): Promise<Benchmark> {
  const file = name.replaceAll(' ', '-');
  writeFileSync(join(folder, `${file}.jsonl`), rows.map((row) => JSON.stringify(row)).join('\n'));
  const data = { dataset_kwargs: { data_files: { test: `${file}.jsonl` } }, metadata: { softbench } };
  writeFileSync(join(folder, `${file}.yaml`), JSON.stringify({ ...config, ...data }));
  return openBenchmark(join(folder, `${file}.yaml`));
}

/** The texts of a request as the harness has them. */
const texts = (request: ItemRequest): string[] =>
  request.kind === 'loglikelihood'
    ? [request.context, request.continuation]
    : [request.kind === 'rolling' ? request.text : request.context];

function responseOf(repeats: Task['items'][number]['responses'][number]): ItemResponse {
  const [first] = repeats;
  if (typeof first === 'number') return { kind: 'rolling', sum: first };
  if (Array.isArray(first)) return { kind: 'loglikelihood', sum: first[0], greedy: first[1] };
  return { kind: 'generate', outputs: repeats.map((text) => ({ text: String(text), stop: { reason: 'eos' } })) };
}

const randomOf = (seed: number): (() => number) => {
  const source = new PythonRandom(seed);
  return () => source.random();
};

/** Numbers to the last digits, everything else exactly. */
function same(found: unknown, wanted: unknown, where: string): void {
  if (typeof wanted === 'number' && typeof found === 'number') expect(found, where).toBeCloseTo(wanted, 9);
  else if (Array.isArray(wanted) && Array.isArray(found)) {
    expect(found.length, where).toBe(wanted.length);
    for (const [at, entry] of wanted.entries()) same(found[at], entry, where);
  } else expect(found, where).toEqual(wanted);
}

describe.each(oracle.tasks.map((task) => [task.name, task] as const))('%s', (_, task) => {
  test('requests', async () => {
    const benchmark = await open(task);
    const items = await benchmark.items('evaluation');
    for (const [at, { requests }] of task.items.entries()) {
      const item = items[at];
      if (!item || !benchmark.requests) throw new Error(`There is no item ${at}.`);
      const asked = await benchmark.requests(item, task.shots);
      const likelihoods = asked.filter(({ kind }) => kind !== 'generate' || benchmark.outputType === 'generate_until');
      expect(likelihoods.map(texts)).toEqual(requests);
      // The generated reading of candidates stands behind them.
      const generates = benchmark.outputType === 'multiple_choice' && benchmark.generates;
      expect(asked.length - likelihoods.length).toBe(generates ? 1 : 0);
    }
    expect(benchmark.repeats).toBe(task.config.repeats ?? 1);
  });

  test('metrics of items, scores and standard errors', async () => {
    const benchmark = await open(task);
    const items = await benchmark.items('evaluation');
    const columns = new Map<string, MetricValue[]>();
    for (const [at, { responses, measured }] of task.items.entries()) {
      const item = items[at];
      if (!item || !benchmark.measure) throw new Error(`There is no item ${at}.`);
      const found = benchmark.measure(item, responses.map(responseOf));
      expect(found.map(({ filter }) => filter)).toEqual(measured.map(({ filter }) => filter));
      for (const [place, { filter, values }] of measured.entries()) {
        const mine = found[place]?.values ?? {};
        expect(Object.keys(mine).sort()).toEqual(Object.keys(values).sort());
        for (const [metric, value] of Object.entries(values)) {
          same(mine[metric], value, `item ${at}, ${metric},${filter}`);
          const key = `${metric},${filter}`;
          columns.set(key, [...(columns.get(key) ?? []), mine[metric] ?? null]);
        }
      }
    }
    const settings = new Map(benchmark.metricList?.map((setting) => [setting.metric, setting]));
    expect(Object.fromEntries([...settings].map(([name, { higherIsBetter }]) => [name, higherIsBetter]))).toEqual(
      task.higher,
    );
    for (const [key, values] of columns) {
      const [metric = '', filter = ''] = key.split(',');
      const setting = settings.get(metric);
      if (!setting) throw new Error(`There is no metric ${metric}.`);
      const score = await metricScore({ ...setting, filter, values }, randomOf, oracle.iterations);
      const error = task.scores[`${metric}_stderr,${filter}`];
      expect(score.n).toBe(task.n);
      same(score.value, task.scores[key], key);
      same(score.standardError, error === 'N/A' ? null : error, `standard error of ${key}`);
    }
  });
});

test('every metric of the table is measured', () => {
  const measured = new Set(oracle.tasks.flatMap(({ higher }) => Object.keys(higher)));
  expect([...metricTable.keys()].filter((name) => !measured.has(name))).toEqual([]);
});

test('likelihoods only, where the file says so', async () => {
  const task = oracle.tasks.find(({ name }) => name === 'candidates');
  if (!task) throw new Error('There is no such task.');
  const benchmark = await open(task, { generate: false });
  const [item] = await benchmark.items('evaluation');
  expect(benchmark.generates).toBe(false);
  const asked = item ? await benchmark.requests?.(item, 0) : [];
  expect(new Set(asked?.map(({ kind }) => kind))).toEqual(new Set(['loglikelihood']));
  const outputs = oracle.tasks.find(({ name }) => name === 'sums');
  const sums = outputs && (await open(outputs));
  expect(() => sums?.withoutGeneration?.()).toThrow(/no candidates to compare/);
});
