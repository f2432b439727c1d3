/** Scores and paired tests without some items are those of a run that never had them. */
import { describe, expect, it } from 'vitest';
import { compareRuns, compareWithout, scores, scoresWithout, verdictCodes } from '../../src/metrics/index.ts';
import { Random } from '../../src/shared/random.ts';
import type { ItemRecord } from '../../src/shared/results.ts';
import { sampleItem } from '../runs/sample.ts';

const random = new Random(3);
const record = (index: number, generated: boolean): ItemRecord => {
  const [inFormat, right, lenientRight] = [random.below(2), random.below(2), random.below(2)].map(Boolean);
  return {
    ...sampleItem(index),
    inFormat: inFormat ?? false,
    right: right ?? false,
    lenientRight: lenientRight ?? false,
    cause: null,
    ...(!generated && {
      generated: false as const,
      choices: { texts: ['a', 'b'], logLikelihoods: [-1, -2], gold: 0, right: right ?? false, rightNormalised: false },
    }),
  };
};
const options = { constantCandidates: [], isRight: () => false, chance: null };

describe.each([true, false])('items that are left out (generated: %s)', (generated) => {
  const a = Array.from({ length: 60 }, (_, index) => record(index, generated));
  const b = Array.from({ length: 60 }, (_, index) => record(index, generated));
  const left = new Set([0, 7, 31, 59, 400]);
  const rest = (records: ItemRecord[]): ItemRecord[] => records.filter(({ index }) => !left.has(index));

  it('count in no score', () => {
    const both = scoresWithout(a, left);
    expect(both.all.n).toBe(60);
    expect(both.without.n).toBe(56);
    for (const metric of ['F', 'S', 'K', 'L', 'LL'] as const) {
      expect(both.all[metric]).toEqual(scores(a, options)[metric]);
      expect(both.without[metric]).toEqual(scores(rest(a), options)[metric]);
    }
  });

  it('count in no paired test', () => {
    const by = generated ? 'S' : 'LL';
    const codes = [a, b].map((records) => verdictCodes(records));
    const [mine, theirs] = codes;
    if (!mine || !theirs) throw new Error('two runs');
    const before = mine.slice();
    const both = compareWithout(mine, theirs, left, by);
    expect(both.all).toEqual(compareRuns(mine, theirs, by));
    expect(both.without).toEqual(compareRuns(verdictCodes(rest(a)), verdictCodes(rest(b)), by));
    expect(mine).toEqual(before);
  });
});
