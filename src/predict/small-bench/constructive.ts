/** Searches that build a subset up: greedy and beam. */
import type { GrowingSubset } from './objective.ts';
import { affordable, fits, type SearchContext, type SearchSteps, type SubsetSearch } from './search.ts';

/** Adds the subtask that raises R² most, again and again. */
function* greedyBy(
  { objective, budget }: SearchContext,
  gain: (value: number, before: number, cost: number) => number,
  progress: (done: number) => number,
): SearchSteps<GrowingSubset> {
  let state = objective.start();
  const cheapest = Math.min(...budget.costs);
  const most = Math.max(1, budget.limit / Math.max(cheapest, budget.limit / budget.costs.length));
  // Of use only where it is stopped at once.
  yield { subset: [], value: state.value, done: 0, provisional: true };
  for (;;) {
    const open = affordable(budget, state.selected);
    if (open.length === 0) return state;
    const values = yield* state.candidateSteps();
    let best = open[0] as number;
    let bestGain = Number.NEGATIVE_INFINITY;
    for (const k of open) {
      const of = gain(values[k] as number, state.value, budget.costs[k] as number);
      if (of > bestGain) [best, bestGain] = [k, of];
    }
    state = yield* state.withSteps(best);
    yield { subset: state.selected, value: state.value, done: progress(Math.min(1, state.selected.length / most)) };
  }
}

/** Swaps, while any swap that the budget allows raises R²: the first pass of a local search. */
function* repaired({ objective, budget }: SearchContext, from: readonly number[]): SearchSteps<void> {
  let subset = [...from];
  let value = yield* objective.valueSteps(subset);
  for (let improved = true; improved; ) {
    improved = false;
    for (const out of [...subset]) {
      const without = subset.filter((k) => k !== out);
      let state = objective.start();
      for (const k of without) state = yield* state.withSteps(k);
      const values = yield* state.candidateSteps();
      const open = affordable(budget, without).filter((k) => k !== out);
      const best = open.reduce((a, b) => ((values[b] as number) > (values[a] ?? Number.NEGATIVE_INFINITY) ? b : a), -1);
      if (best < 0 || !((values[best] as number) > value + 1e-9)) continue;
      subset = [...without, best];
      value = values[best] as number;
      improved = true;
      yield { subset, value: yield* objective.valueSteps(subset), done: 0.9 };
    }
  }
}

export const greedySearch: SubsetSearch = {
  name: 'greedy',
  title: 'greedy',
  /**
   * With costs that differ: once by gain per cost and once by gain, for either may be far off (Khuller, Moss and Naor 1999),
   * and the better one repaired by swaps.
   */
  *run(context) {
    const { costs } = context.budget;
    if (costs.every((cost) => cost === costs[0])) {
      yield* greedyBy(
        context,
        (value) => value,
        (done) => done,
      );
      return;
    }
    // A gain below 0 is worse the cheaper it was: then the least loss counts.
    const perCost = (value: number, before: number, cost: number): number =>
      value > before ? (value - before) / Math.max(cost, 1e-12) : value - before;
    const one = yield* greedyBy(context, perCost, (done) => 0.4 * done);
    const other = yield* greedyBy(
      context,
      (value) => value,
      (done) => 0.4 + 0.4 * done,
    );
    yield* repaired(context, (one.value >= other.value ? one : other).selected);
  },
};

const beamWidth = 5;

export const beamSearch: SubsetSearch = {
  name: 'beam',
  title: `beam of ${beamWidth}`,
  *run({ objective, budget }) {
    let beam: GrowingSubset[] = [objective.start()];
    const most = Math.max(1, budget.limit / Math.max(Math.min(...budget.costs), budget.limit / budget.costs.length));
    for (let size = 1; ; size++) {
      const found = new Map<string, { from: GrowingSubset; add: number; value: number }>();
      for (const from of beam) {
        const values = yield* from.candidateSteps();
        const best = affordable(budget, from.selected)
          .sort((a, b) => (values[b] as number) - (values[a] as number))
          .slice(0, beamWidth);
        for (const add of best) {
          // Subsets are the same in whatever order they were built.
          const key = [...from.selected, add].sort((a, b) => a - b).join(' ');
          if (!found.has(key)) found.set(key, { from, add, value: values[add] as number });
        }
        // So that it can be stopped between two.
        yield {
          subset: from.selected,
          value: from.value,
          done: Math.min(1, (size - 1) / most),
          ...(size === 1 && { provisional: true as const }),
        };
      }
      if (found.size === 0) return;
      const best = [...found.values()].sort((a, b) => b.value - a.value).slice(0, beamWidth);
      beam = [];
      for (const { from, add } of best) beam.push(yield* from.withSteps(add));
      for (const { selected, value } of beam)
        if (fits(budget, selected)) yield { subset: selected, value, done: Math.min(1, size / most) };
    }
  },
};
