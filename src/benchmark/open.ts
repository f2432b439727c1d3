/** Opening and checking a benchmark file. */
import { HumanError } from '../shared/errors.ts';
import { checkBigBench, isBigBenchFile } from './big-bench-open.ts';
import type { Configuration, Path } from './configuration.ts';
import { datasetPlaces } from './dataset-places.ts';
import { type LocatedDataset, locateDataset } from './dataset-source.ts';
import { noCandidate, templateOf } from './documents.ts';
import { type Group, isGroupConfiguration, readGroup, tasksOf } from './group.ts';
import { readBenchmarkConfiguration } from './group-tasks.ts';
import { sampleSize } from './judging.ts';
import { suggestion } from './near-miss.ts';
import { PythonError } from './python.ts';
import { readSettings, type Settings } from './settings.ts';
import { TaskBenchmark } from './task.ts';
import { filters as templateFilters } from './template-filters.ts';
import type { Benchmark, Item, Problem } from './types.ts';

/**
 * Opens a benchmark file: a task file of lm-evaluation-harness (YAML) or BIG-bench (JSON).
 * @throws HumanError with the first error and its place
 */
export async function openBenchmark(file: string): Promise<Benchmark> {
  const { benchmark, problems, group } = await checkBenchmark(file);
  const errors = problems.filter(({ severity }) => severity === 'error');
  // Fetching data mends nothing where something else is wrong.
  const error = errors.find(({ code }) => code !== 'missing-dataset') ?? errors[0];
  if (error) {
    const more = errors.length - 1;
    const kind =
      error.code.startsWith('missing-file') || ['missing-data', 'missing-dataset'].includes(error.code)
        ? 'missing'
        : ['python-function', 'unsupported'].includes(error.code)
          ? 'unsupported'
          : 'bad-input';
    throw new HumanError(kind, error.message, {
      place: error.place,
      ...(more > 0 ? { todo: `(${more} more ${more === 1 ? 'error' : 'errors'} in this file.)` } : {}),
    });
  }
  if (group)
    throw new HumanError('bad-input', `"${group.name}" is a group of benchmarks, not one of them.`, {
      place: { file },
      todo: 'Evaluate the group, or open one of its benchmarks.',
    });
  if (!benchmark) throw new Error(`${file} has no error and no benchmark.`);
  return benchmark;
}

export interface Checked {
  benchmark: Benchmark | null;
  problems: Problem[];
  /** Where the file is a group of benchmarks. */
  group?: Group;
}

/**
 * Reads a benchmark file, or `text` in its place, and reports everything that is wrong with it: in the order of the
 * file. The benchmark is null where an error stands in the way of opening it.
 */
export async function checkBenchmark(file: string, text?: string): Promise<Checked> {
  if (isBigBenchFile(file)) return checkBigBench(file, text);
  const configuration = await readBenchmarkConfiguration(file, text);
  const { problems } = configuration;
  const finish = (benchmark: Benchmark | null): { benchmark: Benchmark | null; problems: Problem[] } => ({
    benchmark: problems.some(({ severity }) => severity === 'error') ? null : benchmark,
    problems: inOrder(problems, configuration.file),
  });
  if (problems.some(({ code }) => ['broken-yaml', 'not-utf-8', 'missing-file', 'not-a-benchmark'].includes(code)))
    return finish(null);
  if (isGroupConfiguration(configuration)) {
    const group = await readGroup(configuration);
    const count = tasksOf(group).length;
    configuration.add(
      'information',
      'group-file',
      `This file names a group of ${count} ${count === 1 ? 'benchmark' : 'benchmarks'}. An evaluation of it runs all of them.`,
      [configuration.values.group === undefined ? 'task' : 'group'],
      { key: true },
    );
    return { ...finish(null), group };
  }
  const digest = configuration.digest;
  const settings = readSettings(configuration);
  checkTemplates(configuration);
  const located = await findDataset(configuration, settings);
  checkSplits(configuration, settings, located);
  // Data is read although there are errors in other keys, so that one look shows all of them; not without data or templates.
  const blocking = new Set([
    'missing-key',
    'missing-data',
    'missing-dataset',
    'wrong-dataset',
    'unsupported',
    'unknown-split',
    'broken-template',
    'missing-include',
    'include-cycle',
    'python-function',
    'unknown-filter',
    'wrong-pattern',
    'missing-schema',
    'wrong-schema',
    'wrong-type',
  ]);
  if (problems.some(({ severity, code }) => severity === 'error' && blocking.has(code))) return finish(null);
  let benchmark: TaskBenchmark;
  try {
    benchmark = await TaskBenchmark.open(settings, configuration, digest);
  } catch (thrown) {
    if (!(thrown instanceof HumanError)) throw thrown;
    report(configuration, thrown, settings);
    return finish(null);
  }
  await checkItems(configuration, settings, benchmark);
  return finish(benchmark);
}

function inOrder(problems: readonly Problem[], file: string): Problem[] {
  const rank = (problem: Problem): number => (problem.place.file === file ? 0 : 1);
  const seen = new Set<string>();
  // A Python function in the place of a value says all; that the value is no list is no second problem.
  const functions = new Set(
    problems.filter(({ code }) => code === 'python-function').map(({ end }) => JSON.stringify(end)),
  );
  // Keys that seem to be missing stand in the file that is.
  const isComplete = !problems.some(({ code }) => code === 'missing-include' || code === 'include-cycle');
  return problems
    .filter(({ code }) => isComplete || code !== 'missing-key')
    .filter(
      ({ code, end }) =>
        !['wrong-type', 'wrong-value', 'unknown-filter'].includes(code) || !functions.has(JSON.stringify(end)),
    )
    .sort(
      (a, b) =>
        rank(a) - rank(b) || (a.place.line ?? 0) - (b.place.line ?? 0) || (a.place.column ?? 0) - (b.place.column ?? 0),
    )
    .filter((problem) => {
      const key = JSON.stringify([problem.place, problem.message]);
      return !seen.has(key) && seen.add(key);
    });
}

/** A problem of the data, shown where the file names the data. */
function report(configuration: Configuration, error: HumanError, settings: Settings): void {
  const { place, todo } = error.details;
  const template = blamedTemplate(configuration, error.message);
  const path: Path =
    template ??
    (error.kind === 'missing' || (place && place.file !== configuration.file)
      ? settings.data.processed
        ? ['metadata', 'softbench', 'processed_docs']
        : ['dataset_kwargs', 'data_files']
      : [splitKey(settings)]);
  const where =
    place && place.file !== configuration.file ? ` (${place.file}${place.line ? `:${place.line}` : ''})` : '';
  const missing = /(?:There is no|The) data file (.+?)(?: is a folder)?\.$/.exec(error.message)?.[1];
  const name = (missing ?? (where === '' ? undefined : place?.file))?.split(/[\\/]/).at(-1);
  const within = name && !template ? new RegExp(name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : undefined;
  const code = error.kind === 'missing' ? 'missing-data' : error.kind === 'unsupported' ? 'unsupported' : 'broken-data';
  configuration.add('error', code, `${error.message}${where}${todo ? ` ${todo}` : ''}`, path, within ? { within } : {});
}

/** The template that an item's rows do not serve: the key that the message names, or the one that uses the name. */
function blamedTemplate(configuration: Configuration, message: string): Path | undefined {
  if (!/^Item \d+: /.test(message)) return undefined;
  const unknown = /"([^"]+)" is undefined/.exec(message)?.[1];
  return templateKeys.find((path) => {
    const value = valueAt(configuration, path);
    const texts = Array.isArray(value) ? value : [value];
    return unknown === undefined
      ? message.includes(`\`${path.join('.')}\``)
      : texts.some((text) => typeof text === 'string' && text.includes('{') && text.includes(unknown));
  });
}

const splitKey = (settings: Settings): string => (settings.splits.test !== null ? 'test_split' : 'validation_split');

const templateKeys: readonly Path[] = [
  ['doc_to_text'],
  ['doc_to_target'],
  ['doc_to_choice'],
  ['description'],
  ['gen_prefix'],
  ['fewshot_config', 'doc_to_text'],
  ['fewshot_config', 'doc_to_target'],
  ['fewshot_config', 'doc_to_choice'],
  ['fewshot_config', 'gen_prefix'],
];

const valueAt = (configuration: Configuration, path: Path): unknown =>
  path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined),
    configuration.values,
  );

const word = (name: string): RegExp => new RegExp(`(?<![\\w.])${name.replace(/[^\w]/g, '\\$&')}(?!\\w)`);

function checkTemplates(configuration: Configuration): void {
  for (const path of templateKeys) {
    const source = valueAt(configuration, path);
    if (typeof source !== 'string') continue;
    try {
      const template = templateOf(source);
      for (const filter of template.filters())
        if (!templateFilters.has(filter) && filter !== 'default' && filter !== 'd')
          configuration.add(
            'error',
            'broken-template',
            `There is no template filter \`${filter}\`.${suggestion(filter, templateFilters.keys())}`,
            path,
            { within: word(filter) },
          );
    } catch (thrown) {
      if (!(thrown instanceof PythonError)) throw thrown;
      configuration.add('error', 'broken-template', thrown.message, path);
    }
  }
}

/** Puts the files of a data set of the Hugging Face Hub into the settings. */
async function findDataset(configuration: Configuration, settings: Settings): Promise<LocatedDataset | null> {
  const { dataset } = settings.data;
  if (!dataset || configuration.problems.some(({ code }) => code === 'unsupported')) return null;
  try {
    const located = await locateDataset(
      dataset,
      configuration.foldersOf('dataset_path'),
      datasetPlaces(),
      neededSplits(settings),
    );
    settings.data.splits = located.splits;
    if (located.features) settings.data.options = { ...settings.data.options, features: located.features };
    return located;
  } catch (thrown) {
    if (!(thrown instanceof HumanError)) throw thrown;
    const code = { missing: 'missing-dataset', unsupported: 'unsupported' }[thrown.kind as string] ?? 'wrong-dataset';
    const { todo } = thrown.details;
    configuration.add('error', code, `${thrown.message}${todo ? ` ${todo}` : ''}`, [
      code === 'wrong-dataset' && dataset.name !== null ? 'dataset_name' : 'dataset_path',
    ]);
    return null;
  }
}

/** The splits that a benchmark reads. */
const neededSplits = ({ splits }: Settings): string[] => [
  ...new Set([splits.test, splits.validation, splits.training, splits.fewShot].filter((split) => split !== null)),
];

function checkSplits(configuration: Configuration, settings: Settings, located: LocatedDataset | null): void {
  const known = located ? located.declared : [...settings.data.splits.keys()];
  if (known.length === 0) return;
  const keys: [Path, string | null][] = [
    [['training_split'], settings.splits.training],
    [['validation_split'], settings.splits.validation],
    [['test_split'], settings.splits.test],
    [
      valueAt(configuration, ['fewshot_config', 'split']) === undefined
        ? ['fewshot_split']
        : ['fewshot_config', 'split'],
      settings.splits.fewShot,
    ],
  ];
  for (const [path, split] of keys) {
    if (split === null || settings.data.splits.has(split)) continue;
    if (located && known.includes(split)) {
      configuration.add(
        'error',
        'missing-dataset',
        `The split \`${split}\` of ${settings.data.dataset?.path} is not, or not whole, on this machine (${located.folder}). Download it: \`softbench datasets download\` with this file, or "Download from Hugging Face" here.`,
        path,
      );
      continue;
    }
    configuration.add(
      'error',
      'unknown-split',
      `There is no split \`${split}\` in ${settings.data.dataset ? 'the data set' : '`data_files`'}, which has ${known.map((name) => `\`${name}\``).join(', ')}.${suggestion(split, known)}`,
      path,
    );
  }
}

/** Checks that need rows: names in templates, whether right answers are in the required format. */
async function checkItems(configuration: Configuration, settings: Settings, benchmark: TaskBenchmark): Promise<void> {
  const items = (await benchmark.items('evaluation')).slice(0, sampleSize);
  const first = items[0];
  if (!first) return;
  if (!checkNames(configuration, settings, first)) return;
  let checked = 0;
  const refused: { item: Item; text: string; inFormat: boolean }[] = [];
  const strangers: Item[] = [];
  for (const item of items) {
    try {
      await benchmark.prompt(item, 0);
      if (benchmark.choices(item)?.gold === noCandidate) strangers.push(item);
      benchmark.checkFilterFields(item);
      const verdict = benchmark.goldVerdict(item);
      checked++;
      if (!verdict.right) refused.push({ item, ...verdict });
    } catch (thrown) {
      if (!(thrown instanceof HumanError)) throw thrown;
      const { place } = thrown.details;
      const path: Path = /multi_choice_regex/.test(thrown.message)
        ? ['filter_list']
        : /`doc_to_choice`/.test(thrown.message)
          ? ['doc_to_choice']
          : /candidates/.test(thrown.message)
            ? ['doc_to_target']
            : ['doc_to_text'];
      configuration.add('error', 'broken-item', `${thrown.message} (${place?.file}:${place?.line})`, path);
      return;
    }
  }
  const [stranger] = strangers;
  if (stranger)
    configuration.add(
      'warning',
      'no-candidate',
      `The right answer ${JSON.stringify(benchmark.target(stranger).text.slice(0, 80))} of item ${stranger.index} is not among its candidates${strangers.length > 1 ? ` (so for ${strangers.length} of ${checked} items checked)` : ''}: whatever is chosen counts as wrong, as lm-evaluation-harness counts it. (${stranger.place.file}:${stranger.place.line})`,
      ['doc_to_target'],
    );
  // They are reported; that no reader accepts them says no more.
  const example = refused.find(({ item }) => !strangers.includes(item));
  // Where nothing is generated there is no form to be in.
  if (!example || !benchmark.generates) return;
  const share = refused.length === checked ? 'every one' : `${refused.length}`;
  const gold = JSON.stringify(example.text.length > 60 ? `…${example.text.slice(-60)}` : example.text);
  const { strict } = benchmark.readers;
  const subject =
    strict === 'built-in'
      ? `The required form of the answer kind \`${benchmark.answerKind}\``
      : `The strict filter \`${strict}\``;
  const complaint = example.inFormat ? 'reads something else out of' : 'does not accept';
  configuration.add(
    'warning',
    'gold-not-in-format',
    `${subject} ${complaint} the right answers themselves: ${share} of ${checked} checked, such as item ${example.item.index} (${gold}). A soft prompt tuned on them would learn another form. Let \`doc_to_target\` give the answer in the form that the filter looks for, or choose another filter with \`metadata.softbench.strict\`.`,
    strict === 'built-in' ? ['doc_to_target'] : filterPath(configuration, strict),
  );
}

function filterPath(configuration: Configuration, name: string): Path {
  const list = configuration.values.filter_list;
  const at = Array.isArray(list)
    ? list.findIndex((entry) => (entry as Record<string, unknown> | null)?.name === name)
    : -1;
  return at < 0 ? ['filter_list'] : ['filter_list', at, 'name'];
}

/** Every name that a template uses must be a field. Returns whether all are. */
function checkNames(configuration: Configuration, settings: Settings, item: Item): boolean {
  const fields = Object.keys(item.fields);
  let fine = true;
  for (const path of templateKeys) {
    const source = valueAt(configuration, path);
    if (typeof source !== 'string' || Object.hasOwn(item.fields, source)) continue;
    // Examples that the file itself gives have fields of their own.
    if (path[0] === 'fewshot_config' && settings.samples) continue;
    for (const name of templateOf(source).names()) {
      if (Object.hasOwn(item.fields, name)) continue;
      fine = false;
      configuration.add(
        'error',
        'undefined-name',
        `\`${name}\` is not a field of the data, which has ${fields.map((field) => `\`${field}\``).join(', ')}.${suggestion(name, fields)}`,
        path,
        { within: word(name) },
      );
    }
  }
  // A bare word is rendered as itself; it was probably meant to be a field.
  for (const key of ['doc_to_text', 'doc_to_target']) {
    const source = configuration.values[key];
    if (typeof source === 'string' && /^\w+$/.test(source) && !Object.hasOwn(item.fields, source))
      configuration.add(
        'warning',
        'undefined-name',
        `\`${source}\` is not a field of the data, so it is used as plain text.${suggestion(source, fields)}`,
        [key],
      );
  }
  return fine;
}
