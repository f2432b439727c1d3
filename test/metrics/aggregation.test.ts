import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PythonRandom } from '../../src/benchmark/python-random.ts';
import {
  added,
  bitsPerUnit,
  bleu,
  bootstrapStandardError,
  brierScore,
  type Classified,
  f1,
  groupScore,
  matthewsCorrelation,
  meanStandardError,
  median,
  perplexity,
  weightedPerplexity,
} from '../../src/metrics/index.ts';

/** Figures of scikit-learn and lm-evaluation-harness (make/translation.py). */
const oracle = JSON.parse(readFileSync(new URL('translation.json', import.meta.url), 'utf8'));

interface Answers {
  gold: number[];
  found: number[];
  f1: number;
  mcc: number;
}
const classified = ({ gold, found }: Answers): Classified[] =>
  gold.map((label, at) => ({ gold: label, found: found[at] ?? -1 }));

const randomOf = (seed: number): (() => number) => {
  const source = new PythonRandom(seed);
  return () => source.random();
};

describe('scores of sets', () => {
  it('F1 and Matthews’ correlation are those of scikit-learn', () => {
    for (const answers of oracle.binary as Answers[]) {
      expect(f1(classified(answers))).toBeCloseTo(answers.f1, 12);
      expect(matthewsCorrelation(classified(answers))).toBeCloseTo(answers.mcc, 12);
    }
    for (const answers of oracle.multi as Answers[])
      expect(matthewsCorrelation(classified(answers))).toBeCloseTo(answers.mcc, 12);
    expect(f1([{ gold: 0, found: 0 }])).toBe(0);
  });
  it('Brier’s score', () => {
    const { probabilities, gold, score } = oracle.brier as { probabilities: number[][]; gold: number[]; score: number };
    expect(brierScore(probabilities.map((row, at) => ({ gold: gold[at] ?? -1, probabilities: row })))).toBeCloseTo(
      score,
      12,
    );
  });
  it('perplexities and bits', () => {
    const { likelihoods, weights, ...figures } = oracle.errors;
    const items = likelihoods.map((logLikelihood: number, at: number) => ({ logLikelihood, weight: weights[at] }));
    expect(perplexity(likelihoods)).toBeCloseTo(figures.perplexity, 12);
    expect(weightedPerplexity(items)).toBeCloseTo(figures.weighted_perplexity, 12);
    expect(bitsPerUnit(items)).toBeCloseTo(figures.bits_per_byte, 12);
    expect([median([3, 1, 2, 5]), median([4, 1, 9])]).toEqual(figures.median);
  });
});

describe('standard errors are those of lm-evaluation-harness', () => {
  const { errors } = oracle;
  it('of a mean', () => {
    expect(meanStandardError(errors.likelihoods)).toBeCloseTo(errors.mean_stderr, 12);
  });
  it('by bootstrap, drawn alike', async () => {
    const items = classified(oracle.binary[1]);
    const pick = (sample: readonly number[]): Classified[] => sample.map((at) => items[at] ?? { gold: -1, found: -1 });
    const of = (score: (sample: readonly number[]) => number, n: number, iterations: number): Promise<number> =>
      bootstrapStandardError(score, n, iterations, randomOf);
    expect(await of((sample) => matthewsCorrelation(pick(sample)), items.length, 100)).toBeCloseTo(errors.mcc, 10);
    expect(await of((sample) => f1(pick(sample)), items.length, 100)).toBeCloseTo(errors.f1, 10);
    const values: number[] = errors.likelihoods;
    expect(
      await of((sample) => perplexity(sample.map((at) => values[at] ?? Number.NaN)), values.length, 2000),
    ).toBeCloseTo(errors.perplexity_stderr, 10);
  });
  it('of BLEU, from counts that add up', async () => {
    const { outputs, references } = oracle.corpora[2] as { outputs: string[]; references: string[][] };
    const counts = outputs.map((output, at) => bleu.statistics(output, references[at] ?? []));
    const score = (sample: readonly number[]): number => bleu.score(added(sample.map((at) => counts[at] ?? [])));
    expect(await bootstrapStandardError(score, outputs.length, 20, randomOf)).toBeCloseTo(errors.bleu, 8);
  });
  it('of groups', () => {
    for (const group of errors.groups) {
      const parts = group.scores.map((score: number, at: number) => ({
        score,
        standardError: group.errors[at],
        n: group.sizes[at],
      }));
      const weighted = groupScore(parts, true);
      expect(weighted.score).toBeCloseTo(group.weighted, 12);
      expect(weighted.standardError).toBeCloseTo(group.pooled, 12);
      const alike = groupScore(parts, false);
      expect(alike.score).toBeCloseTo(group.unweighted, 12);
      expect(alike.standardError).toBeCloseTo(group.unweighted_error, 12);
    }
    expect(groupScore([{ score: 1, standardError: null, n: 3 }], true).standardError).toBeNull();
  });
});
