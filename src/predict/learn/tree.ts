/**
 * Regression trees (Breiman, Friedman, Olshen and Stone 1984) over columns of numbers and of names: what forests and boosting
 * are made of. A split minimises the squared error of the two sides' means. Names are split one against the rest, which is
 * what a tree over one-hot columns can do, without the columns.
 */
import type { Random } from '../../shared/random.ts';
import { atOnce, type Steps } from '../turn.ts';
import type { Pace } from './pace.ts';

/** What a tree is grown on and asked about. */
export interface Columns {
  count: number;
  /** A list of `count` values a column. */
  values: readonly Float64Array[];
  /** Of each column: whether its values are codes of names (−1: not known) rather than numbers. */
  named: readonly boolean[];
}

/** Nodes in order; children of a node stand one behind the other. */
export interface Tree {
  /** Column that the node splits by; −1: a leaf. */
  column: Int32Array;
  /** At a split: numbers up to it go left, and names equal to it. At a leaf: its value. */
  value: Float64Array;
  /** Left child. */
  child: Int32Array;
}

export interface Split {
  column: number;
  value: number;
  /** Squared error that it saves. */
  gain: number;
}

/** Finds how to split the rows `from` … `to` of `rows`, whose targets sum up to `sum`; null where nothing can be saved. */
export type Splitter = (rows: Int32Array, from: number, to: number, sum: number) => Split | null;

export interface TreeSettings {
  /** Rows that a leaf has at least. */
  leastLeaf: number;
  /** Splits from the root to a leaf, at most. */
  depth: number;
}

/**
 * Grows a tree, the nodes breadth first.
 * @param rows positions that it learns from (a row may stand there several times); reordered
 * @param shrinkage of a leaf's value towards 0, in rows
 */
export async function growTree(
  columns: Columns,
  target: Float64Array,
  rows: Int32Array,
  splitter: Splitter,
  { leastLeaf, depth }: TreeSettings,
  pace: Pace,
  shrinkage = 0,
): Promise<Tree> {
  const column: number[] = [-1];
  const value: number[] = [0];
  const child: number[] = [0];
  const open = [{ node: 0, from: 0, to: rows.length, level: 0 }];
  for (let at = 0; at < open.length; at++) {
    const { node, from, to, level } = open[at] as (typeof open)[number];
    let sum = 0;
    for (let i = from; i < to; i++) sum += target[rows[i] as number] as number;
    value[node] = to > from ? sum / (to - from + shrinkage) : 0;
    if (level >= depth || to - from < 2 * leastLeaf || to - from < 2) continue;
    if (pace.due()) await pace.pause();
    const split = splitter(rows, from, to, sum);
    if (!split) continue;
    const middle = partition(columns, split, rows, from, to);
    if (middle === from || middle === to) continue;
    column[node] = split.column;
    value[node] = split.value;
    child[node] = column.length;
    for (const [low, high] of [
      [from, middle],
      [middle, to],
    ] as const) {
      open.push({ node: column.length, from: low, to: high, level: level + 1 });
      column.push(-1);
      value.push(0);
      child.push(0);
    }
  }
  return { column: Int32Array.from(column), value: Float64Array.from(value), child: Int32Array.from(child) };
}

function partition(columns: Columns, { column, value }: Split, rows: Int32Array, from: number, to: number): number {
  const values = columns.values[column] as Float64Array;
  const named = columns.named[column] as boolean;
  let low = from;
  let high = to;
  while (low < high) {
    const row = rows[low] as number;
    const one = values[row] as number;
    if (named ? one === value : one <= value) low++;
    else {
      high--;
      rows[low] = rows[high] as number;
      rows[high] = row;
    }
  }
  return low;
}

/** Adds `scale` × the tree's values to `out`. */
export function addTree(tree: Tree, { count, values, named }: Columns, out: Float64Array, scale: number): void {
  const { column, value, child } = tree;
  for (let row = 0; row < count; row++) {
    let node = 0;
    for (let by = column[0] as number; by >= 0; by = column[node] as number) {
      const one = (values[by] as Float64Array)[row] as number;
      const left = named[by] ? one === value[node] : one <= (value[node] as number);
      node = (child[node] as number) + (left ? 0 : 1);
    }
    out[row] = (out[row] as number) + scale * (value[node] as number);
  }
}

/** Values of columns in at most 255 bins, for the search of best splits. */
export interface Bins {
  /** Bin of each row, a list a column. */
  bins: readonly Uint16Array[];
  /** Of each column: the smallest and the largest value of each bin. Names have a bin each. */
  low: readonly Float64Array[];
  high: readonly Float64Array[];
}

const mostBins = 255;

/** Where a column has few distinct values each is a bin; else bins are quantiles. */
export const binColumns = (columns: Columns): Bins => atOnce(binSteps(columns));

/** The same in steps. */
export function* binSteps({ count, values, named }: Columns): Steps<Bins> {
  const low: Float64Array[] = [];
  const high: Float64Array[] = [];
  const bins: Uint16Array[] = [];
  for (const [at, column] of values.entries()) {
    yield;
    const sorted = column.slice().sort();
    const distinct = sorted.filter((value, i) => i === 0 || value !== sorted[i - 1]);
    let edges = distinct;
    if (!named[at] && distinct.length > mostBins) {
      const cuts = Float64Array.from(
        { length: mostBins },
        (_, k) => sorted[Math.floor((k * count) / mostBins)] as number,
      );
      edges = cuts.filter((value, i) => i === 0 || value !== cuts[i - 1]);
    }
    const last = Float64Array.from(edges);
    const of = new Uint16Array(count);
    for (let row = 0; row < count; row++) {
      const value = column[row] as number;
      let below = 0;
      let above = edges.length - 1;
      while (below < above) {
        const middle = (below + above + 1) >> 1;
        if ((edges[middle] as number) <= value) below = middle;
        else above = middle - 1;
      }
      of[row] = below;
      if (value > (last[below] as number)) last[below] = value;
    }
    low.push(edges);
    high.push(last);
    bins.push(of);
  }
  return { bins, low, high };
}

/**
 * The best split over `features` columns, drawn anew for each split.
 * @param features all where it is the number of columns
 */
export function bestSplitter(
  columns: Columns,
  { bins, low, high }: Bins,
  target: Float64Array,
  { leastLeaf, features, shrinkage = 0 }: { leastLeaf: number; features: number; shrinkage?: number },
  random: Random,
): Splitter {
  const widest = Math.max(1, ...low.map(({ length }) => length));
  const sums = new Float64Array(widest);
  const counts = new Int32Array(widest);
  const draw = columnDraw(columns.values.length, random);
  return (rows, from, to, sum) => {
    const n = to - from;
    const whole = (sum * sum) / (n + shrinkage);
    // Gains of rounding are none.
    const least = 1e-12 * Math.max(1e-12, whole);
    let best: Split | null = null;
    const consider = (column: number, value: number, left: number, leftSum: number): void => {
      if (left < leastLeaf || n - left < leastLeaf) return;
      const rightSum = sum - leftSum;
      const gain = (leftSum * leftSum) / (left + shrinkage) + (rightSum * rightSum) / (n - left + shrinkage) - whole;
      if (gain > least && gain > (best?.gain ?? 0)) best = { column, value, gain };
    };
    for (const column of draw(features)) {
      const of = bins[column] as Uint16Array;
      const lows = low[column] as Float64Array;
      let smallest = widest;
      let largest = 0;
      for (let i = from; i < to; i++) {
        const row = rows[i] as number;
        const bin = of[row] as number;
        sums[bin] = (sums[bin] as number) + (target[row] as number);
        counts[bin] = (counts[bin] as number) + 1;
        if (bin < smallest) smallest = bin;
        if (bin > largest) largest = bin;
      }
      if (smallest < largest) {
        if (columns.named[column]) {
          for (let bin = smallest; bin <= largest; bin++)
            if (counts[bin]) consider(column, lows[bin] as number, counts[bin] as number, sums[bin] as number);
        } else {
          let left = 0;
          let leftSum = 0;
          let before = -1;
          for (let bin = smallest; bin <= largest; bin++) {
            if (!counts[bin]) continue;
            if (before >= 0) {
              const end = (high[column] as Float64Array)[before] as number;
              const middle = end + ((lows[bin] as number) - end) / 2;
              consider(column, middle, left, leftSum);
            }
            left += counts[bin] as number;
            leftSum += sums[bin] as number;
            before = bin;
          }
        }
      }
      sums.fill(0, smallest, largest + 1);
      counts.fill(0, smallest, largest + 1);
    }
    return best;
  };
}

/** The best of one random split a column (Geurts, Ernst and Wehenkel 2006: extremely randomised trees). */
export function randomSplitter(
  { values, named }: Columns,
  target: Float64Array,
  { leastLeaf, features }: { leastLeaf: number; features: number },
  random: Random,
): Splitter {
  const draw = columnDraw(values.length, random);
  return (rows, from, to, sum) => {
    const n = to - from;
    const whole = (sum * sum) / n;
    const least = 1e-12 * Math.max(1e-12, whole);
    let best: Split | null = null;
    let useful = 0;
    // Columns that are constant here do not count among the drawn ones.
    for (const column of draw(values.length)) {
      if (useful === features) break;
      const of = values[column] as Float64Array;
      let low = Number.POSITIVE_INFINITY;
      let high = Number.NEGATIVE_INFINITY;
      for (let i = from; i < to; i++) {
        const value = of[rows[i] as number] as number;
        if (value < low) low = value;
        if (value > high) high = value;
      }
      if (low === high) continue;
      useful++;
      const name = named[column] as boolean;
      const value = name
        ? (of[rows[from + random.below(n)] as number] as number)
        : low + random.uniform() * (high - low);
      let left = 0;
      let leftSum = 0;
      for (let i = from; i < to; i++) {
        const row = rows[i] as number;
        const one = of[row] as number;
        if (name ? one !== value : one > value) continue;
        left++;
        leftSum += target[row] as number;
      }
      if (left < leastLeaf || n - left < leastLeaf) continue;
      const gain = (leftSum * leftSum) / left + (sum - leftSum) ** 2 / (n - left) - whole;
      if (gain > least && gain > (best?.gain ?? 0)) best = { column, value, gain };
    }
    return best;
  };
}

/** The first columns of a random order; all, in their order, where all are asked for and order does not matter. */
function columnDraw(columns: number, random: Random): (count: number) => Int32Array {
  const order = Int32Array.from({ length: columns }, (_, at) => at);
  return (count) => {
    const drawn = Math.min(count, columns);
    for (let i = 0; i < drawn; i++) {
      const j = i + random.below(columns - i);
      const kept = order[i] as number;
      order[i] = order[j] as number;
      order[j] = kept;
    }
    return drawn === columns ? order : order.subarray(0, drawn);
  };
}
