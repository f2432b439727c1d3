/** Numbers in words: "twenty-one", "one hundred and five", "three million". English. */

const small: Readonly<Record<string, number>> = Object.fromEntries(
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
    .split(' ')
    .map((word, value) => [word, value]),
);
const tens: Readonly<Record<string, number>> = Object.fromEntries(
  'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word, i) => [word, 20 + 10 * i]),
);
/** Words that multiply what stands before them; behind digits too ("1.5 million"). */
export const multipliers: Readonly<Record<string, number>> = {
  hundred: 1e2,
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
};

const unit = [...Object.keys(small), ...Object.keys(tens)].sort((a, b) => b.length - a.length).join('|');
const scale = Object.keys(multipliers).join('|');

/** A number in words, as a source for a pattern with the flags `iu`. */
export const numberWordsSource = `(?<![\\p{L}\\p{N}-])(?:(?:minus|negative)\\s+)?(?:(?:${unit})|a(?=\\s+(?:${scale})))(?:[\\s-]+(?:and\\s+)?(?:${unit}|${scale}))*(?![\\p{L}\\p{N}]|-\\p{L})`;

/** The value of a number in words; null where the words are none, or do not make one ("two three"). */
export function wordsValue(text: string): number | null {
  const words = text
    .toLowerCase()
    .split(/[\s-]+/)
    .filter((word) => word !== '' && word !== 'and');
  const negative = words[0] === 'minus' || words[0] === 'negative';
  if (negative) words.shift();
  if (words.length === 0) return null;
  let [total, group, last]: [number, number, number] = [0, 0, Number.POSITIVE_INFINITY];
  for (const word of words) {
    const value = small[word] ?? tens[word] ?? (word === 'a' ? 1 : undefined);
    if (value !== undefined) {
      // "twenty one" and "hundred five" go on downwards; "two three" does not.
      if (value >= last || (last < 20 && last >= 0) || (last < 100 && value >= 10)) return null;
      group += value;
      last = value;
    } else if (word === 'hundred') {
      if (group === 0 || group >= 100) return null;
      group *= 100;
      last = 100;
    } else {
      const factor = multipliers[word];
      if (factor === undefined || group === 0) return null;
      total += group * factor;
      group = 0;
      last = factor;
    }
  }
  return (negative ? -1 : 1) * (total + group);
}
