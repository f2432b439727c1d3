/**
 * How well scores of base models foretell the ranking of their post-trained versions, for each prompt mode of the base
 * models (claim d of arXiv 2606.12117): per benchmark, averaged over them, and of the scores averaged over benchmarks.
 */
import { type PromptMode, promptModes } from '../shared/modes.ts';
import type { LeaderboardView } from '../shared/protocol.ts';
import { mean } from './aggregation.ts';
import { weightedInterval } from './bootstrap.ts';
import { figureOf } from './metric-words.ts';
import { fewestForInterval, rankCorrelation, sampledCorrelations } from './rank-correlation.ts';

export interface ModelPair {
  base: string;
  postTrained: string;
}

export interface PairScores extends ModelPair {
  baseScore: number;
  postTrainedScore: number;
}

export interface Correlation {
  /** NaN where one side is constant, or where there are fewer than {@link fewestPairs}. */
  value: number;
  /** Percentile bootstrap over the pairs; null where there are too few to say. */
  interval: [number, number] | null;
}

export interface CorrelationRow {
  /** A benchmark; `mean`: the mean of the benchmarks' correlations; `averaged`: of scores averaged over benchmarks. */
  of: { task: string } | 'mean' | 'averaged';
  /** The scores compared; empty for `mean`. */
  pairs: PairScores[];
  /** For `mean` the fewest of any benchmark that counts. */
  n: number;
  /** Benchmarks behind the row. */
  benchmarks: number;
  tau: Correlation;
  rho: Correlation;
}

/** With fewer pairs than this nothing is said. */
export const fewestPairs = 4;
/** Bootstrap samples, and the comparisons of two pairs that they may take in all: a page must not stand still. */
const [mostSamples, fewestSamples, mostComparisons] = [2000, 200, 2e8];

const nothing: Correlation = { value: Number.NaN, interval: null };

/** The modes in which base models of these pairs have the figure that their post-trained versions have in `target`. */
export function comparableModes(
  view: LeaderboardView,
  pairs: readonly ModelPair[],
  options: { metric: string; target: PromptMode },
): PromptMode[] {
  return promptModes.filter((mode) => scoresByTask(view, pairs, { ...options, mode }).size > 0);
}

/**
 * Rank correlations of base scores in one mode with post-trained scores in another one.
 * @param tasks benchmarks that count
 * @returns one row a benchmark that some pair has, then, where there is more than one, `mean` and `averaged`
 */
export function baseCorrelations(
  view: LeaderboardView,
  pairs: readonly ModelPair[],
  {
    metric,
    mode,
    target,
    tasks = view.benchmarks.map(({ task }) => task),
    seed = 0,
  }: { metric: string; mode: PromptMode; target: PromptMode; tasks?: readonly string[]; seed?: number },
): CorrelationRow[] {
  const byTask = scoresByTask(view, pairs, { metric, mode, target });
  const rows = tasks.flatMap((task): CorrelationRow[] => {
    const scores = byTask.get(task) ?? [];
    return scores.length === 0 ? [] : [rowOf({ task }, scores, 1, seed)];
  });
  if (rows.length < 2) return rows;
  const counting = rows.filter(({ n }) => n >= fewestPairs);
  return [...rows, meanRow(counting, pairs, seed), averagedRow(counting, pairs, seed)];
}

function scoresByTask(
  view: LeaderboardView,
  pairs: readonly ModelPair[],
  { metric, mode, target }: { metric: string; mode: PromptMode; target: PromptMode },
): Map<string, PairScores[]> {
  const values = new Map<string, number>();
  const key = (model: string, task: string, of: string): string => JSON.stringify([model, task, of]);
  for (const { model, task, mode: of, cell } of view.cells) {
    const figure = of === mode || of === target ? figureOf(cell.summary, metric) : null;
    // Ranks go by order only: where lower is better, order is turned round on both sides.
    if (figure) values.set(key(model, task, of), figure.value);
  }
  const found = new Map<string, PairScores[]>();
  for (const { task } of view.benchmarks)
    for (const { base, postTrained } of pairs) {
      const baseScore = values.get(key(base, task, mode));
      const postTrainedScore = values.get(key(postTrained, task, target));
      if (baseScore === undefined || postTrainedScore === undefined) continue;
      found.set(task, [...(found.get(task) ?? []), { base, postTrained, baseScore, postTrainedScore }]);
    }
  return found;
}

function rowOf(of: CorrelationRow['of'], pairs: PairScores[], benchmarks: number, seed: number): CorrelationRow {
  const n = pairs.length;
  if (n < fewestPairs) return { of, pairs, n, benchmarks, tau: nothing, rho: nothing };
  const { tau, rho, tauInterval, rhoInterval } = rankCorrelation(
    pairs.map(({ baseScore }) => baseScore),
    pairs.map(({ postTrainedScore }) => postTrainedScore),
    { seed, iterations: samples(n, 1) },
  );
  return {
    of,
    pairs,
    n,
    benchmarks,
    tau: { value: tau, interval: tauInterval },
    rho: { value: rho, interval: rhoInterval },
  };
}

const samples = (n: number, benchmarks: number): number =>
  Math.round(Math.max(fewestSamples, Math.min(mostSamples, mostComparisons / (n * n * benchmarks))));

/** The mean of the benchmarks' correlations. The same pairs are drawn for all benchmarks, as they are the same models. */
function meanRow(rows: readonly CorrelationRow[], links: readonly ModelPair[], seed: number): CorrelationRow {
  const n = rows.length === 0 ? 0 : Math.min(...rows.map((row) => row.n));
  const of = (name: 'tau' | 'rho'): Correlation => {
    const defined = rows.filter((row) => !Number.isNaN(row[name].value));
    if (defined.length === 0) return nothing;
    const value = mean(defined.map((row) => row[name].value));
    if (n < fewestForInterval) return { value, interval: null };
    const has = new Set(defined.flatMap(({ pairs }) => pairs.map(({ postTrained }) => postTrained)));
    const places = new Map(
      links.filter(({ postTrained }) => has.has(postTrained)).map(({ postTrained }, at) => [postTrained, at]),
    );
    // Of each benchmark where its pairs stand among all, and its correlation of a sample of them.
    const sampled = defined.map(({ pairs }) => ({
      at: pairs.map(({ postTrained }) => places.get(postTrained) ?? 0),
      weights: new Uint16Array(pairs.length),
      of: sampledCorrelations(
        pairs.map(({ baseScore }) => baseScore),
        pairs.map(({ postTrainedScore }) => postTrainedScore),
      )[name],
    }));
    const interval = weightedInterval(
      places.size,
      (drawn) => {
        let [sum, count] = [0, 0];
        for (const { at, weights, of: correlation } of sampled) {
          for (const [own, place] of at.entries()) weights[own] = drawn[place] as number;
          const one = correlation(weights);
          if (Number.isNaN(one)) continue;
          sum += one;
          count++;
        }
        return count === 0 ? Number.NaN : sum / count;
      },
      { seed, iterations: samples(places.size, defined.length) },
    );
    return { value, interval };
  };
  return { of: 'mean', pairs: [], n, benchmarks: rows.length, tau: of('tau'), rho: of('rho') };
}

/** Of scores averaged over the benchmarks, for the pairs that have them all. */
function averagedRow(rows: readonly CorrelationRow[], links: readonly ModelPair[], seed: number): CorrelationRow {
  const byPair = rows.map(({ pairs }) => new Map(pairs.map((pair) => [pair.postTrained, pair])));
  const pairs = links.flatMap((link): PairScores[] => {
    const own = byPair.flatMap((row) => row.get(link.postTrained) ?? []);
    return own.length === 0 || own.length < rows.length
      ? []
      : [
          {
            ...link,
            baseScore: mean(own.map(({ baseScore }) => baseScore)),
            postTrainedScore: mean(own.map(({ postTrainedScore }) => postTrainedScore)),
          },
        ];
  });
  return rowOf('averaged', pairs, rows.length, seed);
}

/** `0.55 (0.30–0.74)`, or why there is no figure. */
export function correlationWords({ value, interval }: Correlation, n: number): string {
  if (n < fewestPairs) return `too few pairs (${n})`;
  if (Number.isNaN(value)) return 'not defined: all equal';
  const figure = (x: number): string => x.toFixed(2).replace('-', '−');
  return interval ? `${figure(value)} (${figure(interval[0])} to ${figure(interval[1])})` : figure(value);
}
