/** What stands in place of an output where only likelihoods were measured. */
import type { ItemRow } from '../../src/shared/protocol.ts';
import { count } from '../format.ts';
import { oneLine } from '../text.ts';

export function likelihoodText({ choices, likelihoods = [] }: ItemRow): string {
  if (choices) return `likeliest: ${oneLine(choices.texts[likeliest(choices.logLikelihoods)] ?? '', 60)}`;
  const [first] = likelihoods;
  return first ? `log p ${first.sum?.toFixed(2) ?? '−∞'}, ${count(first.tokens)} tokens` : 'nothing generated';
}

const likeliest = (values: readonly number[]): number => values.indexOf(Math.max(...values));
