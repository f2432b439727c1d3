/** The next benchmark: against brute force over draws of a normal distribution whose covariance is known. */
import { describe, expect, it } from 'vitest';
import { conditionalCovariance, nextBenchmarks, variancesAfter } from '../../src/predict/next-benchmark.ts';
import type { ScoreRecord } from '../../src/predict/types.ts';
import { Random } from '../../src/shared/random.ts';
import { record } from './oracle.ts';

/** Abilities of a model, two of them, and what each task asks for; the last two tasks are noise. */
const asked = [
  [1, 0],
  [0.9, 0.1],
  [0.8, 0.2],
  [0, 1],
  [0.2, 0.6],
  [0, 0],
  [0, 0],
] as const;
const noise = [0.1, 0.3, 0.3, 0.1, 0.3, 1, 1];
const n = asked.length;
const covariance = Float64Array.from({ length: n * n }, (_, at) => {
  const i = Math.floor(at / n);
  const j = at % n;
  const [a, b] = [asked[i], asked[j]] as [readonly number[], readonly number[]];
  return (
    (a[0] as number) * (b[0] as number) + (a[1] as number) * (b[1] as number) + (i === j ? (noise[i] as number) : 0)
  );
});

/** What the best linear guess of one value from others leaves, by draws: least squares over many rows. */
function leftByDraws(rows: readonly (readonly number[])[], target: number, from: readonly number[]): number {
  const size = from.length;
  const system = Array.from({ length: size }, () => new Array<number>(size + 1).fill(0));
  for (const row of rows)
    for (let i = 0; i < size; i++) {
      const line = system[i] as number[];
      for (let j = 0; j < size; j++)
        line[j] = (line[j] as number) + (row[from[i] as number] as number) * (row[from[j] as number] as number);
      line[size] = (line[size] as number) + (row[from[i] as number] as number) * (row[target] as number);
    }
  // Gauss-Jordan.
  for (let i = 0; i < size; i++) {
    const pivot = system[i] as number[];
    for (let k = 0; k < size; k++) {
      if (k === i) continue;
      const line = system[k] as number[];
      const by = (line[i] as number) / (pivot[i] as number);
      for (let j = i; j <= size; j++) line[j] = (line[j] as number) - by * (pivot[j] as number);
    }
  }
  const weights = system.map((line, i) => (line[size] as number) / (line[i] as number));
  return rows.reduce((sum, row) => {
    const guess = weights.reduce((value, weight, i) => value + weight * (row[from[i] as number] as number), 0);
    return sum + ((row[target] as number) - guess) ** 2 / rows.length;
  }, 0);
}

const random = new Random(3);
const draws = Array.from({ length: 20000 }, () => {
  const ability = [random.normal(), random.normal()] as const;
  return asked.map(([a, b], t) => a * ability[0] + b * ability[1] + Math.sqrt(noise[t] as number) * random.normal());
});

describe('the next benchmark', () => {
  it('leaves the variance that the best guess from drawn scores leaves', () => {
    const known = [1];
    const open = [0, 2, 3, 4, 5, 6];
    const found = variancesAfter(conditionalCovariance(covariance, n, open, known), open.length);
    const gains: number[] = [];
    for (const [at, candidate] of open.entries()) {
      const others = open.filter((target) => target !== candidate);
      const left = (from: readonly number[]): number =>
        others.reduce((sum, target) => sum + leftByDraws(draws, target, from) / others.length, 0);
      expect(found[at]?.before).toBeCloseTo(left(known), 1);
      expect(found[at]?.after).toBeCloseTo(left([...known, candidate]), 1);
      gains.push(left(known) - left([...known, candidate]));
    }
    const best = found.reduce(
      (high, { before, after }, at) =>
        before - after > (found[high]?.before ?? 0) - (found[high]?.after ?? 0) ? at : high,
      0,
    );
    // The ability that nothing is known of yet.
    expect(open[best]).toBe(open[gains.indexOf(Math.max(...gains))]);
    expect([3, 4]).toContain(open[best]);
  });

  const records = (rows: readonly (readonly number[])[]): ScoreRecord[] =>
    rows.flatMap((row, model) =>
      row.map((value, task) =>
        record({
          family: `family ${model % 8}`,
          model: `model ${model}`,
          task: `task ${task}`,
          subtask: `task ${task}`,
          metric: 'acc',
          score: 0.5 + 0.05 * value,
        }),
      ),
    );

  it('is found from records: first what measures an ability that nothing is known of, unless it costs too much', async () => {
    const all = records(draws.slice(0, 400)).filter(
      ({ model, task }) => model !== 'model 0' || task === 'task 0' || task === 'task 1',
    );
    const settings = { shrinkage: 1, rounds: 10 };
    const { known, open, proposals } = await nextBenchmarks(all, 'model 0', { settings });
    expect([known, open]).toEqual([2, 5]);
    expect(['task 3', 'task 4']).toContain(proposals[0]?.configuration.task);
    // Noise tasks vary most, but say nothing of others: they come last.
    expect(new Set(proposals.slice(-2).map(({ configuration }) => configuration.task))).toEqual(
      new Set(['task 5', 'task 6']),
    );
    // Of what the best one takes, what correlations by chance among 400 models leave.
    const gains = proposals.map(({ before, after }) => before - after);
    for (const gain of gains.slice(-2)) expect(gain).toBeLessThan(0.05 * (gains[0] ?? 0));
    const dear = await nextBenchmarks(all, 'model 0', {
      settings,
      cost: ({ task }) => (task === 'task 3' || task === 'task 4' ? 50 : 1),
    });
    expect(['task 0', 'task 1', 'task 2']).toContain(dear.proposals[0]?.configuration.task);
  });

  it('has no other score to say anything of where it is the only one that is open', () => {
    expect(variancesAfter(Float64Array.of(2), 1)).toEqual([{ before: 0, after: 0 }]);
  });

  it('warns where models are few', async () => {
    const of = async (models: number) => {
      const rows = records(draws.slice(0, models)).filter(
        ({ model, subtask }) => model !== 'model 0' || subtask === 'task 0',
      );
      return (await nextBenchmarks(rows, 'model 0')).caution;
    };
    expect(await of(3)).toContain('of 3 models only');
    expect(await of(10)).toBe(null);
  });

  it('is asked for of a model that is there', async () => {
    await expect(nextBenchmarks(records(draws.slice(0, 5)), 'none')).rejects.toThrow(
      'No record is of the model "none"',
    );
    await expect(nextBenchmarks(records(draws.slice(0, 1)), 'model 0')).rejects.toThrow('one model');
  });
});
