/** Which candidates are right, and how clearly the right one wins, or loses, by log-likelihood. */
import type { ItemRow } from '../../src/shared/protocol.ts';

type Choices = NonNullable<ItemRow['choices']>;

/** Whether the candidate at a position is right: where candidates have scores, those with the highest. */
export function rightCandidates({ gold, scores }: Pick<Choices, 'gold' | 'scores'>): (position: number) => boolean {
  if (!scores) return (position) => position === gold;
  const highest = Math.max(...scores);
  return (position) => scores[position] === highest;
}

/**
 * Log-likelihood (nats) of the likeliest right candidate less that of the likeliest other one: above 0 where the right one
 * wins. Null where there are no candidates, or none but right ones.
 */
export function likelihoodMargin({ choices }: Pick<ItemRow, 'choices'>): number | null {
  if (!choices) return null;
  const { logLikelihoods } = choices;
  const isRight = rightCandidates(choices);
  let [right, other] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [position, value] of logLikelihoods.entries())
    if (isRight(position)) right = Math.max(right, value);
    else other = Math.max(other, value);
  const margin = right - other;
  return Number.isFinite(margin) ? margin : null;
}
