/** The next benchmark: against brute force over draws of a normal distribution whose covariance is known. */
import { describe, expect, it } from 'vitest';
import { conditionalCovariance, nextBenchmarks, variancesAfter } from '../../src/predict/next-benchmark.ts';
import type { ScoreRecord } from '../../src/predict/types.ts';
import { Random } from '../../src/shared/random.ts';

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
    for (const [at, candidate] of open.entries()) {
      const left = open
        .filter((target) => target !== candidate)
        .reduce((sum, target) => sum + leftByDraws(draws, target, [...known, candidate]) / open.length, 0);
      expect(found[at]?.after).toBeCloseTo(left, 1);
    }
    const best = found.reduce((low, one, at) => (one.after < (found[low]?.after ?? 0) ? at : low), 0);
    // The ability that nothing is known of yet, by the task that measures it best.
    expect(open[best]).toBe(3);
  });

  const records = (rows: readonly (readonly number[])[]): ScoreRecord[] =>
    rows.flatMap((row, model) =>
      row.map((value, task) => ({
        family: `family ${model % 8}`,
        model: `model ${model}`,
        parameters: { total: 7e9, nonEmbedding: null, flopMatched: null },
        trainingFlops: null,
        task: `task ${task}`,
        subtask: `task ${task}`,
        shots: 0,
        mode: null,
        metric: 'acc',
        preferred: true,
        score: 0.5 + 0.05 * value,
        n: null,
        source: 'csv',
      })),
    );

  it('is found from records: first what measures an ability that nothing is known of, unless it costs too much', async () => {
    const all = records(draws.slice(0, 400)).filter(
      ({ model, task }) => model !== 'model 0' || task === 'task 0' || task === 'task 1',
    );
    const settings = { shrinkage: 1, rounds: 10 };
    const { known, open, proposals } = await nextBenchmarks(all, 'model 0', { settings });
    expect([known, open]).toEqual([2, 5]);
    // Noise tasks vary most, but say nothing of others: each takes its own variance away only.
    const noiseTask = proposals.find(({ configuration }) => configuration.task === 'task 5');
    expect((noiseTask?.before ?? 0) - (noiseTask?.after ?? 0)).toBeCloseTo(0.0025 / 5, 4);
    expect(proposals[0]?.configuration.task).toBe('task 3');
    const dear = await nextBenchmarks(all, 'model 0', {
      settings,
      cost: ({ task }) => (task === 'task 3' ? 50 : 1),
    });
    expect(dear.proposals[0]?.configuration.task).not.toBe('task 3');
  });

  it('is asked for of a model that is there', async () => {
    await expect(nextBenchmarks(records(draws.slice(0, 5)), 'none')).rejects.toThrow(
      'No record is of the model "none"',
    );
    await expect(nextBenchmarks(records(draws.slice(0, 1)), 'model 0')).rejects.toThrow('one model');
  });
});
