/** Gradient-boosted trees for the squared error (Friedman 2001), with histograms, shrinkage of leaves and early stopping. */
import { Random } from '../../shared/random.ts';
import { inTurns, turnsAt } from '../turn.ts';
import type { Pace } from './pace.ts';
import { addTree, bestSplitter, binSteps, type Columns, growTree, type Tree } from './tree.ts';

export interface BoostingSettings {
  /** At most. */
  trees: number;
  learningRate: number;
  depth: number;
  leastLeaf: number;
  /** Share of the columns that a split may choose among. */
  features: number;
  /** Of leaves towards 0, in rows (λ of XGBoost). */
  shrinkage: number;
  /** Trees without a better development error after which it ends. */
  patience: number;
}

export interface Boosted {
  trees: number;
  predict(columns: Columns): Float64Array;
}

/** @param development decides how many trees are kept; all where there is none */
export async function boostTrees(
  columns: Columns,
  target: Float64Array,
  settings: BoostingSettings,
  seed: number,
  pace: Pace,
  development?: { columns: Columns; target: Float64Array },
  progress?: (done: number) => void,
): Promise<Boosted> {
  const { trees, learningRate, depth, leastLeaf, shrinkage, patience } = settings;
  const random = new Random(seed);
  const n = columns.count;
  const start = target.reduce((sum, value) => sum + value, 0) / Math.max(1, n);
  const residual = target.map((value) => value - start);
  const features = Math.max(1, Math.round(settings.features * columns.values.length));
  const bins = await inTurns(binSteps(columns), turnsAt(pace));
  const splitter = bestSplitter(columns, bins, residual, { leastLeaf, features, shrinkage }, random);
  const grown: Tree[] = [];
  const developed = new Float64Array(development?.columns.count ?? 0).fill(start);
  let best = { error: Number.POSITIVE_INFINITY, trees };
  for (let tree = 0; tree < trees; tree++) {
    const rows = Int32Array.from({ length: n }, (_, at) => at);
    const one = await growTree(columns, residual, rows, splitter, { leastLeaf, depth }, pace, shrinkage);
    grown.push(one);
    if (pace.due()) await pace.pause();
    addTree(one, columns, residual, -learningRate);
    progress?.((tree + 1) / trees);
    if (!development || developed.length === 0) continue;
    addTree(one, development.columns, developed, learningRate);
    const error = developed.reduce((sum, value, at) => sum + (value - (development.target[at] as number)) ** 2, 0);
    if (error < best.error) best = { error, trees: tree + 1 };
    else if (tree + 1 - best.trees >= patience) break;
  }
  const kept = grown.slice(0, best.trees);
  return {
    trees: kept.length,
    predict(asked) {
      const out = new Float64Array(asked.count).fill(start);
      for (const tree of kept) addTree(tree, asked, out, learningRate);
      return out;
    },
  };
}
