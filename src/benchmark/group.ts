/**
 * Groups of benchmarks: files with `group:` and a list of tasks, tags and other groups, as lm-evaluation-harness 0.4.13 builds
 * them (TaskFactory), with the metrics that it aggregates over them.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Configuration, readConfiguration } from './configuration.ts';
import { indexTasks, type TaskIndex } from './task-index.ts';
import { mapping, text } from './values.ts';

export interface AggregateMetric {
  metric: string;
  /** Null: every filter that the tasks have. */
  filters: string[] | null;
  weightBySize: boolean;
}

/** A benchmark of a group. */
export interface GroupTask {
  name: string;
  /** What opens it: its file, or the group's file and its name behind `#` where the group gives it other keys. */
  address: string;
  file: string;
  /** Keys that the group gives it; null where it is as its file says. */
  keys: Record<string, unknown> | null;
  /** Written out in the group, without a file of its own. */
  inline: boolean;
}

export interface Group {
  name: string;
  alias: string | null;
  aggregates: AggregateMetric[];
  members: (Group | GroupTask)[];
}

export const isGroup = (member: Group | GroupTask): member is Group => 'members' in member;

/** The benchmarks of a group and of the groups in it; one that is in several of them comes several times. */
export const leavesOf = (group: Group): GroupTask[] =>
  group.members.flatMap((member) => (isGroup(member) ? leavesOf(member) : [member]));

/** The benchmarks that an evaluation of a group runs: of several with one name the last, as in the harness. */
export const tasksOf = (group: Group): GroupTask[] => [
  ...new Map(leavesOf(group).map((task) => [task.name, task])).values(),
];

/** The group and the groups in it, itself first. */
export const groupsOf = (group: Group): Group[] => [group, ...group.members.filter(isGroup).flatMap(groupsOf)];

/** Keys of the group itself; all others are given to its tasks. */
const groupKeys = new Set(['group', 'group_alias', 'task', 'aggregate_metric_list', 'metadata']);

/** A list of tasks, or a group's name over no task of its own; a task that is written in Python may name its group too. */
export const isGroupConfiguration = ({ values }: Configuration): boolean =>
  values.class === undefined &&
  (Array.isArray(values.task) ||
    (values.group !== undefined && values.group !== null && values.doc_to_text === undefined));

const packages = new Set(['site-packages', 'dist-packages', 'node_modules']);

/** Folders above the group's own that are looked through for names that are not below it. */
const highest = 6;

/** Reads a group from its configuration. What is wrong is in `configuration.problems`. */
export async function readGroup(configuration: Configuration): Promise<Group> {
  const { file, values } = configuration;
  const own = text(values.group) ?? text(values.task) ?? file.replace(/^.*[\\/]|\.ya?ml$/g, '');
  let folder = dirname(file);
  let built = await build(folder);
  for (let level = 0; built.missing.size > 0 && level < highest; level++) {
    const above = dirname(folder);
    // Not the whole of a disk, of somebody's home or of all packages, and not out of a project.
    if (dirname(above) === above || above === homedir() || packages.has(basename(above))) break;
    if (existsSync(join(folder, '.git'))) break;
    folder = above;
    const next = await build(folder);
    if (next.missing.size < built.missing.size) built = next;
  }
  for (const name of built.missing)
    configuration.add(
      'error',
      'missing-task',
      `There is no benchmark, group or tag \`${name}\` in this file's folder and those around it.`,
      ['task'],
      { within: new RegExp(`(?<![\\w-])${name.replace(/[^\w]/g, '\\$&')}(?![\\w-])`) },
    );
  return built.group;

  async function build(root: string): Promise<{ group: Group; missing: Set<string> }> {
    const builder = new Builder(file, await indexTasks(root), configuration);
    return { group: await builder.group(own, values, {}, [file]), missing: builder.missing };
  }
}

type Keys = Record<string, unknown>;

class Builder {
  readonly missing = new Set<string>();

  constructor(
    private readonly file: string,
    private readonly index: TaskIndex,
    private readonly configuration: Configuration,
  ) {}

  async group(name: string, values: Keys, overrides: Keys, chain: readonly string[]): Promise<Group> {
    const given = Object.fromEntries(Object.entries(values).filter(([key]) => !groupKeys.has(key)));
    const list = Array.isArray(values.task) ? values.task : typeof values.task === 'string' ? [values.task] : [];
    const members = new Map<string, Group | GroupTask>();
    for (const entry of list)
      for (const member of await this.members(entry, name, { ...given, ...overrides }, chain))
        members.set(member.name, member);
    return {
      name,
      alias: text(values.group_alias),
      aggregates: this.aggregates(values.aggregate_metric_list),
      members: [...members.values()],
    };
  }

  private aggregates(value: unknown): AggregateMetric[] {
    const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
    return list.flatMap((entry) => {
      const { metric, filter_list: filters, aggregation, weight_by_size: weighted } = mapping(entry);
      if (typeof metric !== 'string') return [];
      if (aggregation !== undefined && aggregation !== 'mean')
        this.configuration.add(
          'warning',
          'aggregation',
          `A group takes the mean of its tasks; \`${String(aggregation)}\` is not computed.`,
          ['aggregate_metric_list'],
        );
      return [
        {
          metric,
          filters: Array.isArray(filters) ? filters.map(String) : typeof filters === 'string' ? [filters] : null,
          weightBySize: weighted !== false,
        },
      ];
    });
  }

  private async members(
    entry: unknown,
    parent: string,
    overrides: Keys,
    chain: readonly string[],
  ): Promise<(Group | GroupTask)[]> {
    if (typeof entry === 'string') return this.named(entry, overrides, parent, chain);
    const item = mapping(entry);
    const group = text(item.group);
    if (group !== null) {
      const known = this.index.get(group);
      const { group: _, ...own } = item;
      return known
        ? this.named(group, { ...overrides, ...own }, parent, chain)
        : [await this.group(`${parent}::${group}`, item, overrides, chain)];
    }
    const task = text(item.task);
    if (task === null) return [];
    const { task: _, ...own } = item;
    // With data of its own it is a benchmark; without, a name to look for.
    return this.named(task, { ...overrides, ...own }, parent, chain, 'dataset_path' in own);
  }

  private async named(
    name: string,
    overrides: Keys,
    parent: string,
    chain: readonly string[],
    writtenOut = false,
  ): Promise<(Group | GroupTask)[]> {
    const entry = this.index.get(name);
    if (!entry) {
      if (writtenOut) return [this.task(`${parent}::${name}`, this.file, overrides, true)];
      this.missing.add(name);
      return [];
    }
    if (entry.kind === 'tag')
      return entry.tasks.flatMap((task) => {
        const found = this.index.get(task);
        return found?.kind === 'task' ? [this.task(task, found.file, overrides, false)] : [];
      });
    if (entry.kind === 'task') return [this.task(name, entry.file, overrides, false)];
    // A group that holds itself is read no deeper.
    if (chain.includes(entry.file)) return [];
    const configuration = await readConfiguration(entry.file);
    const { task: _, group: __, ...given } = overrides;
    return [await this.group(name, configuration.values, given, [...chain, entry.file])];
  }

  private task(name: string, file: string, keys: Keys, inline: boolean): GroupTask {
    const given = Object.keys(keys).length > 0;
    return {
      name,
      address: given || inline ? `${this.file}#${name}` : file,
      file,
      keys: given ? keys : null,
      inline,
    };
  }
}
