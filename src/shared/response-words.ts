/** What a run says of responses that came from the cache: its seconds are then no measure of the model. */
import type { RunFile, RunSummary } from './results.ts';

/** What the cache of a store may take on disk where nothing else is said. */
export const defaultCacheBytes = 2 * 2 ** 30;

const pattern = /^\d+ of \d+ responses came from the cache/;

/** A note for people; null where nothing came from the cache. */
export function responsesNote(responses: RunSummary['responses']): string | null {
  if (!responses || responses.cached === 0) return null;
  const { cached, computed } = responses;
  return `${cached} of ${cached + computed} responses came from the cache: the seconds are not what the model takes.`;
}

/** The notes with this one in place of that of an earlier part of the run. */
export const withResponsesNote = (notes: readonly string[], note: string | null): string[] => [
  ...notes.filter((other) => !pattern.test(other)),
  ...(note === null ? [] : [note]),
];

/** What stands behind a time that is not what the model takes; empty where it is. */
export function timeMark(run: Pick<RunFile, 'rescoredFrom'>, summary: Pick<RunSummary, 'responses'>): string {
  if (run.rescoredFrom) return 'of the run it was re-scored from';
  const { cached = 0, computed = 0 } = summary.responses ?? {};
  if (cached === 0) return '';
  return computed === 0 ? 'all from the cache' : `${Math.round((100 * cached) / (cached + computed))} % from the cache`;
}
