/** Scores and items as tables: CSV (RFC 4180, full precision) for programs, Markdown for people. */
import { join } from 'node:path';
import { formatInterval, formatShare } from '../metrics/index.ts';
import { writeWhole } from '../runs/index.ts';
import type { ItemRecord, Scores, Share } from '../shared/results.ts';
import type { ExportContext, ExportedRun } from './export.ts';
import { writeLines } from './write-lines.ts';

const shares: readonly { name: string; of(scores: Scores): Share | null }[] = [
  { name: 'F', of: ({ F }) => F },
  { name: 'S', of: ({ S }) => S },
  { name: 'K', of: ({ K }) => K },
  { name: 'L', of: ({ L }) => L },
  { name: 'LL', of: ({ LL }) => LL },
];

type Cell = string | number | boolean | null | undefined;

const field = (value: Cell): string => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
// writeLines adds the line feed.
const csvRow = (cells: readonly Cell[]): string => `${cells.map(field).join(',')}\r`;

/** Names of the file's own metrics that any of the runs has, as `metric,filter`. */
const measureNames = (runs: readonly ExportedRun[]): string[] => [
  ...new Set(
    runs.flatMap(({ summary }) => (summary?.measures ?? []).map(({ metric, filter }) => `${metric},${filter}`)),
  ),
];

export async function exportCsv(
  runs: readonly ExportedRun[],
  folder: string,
  context: ExportContext,
): Promise<string[]> {
  const names = measureNames(runs);
  const scores = join(folder, 'scores.csv');
  await writeLines(scores, [
    csvRow([
      'benchmark',
      'model',
      'mode',
      'origin',
      'run',
      'n',
      ...shares.flatMap(({ name }) => [name, `${name}_low`, `${name}_high`]),
      ...names.flatMap((name) => [name, `${name}_stderr`]),
    ]),
    ...runs.map(({ run, summary }) =>
      csvRow([
        run.benchmark.task,
        run.model.name,
        run.mode,
        originOf(run),
        run.id,
        summary?.scores.n,
        ...shares.flatMap(({ of }): Cell[] => {
          const share = summary ? of(summary.scores) : null;
          return share === null || share.value === null ? ['', '', ''] : [share.value, share.low, share.high];
        }),
        ...names.flatMap((name): Cell[] => {
          const found = summary?.measures?.find(({ metric, filter }) => `${metric},${filter}` === name);
          return [found?.value, found?.standardError];
        }),
      ]),
    ),
  ]);
  const items = join(folder, 'items.csv');
  await writeLines(items, itemLines(runs, context));
  return [scores, items];
}

const originOf = ({ source }: ExportedRun['run']): string => (source ? `imported: ${source.tool}` : 'measured');

const itemColumns: readonly { name: string; of(record: ItemRecord): Cell }[] = [
  { name: 'index', of: ({ index }) => index },
  { name: 'in_format', of: (record) => generated(record, record.inFormat) },
  { name: 'right', of: (record) => generated(record, record.inFormat && record.right) },
  { name: 'lenient_right', of: (record) => generated(record, record.lenientRight) },
  { name: 'likeliest_right', of: ({ choices }) => choices?.right },
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

async function* itemLines(runs: readonly ExportedRun[], { itemsOf }: ExportContext): AsyncGenerator<string> {
  yield csvRow(['benchmark', 'model', 'mode', 'run', ...itemColumns.map(({ name }) => name)]);
  for (const entry of runs) {
    const { run } = entry;
    for (const record of await itemsOf(entry))
      yield csvRow([run.benchmark.task, run.model.name, run.mode, run.id, ...itemColumns.map(({ of }) => of(record))]);
  }
}

export async function exportMarkdown(runs: readonly ExportedRun[], folder: string): Promise<string[]> {
  const names = measureNames(runs);
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const head = ['benchmark', 'model', 'mode', 'origin', 'n', ...shares.map(({ name }) => name), ...names];
  const rows = runs.map(({ run, summary }) => [
    run.benchmark.task,
    run.model.name,
    run.mode,
    originOf(run),
    String(summary?.scores.n ?? ''),
    ...shares.map(({ of }) => {
      const share = summary ? of(summary.scores) : null;
      return share === null || share.value === null ? '–' : `${formatShare(share)} (${formatInterval(share)})`;
    }),
    ...names.map((name) => {
      const found = summary?.measures?.find(({ metric, filter }) => `${metric},${filter}` === name);
      if (!found || found.value === null) return '–';
      return `${found.value.toFixed(4)}${found.standardError === null ? '' : ` ± ${found.standardError.toFixed(4)}`}`;
    }),
  ]);
  const file = join(folder, 'scores.md');
  const rule = line(head.map((_, i) => (i > 3 ? '--:' : '---')));
  await writeWhole(file, `${[line(head), rule, ...rows.map(line)].join('\n')}\n`);
  return [file];
}
