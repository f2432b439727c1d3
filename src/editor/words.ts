/** Figures in words, the same in CodeLens, status bar, trees and messages. */
import { formatMetric, formatShare, headline, metricTitle } from '../metrics/index.ts';
import { promptModes } from '../shared/modes.ts';
import type { RunSummary } from '../shared/results.ts';

/** Scores of one benchmark × model, best-informed mode first: `soft-prompt 61 % · zero-shot 4 %`. */
export function resultWords(summaries: readonly RunSummary[]): string {
  return [...promptModes]
    .reverse()
    .flatMap((mode) => {
      const summary = summaries.find((one) => one.mode === mode);
      return summary ? [`${mode} ${headline(summary)}`] : [];
    })
    .join(' · ');
}

/** The same with the split, for a tooltip: one line a mode. */
export function resultLines(summaries: readonly RunSummary[]): string[] {
  return [...promptModes].reverse().flatMap((mode) => {
    const summary = summaries.find((one) => one.mode === mode);
    if (!summary) return [];
    const { scores, measures = [] } = summary;
    const figures = measures.map((one) => `${metricTitle(one)} ${formatMetric(one)}`).join(', ');
    // Where nothing was generated there is no form, and so no split.
    if (scores.F.n === 0) return [`${mode}: ${figures || headline(summary)} (${scores.n} items)`];
    return [
      `${mode}: score S ${formatShare(scores.S)} = in the required form F ${formatShare(scores.F)} × right among those K ${formatShare(scores.K)} (${scores.n} items)${figures && `; ${figures}`}`,
    ];
  });
}
