/** What it costs to run each subtask: measured seconds of runs, else tokens or items. */
import type { RunFolder } from '../../runs/index.ts';
import type { ScoreTable } from './table.ts';

export interface SubtaskCosts {
  /** [subtasks], for one model and prompt mode. */
  costs: Float64Array;
  unit: 'seconds' | 'items';
  /** Subtasks whose cost was measured; those of the others are estimated by their items. */
  measured: number;
}

/** Items of a subtask that nobody counted, where no other was counted either. */
const unknownItems = 1;

/**
 * Seconds of the runs of each subtask, the mean over models and modes; runs that took responses from the cache say nothing of
 * the time. A subtask without a run is estimated by its items at the seconds per item of the others (the median). Without any
 * run: items.
 */
export function subtaskCosts(
  { subtasks }: Pick<ScoreTable, 'subtasks'>,
  runs: readonly RunFolder[] = [],
): SubtaskCosts {
  const counted = subtasks.flatMap(({ items }) => items ?? []).sort((a, b) => a - b);
  const usual = counted[Math.floor(counted.length / 2)] ?? unknownItems;
  const itemsOf = (at: number): number => subtasks[at]?.items ?? usual;
  const seconds = new Map<string, number[]>();
  const perItem: number[] = [];
  for (const { run, summary } of runs) {
    if (run.status !== 'finished' || !summary || run.source || !(summary.seconds > 0)) continue;
    if (summary.responses && summary.responses.cached > 0) continue;
    seconds.set(run.benchmark.task, [...(seconds.get(run.benchmark.task) ?? []), summary.seconds]);
    if (summary.scores.n > 0) perItem.push(summary.seconds / summary.scores.n);
  }
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const known = subtasks.map(({ name, task }) => seconds.get(name) ?? seconds.get(task) ?? null);
  const measured = known.filter((one) => one !== null).length;
  if (measured === 0) return { costs: Float64Array.from(subtasks.keys(), itemsOf), unit: 'items', measured: 0 };
  perItem.sort((a, b) => a - b);
  const rate = perItem[Math.floor(perItem.length / 2)] ?? mean([...seconds.values()].flat()) / usual;
  return {
    costs: Float64Array.from(known, (one, at) => (one ? mean(one) : rate * itemsOf(at))),
    unit: 'seconds',
    measured,
  };
}
