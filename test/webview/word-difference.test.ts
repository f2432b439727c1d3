/** Differences by words, and which parts of long texts are shown. */
import { describe, expect, it } from 'vitest';
import { Random } from '../../src/shared/random.ts';
import { blockEnds, shownRanges } from '../../webview/results/text-parts.ts';
import { type DifferencePart, mostCompared, wordDifference, wordsOf } from '../../webview/results/word-difference.ts';

const side = (parts: readonly DifferencePart[], kind: 'first' | 'second'): string =>
  parts
    .filter((part) => part.kind === 'same' || part.kind === kind)
    .map(({ text }) => text)
    .join('');

/** Length of a longest common subsequence, by the textbook table. */
function commonWords(a: readonly string[], b: readonly string[]): number {
  const row = new Array<number>(b.length + 1).fill(0);
  for (const word of a) {
    let diagonal = 0;
    for (let at = 1; at <= b.length; at++) {
      const above = row[at] ?? 0;
      row[at] = word === b[at - 1] ? diagonal + 1 : Math.max(above, row[at - 1] ?? 0);
      diagonal = above;
    }
  }
  return row[b.length] ?? 0;
}

describe('the difference of two texts by words', () => {
  it('names what is only in one of them', () => {
    expect(wordDifference('The answer is 12.', 'The answer is 21.')).toEqual([
      { kind: 'same', text: 'The answer is ' },
      { kind: 'first', text: '12' },
      { kind: 'second', text: '21' },
      { kind: 'same', text: '.' },
    ]);
    expect(wordDifference('one two', 'one two')).toEqual([{ kind: 'same', text: 'one two' }]);
    expect(wordDifference('', 'new')).toEqual([{ kind: 'second', text: 'new' }]);
    expect(wordDifference('', '')).toEqual([]);
  });

  it('words next to each other that differ read as one difference', () => {
    expect(wordDifference('a red hat', 'a blue cap').map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      'same: a ',
      'first: red hat',
      'second: blue cap',
    ]);
  });

  it('finds words of scripts without spaces', () => {
    const parts = wordDifference('私は東京に住んでいます', '私は京都に住んでいます');
    expect(parts[0]).toEqual({ kind: 'same', text: '私は' });
    expect(side(parts, 'second')).toBe('私は京都に住んでいます');
  });

  it('both texts can be read from it, and it keeps as many words as any difference could', () => {
    const random = new Random(7);
    for (let round = 0; round < 200; round++) {
      const text = (): string => Array.from({ length: random.below(14) }, () => 'abcd'[random.below(4)]).join('|');
      const [a, b] = [text(), text()];
      const parts = wordDifference(a, b);
      expect(side(parts, 'first')).toBe(a);
      expect(side(parts, 'second')).toBe(b);
      const kept = parts.filter(({ kind }) => kind === 'same').flatMap((part) => wordsOf(part.text)).length;
      expect(kept).toBe(commonWords(wordsOf(a), wordsOf(b)));
    }
  });

  it('of long texts that differ everywhere is whole, and takes in only the beginning', () => {
    const words = (of: string): string => Array.from({ length: 20_000 }, (_, at) => `${of}${at}`).join(' ');
    const parts = wordDifference(words('x'), words('y'));
    expect(side(parts, 'first')).toBe(words('x').slice(0, mostCompared));
    expect(parts.length).toBeGreaterThan(1);
  });
});

describe('a long text', () => {
  it('shows its beginning, and the surroundings of what the readings took', () => {
    expect(shownRanges(100, { strict: null, lenient: null })).toEqual([[0, 100]]);
    expect(shownRanges(1e6, { strict: [500_000, 500_010], lenient: [500_004, 500_009] }, 1000)).toEqual([
      [0, 1000],
      [499_800, 500_210],
    ]);
    expect(shownRanges(1e6, { strict: [900, 1100], lenient: null }, 1000)).toEqual([[0, 1300]]);
    // What a reading took may itself be most of the text.
    expect(shownRanges(1e6, { strict: [0, 1e6], lenient: null }, 1000)).toEqual([[0, 2200]]);
  });

  it('goes in blocks that lose nothing and cut no character', () => {
    for (const text of ['', 'x'.repeat(50_001), '😀'.repeat(20_001), `${'line\n'.repeat(9000)}end`]) {
      const ends = blockEnds(text);
      expect(ends.at(-1) ?? 0).toBe(text.length);
      const blocks = ends.map((end, number) => text.slice(ends[number - 1] ?? 0, end));
      expect(blocks.join('')).toBe(text);
      // A half of a character of two units cannot be encoded.
      for (const one of blocks) expect(() => encodeURIComponent(one)).not.toThrow();
    }
  });
});
