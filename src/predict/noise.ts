/**
 * How much of the scores' variance is noise that nobody can predict: a share of n items has binomial variance p (1 − p) / n.
 * Metrics that are means of graded items (F1, ROUGE) have at most that much (Bhatia and Davis 2000), so that the ceiling is a
 * lower bound for them.
 */
import { Random } from '../shared/random.ts';
import { fitOf, type MeanAndSd, meanAndSd } from './fit.ts';
import { atOnce, type Steps, stepwise } from './turn.ts';
import type { ScoreRecord } from './types.ts';

type Score = Pick<ScoreRecord, 'score' | 'n'>;

/** Where the items of fewer scores than this share are known, nothing is said. */
const knownShare = 0.95;

function* withItems(records: readonly Score[]): Steps<{ score: number; n: number }[]> {
  const known: { score: number; n: number }[] = [];
  yield* stepwise(records, ({ score, n }) => {
    if (n !== null && n > 1) known.push({ score, n });
  });
  return known;
}

/**
 * R² of one who knows the true share behind each measured score: 1 − Σ s (1 − s) / (n − 1) ÷ Σ (s − mean)², whose sum above
 * is the unbiased estimate of the noise. Null where n is not known of nearly all, or where scores do not vary.
 */
export const noiseCeiling = (records: readonly Score[]): number | null => atOnce(ceilingSteps(records));

/** The same in steps. */
export function* ceilingSteps(records: readonly Score[]): Steps<number | null> {
  const known = yield* withItems(records);
  if (known.length < 2 || known.length < knownShare * records.length) return null;
  const mean = known.reduce((sum, { score }) => sum + score, 0) / known.length;
  yield;
  const variance = known.reduce((sum, { score }) => sum + (score - mean) ** 2, 0);
  const noise = known.reduce((sum, { score, n }) => sum + (score * (1 - score)) / (n - 1), 0);
  return variance > 1e-12 * known.length ? 1 - noise / variance : null;
}

/**
 * The same by drawing: scores are taken for the true shares, measured again `draws` times, and predicted by themselves. The
 * spread says how much R² changes by noise alone.
 */
export function simulatedCeiling(
  records: readonly Score[],
  { draws = 100, seed = 0 }: { draws?: number; seed?: number } = {},
): MeanAndSd {
  const known = atOnce(withItems(records));
  if (known.length < knownShare * records.length) return { mean: null, sd: null };
  const random = new Random(seed);
  const truth = known.map(({ score }) => score);
  return meanAndSd(
    Array.from({ length: draws }, () => {
      const measured = known.map(({ score, n }) => binomial(random, n, score) / n);
      return fitOf(measured, truth).r2;
    }),
  );
}

/** A draw of Binomial(n, p): by waiting times between successes (Devroye 1986, X.4.2), about n · min(p, 1 − p) steps. */
export function binomial(random: Random, n: number, p: number): number {
  if (p <= 0) return 0;
  if (p >= 1) return n;
  if (p > 0.5) return n - binomial(random, n, 1 - p);
  const scale = Math.log(1 - p);
  let successes = -1;
  let trials = 0;
  do {
    // uniform() is in [0, 1): 1 − it is above 0.
    trials += Math.floor(Math.log(1 - random.uniform()) / scale) + 1;
    successes++;
  } while (trials <= n);
  return successes;
}
