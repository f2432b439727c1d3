/** Group files on the command line: their benchmarks take their place, and their scores stand below those. */
import { resolve } from 'node:path';
import type { Group } from '../benchmark/index.ts';
import { aggregateMetrics, formatFigure, type GroupRow, metricTitle, pooledShare } from '../metrics/index.ts';
import { openRunStore } from '../runs/index.ts';
import type { PromptMode } from '../shared/modes.ts';
import type { RunFile, RunSummary, Scores } from '../shared/results.ts';
import { type Terminal, table } from './terminal.ts';

/** The benchmarks of files and groups, and the groups. @throws HumanError where a group names what is not there */
export async function expandGroups(files: readonly string[]): Promise<{ files: string[]; groups: Group[] }> {
  const { openGroup, tasksOf } = await import('../benchmark/index.ts');
  const found: string[] = [];
  const groups: Group[] = [];
  for (const file of files) {
    const group = await openGroup(resolve(file));
    if (group) groups.push(group);
    found.push(...(group ? tasksOf(group).map(({ address }) => address) : [file]));
  }
  return { files: found, groups };
}

/** Scores of a group and of a prompt mode. */
interface GroupScores {
  group: string;
  model: string;
  mode: PromptMode;
  metrics: GroupRow[];
  shares: Record<string, { value: number; n: number } | null>;
  benchmarks: number;
  /** Benchmarks of the group that have no finished run. */
  missing: string[];
}

const shares: Record<string, (scores: Scores) => Parameters<typeof pooledShare>[0][number]> = {
  F: ({ F }) => F,
  S: ({ S }) => S,
  K: ({ K }) => K,
  L: ({ L }) => L,
  LL: ({ LL }) => LL,
};

/** The scores of groups from the runs of their benchmarks. @param jobs groups of runs that count */
export async function scoresOfGroups(
  groups: readonly Group[],
  jobs: ReadonlySet<string>,
  store: string,
): Promise<GroupScores[]> {
  const { groupsOf, leavesOf, tasksOf } = await import('../benchmark/index.ts');
  const runs = (await openRunStore(store).list()).runs.flatMap(({ run, summary }) =>
    summary && jobs.has(run.group) ? [{ run, summary }] : [],
  );
  const kinds = new Map(runs.map(({ run }) => [`${run.model.name}\n${run.mode}`, run]));
  return groups.flatMap(groupsOf).flatMap((group) =>
    [...kinds.values()].map((kind) => {
      const names = tasksOf(group).map(({ name }) => name);
      const parts = names.flatMap((name) => newest(runs, name, kind) ?? []);
      // The harness counts a benchmark as often as it is in the group.
      const counted = leavesOf(group).flatMap(({ name }) => newest(runs, name, kind) ?? []);
      return {
        group: group.alias ?? group.name,
        model: kind.model.name,
        mode: kind.mode,
        metrics: aggregateMetrics(
          group.aggregates,
          counted.map(({ summary }) => summary.measures ?? []),
        ),
        shares: Object.fromEntries(
          Object.entries(shares).map(([name, of]) => [
            name,
            pooledShare(parts.map(({ summary }) => of(summary.scores))),
          ]),
        ),
        benchmarks: parts.length,
        missing: names.filter((name) => !parts.some(({ run }) => run.benchmark.task === name)),
      };
    }),
  );
}

const newest = (
  runs: readonly { run: RunFile; summary: RunSummary }[],
  task: string,
  { model, mode }: RunFile,
): { run: RunFile; summary: RunSummary } | undefined =>
  runs
    .filter(({ run }) => run.benchmark.task === task && run.mode === mode && run.model.name === model.name)
    .sort((a, b) => (a.run.created < b.run.created ? 1 : -1))[0];

/** Prints them as a table, one line a group, mode and metric. */
export function printGroups(terminal: Terminal, scores: readonly GroupScores[]): void {
  if (scores.length === 0) return;
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
  terminal.print('Groups:');
  const titles = [
    'group',
    ...(several ? ['model'] : []),
    'mode',
    'benchmarks',
    'metric',
    'value',
    'standard error',
    'items',
  ];
  for (const line of table([titles, ...rows])) terminal.print(line);
  for (const { group, mode, missing } of scores)
    if (missing.length > 0)
      terminal.note(`Note: ${group}, ${mode}: without ${missing.join(', ')}, which have no finished run.`);
}
