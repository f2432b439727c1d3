/** Scores of a group of benchmarks from those of its parts, as lm-evaluation-harness 0.4.13 aggregates them (Group.aggregate). */
import type { MetricScore, Share } from '../shared/results.ts';
import { groupScore } from './aggregation.ts';

export interface GroupMetric {
  metric: string;
  /** Null: every filter that the parts have, sorted. */
  filters: readonly string[] | null;
  weightBySize: boolean;
}

export interface GroupRow {
  metric: string;
  filter: string;
  value: number;
  /** Null where a part has none. */
  standardError: number | null;
  /** Items and parts that count. */
  n: number;
  parts: number;
}

/** @param parts the metrics of each benchmark of the group that has been run */
export function aggregateMetrics(
  wanted: readonly GroupMetric[],
  parts: readonly (readonly MetricScore[])[],
): GroupRow[] {
  return wanted.flatMap(({ metric, filters, weightBySize }) => {
    const known = parts.flatMap((scores) => scores.filter((score) => score.metric === metric));
    const names = filters ?? [...new Set(known.map(({ filter }) => filter))].sort();
    return names.flatMap((filter) => {
      const found = known.flatMap(({ value, standardError, n, ...score }) =>
        score.filter === filter && value !== null ? [{ score: value, standardError, n }] : [],
      );
      if (found.length === 0) return [];
      const { score, standardError } = groupScore(found, weightBySize);
      const n = found.reduce((sum, part) => sum + part.n, 0);
      return [{ metric, filter, value: score, standardError, n, parts: found.length }];
    });
  });
}

/** Softbench's own shares (F, S, K, L, LL) over all items of the parts: what they would be for one benchmark of them all. */
export function pooledShare(parts: readonly (Share | null)[]): { value: number; n: number } | null {
  const counted = parts.filter((share): share is Share => share !== null && share.n > 0);
  const n = counted.reduce((sum, share) => sum + share.n, 0);
  if (n === 0) return null;
  return { value: counted.reduce((sum, share) => sum + (share.value ?? 0) * share.n, 0) / n, n };
}
