/**
 * From values of items to the score of a set, and its standard error, under the names that lm-evaluation-harness gives
 * them (0.4.13, api/metrics.py), so that figures of both can be laid side by side.
 */

/** Sum in the order given, as Python's `sum`. */
const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** NaN where there are none. */
export const mean = (values: readonly number[]): number => total(values) / values.length;

/** The upper of two middle values, as lm-evaluation-harness takes it. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** exp of the mean negative log-likelihood (nats) of one item. */
export const perplexity = (logLikelihoods: readonly number[]): number => Math.exp(-mean(logLikelihoods));

/** Log-likelihood (nats) of a text and its length in some unit: words, bytes. */
export interface WeightedLogLikelihood {
  logLikelihood: number;
  weight: number;
}

const perUnit = (items: readonly WeightedLogLikelihood[]): number =>
  total(items.map(({ logLikelihood }) => logLikelihood)) / total(items.map(({ weight }) => weight));

/** exp of the negative log-likelihood of one unit: word_perplexity, byte_perplexity. */
export const weightedPerplexity = (items: readonly WeightedLogLikelihood[]): number => Math.exp(-perUnit(items));

/** Negative log-likelihood of one unit in bits. */
export const bitsPerUnit = (items: readonly WeightedLogLikelihood[]): number => -perUnit(items) / Math.LN2;

/** What was right and what was answered, as numbers of classes. */
export interface Classified {
  gold: number;
  found: number;
  /** How many items are so; 1 where absent. */
  count?: number;
}

/** F1 of class 1; 0 where nothing is in it (scikit-learn's convention). */
export function f1(items: readonly Classified[]): number {
  let [both, gold, found] = [0, 0, 0];
  for (const item of items) {
    const { count = 1 } = item;
    if (item.gold === 1 && item.found === 1) both += count;
    if (item.gold === 1) gold += count;
    if (item.found === 1) found += count;
  }
  return gold + found === 0 ? 0 : (2 * both) / (gold + found);
}

/** Matthews' correlation for any number of classes (Gorodkin 2004); 0 where one side is constant. */
export function matthewsCorrelation(items: readonly Classified[]): number {
  const golds = new Map<number, number>();
  const founds = new Map<number, number>();
  let [n, right] = [0, 0];
  for (const { gold, found, count = 1 } of items) {
    golds.set(gold, (golds.get(gold) ?? 0) + count);
    founds.set(found, (founds.get(found) ?? 0) + count);
    if (gold === found) right += count;
    n += count;
  }
  let [product, goldSquares, foundSquares] = [0, 0, 0];
  for (const [label, count] of golds) {
    product += count * (founds.get(label) ?? 0);
    goldSquares += count * count;
  }
  for (const count of founds.values()) foundSquares += count * count;
  const spread = Math.sqrt(n * n - goldSquares) * Math.sqrt(n * n - foundSquares);
  return spread === 0 ? 0 : (right * n - product) / spread;
}

/** Mean over items of Σ over classes of (probability - whether it is the right class)²: 0 to 2 (Brier 1950). */
export function brierScore(items: readonly { gold: number; probabilities: readonly number[] }[]): number {
  return mean(
    items.map(({ gold, probabilities }) => total(probabilities.map((p, label) => (p - (label === gold ? 1 : 0)) ** 2))),
  );
}

/** Standard deviation of a sample (n - 1). NaN for fewer than two values. */
export function sampleDeviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(total(values.map((value) => (value - centre) ** 2)) / (values.length - 1));
}

/** Standard error of the mean. NaN for fewer than two values. */
export const meanStandardError = (values: readonly number[]): number =>
  sampleDeviation(values) / Math.sqrt(values.length);

/** Asked between steps of a long computation, with the share that is done; what it returns is waited for. It may throw. */
export type Pause = (done: number) => Promise<void> | undefined;

/**
 * Standard error of any score by resampling items with replacement (Efron 1979). Drawn as lm-evaluation-harness draws:
 * in batches of up to 1000 samples, the batch's number being the seed of its random source.
 * @param score of a sample, given as positions of items; the list is used again for the next one
 * @param randomOf uniform numbers in [0, 1) for a seed
 * @param pause between samples, of which there are up to 100,000, each of n items
 */
export async function bootstrapStandardError(
  score: (sample: readonly number[]) => number,
  n: number,
  iterations: number,
  randomOf: (seed: number) => () => number,
  pause?: Pause,
): Promise<number> {
  const batch = Math.min(1000, iterations);
  const batches = Math.floor(iterations / batch);
  const found: number[] = [];
  const sample = new Array<number>(n).fill(0);
  for (let seed = 0; seed < batches; seed++) {
    const random = randomOf(seed);
    for (let i = 0; i < batch; i++) {
      for (let at = 0; at < n; at++) sample[at] = Math.floor(random() * n);
      found.push(score(sample));
      const paused = pause?.(found.length / (batch * batches));
      if (paused) await paused;
    }
  }
  return sampleDeviation(found);
}

/**
 * Score of a group from the scores of its parts: their mean, by number of items or each alike.
 * @returns the score, and its standard error where every part has one (pooled variance; for an unweighted mean that of
 * independent parts)
 */
export function groupScore(
  parts: readonly { score: number; standardError: number | null; n: number }[],
  weightBySize: boolean,
): { score: number; standardError: number | null } {
  const sizes = parts.map(({ n }) => n);
  const errors = parts.map(({ standardError }) => standardError);
  const weights = weightBySize ? sizes : sizes.map(() => 1);
  const score = total(parts.map((part, at) => part.score * (weights[at] ?? 0))) / total(weights);
  const known = errors.filter((error) => error !== null);
  if (known.length < errors.length || known.length === 0) return { score, standardError: null };
  if (!weightBySize) return { score, standardError: Math.sqrt(total(known.map((error) => error ** 2))) / known.length };
  const pooled =
    total(known.map((error, at) => ((sizes[at] ?? 0) - 1) * error ** 2 * (sizes[at] ?? 0))) /
    (total(sizes) - sizes.length);
  return { score, standardError: Math.sqrt(pooled / total(sizes)) };
}
