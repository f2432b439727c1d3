/** Scores of groups of benchmarks, for the command line and the editor. */
import {
  aggregateMetrics,
  formatFigure,
  type GroupMetric,
  type GroupRow,
  metricTitle,
  pooledShare,
  shareNames,
} from '../metrics/index.ts';
import type { RunFolder } from '../runs/index.ts';
import type { PromptMode } from '../shared/modes.ts';
import type { RunFile, RunSummary } from '../shared/results.ts';

/** Scores of a group and of a prompt mode. */
export interface GroupScores {
  group: string;
  model: string;
  mode: PromptMode;
  metrics: GroupRow[];
  shares: Record<string, { value: number; n: number } | null>;
  benchmarks: number;
  /** Benchmarks of the group that have no finished run. */
  missing: string[];
}

/** A group as far as its scores need it. */
export interface ScoredGroup {
  name: string;
  alias: string | null;
  aggregates: readonly GroupMetric[];
  /** Names of its benchmarks, each as often as it is in the group: so often the harness counts it. */
  leaves: readonly string[];
}

/** The scores of groups from the newest finished runs of their benchmarks, one row a model and prompt mode. */
export function scoresOfGroups(groups: readonly ScoredGroup[], folders: readonly RunFolder[]): GroupScores[] {
  const runs = folders.flatMap(({ run, summary }) => (summary && run.status === 'finished' ? [{ run, summary }] : []));
  const names = new Set(groups.flatMap(({ leaves }) => leaves));
  const kinds = new Map(
    runs.filter(({ run }) => names.has(run.benchmark.task)).map(({ run }) => [`${run.model.name}\n${run.mode}`, run]),
  );
  return groups.flatMap((group) =>
    [...kinds.values()].map((kind) => {
      const of = (name: string) => newest(runs, name, kind) ?? [];
      const each = [...new Set(group.leaves)];
      const parts = each.flatMap(of);
      return {
        group: group.alias ?? group.name,
        model: kind.model.name,
        mode: kind.mode,
        metrics: aggregateMetrics(
          group.aggregates,
          group.leaves.flatMap(of).map(({ summary }) => summary.measures ?? []),
        ),
        shares: Object.fromEntries(
          shareNames.map((name) => [name, pooledShare(parts.map(({ summary }) => summary.scores[name]))]),
        ),
        benchmarks: parts.length,
        missing: each.filter((name) => !parts.some(({ run }) => run.benchmark.task === name)),
      };
    }),
  );
}

/** The scores as a table's cells, its titles first. */
export function groupTable(scores: readonly GroupScores[]): string[][] {
  const several = new Set(scores.map(({ model }) => model)).size > 1;
  const rows = scores.flatMap(({ group, model, mode, metrics, shares: own, benchmarks }) => {
    const head = [group, ...(several ? [model] : []), mode, `${benchmarks}`];
    const pooled = Object.entries(own).flatMap(([name, share]) =>
      share ? [[...head, name, `${(share.value * 100).toFixed(1)} %`, '', `${share.n}`]] : [],
    );
    const aggregated = metrics.map(({ metric, filter, value, standardError, n }) => [
      ...head,
      metricTitle({ metric, filter }),
      formatFigure(value),
      standardError === null ? '' : `± ${formatFigure(standardError)}`,
      `${n}`,
    ]);
    return [...aggregated, ...pooled];
  });
  return [
    ['group', ...(several ? ['model'] : []), 'mode', 'benchmarks', 'metric', 'value', 'standard error', 'items'],
    ...rows,
  ];
}

const newest = (
  runs: readonly { run: RunFile; summary: RunSummary }[],
  task: string,
  { model, mode }: RunFile,
): { run: RunFile; summary: RunSummary } | undefined =>
  runs
    .filter(({ run }) => run.benchmark.task === task && run.mode === mode && run.model.name === model.name)
    .sort((a, b) => (a.run.created < b.run.created ? 1 : -1))[0];
