/** How well one ranking foretells another: of base models and of their post-trained versions, mode by mode. */
import { mean } from './aggregation.ts';
import { type BootstrapOptions, bootstrapInterval } from './bootstrap.ts';

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
const fewestForInterval = 5;

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
  const interval = (of: (x: readonly number[], y: readonly number[]) => number): [number, number] | null =>
    n < fewestForInterval
      ? null
      : bootstrapInterval(
          n,
          (drawn) =>
            of(
              drawn.map((i) => a[i] ?? 0),
              drawn.map((i) => b[i] ?? 0),
            ),
          options,
        );
  return {
    n,
    tau: kendallTauB(a, b),
    rho: spearmanRho(a, b),
    tauInterval: interval(kendallTauB),
    rhoInterval: interval(spearmanRho),
  };
}
