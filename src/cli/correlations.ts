/** Base and post-trained models on a terminal: how well scores of the ones foretell the ranking of the others. */
import {
  baseCorrelations,
  type CorrelationRow,
  comparableModes,
  correlationWords,
  fewestPairs,
} from '../metrics/index.ts';
import type { PromptMode } from '../shared/modes.ts';
import type { LeaderboardView } from '../shared/protocol.ts';
import { table } from './terminal.ts';

export interface ModeCorrelations {
  /** Of the base models. */
  mode: PromptMode;
  rows: CorrelationRow[];
}

export function correlationsOf(
  view: LeaderboardView,
  { metric, target }: { metric: string; target: PromptMode },
): ModeCorrelations[] {
  const pairs = view.links ?? [];
  return comparableModes(view, pairs, { metric, target }).map((mode) => ({
    mode,
    rows: baseCorrelations(view, pairs, { metric, mode, target }),
  }));
}

const titles = { mean: 'mean of the benchmarks', averaged: 'averaged score' } as const;
const titleOf = ({ of }: CorrelationRow): string => (typeof of === 'string' ? titles[of] : of.task);
const keyOf = ({ of }: CorrelationRow): string => JSON.stringify(of);

export function correlationLines(
  view: LeaderboardView,
  correlations: readonly ModeCorrelations[],
  { metric, target }: { metric: string; target: PromptMode },
): string[] {
  const pairs = view.links ?? [];
  if (pairs.length === 0)
    return [
      'No model here is known to be post-trained from another one: name pairs by --links, or in links.json of the store.',
    ];
  if (correlations.length === 0)
    return [
      `${pairs.length} ${pairs.length === 1 ? 'pair' : 'pairs'} of base and post-trained models, but none with ${metric} of the base model and of the post-trained one in ${target}.`,
    ];
  const rows = new Map(correlations.flatMap((each) => each.rows.map((row) => [keyOf(row), row] as const)));
  // Tasks in their order, then what sums them up.
  const keys = [...rows.keys()].sort((a, b) => Number(a.startsWith('"')) - Number(b.startsWith('"')));
  const of = (name: 'tau' | 'rho', title: string): string[] => [
    `${title} of ${metric} of base models with ${metric} of their post-trained versions (${target})`,
    ...table([
      ['', 'pairs', ...correlations.map(({ mode }) => mode)],
      ...keys.map((key) => {
        const each = correlations.map(({ rows: own }) => own.find((row) => keyOf(row) === key));
        const counts = [...new Set(each.flatMap((row) => (row ? [row.n] : [])))];
        const first = rows.get(key);
        return [
          first ? titleOf(first) : '',
          counts.join('/'),
          ...each.map((row) => (row ? correlationWords(row[name], row.n) : '–')),
        ];
      }),
    ]).map((line) => `  ${line}`),
  ];
  const few = correlations.every(({ rows: own }) => own.every(({ n }) => n < fewestPairs));
  return [
    ...of('tau', 'Kendall τ-b'),
    '',
    ...of('rho', 'Spearman ρ'),
    '',
    few
      ? `With fewer than ${fewestPairs} pairs a rank correlation says nothing.`
      : 'In brackets: 95 % of the correlations when the pairs are drawn again.',
  ];
}
