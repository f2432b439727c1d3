// Oracle: statsmodels and scipy; made by make/oracle.py.
import { describe, expect, it } from 'vitest';
import {
  comparePaired,
  formatInterval,
  formatPoints,
  formatSeconds,
  formatShare,
  type JudgedItem,
  mcnemarExact,
  scores,
  share,
  splitGain,
  wilson,
} from '../../src/metrics/index.ts';
import oracle from './oracle.json' with { type: 'json' };

describe('Wilson interval', () => {
  it.each(oracle.wilson)('of $count in $n equals statsmodels', ({ count, n, low, high }) => {
    const [ourLow, ourHigh] = wilson(count, n);
    expect(ourLow).toBeCloseTo(low, 10);
    expect(ourHigh).toBeCloseTo(high, 10);
  });
  it('says nothing about nothing', () => {
    expect(share(0, 0)).toEqual({ value: null, low: 0, high: 1, count: 0, n: 0 });
  });
});

describe('paired comparison', () => {
  it.each(oracle.mcnemar)('exact McNemar of $onlyA against $onlyB equals statsmodels', ({ onlyA, onlyB, p }) => {
    expect(mcnemarExact(onlyA, onlyB)).toBeCloseTo(p, 8);
  });
  it.each(oracle.differences)(
    'difference and interval equal those of the paired differences (#%#)',
    ({ a, b, mean, low, high }) => {
      const result = comparePaired(a.map(Boolean), b.map(Boolean));
      expect(result.difference).toBeCloseTo(mean, 12);
      expect(result.low).toBeCloseTo(low, 10);
      expect(result.high).toBeCloseTo(high, 10);
    },
  );
  it('refuses lists of different length', () => {
    expect(() => comparePaired([true], [])).toThrow(RangeError);
  });
});

const item = (
  inFormat: boolean,
  right: boolean,
  answer: string | null,
  cause: JudgedItem['cause'] = null,
): JudgedItem => ({
  inFormat,
  right: inFormat && right,
  lenientRight: right,
  cause,
  lenient: { answer, span: null },
});

describe('scores', () => {
  // Ten items: four in the format (three right), six not (two of them leniently right).
  const golds = ['a', 'a', 'a', 'b', 'a', 'b', 'c', 'c', 'a', 'b'];
  const items = [
    item(true, true, 'a'),
    item(true, true, 'a'),
    item(true, true, 'a'),
    item(true, false, 'a'),
    item(false, true, 'a', 'ran on'),
    item(false, true, 'b', 'ran on'),
    item(false, false, 'a', 'ran on'),
    item(false, false, null, 'empty output'),
    item(false, false, null, 'empty output'),
    item(false, false, 'a', 'stopped by length'),
  ];
  const result = scores(items, {
    constantCandidates: ['b', 'a', 'c'],
    isRight: (position, answer) => golds[position] === answer,
    chance: 1 / 3,
  });

  it('counts F, S, K and L by their definitions', () => {
    expect(result.F).toMatchObject({ value: 0.4, count: 4, n: 10 });
    expect(result.S).toMatchObject({ value: 0.3, count: 3, n: 10 });
    expect(result.K).toMatchObject({ value: 0.75, count: 3, n: 4 });
    expect(result.L).toMatchObject({ value: 0.5, count: 5, n: 10 });
    expect(result.LL).toBeNull();
    expect((result.F.value ?? 0) * (result.K.value ?? 0)).toBeCloseTo(result.S.value ?? -1, 12);
  });
  it('calls K of four items unreliable, and of many items not', () => {
    expect(result.K.unreliable).toBe(true);
    const many = Array.from({ length: 2000 }, (_, i) => item(true, i % 2 === 0, 'a'));
    expect(scores(many, { constantCandidates: [], isRight: () => false, chance: null }).K.unreliable).toBe(false);
  });
  it('says what the best constant answer and the commonest answer are', () => {
    expect(result.constant).toMatchObject({ answer: 'a', share: { count: 5 } });
    expect(result.commonest).toMatchObject({ answer: 'a', share: { count: 7 } });
  });
  it('counts causes', () => {
    expect(result.causes).toEqual({ 'ran on': 3, 'empty output': 2, 'stopped by length': 1 });
  });
  it('a run without items has no values and does not fail', () => {
    const empty = scores([], { constantCandidates: ['a'], isRight: () => true, chance: null });
    expect(empty.F.value).toBeNull();
    expect(empty.constant).toBeNull();
  });
});

describe('splitGain', () => {
  const of = (inFormat: number, right: number, n = 100) =>
    scores(
      Array.from({ length: n }, (_, i) => item(i < inFormat, i < right, null)),
      { constantCandidates: [], isRight: () => false, chance: null },
    );
  it('parts add up to the gain', () => {
    const split = splitGain(of(20, 10), of(90, 63));
    expect(split?.total).toBeCloseTo(0.53, 12);
    // K̄ = (0.5 + 0.7) / 2, ΔF = 0.7; F̄ = 0.55, ΔK = 0.2
    expect(split?.format).toBeCloseTo(0.42, 12);
    expect(split?.knowledge).toBeCloseTo(0.11, 12);
  });
  it('from nothing in the format all of the gain is format', () => {
    expect(splitGain(of(0, 0), of(100, 40))).toEqual({ total: 0.4, format: 0.4, knowledge: 0 });
  });
});

describe('figures in words', () => {
  it('the interval decides the digits', () => {
    expect(formatShare(share(61, 100))).toBe('61 %');
    expect(formatShare(share(61234, 100000))).toBe('61.2 %');
    expect(formatInterval(share(61, 100))).toBe('51–70 %');
    expect(formatShare(share(0, 0))).toBe('–');
  });
  it('differences carry their sign', () => {
    expect([formatPoints(0.21), formatPoints(-0.034), formatPoints(0.0001)]).toEqual(['+21.0', '−3.4', '0.0']);
  });
  it('seconds read as people say them', () => {
    expect([3.04, 59.6, 60, 125, 3600, 3790].map(formatSeconds)).toEqual([
      '3.0 s',
      '1 min',
      '1 min',
      '2 min 5 s',
      '1 h',
      '1 h 3 min',
    ]);
  });
});
