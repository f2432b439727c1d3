/** Words and n-grams, as the translation metrics count them: Python's notion of white space, characters by code point. */
import { spaces } from '../../shared/whitespace.ts';

const whitespace = new RegExp(`[${spaces}]+`, 'u');

/** Words between runs of white space; none for a blank text. */
export const wordsOf = (text: string): string[] => text.split(whitespace).filter((word) => word !== '');

/** How often each run of `order` tokens occurs. Tokens hold no `separator`, so that joined ones stay apart. */
export function countRuns(tokens: readonly string[], order: number, separator: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (let start = 0; start + order <= tokens.length; start++) {
    const run = tokens.slice(start, start + order).join(separator);
    counts.set(run, (counts.get(run) ?? 0) + 1);
  }
  return counts;
}

/** Σ over runs of the smaller of both counts. */
export function overlap(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [run, count] of a) sum += Math.min(count, b.get(run) ?? 0);
  return sum;
}
