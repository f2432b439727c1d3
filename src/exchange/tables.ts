/** Scores and items as tables: CSV (RFC 4180, full precision) for programs, Markdown for people. */
import { join } from 'node:path';
import {
  costs,
  costWords,
  formatMetric,
  formatShareAndInterval,
  knownCosts,
  metricKey,
  metricRows,
  shareNames,
} from '../metrics/index.ts';
import type { ItemRecord } from '../shared/results.ts';
import { type Cell, csvRow, markdownRow } from '../shared/table-text.ts';
import { writeWhole } from '../system/index.ts';
import type { ExportContext, ExportedRun } from './export.ts';
import { writeLines } from './write-lines.ts';

// writeLines adds the line feed.
const csvLine = (cells: readonly Cell[]): string => `${csvRow(cells)}\r`;

/** Names of the file's own metrics that any of the runs has, as `metric,filter`. */
const measureNames = (runs: readonly ExportedRun[]): string[] =>
  metricRows(runs.map(({ summary }) => summary)).map(({ key }) => key);

export async function exportCsv(
  runs: readonly ExportedRun[],
  folder: string,
  context: ExportContext,
): Promise<string[]> {
  const names = measureNames(runs);
  const scores = join(folder, 'scores.csv');
  await writeLines(scores, [
    csvLine([
      'benchmark',
      'model',
      'mode',
      'origin',
      'run',
      'n',
      ...shareNames.flatMap((name) => [name, `${name}_low`, `${name}_high`]),
      ...names.flatMap((name) => [name, `${name}_stderr`]),
      ...costs.map(({ name }) => name),
    ]),
    ...runs.map(({ run, summary }) =>
      csvLine([
        run.benchmark.task,
        run.model.name,
        run.mode,
        originOf(run),
        run.id,
        summary?.scores.n,
        ...shareNames.flatMap((name): Cell[] => {
          const share = summary?.scores[name];
          return !share || share.value === null ? ['', '', ''] : [share.value, share.low, share.high];
        }),
        ...names.flatMap((name): Cell[] => {
          const found = summary?.measures?.find((one) => metricKey(one) === name);
          return [found?.value, found?.standardError];
        }),
        ...costs.map(({ value }): Cell => (summary ? value({ run, summary }) : null)),
      ]),
    ),
  ]);
  const items = join(folder, 'items.csv');
  await writeLines(items, itemLines(runs, context));
  return [scores, items];
}

const originOf = ({ source, predictOnly }: ExportedRun['run']): string =>
  source ? `imported: ${source.tool}` : predictOnly ? 'measured, not scored' : 'measured';

const itemColumns: readonly { name: string; of(record: ItemRecord): Cell }[] = [
  { name: 'index', of: ({ index }) => index },
  { name: 'in_format', of: (record) => judged(record, record.inFormat) },
  { name: 'right', of: (record) => judged(record, record.inFormat && record.right) },
  { name: 'lenient_right', of: (record) => judged(record, record.lenientRight) },
  { name: 'likeliest_right', of: ({ choices, scored }) => (scored === false ? '' : choices?.right) },
  { name: 'cause', of: ({ cause }) => cause },
  { name: 'gold', of: ({ gold }) => gold },
  { name: 'strict_answer', of: ({ strict }) => strict.answer },
  { name: 'lenient_answer', of: ({ lenient }) => lenient.answer },
  { name: 'stop', of: (record) => generated(record, record.stop.reason) },
  { name: 'prompt_tokens', of: ({ prompt }) => prompt.tokens },
  { name: 'output_tokens', of: ({ outputTokens }) => outputTokens },
  { name: 'prompt_sha256', of: ({ prompt }) => prompt.hash },
  { name: 'output', of: ({ output }) => output },
];

/** Empty where nothing was generated. */
const generated = (record: ItemRecord, value: Cell): Cell => (record.generated === false ? '' : value);

/** Empty where nobody has judged the output. */
const judged = (record: ItemRecord, value: Cell): Cell => (record.scored === false ? '' : generated(record, value));

async function* itemLines(runs: readonly ExportedRun[], { itemsOf }: ExportContext): AsyncGenerator<string> {
  yield csvLine(['benchmark', 'model', 'mode', 'run', ...itemColumns.map(({ name }) => name)]);
  for (const entry of runs) {
    const { run } = entry;
    for (const record of await itemsOf(entry))
      yield csvLine([run.benchmark.task, run.model.name, run.mode, run.id, ...itemColumns.map(({ of }) => of(record))]);
  }
}

export async function exportMarkdown(runs: readonly ExportedRun[], folder: string): Promise<string[]> {
  const names = measureNames(runs);
  const shown = knownCosts(runs.flatMap(({ run, summary }) => (summary ? [{ run, summary }] : [])));
  const head = [
    'benchmark',
    'model',
    'mode',
    'origin',
    'n',
    ...shareNames,
    ...names,
    ...shown.map(({ label }) => label.toLowerCase()),
  ];
  const rows = runs.map(({ run, summary }) => [
    run.benchmark.task,
    run.model.name,
    run.mode,
    originOf(run),
    String(summary?.scores.n ?? ''),
    ...shareNames.map((name) => formatShareAndInterval(summary?.scores[name] ?? null)),
    ...names.map((name) => {
      const found = summary?.measures?.find((one) => metricKey(one) === name);
      return found ? formatMetric(found) : '–';
    }),
    ...shown.map((cost) => (summary ? costWords(cost, { run, summary }) : '–')),
  ]);
  const file = join(folder, 'scores.md');
  const rule = head.map((_, i) => (i > 3 ? '--:' : '---'));
  await writeWhole(file, `${[head, rule, ...rows].map(markdownRow).join('\n')}\n`);
  return [file];
}
