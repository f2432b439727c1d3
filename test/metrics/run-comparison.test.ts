/** Runs compared on the items of both: against scipy (make/run-comparison.py), and what the intervals cover. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import {
  compareRuns,
  comparisonFigures,
  costs,
  mcnemarExact,
  pairedBootstrapInterval,
  smallestDetectableDifference,
  together,
  verdictCodes,
} from '../../src/metrics/index.ts';
import { Random } from '../../src/shared/random.ts';
import type { RunSummary } from '../../src/shared/results.ts';

type Row = [onlyA: number, onlyB: number, n: number, low: number, high: number, p: number];
const oracle = JSON.parse(readFileSync(join(import.meta.dirname, 'run-comparison.json'), 'utf8')) as Row[];

describe('the paired bootstrap', () => {
  test.each(oracle)('%i and %i of %i: %f to %f', (onlyA, onlyB, n, low, high, p) => {
    const [from, to] = pairedBootstrapInterval(onlyA, onlyB, n);
    expect(from).toBeCloseTo(low, 12);
    expect(to).toBeCloseTo(high, 12);
    expect(mcnemarExact(onlyA, onlyB)).toBeCloseTo(p, 12);
  });
  it('is what drawing the items again gives', () => {
    const [onlyA, onlyB, n] = [12, 54, 200];
    const random = new Random(1);
    const draws = Array.from({ length: 20_000 }, () => {
      let difference = 0;
      for (let i = 0; i < n; i++) {
        const item = random.below(n);
        difference += item < onlyA ? -1 : item < onlyA + onlyB ? 1 : 0;
      }
      return difference / n;
    }).sort((a, b) => a - b);
    const [low, high] = pairedBootstrapInterval(onlyA, onlyB, n);
    // One item more or less is what the noise of the draws may shift.
    expect(Math.abs((draws[500] ?? 0) - low)).toBeLessThanOrEqual(1 / n + 1e-9);
    expect(Math.abs((draws[19_500] ?? 0) - high)).toBeLessThanOrEqual(1 / n + 1e-9);
  });
  it('covers the true difference about as often as it says', () => {
    const [a, b, n] = [0.1, 0.2, 150];
    const random = new Random(7);
    let covered = 0;
    for (let trial = 0; trial < 1000; trial++) {
      let [onlyA, onlyB] = [0, 0];
      for (let i = 0; i < n; i++) {
        const draw = random.uniform();
        if (draw < a) onlyA++;
        else if (draw < a + b) onlyB++;
      }
      const [low, high] = pairedBootstrapInterval(onlyA, onlyB, n);
      if (low <= b - a + 1e-9 && b - a - 1e-9 <= high) covered++;
    }
    // Three standard errors of 1000 trials around 95 %.
    expect(covered).toBeGreaterThan(950 - 21);
    expect(covered).toBeLessThan(950 + 21);
  });
  it('of 100,000 items stays what the normal interval is', () => {
    const [onlyA, onlyB, n] = [20_000, 21_000, 100_000];
    const [low, high] = pairedBootstrapInterval(onlyA, onlyB, n);
    const d = (onlyB - onlyA) / n;
    const half = 1.959964 * Math.sqrt(((onlyA + onlyB) / n - d * d) / n);
    expect(Math.abs(low - (d - half))).toBeLessThan(2 / n);
    expect(Math.abs(high - (d + half))).toBeLessThan(2 / n);
  });
});

const record = (index: number, inFormat: boolean, right: boolean) => ({ index, inFormat, right });

describe('two runs', () => {
  const base = verdictCodes([
    record(0, true, true),
    record(1, true, false),
    record(2, false, true),
    record(4, true, true),
    record(5000, false, false),
  ]);
  const other = verdictCodes([
    record(5000, true, true),
    record(0, true, false),
    record(1, true, true),
    record(2, true, true),
    record(3, true, true),
  ]);

  it('are compared on the items that both have, and split on these too', () => {
    const found = compareRuns(base, other, 'S');
    expect(found?.paired).toMatchObject({ n: 4, onlyA: 1, onlyB: 3, difference: 0.5 });
    // Of the four: 2 in the format and 1 right; 4 in the format and 3 right.
    expect(found?.base.F).toMatchObject({ count: 2, n: 4 });
    expect(found?.base.S).toMatchObject({ count: 1, n: 4 });
    expect(found?.other.K).toMatchObject({ count: 3, n: 4 });
    const { total = 0, format = 0, knowledge = 0 } = found?.gain ?? {};
    expect(total).toBeCloseTo(0.5, 12);
    // ΔS = K̄·ΔF + F̄·ΔK with K of 1/2 and 3/4, F of 1/2 and 1.
    expect(format).toBeCloseTo(0.625 * 0.5, 12);
    expect(knowledge).toBeCloseTo(0.75 * 0.25, 12);
    expect(format + knowledge).toBeCloseTo(total, 12);
  });
  it('without an item in common are not', () => {
    expect(compareRuns(verdictCodes([record(1, true, true)]), verdictCodes([record(2, true, true)]), 'S')).toBeNull();
    // Outputs that nobody has scored, and likelihoods, have no S.
    const unscored = verdictCodes([{ ...record(1, true, true), scored: false as const }]);
    expect(compareRuns(unscored, unscored, 'S')).toBeNull();
  });
  it('are compared by likelihood where nothing was generated', () => {
    const likely = (index: number, right: boolean) => ({
      ...record(index, false, false),
      generated: false as const,
      choices: { texts: ['a', 'b'], logLikelihoods: [0, -1], gold: right ? 0 : 1, right, rightNormalised: right },
    });
    const found = compareRuns(
      verdictCodes([likely(0, true), likely(1, false)]),
      verdictCodes([likely(0, true), likely(1, true)]),
      'LL',
    );
    expect(found).toMatchObject({ by: 'LL', gain: null, paired: { n: 2, onlyA: 0, onlyB: 1 } });
  });
  it('stand in a table with what their p-values are worth among the others', () => {
    const comparison = compareRuns(base, other, 'S');
    const [first, second] = together([{ comparison }, { comparison }, { comparison: null }]);
    expect(first?.among).toEqual({ comparisons: 2, corrected: Math.min(1, 2 * mcnemarExact(1, 3)) });
    expect(second?.among.corrected).toBe(first?.among.corrected);
    if (!comparison || !first) throw new Error('nothing compared');
    expect(comparisonFigures.map(({ of }) => of({ comparison, among: first.among }))).toEqual([
      '4',
      '1',
      '3',
      '+50.0',
      expect.stringMatching(/^−\d+\.\d to \+\d+\.\d$/),
      '−50.0 to +100.0',
      '0.625',
      '1.000',
      (100 * (smallestDetectableDifference(4, 1) ?? 0)).toFixed(1),
    ]);
  });
});

describe('what a run cost', () => {
  const summary = {
    seconds: 20,
    tuningSeconds: 0,
    promptTokens: 5000,
    outputTokens: 300,
    peakMemoryBytes: 1.5e9,
    scores: { n: 50 },
  } as RunSummary;
  const words = (run: object, change: object = {}) =>
    costs.map((cost) => {
      const value = cost.value({ run, summary: { ...summary, ...change } });
      return value === null ? null : cost.words(value);
    });
  it('is time, pace, tokens and memory', () => {
    expect(words({})).toEqual(['20 s', null, '2.5', '5,000', '300', '1.5 GB']);
    expect(words({}, { tuningSeconds: 90, seconds: 0.25 })).toEqual([
      '0.3 s',
      '1 min 30 s',
      '200',
      '5,000',
      '300',
      '1.5 GB',
    ]);
  });
  it('has no pace where the seconds are not those of the model', () => {
    expect(words({ rescoredFrom: 'x' })[2]).toBeNull();
    expect(words({}, { responses: { cached: 3, computed: 47 } })[2]).toBeNull();
    expect(words({ source: {} }, { seconds: 0, outputTokens: 0, promptTokens: 0, peakMemoryBytes: null })).toEqual(
      costs.map(() => null),
    );
  });
});
