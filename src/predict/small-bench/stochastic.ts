/** Searches by chance: the best of many, simulated annealing, a genetic algorithm. */
import type { Random } from '../../shared/random.ts';
import type { Steps } from '../turn.ts';
import {
  affordable,
  type Budget,
  filledAtRandom,
  fits,
  randomSubset,
  type SearchContext,
  type SubsetSearch,
} from './search.ts';

export const randomSearch: SubsetSearch = {
  name: 'random',
  title: 'best of random subsets',
  *run({ objective, budget, random, evaluations }) {
    for (let at = 0; at < evaluations; at++) {
      const subset = randomSubset(budget, random);
      yield { subset, value: yield* objective.valueSteps(subset), done: (at + 1) / evaluations };
    }
  },
};

/** A subset with a few of its subtasks taken out for others that the budget allows. */
function neighbour(budget: Budget, subset: readonly number[], random: Random, changes = 1): number[] {
  const kept = random.shuffle(subset).slice(Math.min(changes, subset.length));
  const open = affordable(budget, kept).filter((k) => !subset.includes(k));
  if (open.length === 0) return filledAtRandom(budget, kept, random);
  return filledAtRandom(budget, [...kept, open[random.below(open.length)] as number], random);
}

export const annealingSearch: SubsetSearch = {
  name: 'annealing',
  title: 'simulated annealing',
  /**
   * Swaps (Kirkpatrick, Gelatt and Vecchi 1983). The first temperature is the spread of random subsets' values; at the last,
   * a hundredth of it, hardly any loss is accepted.
   */
  *run({ objective, budget, random, evaluations }) {
    const sample = Math.min(20, Math.ceil(evaluations / 10));
    const values: number[] = [];
    let subset: number[] = [];
    let value = Number.NEGATIVE_INFINITY;
    for (let at = 0; at < sample; at++) {
      const one = randomSubset(budget, random);
      const its = yield* objective.valueSteps(one);
      values.push(its);
      if (its > value) [subset, value] = [one, its];
      yield { subset: one, value: its, done: at / evaluations };
    }
    const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
    const spread = Math.sqrt(values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / values.length);
    const first = Math.max(spread, 1e-6);
    for (let at = sample; at < evaluations; at++) {
      const temperature = first * 0.01 ** ((at - sample) / Math.max(1, evaluations - sample));
      const next = neighbour(budget, subset, random);
      const its = yield* objective.valueSteps(next);
      if (its >= value || random.uniform() < Math.exp((its - value) / temperature)) [subset, value] = [next, its];
      yield { subset: next, value: its, done: (at + 1) / evaluations };
    }
  },
};

const population = 20;
const mutationRate = 0.5;

export const geneticSearch: SubsetSearch = {
  name: 'genetic',
  title: 'genetic algorithm',
  /** Tournaments of two, crossover by drawing from the union of two parents, mutation by one swap; the two best live on. */
  *run({ objective, budget, random, evaluations }) {
    const valued = new Map<string, number>();
    let used = 0;
    function* judge(subset: readonly number[]): Steps<number> {
      const key = [...subset].sort((a, b) => a - b).join(' ');
      const value = valued.get(key) ?? (yield* objective.valueSteps(subset));
      if (!valued.has(key)) used++;
      valued.set(key, value);
      return value;
    }
    let living: { subset: number[]; value: number }[] = [];
    for (let at = 0; at < population; at++) {
      const subset = randomSubset(budget, random);
      const value = yield* judge(subset);
      living.push({ subset, value });
      yield { subset, value, done: Math.min(1, used / evaluations) };
    }
    const tournament = (): number[] => {
      const [a, b] = [living[random.below(living.length)], living[random.below(living.length)]];
      return ((a?.value ?? 0) > (b?.value ?? 0) ? a : b)?.subset ?? [];
    };
    // In small tables all subsets may have been seen: then generations, not subsets, end it.
    for (let generation = 0; used < evaluations && generation < evaluations; generation++) {
      living.sort((a, b) => b.value - a.value);
      const next = living.slice(0, 2);
      while (next.length < population && used < evaluations) {
        const union = random.shuffle([...new Set([...tournament(), ...tournament()])]);
        let child: number[] = [];
        for (const k of union) if (fits(budget, [...child, k])) child.push(k);
        child = filledAtRandom(budget, child, random);
        if (random.uniform() < mutationRate) child = neighbour(budget, child, random);
        const value = yield* judge(child);
        next.push({ subset: child, value });
        yield { subset: child, value, done: Math.min(1, used / evaluations) };
      }
      living = next;
    }
  },
};

/**
 * What each subtask is worth: the mean value of random subsets that it is in. NaN for one that was in none.
 * @param count of random subsets
 */
export function* taskValues(
  { objective, budget, random }: Pick<SearchContext, 'objective' | 'budget' | 'random'>,
  count: number,
): Generator<{ subset: readonly number[]; value: number } | undefined, Float64Array> {
  const sums = new Float64Array(objective.subtasks);
  const times = new Float64Array(objective.subtasks);
  for (let at = 0; at < count; at++) {
    const subset = randomSubset(budget, random);
    const value = yield* objective.valueSteps(subset);
    for (const k of subset) {
      sums[k] = (sums[k] as number) + value;
      times[k] = (times[k] as number) + 1;
    }
    yield { subset, value };
  }
  return sums.map((sum, k) => sum / (times[k] as number));
}
