/** Forests: means of many trees (Breiman 2001; Geurts, Ernst and Wehenkel 2006). */
import type { Random } from '../../shared/random.ts';
import { inTurns, turnsAt } from '../turn.ts';
import type { Pace } from './pace.ts';
import { addTree, bestSplitter, binSteps, type Columns, growTree, randomSplitter, type Tree } from './tree.ts';

export interface ForestSettings {
  trees: number;
  /** `best`: best splits of bootstrap samples (random forest); `random`: random splits of all rows (extra trees). */
  splits: 'best' | 'random';
  leastLeaf: number;
  /** Share of the columns that a split may choose among. */
  features: number;
}

export interface Forest {
  predict(columns: Columns): Float64Array;
}

export async function growForest(
  columns: Columns,
  target: Float64Array,
  { trees, splits, leastLeaf, features }: ForestSettings,
  random: Random,
  pace: Pace,
  progress?: (done: number) => void,
): Promise<Forest> {
  const n = columns.count;
  const drawn = Math.max(1, Math.round(features * columns.values.length));
  const settings = { leastLeaf, features: drawn };
  const splitter =
    splits === 'best'
      ? bestSplitter(columns, await inTurns(binSteps(columns), turnsAt(pace)), target, settings, random)
      : randomSplitter(columns, target, settings, random);
  const grown: Tree[] = [];
  for (let tree = 0; tree < trees; tree++) {
    const rows = Int32Array.from({ length: n }, (_, at) => (splits === 'best' ? random.below(n) : at));
    grown.push(await growTree(columns, target, rows, splitter, { leastLeaf, depth: Number.POSITIVE_INFINITY }, pace));
    progress?.((tree + 1) / trees);
  }
  return {
    predict(asked) {
      const out = new Float64Array(asked.count);
      for (const tree of grown) addTree(tree, asked, out, 1 / trees);
      return out;
    },
  };
}
