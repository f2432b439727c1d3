/** The figures against scipy and statsmodels (test/metrics/oracle.py), and what the scores mean. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  comparePaired,
  formatBytes,
  formatInterval,
  formatPoints,
  formatSeconds,
  formatShare,
  formatTimeLeft,
  type JudgedItem,
  mcnemarExact,
  normalQuantile,
  pairedInterval,
  scores,
  share,
  splitGain,
  wilson,
} from '../../src/metrics/index.ts';

type Row = [number, number, number, number, number, number, number];
const oracle = JSON.parse(readFileSync(join(import.meta.dirname, 'oracle.json'), 'utf8')) as {
  wilson: Row[];
  mcnemar: Row[];
  differences: Row[];
  quantiles: Row[];
};

describe('intervals', () => {
  test.each(oracle.quantiles)('a share %f of a normal lies within ±%f', (confidence, z) => {
    expect(normalQuantile(confidence)).toBeCloseTo(z, 10);
  });
  test.each(oracle.wilson)('Wilson: %i of %i at %f', (count, n, confidence, low, high) => {
    const found = wilson(count, n, confidence);
    expect(found[0]).toBeCloseTo(low, 9);
    expect(found[1]).toBeCloseTo(high, 9);
  });
  test('no items: nothing is known', () => {
    expect(share(0, 0)).toEqual({ value: null, low: 0, high: 1, count: 0, n: 0 });
  });
});

describe('paired comparison', () => {
  test.each(oracle.mcnemar)('exact McNemar: %i against %i', (onlyA, onlyB, p) => {
    expect(mcnemarExact(onlyA, onlyB)).toBeCloseTo(p, 10);
  });
  test.each(oracle.differences)(
    'Tango: %i both, %i and %i alone, %i neither',
    (both, onlyA, onlyB, neither, difference, low, high) => {
      const a = [
        ...Array(both).fill(true),
        ...Array(onlyA).fill(true),
        ...Array(onlyB).fill(false),
        ...Array(neither).fill(false),
      ];
      const b = [
        ...Array(both).fill(true),
        ...Array(onlyA).fill(false),
        ...Array(onlyB).fill(true),
        ...Array(neither).fill(false),
      ];
      const found = comparePaired(a, b);
      expect(found.difference).toBeCloseTo(difference, 12);
      expect(found.low).toBeCloseTo(low, 8);
      expect(found.high).toBeCloseTo(high, 8);
    },
  );
  test('the interval turns round with the two lists', () => {
    const [low, high] = pairedInterval(3, 9, 40);
    const turned = pairedInterval(9, 3, 40);
    expect(turned[0]).toBeCloseTo(-high, 12);
    expect(turned[1]).toBeCloseTo(-low, 12);
  });
  test('lists of different items are refused', () => {
    expect(() => comparePaired([true], [])).toThrow(RangeError);
  });
});

const item = (inFormat: boolean, right: boolean, lenientRight: boolean, answer: string | null): JudgedItem => ({
  inFormat,
  right,
  lenientRight,
  cause: inFormat ? null : 'no answer found',
  lenient: { answer, span: null },
});

describe('scores', () => {
  const items = [
    item(true, true, true, 'a'),
    item(true, false, false, 'b'),
    item(false, false, true, 'a'),
    item(false, true, true, null),
  ];
  const golds = ['a', 'c', 'a', 'c'];
  const result = scores(items, {
    constantCandidates: ['a', 'b', 'c', 'a'],
    isRight: (i, answer) => golds[i] === answer,
    chance: 0.25,
  });

  test('F, S, K, L count what they say; right without the format does not count for S', () => {
    expect([result.F, result.S, result.K, result.L].map(({ count, n }) => [count, n])).toEqual([
      [2, 4],
      [1, 4],
      [1, 2],
      [3, 4],
    ]);
  });
  test('S = F × K', () => {
    expect((result.F.value ?? 0) * (result.K.value ?? 0)).toBeCloseTo(result.S.value ?? -1, 12);
  });
  test('beside them: the best constant answer, the commonest answer, chance, causes', () => {
    expect(result.constant).toMatchObject({ answer: 'a', share: { count: 2, n: 4 } });
    expect(result.commonest).toMatchObject({ answer: 'a', share: { count: 2, n: 4 } });
    expect(result.chance).toBe(0.25);
    expect(result.causes).toEqual({ 'no answer found': 2 });
    expect(result.LL).toBeNull();
  });
  test('LL counts over the items with candidates', () => {
    const choices = { texts: ['x', 'y'], logLikelihoods: [-1, -2], gold: 0, right: true, rightNormalised: false };
    const found = scores([{ ...item(true, true, true, 'x'), choices }, item(true, true, true, 'x')], {
      constantCandidates: [],
      isRight: () => false,
      chance: null,
    });
    expect(found.LL).toMatchObject({ count: 1, n: 1 });
    expect(found.constant).toBeNull();
  });
  test('K is unreliable where its interval is wider than ±5 points', () => {
    const many = (n: number) =>
      scores(
        Array.from({ length: n }, (_, i) => item(true, i % 2 === 0, true, 'a')),
        { constantCandidates: [], isRight: () => false, chance: null },
      );
    // Wilson's half width at 1/2 is z / (2 √(n + z²)): 0.0500 for n = 380.
    expect(many(370).K.unreliable).toBe(true);
    expect(many(390).K.unreliable).toBe(false);
    expect(scores([], { constantCandidates: ['a'], isRight: () => true, chance: null }).K).toMatchObject({
      value: null,
      unreliable: true,
    });
  });
});

describe('the split of a gain', () => {
  const run = (n: number, inFormat: number, right: number) =>
    scores(
      Array.from({ length: n }, (_, i) => item(i < inFormat, i < right, true, 'a')),
      { constantCandidates: [], isRight: () => false, chance: null },
    );
  test('ΔS = K̄·ΔF + F̄·ΔK', () => {
    // F 0.2 → 0.9, K 0.5 → 2/3: S 0.1 → 0.6; K̄ = 7/12, F̄ = 0.55.
    const gain = splitGain(run(100, 20, 10), run(100, 90, 60));
    expect(gain?.total).toBeCloseTo(0.5, 12);
    expect(gain?.format).toBeCloseTo((7 / 12) * 0.7, 12);
    expect(gain?.knowledge).toBeCloseTo(0.55 * (2 / 3 - 0.5), 12);
    expect((gain?.format ?? 0) + (gain?.knowledge ?? 0)).toBeCloseTo(gain?.total ?? 0, 12);
  });
  test('from nothing in the format, all of the gain is format', () => {
    expect(splitGain(run(10, 0, 0), run(10, 8, 4))).toEqual({
      total: 0.4,
      format: 0.4,
      knowledge: 0,
      knowledgeMeasured: false,
    });
  });
  test('without items there is no gain', () => {
    expect(splitGain(run(0, 0, 0), run(10, 8, 4))).toBeNull();
  });
});

describe('figures in words', () => {
  test('the interval decides the digits', () => {
    expect(formatShare(share(61, 100))).toBe('61 %');
    expect(formatInterval(share(61, 100))).toBe('51–70 %');
    expect(formatShare(share(61_234, 100_000))).toBe('61.2 %');
    expect(formatShare(share(0, 0))).toBe('–');
  });
  test('differences have a sign, zero has none', () => {
    expect([0.21, -0.054, 0.00001, -0.00001].map((value) => formatPoints(value))).toEqual([
      '+21.0',
      '−5.4',
      '0.0',
      '0.0',
    ]);
  });
  test('durations', () => {
    expect([4.04, 9.96, 59.6, 125, 3780, 7199].map(formatSeconds)).toEqual([
      '4.0 s',
      '10 s',
      '1 min',
      '2 min 5 s',
      '1 h 3 min',
      '2 h',
    ]);
    expect(formatSeconds(Number.NaN)).toBe('–');
  });
  test('time left is coarse', () => {
    expect([3, 22, 90, 3590, 5400].map(formatTimeLeft)).toEqual([
      'a few seconds left',
      'about 20 s left',
      'about 2 min left',
      'about 1 h left',
      'about 1 h 30 min left',
    ]);
  });
  test.each([
    [512, '512 B'],
    [1_250_000, '1.3 MB'],
    [538_000_000, '538 MB'],
  ])('%s bytes: %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});
