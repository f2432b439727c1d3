/** BIG-bench's scores of graded choices (bigbench.api.task_metrics), from the log-likelihoods of finished items. */
import type { ItemRecord } from '../shared/results.ts';

/** The choices of one item: what each is worth, and log p of each behind the prompt. */
interface Graded {
  texts: readonly string[];
  scores: readonly number[];
  logLikelihoods: readonly number[];
}

export function gradedOf(choices: ItemRecord['choices']): Graded[] {
  return choices?.scores ? [{ ...choices, scores: choices.scores }] : [];
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
/** Null where there are none. */
export const meanOrNull = (values: readonly number[]): number | null =>
  values.length > 0 ? sum(values) / values.length : null;

/** Index of the largest value, the first of equals. (BIG-bench draws among equal likelihoods by a hash of theirs.) */
function largest(values: readonly number[]): number {
  let best = 0;
  for (const [at, value] of values.entries()) if (value > (values[best] ?? Number.NEGATIVE_INFINITY)) best = at;
  return best;
}

/** Mean score of the likeliest choices. */
export const multipleChoiceGrade = (items: readonly Graded[]): number | null =>
  meanOrNull(items.map(({ scores, logLikelihoods }) => scores[largest(logLikelihoods)] ?? 0));

/** The model's probabilities among the choices, and the scores as a distribution (zeros where they add up to 0). */
function distributions({ scores, logLikelihoods }: Graded): { model: number[]; target: number[] } {
  const most = Math.max(...logLikelihoods);
  const weights = logLikelihoods.map((value) => Math.exp(value - most));
  const [total, worth] = [sum(weights), sum(scores)];
  return {
    model: weights.map((weight) => weight / total),
    target: scores.map((score) => (worth === 0 ? 0 : score / worth)),
  };
}

/** Brier score over all choices of all items: Σ t (p − 1)² + (1 − t) p², by choice. */
export function brierScore(items: readonly Graded[]): number | null {
  return meanOrNull(
    items.flatMap((item) => {
      const { model, target } = distributions(item);
      return model.map((p, at) => {
        const t = target[at] ?? 0;
        return t * (p - 1) ** 2 + (1 - t) * p ** 2;
      });
    }),
  );
}

const buckets = 15;

/** Expected calibration error (Naeini et al. 2015): Σ over buckets of confidence of their share × |accuracy − confidence|. */
export function expectedCalibrationError(items: readonly Graded[]): number | null {
  if (items.length === 0) return null;
  const confidence = new Array<number>(buckets).fill(0);
  const right = new Array<number>(buckets).fill(0);
  for (const item of items) {
    const { model, target } = distributions(item);
    const most = Math.max(...model);
    let bucket = 0;
    while (bucket < buckets - 1 && most >= (bucket + 1) / buckets) bucket++;
    confidence[bucket] = (confidence[bucket] ?? 0) + most;
    if (largest(target) === largest(model)) right[bucket] = (right[bucket] ?? 0) + 1;
  }
  // Share × difference of means is the difference of sums over all items.
  return sum(confidence.map((total, bucket) => Math.abs((right[bucket] ?? 0) - total))) / items.length;
}

/** Mean over items of Σ score × log p, p not normalised among the choices. */
export const weightedLogProbabilities = (items: readonly Graded[]): number | null =>
  meanOrNull(
    items.map(({ scores, logLikelihoods }) => sum(scores.map((score, at) => score * (logLikelihoods[at] ?? 0)))),
  );

/** Mean over items of Σ score × p, p not normalised among the choices. */
export const weightedProbabilities = (items: readonly Graded[]): number | null =>
  meanOrNull(
    items.map(({ scores, logLikelihoods }) =>
      sum(scores.map((score, at) => score * Math.exp(logLikelihoods[at] ?? 0))),
    ),
  );

/** Mean of the F1 of all choices by their texts. Null where an item has not exactly one choice of score 1 and others of 0. */
export function macroF1(items: readonly Graded[]): number | null {
  if (items.length === 0) return null;
  if (!items.every(({ scores }) => scores.filter((score) => score === 1).length === 1 && sum(scores) === 1))
    return null;
  const counts = new Map<string, { both: number; either: number }>();
  const add = (text: string, both: number): void => {
    const row = counts.get(text) ?? { both: 0, either: 0 };
    counts.set(text, { both: row.both + both, either: row.either + 1 });
  };
  for (const { texts, scores, logLikelihoods } of items) {
    const [gold, found] = [texts[scores.indexOf(1)] ?? '', texts[largest(logLikelihoods)] ?? ''];
    add(gold, gold === found ? 1 : 0);
    add(found, 0);
  }
  return meanOrNull([...counts.values()].map(({ both, either }) => (2 * both) / either));
}
