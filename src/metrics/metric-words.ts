/** The metrics of a benchmark file in words, the same in pages, in the editor and on the command line. */
import type { MetricScore, RunSummary } from '../shared/results.ts';
import { decimalsFor, formatInterval, formatShare } from './format.ts';

/** "0.1213", as lm-evaluation-harness prints figures; "–" where there is none. */
export const formatFigure = (value: number | null): string =>
  value === null
    ? '–'
    : Math.abs(value) >= 1e6
      ? value.toExponential(3)
      : value.toFixed(Math.abs(value) >= 1000 ? 1 : 4);

/** "0.1213 ± 0.0090": the figure and its standard error, where there is one. */
export const formatMetric = ({ value, standardError }: MetricScore): string =>
  formatFigure(value) + (value === null || standardError === null ? '' : ` ± ${formatFigure(standardError)}`);

/** "exact_match (strict-match)"; the filter is left out where the file names none. */
export const metricTitle = ({ metric, filter }: Pick<MetricScore, 'metric' | 'filter'>): string =>
  filter === 'none' ? metric : `${metric} (${filter})`;

/** What is said of the metrics that have no value: a sentence for each reason. */
export function missingNotes({ measures = [] }: Pick<RunSummary, 'measures'>): string[] {
  const titles = new Map<string, string[]>();
  for (const score of measures)
    if (score.missing !== undefined)
      titles.set(score.missing, [...(titles.get(score.missing) ?? []), `\`${metricTitle(score)}\``]);
  return [...titles].map(([reason, of]) => `${of.join(', ')} ${of.length > 1 ? 'have' : 'has'} no value: ${reason}.`);
}

/** The key of lm-evaluation-harness's results: "exact_match,strict-match". */
export const metricKey = ({ metric, filter }: Pick<MetricScore, 'metric' | 'filter'>): string => `${metric},${filter}`;

/** One metric by one filter, over the runs given; null for a run that has it not. */
export interface MetricRow {
  title: string;
  key: string;
  higherIsBetter: boolean;
  scores: (MetricScore | null)[];
}

/** The metrics of several runs side by side, in the order in which they first occur. */
export function metricRows(summaries: readonly (Pick<RunSummary, 'measures'> | null)[]): MetricRow[] {
  const rows = new Map<string, MetricRow>();
  for (const [at, summary] of summaries.entries())
    for (const score of summary?.measures ?? []) {
      const key = metricKey(score);
      const { higherIsBetter } = score;
      const row = rows.get(key) ?? {
        title: metricTitle(score),
        key,
        higherIsBetter,
        scores: summaries.map(() => null),
      };
      row.scores[at] = score;
      rows.set(key, row);
    }
  return [...rows.values()];
}

/** The harness's results of a run: metric and standard error ("N/A" where there is none) by key. */
export function metricResults({ measures = [] }: Pick<RunSummary, 'measures'>): Record<string, number | null | 'N/A'> {
  return Object.fromEntries(
    measures.flatMap((score): [string, number | null | 'N/A'][] => [
      [metricKey(score), score.value],
      [`${score.metric}_stderr,${score.filter}`, score.standardError ?? 'N/A'],
    ]),
  );
}

/** What models are ranked by, besides the metrics of their benchmark files. */
export const shareNames = ['F', 'S', 'K', 'L', 'LL'] as const;
export type ShareName = (typeof shareNames)[number];
export const isShareName = (name: string): name is ShareName => shareNames.some((one) => one === name);

/** A figure that models are ranked by, with its 95 % interval. */
export interface Figure {
  value: number;
  low: number;
  high: number;
  n: number;
  higherIsBetter: boolean;
  /** A share of items: shown as a percentage. */
  isShare: boolean;
}

/** Two standard errors either way, as the normal distribution has it for 95 %. */
const interval95 = 1.959964;

/**
 * A figure of a run by name: F, S, K, L, LL, or a metric of its benchmark file by its key ("exact_match,strict-match") or by
 * its name alone, which takes the file's first filter. Null where the run has it not.
 */
export function figureOf(summary: Pick<RunSummary, 'scores' | 'measures'>, name: string): Figure | null {
  if (isShareName(name)) {
    const share = summary.scores[name];
    if (!share || share.value === null) return null;
    const { value, low, high, n } = share;
    return { value, low, high, n, higherIsBetter: true, isShare: true };
  }
  const score = summary.measures?.find((one) => metricKey(one) === name || one.metric === name);
  if (!score || score.value === null) return null;
  const { value, n, higherIsBetter } = score;
  const half = interval95 * (score.standardError ?? 0);
  return { value, low: value - half, high: value + half, n, higherIsBetter, isShare: false };
}

type Estimated = Pick<Figure, 'value' | 'low' | 'high' | 'isShare'>;

/** With as many decimals as the interval supports. */
function roundedFigure(value: number, { low, high }: Pick<Figure, 'low' | 'high'>): string {
  return Math.abs(value) >= 1e6 || !(low < high)
    ? formatFigure(value)
    : value.toFixed(decimalsFor((high - low) / 2, 4));
}

/** "61 %", or "12.3" of what is no share. */
export const figureValue = (figure: Estimated): string =>
  figure.isShare ? formatShare(figure) : roundedFigure(figure.value, figure);

/** "54–68 %", or "11.9–12.7" of what is no share; empty where nothing is known of it. */
export const figureInterval = (figure: Estimated): string =>
  figure.isShare
    ? formatInterval(figure)
    : figure.low < figure.high
      ? `${roundedFigure(figure.low, figure)}–${roundedFigure(figure.high, figure)}`
      : '';

/** The figure in words, with its interval where there is one. */
export function figureWords(figure: Estimated): string {
  const interval = figureInterval(figure);
  return interval ? `${figureValue(figure)} (${interval})` : figureValue(figure);
}

/**
 * The one figure to show of a run: S; where nothing was generated LL, or the first metric of the benchmark file, each with
 * its name; "–" where there is none.
 */
export function headline({ scores, measures = [] }: Pick<RunSummary, 'scores' | 'measures'>): string {
  if (scores.S.value !== null) return formatShare(scores.S);
  if (scores.LL && scores.LL.value !== null) return `LL ${formatShare(scores.LL)}`;
  const [first] = measures;
  return first && first.value !== null ? `${metricTitle(first)} ${formatFigure(first.value)}` : '–';
}
