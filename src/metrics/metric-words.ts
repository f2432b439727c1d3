/** The metrics of a benchmark file in words, the same in pages, in the editor and on the command line. */
import type { MetricScore, RunSummary } from '../shared/results.ts';

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
