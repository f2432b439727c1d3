/** A leaderboard as a Markdown or CSV table: one row a model × benchmark × mode. */
import { formatInterval, formatMetric, formatShare, metricKey, metricRows, metricTitle } from '../metrics/index.ts';
import type { LeaderboardView } from '../shared/protocol.ts';
import type { Scores, Share } from '../shared/results.ts';

const metrics: { name: string; of(scores: Scores): Share | null }[] = [
  { name: 'F', of: ({ F }) => F },
  { name: 'S', of: ({ S }) => S },
  { name: 'K', of: ({ K }) => K },
  { name: 'L', of: ({ L }) => L },
  { name: 'LL', of: ({ LL }) => LL },
];

/** For people: shares with their intervals. */
export function leaderboardMarkdown({ cells }: LeaderboardView): string {
  const measured = cells.some(({ cell }) => cell.summary.measures?.length);
  const rows = cells.map(({ model, task, mode, cell: { summary, softPromptPosition: position, imported } }) => [
    task,
    imported ? `${model} (${imported.words})` : model,
    position ? `${mode} (${position})` : mode,
    String(summary.scores.n),
    ...metrics.map(({ of }) => {
      const share = of(summary.scores);
      return share === null || share.value === null ? '–' : `${formatShare(share)} (${formatInterval(share)})`;
    }),
    ...(measured ? [(summary.measures ?? []).map((one) => `${metricTitle(one)} ${formatMetric(one)}`).join(', ')] : []),
  ]);
  const head = [
    'benchmark',
    'model',
    'mode',
    'n',
    ...metrics.map(({ name }) => name),
    ...(measured ? ['metrics of the file'] : []),
  ];
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return `${[line(head), line(head.map((_, i) => (i > 2 ? '--:' : '---'))), ...rows.map(line)].join('\n')}\n`;
}

/** For programs: full precision, one column a number (RFC 4180). */
export function leaderboardCsv({ cells }: LeaderboardView): string {
  const measures = metricRows(cells.map(({ cell }) => cell.summary));
  const mixed = cells.some(({ cell }) => cell.imported);
  const head = [
    'benchmark',
    'model',
    'mode',
    'run',
    'n',
    ...metrics.flatMap(({ name }) => [name, `${name}_low`, `${name}_high`]),
    ...measures.flatMap(({ key }) => [key, `${key}_stderr`]),
    ...(mixed ? ['origin'] : []),
  ];
  const rows = cells.map(({ model, task, mode, cell }): (string | number)[] => {
    const { run, summary, softPromptPosition: position, imported } = cell;
    return [
      task,
      model,
      position ? `${mode} (${position})` : mode,
      run,
      summary.scores.n,
      ...metrics.flatMap(({ of }): (string | number)[] => {
        const share = of(summary.scores);
        return share === null || share.value === null ? ['', '', ''] : [share.value, share.low, share.high];
      }),
      ...measures.flatMap(({ key }): (string | number)[] => {
        const score = summary.measures?.find((one) => metricKey(one) === key);
        return [score?.value ?? '', score?.standardError ?? ''];
      }),
      ...(mixed ? [imported ? imported.words : 'measured'] : []),
    ];
  });
  const field = (value: string | number): string =>
    /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
  return `${[head, ...rows].map((row) => row.map(field).join(',')).join('\r\n')}\r\n`;
}
