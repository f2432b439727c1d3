/** The next benchmark to run of a model, for the predictor page. */
import { nextBenchmarks, type ScoreRecord, subtaskCosts } from '../predict/index.ts';
import type { RunFolder } from '../runs/index.ts';
import type { NextBenchmark, NextBenchmarkRow } from '../shared/predictions.ts';

/**
 * @param records of one metric a subtask
 * @param runs tell what benchmarks cost; without any, items do
 */
export async function nextBenchmark(
  records: readonly ScoreRecord[],
  model: string,
  { runs, digest, signal }: { runs: readonly RunFolder[]; digest: string; signal: AbortSignal },
): Promise<NextBenchmark> {
  const items = new Map<string, number[]>();
  const subtasks = [...new Map(records.map((record) => [keyOf(record), record])).values()].map(
    ({ task, subtask, metric }) => ({ name: subtask, task, subtask, metric, items: null as number | null }),
  );
  for (const record of records)
    if (record.n !== null) items.set(keyOf(record), [...(items.get(keyOf(record)) ?? []), record.n]);
  for (const one of subtasks) {
    const counts = items.get(keyOf(one));
    if (counts) one.items = counts.reduce((sum, value) => sum + value, 0) / counts.length;
  }
  const { costs, unit } = subtaskCosts({ subtasks }, runs);
  const costOf = new Map(subtasks.map((one, at) => [keyOf(one), Math.max(1e-9, costs[at] ?? 1)]));
  const { known, open, proposals } = await nextBenchmarks(records, model, {
    signal,
    cost: (configuration) => costOf.get(keyOf(configuration)) ?? 1,
  });
  // A subtask in several settings stands once, in the one that tells most.
  const rows = new Map<string, NextBenchmarkRow>();
  for (const { configuration, before, after, cost } of proposals) {
    const { task, subtask } = configuration;
    const key = keyOf(configuration);
    if (!rows.has(key)) rows.set(key, { task, subtask, before, after, cost });
  }
  return { model, known, open, costUnit: unit, rows: [...rows.values()], digest };
}

const keyOf = ({ task, subtask }: { task: string; subtask: string }): string => `${task}\n${subtask}`;
