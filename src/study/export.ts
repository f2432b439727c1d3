/** A leaderboard as a Markdown or CSV table: one row a model × benchmark × mode. */
import { formatMetric, formatShareAndInterval, metricRows, metricTitle, shareNames } from '../metrics/index.ts';
import type { LeaderboardView } from '../shared/protocol.ts';
import { type Cell, csvRow, markdownRow } from '../shared/table-text.ts';

/** For people: shares with their intervals. */
export function leaderboardMarkdown({ cells }: LeaderboardView): string {
  const measured = cells.some(({ cell }) => cell.summary.measures?.length);
  const rows = cells.map(({ model, task, mode, cell: { summary, softPromptPosition: position, imported } }) => [
    task,
    imported ? `${model} (${imported.words})` : model,
    position ? `${mode} (${position})` : mode,
    String(summary.scores.n),
    ...shareNames.map((name) => formatShareAndInterval(summary.scores[name])),
    ...(measured ? [(summary.measures ?? []).map((one) => `${metricTitle(one)} ${formatMetric(one)}`).join(', ')] : []),
  ]);
  const head = ['benchmark', 'model', 'mode', 'n', ...shareNames, ...(measured ? ['metrics of the file'] : [])];
  const rule = head.map((_, i) => (i > 2 ? '--:' : '---'));
  return `${[head, rule, ...rows].map(markdownRow).join('\n')}\n`;
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
    ...shareNames.flatMap((name) => [name, `${name}_low`, `${name}_high`]),
    ...measures.flatMap(({ key }) => [key, `${key}_stderr`]),
    ...(mixed ? ['origin'] : []),
  ];
  const rows = cells.map(({ model, task, mode, cell }, at): Cell[] => {
    const { run, summary, softPromptPosition: position, imported } = cell;
    return [
      task,
      model,
      position ? `${mode} (${position})` : mode,
      run,
      summary.scores.n,
      ...shareNames.flatMap((name): Cell[] => {
        const share = summary.scores[name];
        return share === null || share.value === null ? ['', '', ''] : [share.value, share.low, share.high];
      }),
      ...measures.flatMap(({ scores }): Cell[] => [scores[at]?.value, scores[at]?.standardError]),
      ...(mixed ? [imported ? imported.words : 'measured'] : []),
    ];
  });
  return `${[head, ...rows].map(csvRow).join('\r\n')}\r\n`;
}
