/** What the leaderboard page says of metrics, cells and ranks; the same for eyes, tooltips and screen readers. */
import {
  figureInterval,
  figureValue,
  isShareName,
  metricRows,
  metricTitle,
  type RankedModel,
  rankWords,
  type Score,
} from '../../src/metrics/index.ts';
import type { LeaderboardCell, LeaderboardView } from '../../src/shared/protocol.ts';
import { count, percent, typeset } from '../format.ts';
import { metrics } from '../terms.ts';
import type { CellContent, Column } from './table.ts';

export function metricLabel(metric: string): string {
  if (isShareName(metric)) return `${metric} · ${metrics[metric].name}`;
  const [name = metric, filter = 'none'] = metric.split(',');
  return metricTitle({ metric: name, filter });
}

export function definitionOf({ cells }: LeaderboardView, metric: string): string {
  if (isShareName(metric)) return `${metric}: ${metrics[metric].definition}`;
  const row = metricRows(cells.map(({ cell }) => cell.summary)).find(({ key }) => key === metric);
  return `${metricLabel(metric)}: a metric of the benchmark files, as lm-evaluation-harness computes it; ${row?.higherIsBetter === false ? 'lower' : 'higher'} is better.`;
}

export const valueText = (score: Score): string => typeset(figureValue(score));
export const intervalText = (score: Score): string => typeset(figureInterval(score));

/** `imported from …; run otherwise: 5 examples, measured here: 8 examples` */
export const importedNote = ({ words, differences }: NonNullable<LeaderboardCell['imported']>): string =>
  [words, ...(differences.length > 0 ? [`run otherwise: ${differences.join('; ')}`] : [])].join('; ');

/** What is to be known of a measured score besides its value. */
export function cellNotes(cell: LeaderboardCell, metric: string): string[] {
  const { commonest, K } = cell.summary.scores;
  return [
    cell.imported ? importedNote(cell.imported) : '',
    cell.status !== 'finished' ? cell.status : '',
    cell.softPromptPosition ? 'position: suffix, the soft prompt stands behind the text' : '',
    metric === 'K' && K.unreliable ? 'unreliable: few items are in the format' : '',
    commonest && (commonest.share.value ?? 0) >= 0.9 ? `same answer to ${percent(commonest.share)} of the items` : '',
  ].filter(Boolean);
}

export type Likely = { low: number; high: number };

/** `3=`, and the ranks that it could have: `2–5`. */
export const rankText = ({ rank, tied }: RankedModel): string => (rank === null ? '' : `${rank}${tied ? '=' : ''}`);
export const likelyText = (likely: Likely | undefined): string =>
  likely && likely.low < likely.high ? rankWords(likely) : '';

export function rankSentence(entry: RankedModel, likely: Likely | undefined): string {
  if (entry.rank === null)
    return entry.missing.length > 0 && entry.score
      ? `no rank: without ${entry.missing.join(', ')}`
      : 'no rank: not run';
  return `rank ${entry.rank}${entry.tied ? ', tied' : ''}${likely && likely.low < likely.high ? `; 95 % of the ranks are ${likely.low} to ${likely.high}` : ''}`;
}

export const columnTitle = (column: Column): string => {
  switch (column.kind) {
    case 'model':
      return 'Model';
    case 'rank':
      return 'Rank';
    case 'mean':
      return 'Mean';
    case 'task':
      return column.task;
    case 'group':
      return `${column.group} (${column.tasks.length})`;
  }
};

/** A cell in one sentence, for a tooltip. */
export function cellSentence(content: CellContent, metric: string): string {
  const { kind, score, cell, predicted, running, of } = content;
  const figure = score
    ? `${valueText(score)}${intervalText(score) ? `, 95 % interval ${intervalText(score)}` : ''}`
    : '';
  const progress = running
    ? running.done === null
      ? 'running in another process'
      : `running: ${count(running.done)} of ${count(running.total)} items`
    : '';
  switch (kind) {
    case 'missing':
      return 'not run';
    case 'running':
      return [progress, figure && `so far ${figure}`].filter(Boolean).join('; ');
    case 'predicted':
      return [
        `predicted, not measured: ${score ? `${valueText(score)}, 90 % interval ${intervalText(score)}` : ''}`,
        predicted ? `by ${predicted.by}` : '',
        predicted?.prediction.extrapolates ?? '',
      ]
        .filter(Boolean)
        .join('; ');
    default:
      return [
        figure,
        cell ? `${count(cell.summary.scores.n)} items` : '',
        of && of.tasks > 1 ? `mean of ${of.tasks - of.missing} of ${of.tasks} benchmarks` : '',
        ...(cell ? cellNotes(cell, metric) : []),
        progress && `again ${progress}`,
      ]
        .filter(Boolean)
        .join('; ');
  }
}
