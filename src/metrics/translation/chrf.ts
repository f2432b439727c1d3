/**
 * chrF (Popović 2015): F with β = 2 over the mean precision and recall of character n-grams up to 6, blanks left out; and
 * chrF++ (Popović 2017) with word n-grams up to 2 beside them. As in sacrebleu 2, orders without n-grams do not count, and
 * of several references the one that gives the best score counts.
 */
import type { CorpusMetric } from './corpus-metric.ts';
import { countRuns, overlap, wordsOf } from './words.ts';

const characterOrders = [1, 2, 3, 4, 5, 6];
const beta2 = 4;
const punctuation = new Set('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~');

/** Words with one punctuation mark split off, behind or else in front. */
function wordsApart(text: string): string[] {
  return wordsOf(text).flatMap((word) => {
    const characters = Array.from(word);
    if (characters.length === 1) return [word];
    if (punctuation.has(characters.at(-1) ?? '')) return [characters.slice(0, -1).join(''), characters.at(-1) ?? ''];
    if (punctuation.has(characters[0] ?? '')) return [characters[0] ?? '', characters.slice(1).join('')];
    return [word];
  });
}

function fScore(statistics: readonly number[]): number {
  let [precision, recall, counted] = [0, 0, 0];
  for (let at = 0; at < statistics.length; at += 3) {
    const [output = 0, reference = 0, match = 0] = statistics.slice(at, at + 3);
    if (output === 0 || reference === 0) continue;
    precision += match / output;
    recall += match / reference;
    counted++;
  }
  if (precision + recall === 0) return 0;
  return (100 * (1 + beta2) * precision * recall) / (beta2 * precision + recall) / counted;
}

/** Statistics by order: n-grams of the output, of the reference, matches. */
function characterF(wordOrders: readonly number[]): CorpusMetric {
  const runsOf = (text: string): Map<string, number>[] => {
    const characters = Array.from(wordsOf(text).join(''));
    const words = wordOrders.length > 0 ? wordsApart(text) : [];
    return [
      ...characterOrders.map((order) => countRuns(characters, order, '')),
      ...wordOrders.map((order) => countRuns(words, order, ' ')),
    ];
  };
  const total = (counts: Map<string, number>): number => {
    let sum = 0;
    for (const count of counts.values()) sum += count;
    return sum;
  };
  return {
    statistics(output, references) {
      const runs = runsOf(output);
      let best: number[] | null = null;
      let most = -1;
      for (const reference of references) {
        const statistics = runsOf(reference).flatMap((gold, at) => {
          const own = runs[at] ?? new Map<string, number>();
          return [gold.size > 0 ? total(own) : 0, total(gold), overlap(own, gold)];
        });
        const score = fScore(statistics);
        if (score > most) [most, best] = [score, statistics];
      }
      return best ?? new Array<number>(3 * (characterOrders.length + wordOrders.length)).fill(0);
    },
    score: fScore,
  };
}

export const chrf = characterF([]);
export const chrfPlusPlus = characterF([1, 2]);
