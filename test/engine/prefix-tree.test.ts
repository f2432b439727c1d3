import { describe, expect, it } from 'vitest';
import { type PrefixNode, prefixTree, textsBelow } from '../../src/engine/prefix-tree.ts';
import {
  type Branch,
  branchesOf,
  howToShare,
  type PrefixGroup,
  partition,
  planPrefixes,
  type ReadingCosts,
} from '../../src/engine/reading-plan.ts';

/** Pseudo-random integers below `below`: a linear congruential generator (Numerical Recipes). */
function integers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Texts that begin with one another in all sorts of ways, copies included. */
function someTexts(seed: number, count: number): number[][] {
  const next = integers(seed);
  const texts: number[][] = [];
  for (let index = 0; index < count; index++) {
    const before = texts[next(Math.max(1, texts.length))] ?? [];
    const kept = before.slice(0, next(before.length + 1));
    texts.push([...kept, ...Array.from({ length: next(6) + (kept.length ? 0 : 1) }, () => next(3))]);
  }
  return texts;
}

const beginning = (a: readonly number[], b: readonly number[]): number => {
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return same;
};

const costs: ReadingCosts = { run: 16, continuing: 'batch', sharesPrefix: true, rows: 8, steps: 0, widensForks: false };

describe('the tree of what texts begin with', () => {
  it.each([1, 2, 3, 4, 5, 6])('says of any two texts how many tokens they share (seed %i)', (seed) => {
    const texts = someTexts(seed, 40);
    const root = prefixTree(texts);
    const found = new Map<string, number>();
    const visit = (node: PrefixNode): void => {
      const below = textsBelow(node);
      expect(node.texts).toBe(below.length);
      for (const a of below) for (const b of below) found.set(`${a} ${b}`, node.depth);
      for (const child of node.children) {
        expect(child.depth).toBeGreaterThan(node.depth);
        visit(child);
      }
      expect(node === root || node.children.length !== 1 || node.ends.length > 0).toBe(true);
    };
    visit(root);
    for (const [a, one] of texts.entries())
      for (const [b, other] of texts.entries())
        expect(found.get(`${a} ${b}`)).toBe(a === b ? one.length : beginning(one, other));
    expect(textsBelow(root).sort((a, b) => a - b)).toEqual([...texts.keys()]);
  });

  it('is the same for texts in another order', () => {
    const texts = someTexts(9, 30);
    const shape = (node: PrefixNode, of: readonly number[][]): unknown => [
      of[node.text]?.slice(0, node.depth),
      node.ends.length,
      node.children.map((child) => shape(child, of)),
    ];
    const turned = [...texts].reverse();
    expect(shape(prefixTree(turned), turned)).toEqual(shape(prefixTree(texts), texts));
  });
});

describe('the plan', () => {
  const plans: [string, ReadingCosts | null][] = [
    ['batches', costs],
    ['rows one by one behind a cache', { ...costs, continuing: 'row' }],
    ['token by token', { ...costs, continuing: 'token' }],
    ['dear runs', { ...costs, run: 256 }],
    ['runs for nothing', { ...costs, run: 0.01 }],
    ['no cache', null],
  ];
  it.each(plans)('reads every token of every text once in its row: %s', (_, chosen) => {
    for (const seed of [11, 12, 13, 14]) {
      const texts = someTexts(seed, 60);
      const tree = prefixTree(texts);
      const limits = texts.map(({ length }) => Math.max(0, length - 2));
      const read = texts.map(() => new Map<number, number>());
      const follow = (branch: Branch, from: number): void => {
        expect(branch.start).toBeGreaterThanOrEqual(0);
        expect(branch.end).toBe(texts[branch.text]?.length);
        for (const part of branch.parts) {
          expect(part.from).toBeGreaterThanOrEqual(branch.start);
          expect(part.to).toBeLessThanOrEqual(branch.end);
          for (const index of part.texts) {
            const [mine, its] = [texts[index] ?? [], texts[branch.text] ?? []];
            expect(mine.slice(0, part.to)).toEqual(its.slice(0, part.to));
            for (let at = part.from; at < part.to; at++) read[index]?.set(at, (read[index]?.get(at) ?? 0) + 1);
          }
        }
        for (const fork of branch.forks) {
          // It goes on from what its parent has read by then.
          expect(fork.start).toBeLessThanOrEqual(branch.end);
          expect(fork.start).toBeGreaterThanOrEqual(from);
          expect(texts[fork.text]?.slice(0, fork.start)).toEqual(texts[branch.text]?.slice(0, fork.start));
          follow(fork, from);
        }
      };
      const visit = (group: PrefixGroup): void => {
        for (const node of group.nodes) {
          for (const index of textsBelow(node)) {
            expect(texts[index]?.slice(0, group.length)).toEqual(texts[group.text]?.slice(0, group.length));
            expect(group.length).toBeLessThanOrEqual(limits[index] ?? 0);
            for (let at = 0; at < group.length; at++) read[index]?.set(at, 1);
          }
          for (const branch of branchesOf(node, group.length, chosen)) follow(branch, group.length);
        }
        for (const inner of group.inner) {
          expect(inner.length).toBeGreaterThan(group.length);
          visit(inner);
        }
      };
      visit(chosen ? planPrefixes(tree, texts, limits, chosen) : { length: 0, text: 0, nodes: [tree], inner: [] });
      for (const [index, text] of texts.entries())
        expect([...(read[index] ?? [])].sort(([a], [b]) => a - b)).toEqual(text.map((_, at) => [at, 1]));
    }
  });

  const words = (seed: number, length: number): number[] => {
    const next = integers(seed);
    return Array.from({ length }, () => next(50_000));
  };
  const groupsOf = (group: PrefixGroup): number[] => [group.length, ...group.inner.flatMap(groupsOf)];

  it('finds a description and the blocks of examples of several groups of items', () => {
    const description = words(1, 30);
    const texts = [2, 3, 4].flatMap((block) =>
      Array.from({ length: 20 }, (_, item) => [...description, ...words(block, 300), ...words(100 * block + item, 40)]),
    );
    const limits = texts.map(({ length }) => length - 5);
    const plan = planPrefixes(prefixTree(texts), texts, limits, costs);
    expect(groupsOf(plan)).toEqual([0, 30, 330, 330, 330]);
    const generation = planPrefixes(prefixTree(texts), texts, limits, { ...costs, steps: 32 });
    expect(groupsOf(generation)).toEqual([0, 30, 330, 330, 330]);
  });

  it('forks the choices of a question, and begins every question with the examples', () => {
    const examples = words(1, 200);
    const texts = Array.from({ length: 12 }, (_, item) => [...examples, ...words(10 + item, 40)]).flatMap(
      (context, item) => [1, 2, 3, 4].map((choice) => [...context, ...words(1000 + 10 * item + choice, 4)]),
    );
    const plan = planPrefixes(
      prefixTree(texts),
      texts,
      texts.map(() => 239),
      costs,
    );
    expect(groupsOf(plan)).toEqual([0, 200]);
    const branches = plan.inner.flatMap(({ nodes, length }) =>
      nodes.flatMap((node) => branchesOf(node, length, costs)),
    );
    expect(branches.map(({ start, end, forks }) => [start, end, forks.map((fork) => [fork.start, fork.end])])).toEqual(
      Array.from({ length: 12 }, () => [
        200,
        244,
        [
          [240, 244],
          [240, 244],
          [240, 244],
        ],
      ]),
    );
  });

  it('does not split where that costs more than it saves', () => {
    expect(howToShare(costs, { texts: 2, shared: 1, rest: 30, alone: false })).toBe('again');
    expect(howToShare(costs, { texts: 4, shared: 60, rest: 4, alone: false })).toBe('fork');
    expect(howToShare(costs, { texts: 40, shared: 600, rest: 40, alone: true })).toBe('prefix');
    // Read token by token, the rest costs more than the beginning.
    const token: ReadingCosts = { ...costs, continuing: 'token' };
    expect(howToShare(token, { texts: 8, shared: 20, rest: 40, alone: true })).toBe('again');
    expect(howToShare(token, { texts: 40, shared: 600, rest: 2, alone: true })).not.toBe('again');
  });
});

describe('rows of one run', () => {
  /** All ways to cut `count` rows into runs. */
  function* cuts(count: number): Generator<number[]> {
    if (count === 0) yield [];
    for (let first = 1; first <= count; first++) for (const rest of cuts(count - first)) yield [first, ...rest];
  }

  it.each([1, 2, 3, 4, 5, 6])('cost as little as the best of all ways to cut them (seed %i)', (seed) => {
    const next = integers(seed);
    const lengths = Array.from({ length: 12 }, () => 1 + next(30)).sort((a, b) => b - a);
    const run = next(40);
    const most = (longest: number): number => 2 + Math.floor(40 / longest);
    const costOf = (rows: readonly number[]): number => {
      let [from, cost] = [0, 0];
      for (const count of rows) {
        const longest = lengths[from] ?? 0;
        cost += count > most(longest) ? Number.POSITIVE_INFINITY : run + count * longest;
        from += count;
      }
      return from === lengths.length ? cost : Number.POSITIVE_INFINITY;
    };
    expect(costOf(partition(lengths, run, most))).toBe(Math.min(...[...cuts(lengths.length)].map(costOf)));
  });

  it('are few where reading the weights costs most, and one where it costs nothing', () => {
    expect(partition([9, 5, 5, 2], 1000, () => 3)).toEqual([1, 3]);
    expect(partition([9, 5, 2], 0, () => 3)).toEqual([1, 1, 1]);
    expect(partition([], 5, () => 3)).toEqual([]);
  });
});
