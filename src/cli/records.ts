/** Options that say which records of past evaluations are read, and what is said of them. */
import { relative, resolve } from 'node:path';
import type { MeanAndSd, Predictor, RecordFilters, RecordTable } from '../predict/index.ts';
import { openRunStore, type RunFolder } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { Given, Options } from './arguments.ts';
import type { Terminal } from './terminal.ts';

export const recordOptions = {
  records: {
    type: 'texts',
    value: 'FILE',
    help: 'scores: CSV, JSON, a result of BIG-bench or a folder of them, a mapping file with its table; may be given several times',
  },
  mapping: { type: 'text', value: 'FILE', help: 'says which columns of the files are what (docs/predict.md)' },
  runs: { type: 'text', value: 'DIR', help: 'folder that holds runs/: their scores' },
} as const satisfies Options;

export const filterOptions = {
  'study-filters': { type: 'flag', help: 'the filters of Ye et al. (2023) for BIG-bench: families, metrics, items' },
  'preferred-only': { type: 'flag', help: "only the metrics that the tasks' authors rank by" },
  metric: { type: 'texts', value: 'NAME', help: 'only this metric; may be given several times' },
  'drop-all-zero': { type: 'flag', help: 'leave out subtasks on which everybody scores 0' },
  'least-items': { type: 'whole', least: 1, help: 'leave out scores of fewer items' },
  'keep-aggregates': { type: 'flag', help: 'keep means over tasks (they flatter predictors)' },
  'keep-derived': { type: 'flag', help: 'keep scores that follow from others (they flatter predictors)' },
} as const satisfies Options;

export async function filtersOf(given: Given): Promise<RecordFilters> {
  const { studyFilters } = await import('../predict/index.ts');
  const leastItems = given.number('least-items');
  const metrics = given.texts('metric');
  return {
    ...(given.flag('study-filters') && studyFilters),
    ...(given.flag('preferred-only') && { preferredOnly: true }),
    ...(given.flag('drop-all-zero') && { dropAllZero: true }),
    ...(given.flag('keep-aggregates') && { keepAggregates: true }),
    ...(given.flag('keep-derived') && { keepDerived: true }),
    ...(metrics.length > 0 && { metrics }),
    ...(leastItems !== undefined && { leastItems }),
  };
}

/** Names between commas. */
export const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

/**
 * What is to be thrown where a name given is not among those known.
 * @param several whether several may be given, or `all`
 */
export const unknownName = (what: string, name: string, known: readonly string[], several = false): HumanError =>
  new HumanError('bad-input', `There is no ${what} "${name}".`, {
    todo: several ? `Use one or more of: ${known.join(', ')}; or all.` : `Use one of: ${known.join(', ')}.`,
  });

/** The predictor that an option names; undefined where it is not given, or is `none`. */
export function predictorOf(
  given: Given,
  option: string,
  all: readonly Predictor[],
  none?: string,
): Predictor | undefined {
  const name = given.text(option);
  if (name === undefined || name === none) return undefined;
  const found = all.find((one) => one.name === name);
  if (!found) throw unknownName('predictor', name, [...(none ? [none] : []), ...all.map((one) => one.name)]);
  return found;
}

/** Reads what `recordOptions` name; the runs are those of the store, newest first. */
export async function recordsOf(
  given: Given,
  filters: RecordFilters,
): Promise<RecordTable & { runs: readonly RunFolder[] }> {
  const predict = await import('../predict/index.ts');
  // As the user wrote it where that is shorter: messages name it.
  const files = given.texts('records').map((file) => relative('', resolve(file)) || file);
  const store = given.text('runs');
  if (files.length === 0 && store === undefined)
    throw new HumanError('bad-input', 'There are no records to predict from.', {
      todo: 'Give files with --records FILE, or a folder of runs with --runs DIR.',
    });
  const mappingFile = given.text('mapping');
  const mapping = mappingFile === undefined ? undefined : await predict.readMapping(mappingFile);
  const runs = store === undefined ? [] : (await openRunStore(resolve(store)).list()).runs;
  const table = await predict.readRecords({ runs, files, ...(mapping && { mapping }) }, filters);
  if (table.records.length === 0)
    throw new HumanError('bad-input', 'No record can be used.', {
      todo:
        table.leftOut.length > 0
          ? `Left out: ${table.leftOut.map(({ reason, count }) => `${count} ${reason}`).join('; ')}.`
          : 'The sources hold no scores.',
    });
  return { ...table, runs };
}

const formatCount = (count: number): string => count.toLocaleString('en-US');

/** Figures of tables, with three digits; – where there is none. */
export const figure = (value: number | null | undefined): string =>
  value === null || value === undefined || Number.isNaN(value) ? '–' : value.toFixed(3);

/** `0.912 ± 0.034` */
export const withSd = (value: MeanAndSd | null | undefined): string =>
  value ? `${figure(value.mean)}${value.sd === null ? '' : ` ± ${figure(value.sd)}`}` : '–';

/** How many records are used and how many are not, and why. */
export function recordLines({ records, leftOut, notes = [] }: RecordTable): string[] {
  const kinds = (of: (record: RecordTable['records'][number]) => string): string =>
    formatCount(new Set(records.map(of)).size);
  return [
    `${formatCount(records.length)} records. Models: ${kinds(({ model }) => model)}, families: ${kinds(({ family }) => family)}, tasks: ${kinds(({ task }) => task)}, subtasks: ${kinds(({ task, subtask }) => `${task}\n${subtask}`)}, metrics: ${kinds(({ metric }) => metric)}.`,
    ...leftOut.map(
      ({ reason, count, examples }) =>
        `Left out: ${formatCount(count)} ${reason} (${examples[0] ?? ''}${count > 1 ? '; …' : ''}).`,
    ),
    ...notes,
  ];
}

/** One line that is updated on a terminal; plain lines now and then elsewhere. */
export function shareProgress(terminal: Terminal): { show(message: string, share: number): void; clear(): void } {
  const { stderr } = terminal.surroundings;
  const live = Boolean(stderr.isTTY) && !terminal.quiet;
  let shown = performance.now();
  return {
    show(message, share) {
      if (performance.now() - shown < (live ? 100 : 10_000)) return;
      shown = performance.now();
      const line = `${Math.round(share * 100)} % ${message}`;
      if (live) stderr.write(`\r${line.slice(0, (stderr.columns ?? 80) - 1)}\u001b[K`);
      else terminal.note(line);
    },
    clear() {
      if (live) stderr.write('\r\u001b[K');
    },
  };
}
