/** Groups have the members, keys, prompts and aggregated scores that lm-evaluation-harness gives them (make/groups.py). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  checkBenchmark,
  type Group,
  groupsOf,
  isGroup,
  leavesOf,
  openBenchmark,
  openGroup,
  tasksOf,
} from '../../src/benchmark/index.ts';
import { aggregateMetrics } from '../../src/metrics/index.ts';
import { HumanError } from '../../src/shared/errors.ts';

const fixtures = join(import.meta.dirname, '..', 'fixtures', 'benchmarks');

type Shape =
  | { group: string; alias: string | null; members: Shape[] }
  | { task: string; shots: number | null; prompts: string[] };

const oracle = JSON.parse(readFileSync(join(fixtures, 'groups.json'), 'utf8')) as {
  scores: Record<string, Record<string, number>>;
  groups: Record<
    string,
    { shape: Shape; tasks: string[]; aggregates: Record<string, Record<string, number | string | object>> }
  >;
};

const open = async (name: string): Promise<Group> => {
  const group = await openGroup(join(fixtures, 'groups', `${name}.yaml`));
  if (!group) throw new Error(`${name} is no group`);
  return group;
};

describe.each(Object.entries(oracle.groups))('%s', (name, expected) => {
  test('groups in it and their benchmarks', async () => {
    const shape = (group: Group): unknown => ({
      group: group.name,
      alias: group.alias ?? group.name,
      members: group.members.map((member) => (isGroup(member) ? shape(member) : member.name)),
    });
    const wanted = (each: Shape): unknown =>
      'task' in each
        ? each.task
        : { group: each.group, alias: each.alias ?? each.group, members: each.members.map(wanted) };
    const group = await open(name);
    expect(shape(group)).toEqual(wanted(expected.shape));
    expect(tasksOf(group).map((task) => task.name)).toEqual(expected.tasks);
  });

  test('the keys that a group gives its benchmarks show in their prompts', async () => {
    const leaves = leavesOf(await open(name));
    const wanted = (each: Shape): Extract<Shape, { task: string }>[] =>
      'task' in each ? [each] : each.members.flatMap(wanted);
    const shapes = wanted(expected.shape);
    expect(leaves.length).toBe(shapes.length);
    // Of several with one name the group's address opens the last, as the harness runs it.
    for (const [at, shape] of shapes.entries()) {
      const last = shapes.map(({ task }) => task).lastIndexOf(shape.task) === at;
      const leaf = leaves[at];
      if (!last || !leaf) continue;
      const benchmark = await openBenchmark(leaf.address);
      const items = (await benchmark.items('evaluation')).slice(0, 2);
      const contexts: string[] = [];
      for (const item of items)
        for (const request of (await benchmark.requests?.(item, shape.shots ?? 0)) ?? [])
          if (
            request.kind === 'loglikelihood' ||
            (request.kind === 'generate' && benchmark.outputType === 'generate_until')
          )
            contexts.push(request.context);
      expect(contexts).toEqual(shape.prompts);
      expect(benchmark.task).toBe(shape.task);
      expect(benchmark.file).toBe(leaf.address);
    }
  });

  test('aggregated scores', async () => {
    for (const group of groupsOf(await open(name))) {
      const aggregate = expected.aggregates[group.name] ?? {};
      const parts = leavesOf(group).map((task) =>
        ['acc', 'exact_match'].flatMap((metric) => {
          const scores = oracle.scores[task.name] ?? {};
          const [value, standardError] = [scores[`${metric},none`], scores[`${metric}_stderr,none`]];
          if (value === undefined || standardError === undefined) return [];
          return [{ metric, filter: 'none', value, standardError, higherIsBetter: true, n: scores.sample_len ?? 0 }];
        }),
      );
      const rows = aggregateMetrics(group.aggregates, parts);
      const wanted = Object.keys(aggregate).filter((key) => /^(acc|exact_match),/.test(key));
      expect(rows.map(({ metric, filter }) => `${metric},${filter}`)).toEqual(wanted);
      for (const { metric, filter, value, standardError, n } of rows) {
        expect(value).toBeCloseTo(Number(aggregate[`${metric},${filter}`]), 12);
        expect(standardError).toBeCloseTo(Number(aggregate[`${metric}_stderr,${filter}`]), 12);
        expect(n).toBe((aggregate.sample_count as Record<string, number>)[`${metric},${filter}`]);
      }
    }
  });
});

test('a group is no error, and says how many benchmarks it has', async () => {
  const { benchmark, problems, group } = await checkBenchmark(join(fixtures, 'groups', 'all.yaml'));
  expect(benchmark).toBeNull();
  expect(group?.name).toBe('all_facts');
  expect(problems).toMatchObject([
    { severity: 'information', code: 'group-file', message: expect.stringContaining('3 benchmarks') },
  ]);
  await expect(openBenchmark(join(fixtures, 'groups', 'all.yaml'))).rejects.toThrow(HumanError);
});

test('a task that is written out in the group has no file of its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'softbench-group-'));
  try {
    writeFileSync(join(folder, 'rows.jsonl'), '{"q": "1 + 1 =", "a": "2"}\n');
    writeFileSync(
      join(folder, 'group.yaml'),
      'group: sums\ntask:\n  - task: one\n    dataset_path: json\n    dataset_kwargs: { data_files: { test: rows.jsonl } }\n    test_split: test\n    doc_to_text: "{{q}}"\n    doc_to_target: "{{a}}"\n',
    );
    const group = await openGroup(join(folder, 'group.yaml'));
    const [task] = group ? tasksOf(group) : [];
    expect(task?.name).toBe('sums::one');
    const benchmark = await openBenchmark(task?.address ?? '');
    const [item] = await benchmark.items('evaluation');
    expect(item && (await benchmark.prompt(item, 0)).text).toBe('1 + 1 =');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an address of a benchmark that the group has not', async () => {
  await expect(openBenchmark(`${join(fixtures, 'groups', 'all.yaml')}#nothing`)).rejects.toThrow(
    'no benchmark "nothing"',
  );
});
