/**
 * What of many texts is read once, and how. A beginning that several texts share can be
 *
 * - a prefix: read by itself and held once for whole batches of rows (shared-prefix.ts);
 * - a fork: one text is read in full, and others go on from a copy of its keys and values;
 * - read again with each text, where it is too short for either to pay.
 *
 * Costs are counted in positions: what one token more in a run costs.
 */
import { type PrefixNode, type Text, textsBelow } from './prefix-tree.ts';
import type { Continuing } from './trials.ts';

export interface ReadingCosts {
  /** What a run costs besides its tokens: reading all weights once. */
  run: number;
  /** How the graph reads several tokens behind a cache. */
  continuing: Continuing;
  /** A prefix is held once for all rows of a batch, else copied to each. */
  sharesPrefix: boolean;
  /** Rows of a batch. */
  rows: number;
  /** Steps of one token that each row takes behind its text. */
  steps: number;
  /** Short texts that go on from copies of rows may be more than `rows` in one run. */
  widensForks: boolean;
}

/** Where nothing is read behind anything. */
export const noCache: ReadingCosts = {
  run: 0,
  continuing: 'token',
  sharesPrefix: false,
  rows: 1,
  steps: 0,
  widensForks: false,
};

/**
 * What a run costs besides its tokens, in tokens. On a CPU: the weights are read once (SmolLM2-135M, packed, in ms of CPU
 * time by rows: 1: 17, 2: 19, 4: 22, 8: 25, 16: 29, 32: 38, so 0.7 a row and 24 rows; 37 where others use the memory's
 * bandwidth). On a device: its nodes are launched one by one.
 */
const runCosts = { many: 24, few: 256 } as const;

/** Costs for a provider and a graph. `exact`: rows of a cache share one length (KeyValueCache). */
export function readingCosts({
  shapes,
  exact,
  rows,
  ...costs
}: Omit<ReadingCosts, 'run' | 'widensForks'> & { shapes: keyof typeof runCosts; exact: boolean }): ReadingCosts {
  const widensForks = shapes === 'many' && costs.continuing === 'batch' && !exact;
  const found = { ...costs, run: runCosts[shapes], rows: Math.max(1, rows), widensForks };
  if (costs.continuing !== 'row' || !exact) return found;
  // Exact rows grow together, so those read one after the other cannot stand in one cache: texts that are scored go one
  // by one, those that go on together are read whole.
  return costs.steps === 0 ? { ...found, rows: 1 } : { ...found, continuing: 'token' };
}

/**
 * Copying a position's keys and values to another row, there and within ONNX Runtime, and attention over it, per row and
 * step; as shares of computing it. SmolLM2-135M, 2 threads: 92 KB copied against 0.2 GFLOP computed; a prefix of 900
 * tokens in each of 8 rows doubled the time of a step.
 */
const copyCost = 1 / 40;
const attendCost = 1 / 450;

interface Shared {
  texts: number;
  shared: number;
  rest: number;
  past?: number;
  alone: boolean;
}

/**
 * How texts are read that share `shared` tokens and have about `rest` own ones each behind them: what costs least.
 * `past`: positions before the shared ones that a copy takes along. `alone`: no other texts are waiting.
 */
export function howToShare(
  { run, continuing, sharesPrefix, rows, steps }: ReadingCosts,
  { texts, shared, rest, past = 0, alone }: Shared,
): 'prefix' | 'fork' | 'again' {
  if (texts < 2 || shared < 1) return 'again';
  // Behind a cache some graphs read one row at a time, or one token.
  const behind = { batch: run / rows, row: run, token: (run * rest) / Math.min(rows, texts) }[continuing];
  const attend = texts * steps * shared * attendCost;
  const again = texts * (shared + run / rows) + attend;
  // Rows of other beginnings do not fill up the last batch.
  const spare = alone ? 0 : (Math.ceil(texts / rows) - texts / rows) * run * (1 + steps);
  const copies = shared * copyCost;
  const prefix = shared + run + spare + texts * (behind + (sharesPrefix ? 0 : copies)) + (sharesPrefix ? 0 : attend);
  // Twice a share of a run: the forks' own runs are seldom full.
  const fork = shared + (2 * run) / rows + (texts - 1) * (behind + copies + past * copyCost) + attend;
  if (prefix <= fork && prefix < again) return 'prefix';
  return fork < again ? 'fork' : 'again';
}

/** Texts whose rows all begin with the same tokens, read once. */
export interface PrefixGroup {
  /** Tokens that are read once. */
  length: number;
  /** A text that begins with them. */
  text: number;
  /** What is read behind them, as trees. */
  nodes: PrefixNode[];
  /** Groups with longer beginnings, this one's included. */
  inner: PrefixGroup[];
}

const restOf = (node: PrefixNode, texts: readonly Text[], length: number): number => {
  const below = textsBelow(node);
  return below.reduce((sum, index) => sum + (texts[index]?.length ?? 0) - length, 0) / Math.max(1, below.length);
};

/** Prefixes within prefixes: each holds its own copy of what it begins with. */
const mostNested = 4;

/**
 * Which beginnings are read by themselves. `limits`: for each text how many of its tokens may belong to one, all others
 * being wanted in a row.
 */
export function planPrefixes(
  root: PrefixNode,
  texts: readonly Text[],
  limits: readonly number[],
  costs: ReadingCosts,
): PrefixGroup {
  const limitOf = new Map<PrefixNode, number>();
  const limit = (node: PrefixNode): number => {
    const known = limitOf.get(node);
    if (known !== undefined) return known;
    let least = node.depth;
    for (const end of node.ends) least = Math.min(least, limits[end] ?? 0);
    for (const child of node.children) least = Math.min(least, limit(child));
    limitOf.set(node, least);
    return least;
  };
  /** Rows that a subtree takes, where each text of generation is one. */
  const rowsOf = (node: PrefixNode): number => (costs.steps ? node.texts : node.leaves);
  const all = rowsOf(root);
  const pays = (node: PrefixNode, from: number): boolean => {
    const shared = limit(node) - from;
    if (shared < 1) return false;
    const rows = rowsOf(node);
    if (rows < 2) return false;
    const rest = costs.continuing === 'token' ? restOf(node, texts, limit(node)) : 0;
    return howToShare(costs, { texts: rows, shared, rest, alone: rows === all }) === 'prefix';
  };
  const paysBelow = (node: PrefixNode, from: number): boolean =>
    pays(node, from) || node.children.some((child) => paysBelow(child, from));
  const split = (node: PrefixNode, group: PrefixGroup, nested: number): void => {
    if (node.ends.length) group.nodes.push({ ...node, children: [], leaves: 1, texts: node.ends.length });
    for (const child of node.children) place(child, group, nested);
  };
  const settle = (node: PrefixNode, group: PrefixGroup, nested: number): void => {
    if (nested < mostNested && node.children.some((child) => paysBelow(child, group.length)))
      split(node, group, nested);
    else group.nodes.push(node);
  };
  const place = (node: PrefixNode, group: PrefixGroup, nested: number): void => {
    if (nested >= mostNested || !pays(node, group.length)) {
      settle(node, group, nested);
      return;
    }
    const inner: PrefixGroup = { length: limit(node), text: node.text, nodes: [], inner: [] };
    group.inner.push(inner);
    if (node.depth === inner.length) split(node, inner, nested + 1);
    else settle(node, inner, nested + 1);
  };
  const whole: PrefixGroup = { length: 0, text: root.text, nodes: [], inner: [] };
  settle(root, whole, 0);
  return whole;
}

/** Tokens [start, end) of a text that are read in one row, and what goes on from copies of it. */
export interface Branch {
  text: number;
  start: number;
  end: number;
  /** Texts whose tokens [from, to) are read here. */
  parts: { texts: readonly number[]; from: number; to: number }[];
  forks: Branch[];
}

/**
 * The rows that read a subtree behind `start` tokens of it, the longest way through it first in each. `held`: tokens that
 * are in no row, but in a prefix. `costs` null: nothing is read behind anything, and every leaf is a row.
 */
export function branchesOf(
  node: PrefixNode,
  start: number,
  costs: ReadingCosts | null,
  held: number = start,
): Branch[] {
  const part = (texts: readonly number[], to: number) => ({ texts, from: start, to });
  if (!node.children.length)
    return [{ text: node.text, start, end: node.depth, parts: [part(node.ends, node.depth)], forks: [] }];
  const shared = node.depth - start;
  const rest = node.children.reduce((sum, child) => sum + child.depth - node.depth, 0) / node.children.length;
  const texts = node.children.length;
  const apart =
    costs === null ||
    howToShare({ ...costs, steps: 0 }, { texts, shared, rest, past: start - held, alone: true }) === 'again';
  const inner = node.children.flatMap((child) => branchesOf(child, apart ? start : node.depth, costs, held));
  const [first] = inner;
  if (!first) throw new Error('A node with children has branches.');
  if (apart) {
    // What ends here is read in any of the rows.
    if (node.ends.length) first.parts.push(part(node.ends, node.depth));
    return inner;
  }
  const longest = inner.reduce((best, branch) => (branch.end > best.end ? branch : best), first);
  const others = inner.filter((branch) => branch !== longest);
  return [
    {
      ...longest,
      start,
      parts: [part(textsBelow(node), node.depth), ...longest.parts],
      forks: [...others, ...longest.forks],
    },
  ];
}

/**
 * Rows for runs, so that all of them cost least: a run reads as many positions of each row as its longest has, and costs
 * `run` besides. `lengths`: descending. `most`: rows that a run may have where its longest has so many positions.
 * @returns the number of rows of each run, in order
 */
export function partition(lengths: readonly number[], run: number, most: (longest: number) => number): number[] {
  // By how many of the lengths are read: the least cost, and the rows of the last run.
  const costs = new Float64Array(lengths.length + 1).fill(Number.POSITIVE_INFINITY);
  const rows = new Int32Array(lengths.length + 1);
  costs[0] = 0;
  for (const [from, longest] of lengths.entries()) {
    const before = (costs[from] ?? 0) + run;
    const limit = Math.min(lengths.length - from, Math.max(1, most(longest)));
    for (let count = 1; count <= limit; count++) {
      const cost = before + count * longest;
      // Where it makes no difference, fuller runs.
      if (cost > (costs[from + count] ?? 0)) continue;
      costs[from + count] = cost;
      rows[from + count] = count;
    }
  }
  const found: number[] = [];
  for (let end = lengths.length; end > 0; end -= found[0] ?? end) found.unshift(rows[end] ?? end);
  return found;
}
