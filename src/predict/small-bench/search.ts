/** What searches for small benches share: the budget, one interface, and the loop that runs them any-time. */
import { Random } from '../../shared/random.ts';
import type { SubsetObjective } from './objective.ts';

/** What a subset may cost. A budget of a number of subtasks is one where each costs 1. */
export interface Budget {
  /** [subtasks] */
  costs: Float64Array;
  limit: number;
}

export const countBudget = (subtasks: number, count: number): Budget => ({
  costs: new Float64Array(subtasks).fill(1),
  limit: count,
});

export const costOf = ({ costs }: Budget, subset: readonly number[]): number =>
  subset.reduce((sum, k) => sum + (costs[k] ?? Number.POSITIVE_INFINITY), 0);

/** Sums of costs are rounded: what is over the limit by that little is within it. */
const rounding = 1e-9;
export const fits = (budget: Budget, subset: readonly number[]): boolean =>
  costOf(budget, subset) <= budget.limit * (1 + rounding);

/** The subtasks that may be added to a subset. */
export function affordable(budget: Budget, subset: readonly number[]): number[] {
  const left = budget.limit * (1 + rounding) - costOf(budget, subset);
  const taken = new Set(subset);
  const found: number[] = [];
  for (let k = 0; k < budget.costs.length; k++) if (!taken.has(k) && (budget.costs[k] ?? 0) <= left) found.push(k);
  return found;
}

export interface SearchContext {
  objective: SubsetObjective;
  budget: Budget;
  random: Random;
  /** How many subsets searches that could go on for ever look at. */
  evaluations: number;
  /** A vector a subtask that says what it is like, for searches that cluster. */
  vectors: readonly Float64Array[];
}

/** A subset that a search has looked at. */
export interface SearchStep {
  subset: readonly number[];
  value: number;
  /** Share of the search that is done, from 0 to 1. */
  done: number;
  /** Stands in for what the search is after until it has found some: then it counts no more. */
  provisional?: true;
}

/** Steps of a search; those without a subset are there to let others have their turn. */
export type SearchSteps<Result> = Generator<SearchStep | undefined, Result>;

/** A way to look for a subset. It hands over every subset that may be the best so far, and ends by itself. */
export interface SubsetSearch {
  /** For the command line and settings: `greedy`. */
  name: string;
  /** For people. */
  title: string;
  run(context: SearchContext): SearchSteps<void>;
}

export interface SearchOptions {
  seed?: number;
  /** Default: 1000. */
  evaluations?: number;
  signal?: AbortSignal;
  /** Longest time, in seconds; it goes on until there is a subtask at all. */
  seconds?: number;
  /** The best so far; called when it has changed, and now and then. */
  progress?(found: FoundSubset): void;
}

export interface FoundSubset {
  /** In the order in which they were chosen, where there is one. */
  subset: number[];
  value: number;
  cost: number;
  /** Share of the search that is done, from 0 to 1. */
  done: number;
  evaluations: number;
  seconds: number;
  ended: 'done' | 'stopped' | 'time';
}

/** So long the loop keeps the thread before others (signals, messages) have their turn, in milliseconds. */
const turn = 20;

/**
 * Runs a search. Stopped or out of time, it returns the best of what it has seen; there is always a subset, if only the empty
 * one. The value of the best never falls, but where a provisional subset gives way.
 */
export async function runSearch(
  search: SubsetSearch,
  objective: SubsetObjective,
  budget: Budget,
  vectors: readonly Float64Array[],
  { seed = 0, evaluations = 1000, signal, seconds = Number.POSITIVE_INFINITY, progress }: SearchOptions = {},
): Promise<FoundSubset> {
  const begun = performance.now();
  const before = objective.evaluations;
  const elapsed = (): number => (performance.now() - begun) / 1000;
  const best: FoundSubset = {
    subset: [],
    value: Number.NEGATIVE_INFINITY,
    cost: 0,
    done: 0,
    evaluations: 0,
    seconds: 0,
    ended: 'done',
  };
  let lastTurn = begun;
  let standsIn = true;
  const steps = search.run({ objective, budget, random: new Random(seed), evaluations, vectors });
  for (;;) {
    best.evaluations = objective.evaluations - before;
    best.seconds = elapsed();
    if (signal?.aborted) best.ended = 'stopped';
    else if (elapsed() > seconds && best.subset.length > 0) best.ended = 'time';
    if (best.ended !== 'done') break;
    const step = steps.next();
    if (step.done) {
      best.done = 1;
      break;
    }
    let better = false;
    if (step.value) {
      const { subset, value, done, provisional } = step.value;
      best.done = done;
      better =
        fits(budget, subset) && (value > best.value || (standsIn && !provisional)) && !(provisional && !standsIn);
      if (better) standsIn = provisional === true;
      if (better) Object.assign(best, { subset: [...subset], value, cost: costOf(budget, subset) });
    }
    const now = performance.now();
    if (now - lastTurn > turn) {
      // In front of the first subset there is nothing to tell.
      if (best.value > Number.NEGATIVE_INFINITY) progress?.({ ...best });
      await new Promise((resolve) => setImmediate(resolve));
      lastTurn = performance.now();
    } else if (better) progress?.({ ...best });
  }
  best.evaluations = objective.evaluations - before;
  best.seconds = elapsed();
  steps.return();
  return best;
}

/** A random subset that the budget allows and that nothing can be added to. */
export function randomSubset(budget: Budget, random: Random): number[] {
  return filledAtRandom(budget, [], random);
}

/** Adds random subtasks while the budget allows any. */
export function filledAtRandom(budget: Budget, subset: readonly number[], random: Random): number[] {
  const filled = [...subset];
  let left = budget.limit * (1 + rounding) - costOf(budget, subset);
  const taken = new Set(subset);
  for (const k of random.shuffle([...budget.costs.keys()])) {
    const cost = budget.costs[k] ?? Number.POSITIVE_INFINITY;
    if (taken.has(k) || cost > left) continue;
    filled.push(k);
    left -= cost;
  }
  return filled;
}
