/** Metrics that have no value, and aggregations that do not fit: as in lm-evaluation-harness (make/without-value.py). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { openBenchmark } from '../../src/benchmark/index.ts';
import { metricTable } from '../../src/benchmark/metric-list.ts';
import { PythonRandom } from '../../src/benchmark/python-random.ts';
import { bootstrapStandardError, mean, metricScore, missingNotes } from '../../src/metrics/index.ts';
import type { MetricValue } from '../../src/shared/results.ts';

const oracle = JSON.parse(readFileSync(new URL('without-value.json', import.meta.url), 'utf8')) as {
  added: Record<string, MetricValue[]>;
  table: Record<string, Record<string, number | string>>;
  classes: { values: MetricValue[]; f1: number | string }[];
};
const randomOf = (seed: number): (() => number) => {
  const source = new PythonRandom(seed);
  return () => source.random();
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-without-value-'));
  writeFileSync(join(folder, 'rows.jsonl'), JSON.stringify({ q: 'a', c: ['a', 'b'], label: 0, a: 'text' }));
});
afterAll(() => rmSync(folder, { recursive: true }));

const outputTypes: Record<string, Record<string, unknown>> = {
  multiple_choice: { doc_to_text: '{{q}}', doc_to_choice: '{{c}}', doc_to_target: 'label' },
  generate_until: { doc_to_text: '{{q}}', doc_to_target: '{{a}}', generation_kwargs: { until: ['\n'] } },
  loglikelihood_rolling: { doc_to_text: '', doc_to_target: '{{a}}' },
};

describe.each(Object.entries(oracle.table))('%s', (metric, outcomes) => {
  it.each(Object.entries(outcomes))('with `aggregation: %s`: %s', async (aggregation, theirs) => {
    const type = metricTable.get(metric)?.of[0] ?? '';
    const file = join(folder, 'task.yaml');
    const data = { dataset_path: 'json', dataset_kwargs: { data_files: { test: 'rows.jsonl' } }, test_split: 'test' };
    const metrics = { metric_list: [{ metric, aggregation, higher_is_better: true }] };
    writeFileSync(file, JSON.stringify({ task: 'task', output_type: type, ...data, ...outputTypes[type], ...metrics }));
    const benchmark = await openBenchmark(file);
    const values = oracle.added[metric] ?? [];
    if (typeof theirs === 'string' || (metric === 'bleu' && aggregation === 'matthews_corrcoef')) {
      // Said when the file is opened, and with the run.
      expect(benchmark.metricList).toEqual([]);
      expect(benchmark.notes.join(' ')).toContain(`no \`aggregation: ${aggregation}\``);
      return;
    }
    expect(benchmark.metricList).toMatchObject([{ metric, aggregation }]);
    const column = { metric, filter: 'none', aggregation, higherIsBetter: true, values };
    const score = await metricScore(column, randomOf, 10);
    expect(score.value).toBeCloseTo(theirs, 10);
    expect(score.missing).toBeUndefined();
  });
});

test.each(oracle.classes)('F1 of $values is $f1', async ({ values, f1 }) => {
  const column = { metric: 'f1', filter: 'none', aggregation: 'f1', higherIsBetter: true, values };
  const score = await metricScore(column, randomOf, 10);
  if (typeof f1 === 'number') {
    expect(score.value).toBeCloseTo(f1, 12);
    return;
  }
  expect(score).toMatchObject({ value: null, standardError: null });
  const [note, ...more] = missingNotes({ measures: [score] });
  expect(note).toMatch(/^`f1` has no value: it is of two candidates, 0 and 1, and /);
  expect(more).toEqual([]);
});

test('a value that is not finite is said to be so', async () => {
  const column = { metric: 'perplexity', filter: 'none', aggregation: 'perplexity', higherIsBetter: false };
  const score = await metricScore({ ...column, values: [-1, Number.NEGATIVE_INFINITY] }, randomOf, 10);
  expect(missingNotes({ measures: [score] })).toEqual(['`perplexity` has no value: it is not finite.']);
});

describe('bootstrap', () => {
  const score = (sample: readonly number[]): number => mean(sample.map((at) => at * at));
  it('pauses between samples and has the same numbers', async () => {
    const shares: number[] = [];
    const pause = (done: number): Promise<void> | undefined => {
      shares.push(done);
      return shares.length % 7 === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined;
    };
    const paused = await bootstrapStandardError(score, 12, 2500, randomOf, pause);
    expect(paused).toBe(await bootstrapStandardError(score, 12, 2500, randomOf));
    expect(shares).toHaveLength(2000);
    expect(shares.at(-1)).toBe(1);
  });
  it('ends where the pause throws', async () => {
    let samples = 0;
    const stop = (): undefined => {
      samples++;
      if (samples === 5) throw new Error('stopped');
      return undefined;
    };
    await expect(bootstrapStandardError(score, 12, 2500, randomOf, stop)).rejects.toThrow('stopped');
    expect(samples).toBe(5);
  });
});
