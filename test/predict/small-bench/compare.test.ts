import { beforeAll, describe, expect, it } from 'vitest';
import { countBudgets, findSmallBenches, type SmallBenchComparison } from '../../../src/predict/small-bench/compare.ts';
import { foldGroups } from '../../../src/predict/small-bench/fold-groups.ts';
import { searches, searchOf } from '../../../src/predict/small-bench/searches.ts';
import { scoreTable } from '../../../src/predict/small-bench/table.ts';
import { syntheticRecords } from '../../../src/predict/synthetic.ts';
import { randomTable } from './tables.ts';

const searchNamed = (name: string) => searchOf(name) ?? expect.fail(`There is no search ${name}.`);

describe('small benches of made records', () => {
  const table = randomTable(0, 100);
  let found: SmallBenchComparison;
  beforeAll(async () => {
    const budgets = countBudgets(100, [4, 8, 16, 24]);
    found = await findSmallBenches(table, [searchNamed('greedy'), searchNamed('kmeans')], budgets, {
      randomSubsets: 100,
    });
  }, 240_000);

  it('of 8 subtasks recover as much of families not seen as random ones of 24', () => {
    const greedy = found.curves[0]?.points.find(({ budget }) => budget === '8');
    const random = found.random.find(({ budget }) => budget === '24');
    expect(greedy?.recovery?.mean).toBeGreaterThanOrEqual(random?.mean ?? 1);
    expect(greedy?.randomSize === null || (greedy?.randomSize ?? 0) >= 24).toBe(true);
  });

  it('are measured on families that the search has not seen, which is harder', () => {
    for (const { points } of found.curves)
      for (const { recovery, inSample } of points) expect(recovery?.mean).toBeLessThan(inSample);
  });

  it('recover more the more there are, and more than nothing does', () => {
    const means = found.random.map(({ mean }) => mean);
    expect(means).toEqual([...means].sort((a, b) => a - b));
    expect(found.curves[0]?.points[0]?.recovery?.mean).toBeGreaterThan(found.nothing?.mean ?? 1);
  });

  it('have a random interval around the median', () => {
    for (const { low, median, high, subsets } of found.random) {
      expect(low).toBeLessThan(median);
      expect(median).toBeLessThan(high);
      expect(subsets).toBe(100);
    }
  });

  it('rank the models nearly as all subtasks do', () => {
    for (const { points } of found.curves)
      for (const { ranking } of points) {
        expect(ranking?.models).toBe(205);
        expect(ranking?.rho).toBeGreaterThan(0.9);
        expect(ranking?.tau).toBeLessThan(ranking?.rho ?? 0);
      }
  });
});

describe('nested folds', () => {
  it('hold families out, put together to as many parts as there are pairs of', () => {
    const { groups, names, heldOut } = foldGroups(randomTable(1), 6);
    expect(heldOut).toBe('families');
    expect(names.flat().sort()).toEqual(['BIG-G T=0', 'BIG-G T=1', 'BIG-G sparse', 'GPT', 'Gopher', 'PaLM']);
    expect(groups.flat().sort((a, b) => a - b)).toEqual([...Array(205).keys()]);
    expect(foldGroups(randomTable(1), 4).groups).toHaveLength(4);
  });

  it('hold models out where there are fewer than three families', () => {
    const { records } = syntheticRecords({ subtasks: 12, families: ['PaLM', 'GPT'], missing: 0 });
    const { names, heldOut } = foldGroups(scoreTable(records), 6);
    expect(heldOut).toBe('models');
    expect(names.flat()).toHaveLength(11);
  });
});

describe('any-time', () => {
  const table = randomTable(1, 24);

  it('stopped, has a list for what was searched and no figure for what was not measured', async () => {
    const stop = new AbortController();
    const found = await findSmallBenches(table, searches, countBudgets(24, [4, 8]), {
      signal: stop.signal,
      evaluations: 50,
      progress: (_, { curves }) => {
        if ((curves[0]?.points.length ?? 0) > 1) stop.abort();
      },
    });
    expect(found.ended).toBe('stopped');
    expect(found.curves[0]?.points.map(({ subtasks }) => subtasks.length)).toEqual([4, 8]);
    expect(found.curves[0]?.points[0]?.recovery).toBeNull();
    expect(found.random).toEqual([]);
  });

  it('out of time, has lists of every search', async () => {
    const found = await findSmallBenches(table, searches, countBudgets(24, [4]), {
      seconds: 3,
      evaluations: 1_000_000,
    });
    expect(found.ended).toBe('time');
    for (const { points } of found.curves) expect(points[0]?.subtasks.length).toBeGreaterThan(0);
  });

  it('keeps to a budget of time, beside random subsets of the same time', async () => {
    const costs = Float64Array.from({ length: 24 }, (_, k) => 60 * (1 + (k % 7)));
    const budget = { costs, limit: 600, title: '10 min' };
    const found = await findSmallBenches(table, [searchNamed('greedy')], [budget], { randomSubsets: 20 });
    const [point] = found.curves[0]?.points ?? [];
    expect(point?.cost).toBe(point?.positions.reduce((sum, k) => sum + (costs[k] ?? 0), 0));
    expect(point?.cost).toBeLessThanOrEqual(600);
    expect(point?.nested?.every((subset) => subset.reduce((sum, k) => sum + (costs[k] ?? 0), 0) <= 600)).toBe(true);
    expect(found.random[0]?.size).toBeGreaterThan(2);
    expect(found.random[0]?.size).toBeLessThan(7);
  });

  it('gives the same lists for the same seed', async () => {
    const lists = async (): Promise<string[][]> => {
      const options = { seed: 9, evaluations: 30, randomSubsets: 20 };
      const found = await findSmallBenches(table, searches, countBudgets(24, [5]), options);
      return found.curves.flatMap(({ points }) => points.map(({ subtasks }) => subtasks));
    };
    expect(await lists()).toEqual(await lists());
  });

  it('refuses budgets that leave nothing to foretell, or allow nothing', async () => {
    await expect(findSmallBenches(table, searches, countBudgets(24, [24]))).rejects.toThrow(
      'nothing is left to foretell',
    );
    const costs = new Float64Array(24).fill(60);
    await expect(findSmallBenches(table, searches, [{ costs, limit: 30, title: '30 s' }])).rejects.toThrow(
      'No subtask is within the budget of 30 s.',
    );
  });
});
