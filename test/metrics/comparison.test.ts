/** Comparisons of several runs against scipy and statsmodels (make/comparison.py), and what the bootstrap covers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  averageRanks,
  bootstrapInterval,
  holm,
  kendallTauB,
  rankCorrelation,
  smallestDetectableDifference,
  spearmanRho,
} from '../../src/metrics/index.ts';
import { Random } from '../../src/shared/random.ts';

const oracle = JSON.parse(readFileSync(join(import.meta.dirname, 'comparison.json'), 'utf8')) as {
  correlations: [number[], number[], number, number, number[]][];
  holm: [number[], number[]][];
  smallest: [number, number, number][];
};

describe('rank correlation', () => {
  test.each(oracle.correlations.map((row) => [row[0].length, ...row] as const))(
    '%i values, with their ties',
    (_n, a, b, tau, rho, ranks) => {
      expect(kendallTauB(a, b)).toBeCloseTo(tau, 12);
      expect(spearmanRho(a, b)).toBeCloseTo(rho, 12);
      expect(averageRanks(a)).toEqual(ranks);
    },
  );
  test('a constant list has no ranking to compare with', () => {
    expect(kendallTauB([1, 1, 1], [1, 2, 3])).toBeNaN();
    expect(spearmanRho([1, 1, 1], [1, 2, 3])).toBeNaN();
  });
  test('few models have no interval, many have one around the figure', () => {
    expect(rankCorrelation([1, 2, 3, 4], [1, 3, 2, 4]).tauInterval).toBeNull();
    const [a, b] = oracle.correlations.findLast(([values]) => values.length === 61) ?? [[], []];
    const { tau, tauInterval } = rankCorrelation(a, b);
    expect(tauInterval?.[0]).toBeLessThan(tau);
    expect(tauInterval?.[1]).toBeGreaterThan(tau);
    expect(tauInterval?.[0]).toBeGreaterThan(0);
  });
  test('lists of different lengths are refused', () => {
    expect(() => kendallTauB([1], [1, 2])).toThrow(RangeError);
  });
});

describe('several comparisons', () => {
  test.each(oracle.holm)('Holm of %j', (pValues, corrected) => {
    for (const [i, value] of holm(pValues).entries()) expect(value).toBeCloseTo(corrected[i] ?? Number.NaN, 12);
  });
  test.each(oracle.smallest)(
    '%i items of which a share of %f differs: the exact test sees %f in 80 of 100 experiments',
    (n, discordant, difference) => {
      // The formula is a normal approximation, the figure is exact.
      const found = smallestDetectableDifference(n, discordant) ?? Number.NaN;
      expect(Math.abs(found / difference - 1)).toBeLessThan(0.04);
    },
  );
  test('too few items show nothing', () => {
    expect(smallestDetectableDifference(3, 0.3)).toBeNull();
    expect(smallestDetectableDifference(100, 0)).toBeNull();
  });
});

test('the bootstrap interval of a mean covers it about as often as it says', () => {
  const random = new Random(11);
  const draws = 400;
  let covered = 0;
  for (let i = 0; i < draws; i++) {
    const sample = Array.from({ length: 60 }, () => random.normal() ** 2);
    const interval = bootstrapInterval(60, (drawn) => drawn.reduce((sum, at) => sum + (sample[at] ?? 0), 0) / 60, {
      iterations: 400,
      seed: i,
    });
    if (interval && interval[0] <= 1 && 1 <= interval[1]) covered++;
  }
  // Known to be a little low for skewed samples of this size: 92 % to 95 % (Efron and Tibshirani 1993).
  expect(covered / draws).toBeGreaterThan(0.89);
  expect(covered / draws).toBeLessThan(0.975);
});
