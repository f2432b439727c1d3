/** What a tuning curve says, in a sentence that holds only what the records show. */

import { formatPoints, share } from '../../src/metrics/index.ts';
import type { Share, TuningRecord } from '../../src/shared/results.ts';
import { percent } from '../format.ts';

export type Validation = Extract<TuningRecord, { kind: 'validation' }>;
export type Step = Extract<TuningRecord, { kind: 'step' }>;

export const validationsOf = (records: readonly TuningRecord[]): Validation[] =>
  records.filter((record): record is Validation => record.kind === 'validation');
export const stepsOf = (records: readonly TuningRecord[]): Step[] =>
  records.filter((record): record is Step => record.kind === 'step');

export type CurveName = 'F' | 'S' | 'K' | 'LL';

/** What a tuning's validations measured: outputs, or likelihoods, or the loss alone. */
export function curvesOf(validations: readonly Validation[]): readonly CurveName[] {
  if (!validations.some(({ generated }) => generated === false)) return ['F', 'S', 'K'];
  return validations.some(({ LL }) => LL !== undefined) ? ['LL'] : [];
}

/** A share of a validation with its interval: F, S and LL of its items, K of those in the format. */
export function shareAt({ F, S, K, LL, n }: Validation, name: CurveName): Share {
  if (name === 'LL') return LL === undefined ? share(0, 0) : share(Math.round(LL * n), n);
  const inFormat = Math.round(F * n);
  if (name === 'K') return K === null ? share(0, 0) : share(Math.round(K * inFormat), inFormat);
  return share(Math.round((name === 'F' ? F : S) * n), n);
}

/** The kept step: the last validation that was the best so far. */
export const bestOf = (validations: readonly Validation[]): Validation | null =>
  validations.filter(({ best }) => best).at(-1) ?? null;

/** K counts as unchanged up to this difference, if the items could not show more anyway. */
const similar = 0.1;
/** Format-following counts as saturated from this share on. */
const saturated = 0.9;

export function tuningInWords(records: readonly TuningRecord[]): string {
  const validations = validationsOf(records);
  const [first] = validations;
  const best = bestOf(validations) ?? validations.at(-1);
  if (!first || !best) return 'No validation yet.';
  if (first.generated === false) return likelihoodsInWords(validations, first, best);
  if (best === first)
    return validations.length === 1
      ? `Before the first step F is ${percent(shareAt(first, 'F'))} on ${first.n} held-out items.`
      : 'No step did better on the held-out items than the untuned start.';
  const reached = validations.find(({ F }) => F >= saturated);
  const sentences = [
    `F goes from ${percent(shareAt(first, 'F'))} to ${percent(shareAt(best, 'F'))} by step ${best.step}, which is kept${
      reached && reached.F >= saturated && reached.step > 0 ? `; it passes 90 % at step ${reached.step}` : ''
    }.`,
  ];
  // Knowledge is compared from the first validation where enough outputs are in the format to measure it.
  const start = validations.find(({ K, F, n }) => K !== null && F * n >= 5);
  if (start && start.K !== null && best.K !== null && start !== best) {
    const change = best.K - start.K;
    const noise = 1.96 * Math.sqrt(0.25 / Math.max(1, best.F * best.n) + 0.25 / Math.max(1, start.F * start.n));
    sentences.push(
      Math.abs(change) <= Math.min(noise, similar)
        ? `K stays about the same (${percent(shareAt(start, 'K'))} → ${percent(shareAt(best, 'K'))}, within what ${best.n} items can tell): the gain is format, not knowledge.`
        : Math.abs(change) <= noise
          ? `K goes from ${percent(shareAt(start, 'K'))} to ${percent(shareAt(best, 'K'))}: ${best.n} items are too few to tell whether that is a change.`
          : `K changes by ${formatPoints(change, 0)} points (${percent(shareAt(start, 'K'))} → ${percent(shareAt(best, 'K'))}).`,
    );
  }
  return sentences.join(' ');
}

/** Where nothing is generated: LL, where right answers are compared, and the loss on the held-out items. */
function likelihoodsInWords(validations: readonly Validation[], first: Validation, best: Validation): string {
  const shown = (record: Validation): string =>
    record.LL === undefined ? record.loss.toFixed(3) : percent(shareAt(record, 'LL'));
  const name = first.LL === undefined ? 'The held-out loss' : 'LL';
  if (best === first)
    return validations.length === 1
      ? `Before the first step ${name === 'LL' ? name : name.toLowerCase()} is ${shown(first)} on ${first.n} held-out items.`
      : 'No step did better on the held-out items than the untuned start.';
  const loss =
    first.LL === undefined ? '' : ` The held-out loss goes from ${first.loss.toFixed(3)} to ${best.loss.toFixed(3)}.`;
  return `${name} goes from ${shown(first)} to ${shown(best)} by step ${best.step}, which is kept.${loss}`;
}
