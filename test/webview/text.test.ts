import { describe, expect, it } from 'vitest';
import { oneLine, piecesOf, visible } from '../../webview/text.ts';

describe('visible', () => {
  it('keeps plain text, tabs, newlines, emoji with joiners, and right-to-left letters', () => {
    const text = 'a\tb\n שלום 日本 👩‍🔬 می‌خواهم';
    expect(visible(text)).toBe(text);
  });
  it.each([
    ['\u0000', '␀'],
    ['\u001b[31m', '␛[31m'],
    ['\r', '␍'],
    ['\u007f', '␡'],
    ['\u0085', '⟨U+0085⟩'],
    ['\u202e', '⟨U+202E⟩'],
    ['\u2066', '⟨U+2066⟩'],
    ['\u200b', '⟨U+200B⟩'],
    ['\ufeff', '⟨U+FEFF⟩'],
    ['\ud800', '⟨U+D800⟩'],
    ['\udc00x', '⟨U+DC00⟩x'],
  ])('makes %j seen', (raw, shown) => {
    expect(visible(raw)).toBe(shown);
  });
});

describe('oneLine', () => {
  it('joins lines and cuts before it works on a long text', () => {
    expect(oneLine('a\r\nb\nc\td')).toBe('a ⏎ b ⏎ c d');
    expect(oneLine('x'.repeat(1_000_000), 10)).toBe(`${'x'.repeat(10)}…`);
  });
});

describe('piecesOf', () => {
  it('cuts at the ends of overlapping spans and says which span each piece is in', () => {
    expect(piecesOf('0123456789', [2, 6], [4, 8])).toEqual([
      { text: '01', strict: false, lenient: false },
      { text: '23', strict: true, lenient: false },
      { text: '45', strict: true, lenient: true },
      { text: '67', strict: false, lenient: true },
      { text: '89', strict: false, lenient: false },
    ]);
  });
  it('joins to the text again for no span, an empty span and spans beyond the end', () => {
    for (const span of [null, [3, 3], [8, 99]] as const) {
      const pieces = piecesOf('0123456789', span ? [span[0], span[1]] : null, null);
      expect(pieces.map(({ text }) => text).join('')).toBe('0123456789');
    }
  });
});
