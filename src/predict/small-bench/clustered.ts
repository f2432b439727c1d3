/**
 * Searches that want a subset to be diverse: subtasks near the centres of clusters of task vectors. The study finds them as
 * good as searches by R², at the cost of hardly any evaluation (Ye, Fu, Ren and Jia 2023, section 4.3).
 */
import { kMeansSteps, nearestToCentres } from '../k-means.ts';
import type { Steps } from '../turn.ts';
import { costOf, fits, type SearchContext, type SearchSteps, type SubsetSearch } from './search.ts';
import { taskValues } from './stochastic.ts';

/** Clusterings from different starts; the subset with the highest value counts. */
const clusterings = 5;
/** Quantile of the task values that a representative has to reach. */
const quantile = 0.75;

export const kMeansSearch: SubsetSearch = {
  name: 'kmeans',
  title: 'k-means on task vectors',
  *run(context) {
    yield* clustered(context, () => true, 0);
  },
};

export const kMeansValueSearch: SubsetSearch = {
  name: 'kmeans-value',
  title: 'k-means + task value',
  *run(context) {
    const { evaluations, objective } = context;
    const values = taskValues(context, evaluations);
    let step = values.next();
    let at = 0;
    while (!step.done) {
      yield step.value && { ...step.value, done: (0.9 * at++) / evaluations, provisional: true };
      step = values.next();
    }
    const worth = step.value;
    const known = [...worth].filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
    const least = known[Math.min(known.length - 1, Math.floor(quantile * known.length))] ?? Number.NEGATIVE_INFINITY;
    const good = new Set([...Array(objective.subtasks).keys()].filter((k) => (worth[k] as number) >= least));
    yield* clustered(context, (k) => good.has(k), 0.9);
  },
};

/** Subsets of the subtasks nearest to cluster centres, one a cluster, those that are good enough before others. */
function* clustered(
  { objective, budget, random, vectors }: SearchContext,
  isGood: (subtask: number) => boolean,
  before: number,
): SearchSteps<void> {
  for (let at = 0; at < clusterings; at++) {
    const seed = random.next();
    const subset = yield* representatives(vectors, budget, isGood, seed);
    yield {
      subset,
      value: yield* objective.valueSteps(subset),
      done: before + ((1 - before) * (at + 1)) / clusterings,
    };
  }
}

/** As many clusters as the budget pays for one representative each: with equal costs that is their number. */
function* representatives(
  vectors: readonly Float64Array[],
  budget: SearchContext['budget'],
  isGood: (subtask: number) => boolean,
  seed: number,
): Steps<number[]> {
  function* chosen(clusters: number): Steps<number[]> {
    const found = yield* kMeansSteps(vectors, clusters, { seed, restarts: 3 });
    return nearestToCentres(vectors, found).flatMap((members) => members.find(isGood) ?? members[0] ?? []);
  }
  const cheapest = Math.min(...budget.costs);
  let high = Math.min(vectors.length, Math.floor((budget.limit * (1 + 1e-9)) / Math.max(cheapest, 1e-12)));
  if (high < 1) return [];
  let subset = yield* chosen(high);
  if (fits(budget, subset)) return subset;
  // The cost grows with the number, though not strictly: bisection, and at the end the dearest are left out.
  let low = 0;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (costOf(budget, yield* chosen(middle)) <= budget.limit) low = middle;
    else high = middle;
  }
  subset = yield* chosen(Math.max(1, low));
  subset.sort((a, b) => (budget.costs[a] as number) - (budget.costs[b] as number));
  while (!fits(budget, subset)) subset.pop();
  return subset;
}
