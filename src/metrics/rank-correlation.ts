/** How well one ranking foretells another: of base models and of their post-trained versions, mode by mode. */
import { mean } from './aggregation.ts';
import { type BootstrapOptions, weightedInterval } from './bootstrap.ts';

const sign = (x: number): number => (x > 0 ? 1 : x < 0 ? -1 : 0);

function samePairs(a: readonly number[], b: readonly number[]): void {
  if (a.length !== b.length) throw new RangeError(`Paired lists differ in length: ${a.length} and ${b.length}.`);
}

/**
 * Kendall's τ-b: pairs in the same order less pairs in the other, over the pairs that neither list ties (Kendall 1945).
 * @returns -1 to 1; NaN where one list is constant or has fewer than two values
 * @throws RangeError where the lists differ in length
 */
export function kendallTauB(a: readonly number[], b: readonly number[]): number {
  samePairs(a, b);
  let [agreement, untiedA, untiedB] = [0, 0, 0];
  // Some dozens of models: all pairs are few.
  for (let i = 0; i < a.length; i++)
    for (let j = 0; j < i; j++) {
      const inA = sign((a[i] ?? 0) - (a[j] ?? 0));
      const inB = sign((b[i] ?? 0) - (b[j] ?? 0));
      agreement += inA * inB;
      untiedA += Math.abs(inA);
      untiedB += Math.abs(inB);
    }
  return untiedA === 0 || untiedB === 0 ? Number.NaN : agreement / Math.sqrt(untiedA * untiedB);
}

/** Ranks from 1; equal values share the mean of theirs. */
export function averageRanks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((i, j) => (values[i] ?? 0) - (values[j] ?? 0));
  const ranks = new Array<number>(values.length).fill(0);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && values[order[to] ?? 0] === values[order[from] ?? 0]) to++;
    for (let at = from; at < to; at++) ranks[order[at] ?? 0] = (from + to + 1) / 2;
    from = to;
  }
  return ranks;
}

/** Pearson's correlation; NaN where one list is constant. */
function correlation(a: readonly number[], b: readonly number[]): number {
  const [middleA, middleB] = [mean(a), mean(b)];
  let [both, squareA, squareB] = [0, 0, 0];
  a.forEach((x, i) => {
    const [deltaA, deltaB] = [x - middleA, (b[i] ?? 0) - middleB];
    both += deltaA * deltaB;
    squareA += deltaA * deltaA;
    squareB += deltaB * deltaB;
  });
  return squareA === 0 || squareB === 0 ? Number.NaN : both / Math.sqrt(squareA * squareB);
}

/**
 * Spearman's ρ: the correlation of the ranks, ties at their mean rank.
 * @returns -1 to 1; NaN where one list is constant or has fewer than two values
 * @throws RangeError where the lists differ in length
 */
export function spearmanRho(a: readonly number[], b: readonly number[]): number {
  samePairs(a, b);
  return correlation(averageRanks(a), averageRanks(b));
}

/**
 * Both rank correlations of samples in which each of n things occurs as often as its weight says: for the bootstrap, which
 * draws from the same things thousands of times. Comparisons and orders are made once.
 * @throws RangeError where the lists differ in length
 */
export function sampledCorrelations(
  a: readonly number[],
  b: readonly number[],
): { tau(weights: ArrayLike<number>): number; rho(weights: ArrayLike<number>): number } {
  samePairs(a, b);
  const n = a.length;
  const compared = (list: readonly number[]): Int8Array => {
    const signs = new Int8Array(n * n);
    for (let i = 0; i < n; i++)
      for (let j = 0; j < i; j++) signs[i * n + j] = sign((list[i] as number) - (list[j] as number));
    return signs;
  };
  const [signsA, signsB] = [compared(a), compared(b)];
  const ordered = (list: readonly number[]): number[] =>
    Array.from({ length: n }, (_, i) => i).sort((i, j) => (list[i] as number) - (list[j] as number));
  const [orderA, orderB] = [ordered(a), ordered(b)];
  const [ranksA, ranksB] = [new Float64Array(n), new Float64Array(n)];
  /** Ranks of the sample's things, ties at their mean. */
  const rank = (
    list: readonly number[],
    order: readonly number[],
    weights: ArrayLike<number>,
    into: Float64Array,
  ): void => {
    let before = 0;
    for (let from = 0; from < n; ) {
      let to = from;
      let many = 0;
      while (to < n && list[order[to] as number] === list[order[from] as number])
        many += weights[order[to++] as number] as number;
      for (let at = from; at < to; at++) into[order[at] as number] = before + (many + 1) / 2;
      before += many;
      from = to;
    }
  };
  return {
    tau(weights) {
      let agreement = 0;
      let untiedA = 0;
      let untiedB = 0;
      for (let i = 1; i < n; i++) {
        const often = weights[i] as number;
        if (often === 0) continue;
        for (let j = 0; j < i; j++) {
          const pairs = often * (weights[j] as number);
          const inA = signsA[i * n + j] as number;
          const inB = signsB[i * n + j] as number;
          agreement += pairs * inA * inB;
          untiedA += pairs * inA * inA;
          untiedB += pairs * inB * inB;
        }
      }
      return untiedA === 0 || untiedB === 0 ? Number.NaN : agreement / Math.sqrt(untiedA * untiedB);
    },
    rho(weights) {
      rank(a, orderA, weights, ranksA);
      rank(b, orderB, weights, ranksB);
      let all = 0;
      for (let i = 0; i < n; i++) all += weights[i] as number;
      // Ranks of any sample have this mean.
      const middle = (all + 1) / 2;
      let both = 0;
      let squareA = 0;
      let squareB = 0;
      for (let i = 0; i < n; i++) {
        const often = weights[i] as number;
        const deltaA = (ranksA[i] as number) - middle;
        const deltaB = (ranksB[i] as number) - middle;
        both += often * deltaA * deltaB;
        squareA += often * deltaA * deltaA;
        squareB += often * deltaB * deltaB;
      }
      return squareA === 0 || squareB === 0 ? Number.NaN : both / Math.sqrt(squareA * squareB);
    },
  };
}

export interface RankCorrelation {
  /** Models. */
  n: number;
  tau: number;
  rho: number;
  /** Bootstrap intervals over the models; null where there are too few to say. */
  tauInterval: [number, number] | null;
  rhoInterval: [number, number] | null;
}

/** Fewer models than this give an interval that means nothing. */
export const fewestForInterval = 5;

/**
 * Both rank correlations of two scores of the same models.
 * @throws RangeError where the lists differ in length
 */
export function rankCorrelation(
  a: readonly number[],
  b: readonly number[],
  options: BootstrapOptions = {},
): RankCorrelation {
  samePairs(a, b);
  const n = a.length;
  const sampled = sampledCorrelations(a, b);
  const interval = (of: (weights: Uint16Array) => number): [number, number] | null =>
    n < fewestForInterval ? null : weightedInterval(n, of, options);
  return {
    n,
    tau: kendallTauB(a, b),
    rho: spearmanRho(a, b),
    tauInterval: interval(sampled.tau),
    rhoInterval: interval(sampled.rho),
  };
}
