/** Figures in words, the same in CodeLens, status bar, trees and messages. */
import { promptModes } from '../shared/modes.ts';
import type { RunSummary, Share } from '../shared/results.ts';

/** `61.5 %`, or `–` where nothing could be counted. */
export const percent = (share: Share): string => (share.value === null ? '–' : `${(share.value * 100).toFixed(1)} %`);

/** `8 s`, `3 min`, `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 1) return 'under 1 s';
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return minutes % 60 === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `12.3 MB` */
export function size(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** Scores of one benchmark × model, best-informed mode first: `soft-prompt 61.5 % · zero-shot 4.0 %`. */
export function resultWords(summaries: readonly RunSummary[]): string {
  return [...promptModes]
    .reverse()
    .flatMap((mode) => {
      const summary = summaries.find((one) => one.mode === mode);
      return summary ? [`${mode} ${percent(summary.scores.S)}`] : [];
    })
    .join(' · ');
}

/** The same with the split, for a tooltip: one line a mode. */
export function resultLines(summaries: readonly RunSummary[]): string[] {
  return [...promptModes].reverse().flatMap((mode) => {
    const scores = summaries.find((one) => one.mode === mode)?.scores;
    if (!scores) return [];
    return [
      `${mode}: score S ${percent(scores.S)} = in the required form F ${percent(scores.F)} × right among those K ${percent(scores.K)} (${scores.n} items)`,
    ];
  });
}
