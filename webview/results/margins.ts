/** How clearly the right candidate wins, or loses, by log-likelihood. */
import type { ItemRow } from '../../src/shared/protocol.ts';

/**
 * Log-likelihood (nats) of the likeliest right candidate less that of the likeliest other one: above 0 where the right one
 * wins. Null where there are no candidates, or none but right ones.
 */
export function likelihoodMargin({ choices }: Pick<ItemRow, 'choices'>): number | null {
  if (!choices) return null;
  const { logLikelihoods, gold, scores } = choices;
  const highest = scores ? Math.max(...scores) : 0;
  const isRight = (position: number): boolean => (scores ? scores[position] === highest : position === gold);
  let [right, other] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [position, value] of logLikelihoods.entries())
    if (isRight(position)) right = Math.max(right, value);
    else other = Math.max(other, value);
  const margin = right - other;
  return Number.isFinite(margin) ? margin : null;
}
