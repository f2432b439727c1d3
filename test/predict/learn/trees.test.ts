/** Trees against scikit-learn's: the same splits on small data, the same quality on larger. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fitOf } from '../../../src/predict/fit.ts';
import { boostTrees } from '../../../src/predict/learn/boosting.ts';
import { growForest } from '../../../src/predict/learn/forest.ts';
import { openPace } from '../../../src/predict/learn/pace.ts';
import { addTree, bestSplitter, binColumns, type Columns, growTree } from '../../../src/predict/learn/tree.ts';
import { CancelledError } from '../../../src/shared/errors.ts';
import { Random } from '../../../src/shared/random.ts';

interface Part {
  numbers: number[][];
  name: number[];
  target: number[];
}

const oracle = JSON.parse(readFileSync(join(import.meta.dirname, 'trees.json'), 'utf8')) as {
  small: Part;
  asked: Omit<Part, 'target'>;
  trees: {
    names: boolean;
    depth: number;
    leastLeaf: number;
    leaves: number;
    thresholds: number[];
    predictions: number[];
  }[];
  train: Part;
  test: Part;
  r2: { forest: number[]; extra: number[]; boosted: number[] };
};

const columnsOf = ({ numbers, name }: Omit<Part, 'target'>, names = true): Columns => ({
  count: name.length,
  values: [...numbers, ...(names ? [name] : [])].map((values) => Float64Array.from(values)),
  named: [...numbers.map(() => false), ...(names ? [true] : [])],
});

describe('a tree', () => {
  it.each(oracle.trees)('splits as scikit-learn does (names: $names)', async (expected) => {
    const { names, depth, leastLeaf } = expected;
    const columns = columnsOf(oracle.small, names);
    const target = Float64Array.from(oracle.small.target);
    const features = columns.values.length;
    const splitter = bestSplitter(columns, binColumns(columns), target, { leastLeaf, features }, new Random(0));
    const rows = Int32Array.from(target.keys());
    const tree = await growTree(columns, target, rows, splitter, { depth, leastLeaf }, openPace());
    expect(tree.column.filter((column) => column < 0)).toHaveLength(expected.leaves);
    const thresholds = [...tree.value].filter((_, node) => {
      const column = tree.column[node] as number;
      return column >= 0 && !columns.named[column];
    });
    expect(thresholds).toHaveLength(expected.thresholds.length);
    for (const [at, value] of thresholds.sort((a, b) => a - b).entries())
      expect(value).toBeCloseTo(expected.thresholds[at] as number, 6);
    const predicted = new Float64Array(oracle.asked.name.length);
    addTree(tree, columnsOf(oracle.asked, names), predicted, 1);
    for (const [at, value] of expected.predictions.entries()) expect(predicted[at]).toBeCloseTo(value, 9);
  });

  it('bins a column of many values without losing their order', () => {
    const values = Float64Array.from({ length: 5000 }, (_, at) => ((at * 7919) % 5000) / 100);
    const { bins, low, high } = binColumns({ count: values.length, values: [values], named: [false] });
    for (const [at, value] of values.entries()) {
      const bin = bins[0]?.[at] as number;
      expect(value).toBeGreaterThanOrEqual(low[0]?.[bin] as number);
      expect(value).toBeLessThanOrEqual(high[0]?.[bin] as number);
    }
    expect(low[0]).toHaveLength(255);
  });
});

describe('many trees', () => {
  const train = columnsOf(oracle.train);
  const target = Float64Array.from(oracle.train.target);
  const test = columnsOf(oracle.test);
  const r2 = (predicted: Float64Array): number => fitOf(oracle.test.target, [...predicted]).r2 ?? Number.NaN;
  /** Mean of our seeds within three standard errors (and what binning may cost) of the mean of scikit-learn's. */
  const expectAlike = (found: number[], expected: number[]): void => {
    const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(Math.abs(mean(found) - mean(expected))).toBeLessThan(0.01);
  };
  const seeds = [0, 1, 2];

  it('are as good as scikit-learn’s random forest', async () => {
    const settings = { trees: 100, splits: 'best', leastLeaf: 1, features: 1 } as const;
    const found: number[] = [];
    for (const seed of seeds)
      found.push(r2((await growForest(train, target, settings, new Random(seed), openPace())).predict(test)));
    expectAlike(found, oracle.r2.forest);
  });

  it('are as good as scikit-learn’s extra trees', async () => {
    const settings = { trees: 100, splits: 'random', leastLeaf: 1, features: 1 } as const;
    const found: number[] = [];
    for (const seed of seeds)
      found.push(r2((await growForest(train, target, settings, new Random(seed), openPace())).predict(test)));
    expectAlike(found, oracle.r2.extra);
  });

  it('are as good as scikit-learn’s boosted trees', async () => {
    const settings = {
      trees: 200,
      learningRate: 0.1,
      depth: 4,
      leastLeaf: 4,
      features: 0.6,
      shrinkage: 0,
      patience: 200,
    };
    const found: number[] = [];
    for (const seed of seeds)
      found.push(r2((await boostTrees(train, target, settings, seed, openPace())).predict(test)));
    expectAlike(found, oracle.r2.boosted);
  });

  it('are the same for the same seed, and end where the user cancels', async () => {
    const settings = { trees: 5, splits: 'random', leastLeaf: 1, features: 1 } as const;
    const one = await growForest(train, target, settings, new Random(4), openPace());
    const other = await growForest(train, target, settings, new Random(4), openPace());
    expect(one.predict(test)).toEqual(other.predict(test));
    const cancelled = AbortSignal.abort();
    await expect(
      growForest(train, target, { ...settings, trees: 2000 }, new Random(4), openPace(cancelled)),
    ).rejects.toBeInstanceOf(CancelledError);
  });
});
