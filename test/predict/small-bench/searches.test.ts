import { describe, expect, it } from 'vitest';
import {
  type Budget,
  costOf,
  countBudget,
  type FoundSubset,
  fits,
  runSearch,
} from '../../../src/predict/small-bench/search.ts';
import { searches, searchOf } from '../../../src/predict/small-bench/searches.ts';
import { spectralVectors } from '../../../src/predict/small-bench/vectors.ts';
import { objectiveOf, randomTable } from './tables.ts';

const table = randomTable(1);
const objective = objectiveOf(table);
const vectors = spectralVectors(table, [...table.rows.keys()]);
const width = table.subtasks.length;

/** All subsets of a size. */
function* combinations(from: number, size: number): Generator<number[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (let k = from; k < width; k++) for (const rest of combinations(k + 1, size - 1)) yield [k, ...rest];
}

/** The best value of at most so many subtasks, by looking at all. */
function exhaustive(size: number): number {
  let best = Number.NEGATIVE_INFINITY;
  for (let n = 0; n <= size; n++)
    for (const subset of combinations(0, n)) best = Math.max(best, objective.value(subset));
  return best;
}

const named = (name: string) => searchOf(name) ?? expect.fail(`There is no search ${name}.`);
const find = (name: string, budget: Budget, options = {}) =>
  runSearch(named(name), objective, budget, vectors, options);

describe('searches', () => {
  it.each(['beam', 'annealing', 'genetic', 'random'])(
    '%s finds the best 3 of 12, as looking at all 299 does',
    async (name) => {
      const found = await find(name, countBudget(width, 3), { evaluations: 800 });
      expect(found.value).toBeCloseTo(exhaustive(3), 10);
    },
  );

  it('greedy finds the best one, and no worse three than 99 of 100 subsets are', async () => {
    expect((await find('greedy', countBudget(width, 1))).value).toBeCloseTo(exhaustive(1), 10);
    const { value } = await find('greedy', countBudget(width, 3));
    const all = [...combinations(0, 3)].map((subset) => objective.value(subset)).sort((a, b) => a - b);
    expect(value).toBeGreaterThanOrEqual(all[Math.floor(0.99 * all.length)] ?? 1);
  });

  describe.each(searches.map(({ name }) => name))('%s', (name) => {
    it('keeps to the budget and says the value of what it found', async () => {
      const found = await find(name, countBudget(width, 4), { evaluations: 200 });
      expect(new Set(found.subset).size).toBe(found.subset.length);
      expect(found.subset.length).toBeLessThanOrEqual(4);
      expect(found.subset.length).toBeGreaterThan(0);
      expect(found.value).toBeCloseTo(objective.value(found.subset), 9);
      expect(found).toMatchObject({ ended: 'done', done: 1, cost: found.subset.length });
    });

    it('finds the same with the same seed', async () => {
      const one = await find(name, countBudget(width, 4), { seed: 5, evaluations: 100 });
      const other = await find(name, countBudget(width, 4), { seed: 5, evaluations: 100 });
      expect(other.subset).toEqual(one.subset);
    });

    it('keeps to a budget of costs that differ', async () => {
      const costs = Float64Array.from({ length: width }, (_, k) => 1 + (k % 5));
      const budget = { costs, limit: 7 };
      const found = await find(name, budget, { evaluations: 200 });
      expect(found.cost).toBe(costOf(budget, found.subset));
      expect(fits(budget, found.subset)).toBe(true);
      expect(found.subset.length).toBeGreaterThan(0);
    });

    it('stopped, returns the best so far', async () => {
      const stop = new AbortController();
      let last: FoundSubset | null = null;
      const found = await find(name, countBudget(width, 4), {
        evaluations: 100_000,
        signal: stop.signal,
        progress: (soFar: FoundSubset) => {
          last = soFar;
          stop.abort();
        },
      });
      expect(found.ended).toBe('stopped');
      expect(found.subset).toEqual((last as FoundSubset | null)?.subset);
      expect(found.value).toBeGreaterThan(Number.NEGATIVE_INFINITY);
    });
  });

  it.each(searches.filter(({ name }) => name !== 'kmeans-value').map(({ name }) => name))(
    '%s never gets worse while it searches',
    async (name) => {
      const values: number[] = [];
      const found = await find(name, countBudget(width, 5), {
        evaluations: 300,
        progress: ({ value }: FoundSubset) => values.push(value),
      });
      expect(values).toEqual([...values].sort((a, b) => a - b));
      expect(found.value).toBeGreaterThanOrEqual(values.at(-1) ?? 0);
    },
  );

  it('out of time, says so', async () => {
    const found = await find('random', countBudget(width, 4), { evaluations: 1e9, seconds: 0.05 });
    expect(found).toMatchObject({ ended: 'time' });
    expect(found.subset.length).toBe(4);
  });

  it('greedy by cost finds what looking at all affordable subsets finds', async () => {
    const costs = Float64Array.from({ length: width }, (_, k) => [3, 1, 2, 5][k % 4] ?? 1);
    const budget = { costs, limit: 6 };
    let best = Number.NEGATIVE_INFINITY;
    let all: number[] = [];
    for (let size = 0; size <= 6; size++)
      for (const subset of combinations(0, size)) if (fits(budget, subset)) all.push(objective.value(subset));
    all = all.sort((a, b) => a - b);
    best = all.at(-1) ?? best;
    const { value } = await find('greedy', budget);
    expect(value).toBeLessThanOrEqual(best + 1e-9);
    expect(value).toBeGreaterThanOrEqual(all[Math.floor(0.99 * all.length)] ?? 1);
  });
});
