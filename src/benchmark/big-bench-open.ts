/** Opening and checking a BIG-bench task file. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import { BigBenchBenchmark } from './big-bench.ts';
import { bigBenchMetrics, parseDocument, readTask } from './big-bench-file.ts';
import { readBigBenchSettings } from './big-bench-settings.ts';
import type { Group, GroupTask } from './group.ts';
import { fieldsOf, JsonDocument } from './json-document.ts';
import { readSource } from './source-file.ts';
import type { Benchmark, Problem } from './types.ts';

/** Is this the name of a BIG-bench task file? */
export const isBigBenchFile = (file: string): boolean => /\.json$/i.test(file);

/** Reads the file, or `text` in its place, and reports everything that is wrong with it. */
export async function checkBigBench(
  file: string,
  text?: string,
): Promise<{ benchmark: Benchmark | null; problems: Problem[] }> {
  const path = resolve(file);
  return check(text === undefined ? await load(path) : parseDocument(path, text));
}

async function check(document: JsonDocument): Promise<{ benchmark: Benchmark | null; problems: Problem[] }> {
  const finish = (benchmark: Benchmark | null): { benchmark: Benchmark | null; problems: Problem[] } => ({
    benchmark: document.problems.some(({ severity }) => severity === 'error') ? null : benchmark,
    problems: document.problems.sort(
      (a, b) => (a.place.line ?? 0) - (b.place.line ?? 0) || (a.place.column ?? 0) - (b.place.column ?? 0),
    ),
  });
  const { root } = document;
  if (root?.kind === 'object' && !fieldsOf(root).has('examples')) {
    await reportSubtasks(document);
    return finish(null);
  }
  const task = readTask(document);
  const settings = readBigBenchSettings(document);
  if (!task || document.problems.some(({ severity }) => severity === 'error')) return finish(null);
  const benchmark = new BigBenchBenchmark(task, document, settings);
  const unread = task.metrics.filter((metric) => {
    const names = bigBenchMetrics.get(metric)?.scores ?? [metric];
    return !names.some((name) => benchmark.metrics.includes(name));
  });
  const metrics = fieldsOf(root ?? undefined).get('metrics');
  if (unread.length > 0 && metrics)
    document.at(
      metrics,
      'information',
      'metric',
      `Not computed: ${unread.map((name) => `\`${name}\``).join(', ')}. Runs report F, S, K and L${benchmark.metrics.length > 0 ? ` and ${benchmark.metrics.map((name) => `\`${name}\``).join(', ')}` : ''}.`,
    );
  await checkGolds(document, benchmark);
  return finish(benchmark);
}

async function load(path: string): Promise<JsonDocument> {
  const source = await readSource(path);
  if (source.text === null) {
    const document = new JsonDocument(path, '', null);
    document.problems.push({ severity: 'error', code: 'missing-file', message: source.reason, place: { file: path } });
    return document;
  }
  const document = parseDocument(path, source.text);
  if (source.notUtf8) document.problems.push(source.notUtf8);
  return document;
}

/** The `task.json` of each sub-folder: the subtasks of a file without examples, in the order of their paths. */
async function subtaskFiles(file: string): Promise<string[]> {
  const folder = dirname(resolve(file));
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name, 'task.json');
    // A link to a folder counts as well: what can be read is there.
    if (!entry.isFile() && (await readFile(path).catch(() => null)) !== null) found.push(path);
  }
  return found.sort();
}

/**
 * The subtasks of a file without examples as a group; null where it is a task of its own. BIG-bench's score of such a task is
 * the mean of its subtasks' scores, each counting alike (bigbench.api.results). Subtasks may have subtasks.
 * @throws HumanError where a subtask cannot be opened
 */
export async function bigBenchGroup(file: string): Promise<Group | null> {
  return groupOf(await load(resolve(file)));
}

async function groupOf(document: JsonDocument): Promise<Group | null> {
  const { root } = document;
  if (root?.kind !== 'object' || fieldsOf(root).has('examples')) return null;
  const members: (Group | GroupTask)[] = [];
  const metrics = new Set<string>();
  for (const path of await subtaskFiles(document.file)) {
    const below = await load(path);
    const inner = await groupOf(below);
    if (inner) {
      members.push(inner);
      for (const { metric } of inner.aggregates) metrics.add(metric);
      continue;
    }
    const { benchmark, problems } = await check(below);
    const error = problems.find(({ severity }) => severity === 'error');
    if (!benchmark) throw new HumanError('bad-input', error?.message ?? `${path} is no task.`, { place: error?.place });
    const same = members.find(({ name }) => name === benchmark.task);
    // Runs are told apart by the names of their tasks.
    if (same && 'file' in same)
      throw new HumanError('bad-input', `The subtasks ${same.file} and ${path} are both called "${benchmark.task}".`, {
        place: { file: document.file },
        todo: 'Give each a `name` of its own, or evaluate their files one by one.',
      });
    for (const metric of benchmark.metrics ?? []) metrics.add(metric);
    members.push({ name: benchmark.task, address: path, file: path, keys: null, inline: false });
  }
  if (members.length === 0) return null;
  const name = fieldsOf(root).get('name');
  return {
    name: name?.kind === 'text' ? name.value : basename(dirname(document.file)),
    alias: null,
    aggregates: [...metrics].map((metric) => ({ metric, filters: null, weightBySize: false })),
    members,
  };
}

async function reportSubtasks(document: JsonDocument): Promise<void> {
  const { root } = document;
  if (!root) return;
  const start = { from: root.from, to: root.from + 1 };
  const inline = root.kind === 'object' ? root.entries.find(({ key }) => key === 'subtasks') : undefined;
  const files = await subtaskFiles(document.file);
  if (files.length > 0) {
    const names = files.map((file) => relative(dirname(document.file), file)).join(', ');
    const message = `This task has no examples of its own but ${files.length} ${files.length === 1 ? 'subtask' : 'subtasks'}, each with a score of its own. Open ${files.length === 1 ? 'it' : 'one of them'}: ${names}. The command line evaluates all of them.`;
    document.at(start, 'error', 'group-file', message);
  } else if (inline)
    document.at(
      inline,
      'error',
      'group-file',
      'Subtasks are files: put each into a folder of its own beside this file, as `task.json`, and open those.',
    );
  else
    document.at(
      start,
      'error',
      'missing-key',
      'A BIG-bench task needs `examples`: the list of its questions, each with `input` and `target` or `target_scores`.',
    );
}

/** Right answers that the file's own pattern or stop text does not let through cannot be given by any model. */
async function checkGolds(document: JsonDocument, benchmark: BigBenchBenchmark): Promise<void> {
  const items = (await benchmark.items('evaluation')).slice(0, 200);
  const refused = items.filter((item) => !benchmark.goldIsRead(item));
  const example = refused[0];
  if (!example) return;
  const share = refused.length === items.length ? 'every one' : `${refused.length}`;
  const text = benchmark.target(example).text;
  const gold = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
  const form = { output_regex: '`output_regex`', stop_string: '`stop_string`' }[benchmark.readers.strict];
  const fields = fieldsOf(document.root ?? undefined);
  const at = fields.get(benchmark.readers.strict) ?? fields.get('examples') ?? { from: 0, to: 1 };
  document.at(
    form ? at : { from: at.from, to: at.from + 1 },
    'warning',
    'gold-not-in-format',
    `${form ?? 'What BIG-bench reads of an output without `output_regex` or `stop_string` (up to the first `.`, `?`, `!`, `;` or line break)'} makes something else of the right answers themselves: ${share} of ${items.length} checked, such as line ${example.place.line} (${gold}). No output can be right there.`,
  );
}
