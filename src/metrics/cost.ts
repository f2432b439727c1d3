/** What a run cost: time, tokens, pace, memory. One table for pages, the command line and exports. */
import { timeMark } from '../shared/response-words.ts';
import type { RunFile, RunSummary } from '../shared/results.ts';
import { formatBytes, formatSeconds } from './format.ts';

interface Costly {
  run: Pick<RunFile, 'rescoredFrom' | 'source'>;
  summary: RunSummary;
}

export interface Cost {
  /** Column of a table for programs; the unit is in it. */
  name: string;
  label: string;
  title: string;
  /** Null where it was not measured, or where it is not what the model takes. */
  value(of: Costly): number | null;
  words(value: number): string;
}

const positive = (value: number | null): number | null => (value !== null && value > 0 ? value : null);
const count = (value: number): string => value.toLocaleString('en-US');

/** Items a second while they were evaluated; of responses from the cache and of re-scored ones it would say nothing. */
function itemsPerSecond({ run, summary }: Costly): number | null {
  const { n } = summary.scores;
  return run.source || timeMark(run, summary) || summary.seconds <= 0 || n === 0 ? null : n / summary.seconds;
}

export const costs: readonly Cost[] = [
  {
    name: 'seconds',
    label: 'Evaluation',
    title: 'Wall-clock time of the evaluation, summed over resumptions',
    value: ({ run, summary }) => (run.source ? positive(summary.seconds) : summary.seconds),
    words: formatSeconds,
  },
  {
    name: 'tuning_seconds',
    label: 'Tuning',
    title: 'Wall-clock time of tuning the soft prompt',
    value: ({ summary }) => positive(summary.tuningSeconds),
    words: formatSeconds,
  },
  {
    name: 'items_per_second',
    label: 'Items/s',
    title: 'Items evaluated a second, tuning not counted',
    value: itemsPerSecond,
    words: (value) => (value >= 99.5 ? count(Math.round(value)) : value.toPrecision(value >= 9.95 ? 3 : 2)),
  },
  {
    name: 'prompt_tokens',
    label: 'Tokens in',
    title: 'Tokens of all prompts, learned vectors not counted; what prompts share is computed once',
    value: ({ summary }) => positive(summary.promptTokens),
    words: count,
  },
  {
    name: 'output_tokens',
    label: 'Tokens out',
    title: 'Tokens that the model wrote',
    value: ({ run, summary }) => (run.source ? positive(summary.outputTokens) : summary.outputTokens),
    words: count,
  },
  {
    name: 'peak_memory_bytes',
    label: 'Peak memory',
    title: 'Most memory that the worker had for itself during the run; weights mapped from a file are not counted',
    value: ({ summary }) => positive(summary.peakMemoryBytes),
    words: formatBytes,
  },
];

/** Costs of which at least one of the runs knows something. */
export const knownCosts = (runs: readonly Costly[]): Cost[] =>
  costs.filter(({ value }) => runs.some((run) => value(run) !== null));

export function costWords(cost: Cost, of: Costly): string {
  const value = cost.value(of);
  return value === null ? '–' : cost.words(value);
}
