/**
 * BLEU (Papineni et al. 2002) as sacrebleu 2 computes it by default: tokeniser 13a, n-grams up to 4, exponential smoothing
 * of orders without a match (method 3 of Chen and Cherry 2014), the closest reference length.
 */
import type { CorpusMetric } from './corpus-metric.ts';
import { countRuns, overlap, wordsOf } from './words.ts';

const orders = [1, 2, 3, 4];

/** Marks that stand apart from words, in mteval-v13a: all ASCII symbols but apostrophe, comma, hyphen, and full stop. */
const symbols = /([{-~[-` -&(-+:-@/])/gu;

/** The tokens of NIST's mteval-v13a script, on which BLEU's figures are compared. */
export function tokens13a(text: string): string[] {
  let line = text.trimEnd().replaceAll('<skipped>', '').replaceAll('-\n', '').replaceAll('\n', ' ');
  for (const [entity, mark] of [
    ['&quot;', '"'],
    ['&amp;', '&'],
    ['&lt;', '<'],
    ['&gt;', '>'],
  ] as const)
    line = line.replaceAll(entity, mark);
  return wordsOf(
    ` ${line} `
      .replace(symbols, ' $1 ')
      // A full stop or a comma belongs to a word only between two digits.
      .replace(/([^0-9])([.,])/gu, '$1 $2 ')
      .replace(/([.,])([^0-9])/gu, ' $1 $2')
      .replace(/([0-9])(-)/gu, '$1 $2 '),
  );
}

/** The tokens of NIST's mteval-v14 script with --international-tokenization: marks of all scripts, by Unicode's classes. */
const tokensInternational = (text: string): string[] =>
  wordsOf(
    text
      .trimEnd()
      .replace(/(\P{N})(\p{P})/gu, '$1 $2 ')
      .replace(/(\p{P})(\P{N})/gu, ' $1 $2')
      .replace(/(\p{S})/gu, ' $1 '),
  );

/** Statistics: length of the output, of the closest reference, matches by order, n-grams of the output by order. */
const bleuOf = (tokensOf: (text: string) => string[]): CorpusMetric => ({
  statistics(output, references) {
    const tokens = tokensOf(output);
    const golds = references.map(tokensOf);
    const closest = golds
      .map(({ length }) => length)
      .sort((a, b) => Math.abs(a - tokens.length) - Math.abs(b - tokens.length) || a - b)[0];
    const runs = orders.map((order) => countRuns(tokens, order, '\0'));
    const matches = runs.map((counts, at) => {
      const most = new Map<string, number>();
      for (const gold of golds)
        for (const [run, count] of countRuns(gold, orders[at] ?? 1, '\0'))
          most.set(run, Math.max(most.get(run) ?? 0, count));
      return overlap(counts, most);
    });
    const totals = orders.map((order) => Math.max(0, tokens.length - order + 1));
    return [tokens.length, closest ?? 0, ...matches, ...totals];
  },
  score([length = 0, reference = 0, ...counts]) {
    const matches = counts.slice(0, orders.length);
    const totals = counts.slice(orders.length);
    if (matches.every((count) => count === 0)) return 0;
    const brevity = length < reference ? Math.exp(1 - reference / length) : 1;
    let logarithms = 0;
    let smoothing = 1;
    for (const [at, match] of matches.entries()) {
      const total = totals[at] ?? 0;
      // No output is long enough for this order.
      if (total === 0) return 0;
      if (match === 0) smoothing *= 2;
      logarithms += Math.log((100 * (match || 1 / smoothing)) / total);
    }
    return brevity * Math.exp(logarithms / orders.length);
  },
});

export const bleu = bleuOf(tokens13a);
/** As T5's metrics, and with them BIG-bench, compute it: sacrebleu with the tokeniser `intl`. */
export const bleuInternational = bleuOf(tokensInternational);
