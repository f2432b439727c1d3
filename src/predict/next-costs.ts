/** What the next benchmark of a model would cost to run. */
import type { RunFolder } from '../runs/index.ts';
import { subtaskCosts } from './small-bench/cost.ts';
import { type Steps, stepwise } from './turn.ts';
import type { Configuration, ScoreRecord } from './types.ts';

type Subtask = Pick<Configuration, 'task' | 'subtask'>;

export interface BenchmarkCosts {
  unit: 'minutes' | 'items';
  costOf(of: Subtask): number;
}

/** Minutes that runs took, else items, of each subtask of the records; in steps. */
export function* benchmarkCostSteps(
  records: readonly ScoreRecord[],
  runs: readonly RunFolder[],
): Steps<BenchmarkCosts> {
  const found = new Map<string, { name: string; task: string; subtask: string; metric: string; counts: number[] }>();
  const key = ({ task, subtask }: Subtask): string => `${task}\n${subtask}`;
  yield* stepwise(records, ({ task, subtask, metric, n }) => {
    const name = key({ task, subtask });
    const entry = found.get(name) ?? { name: subtask, task, subtask, metric, counts: [] };
    if (n !== null) entry.counts.push(n);
    found.set(name, entry);
  });
  const { costs: each, unit } = subtaskCosts(
    {
      subtasks: [...found.values()].map(({ counts, ...subtask }) => ({
        ...subtask,
        items: counts.length > 0 ? counts.reduce((sum, n) => sum + n, 0) / counts.length : null,
      })),
    },
    runs,
  );
  const perUnit = unit === 'seconds' ? 60 : 1;
  const byKey = new Map([...found.keys()].map((one, at) => [one, (each[at] ?? perUnit) / perUnit]));
  return { costOf: (of) => byKey.get(key(of)) ?? 1, unit: unit === 'seconds' ? 'minutes' : unit };
}
