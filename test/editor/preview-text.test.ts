import { describe, expect, it } from 'vitest';
import { type MarkKind, markAt, previewText } from '../../src/editor/preview-text.ts';
import type { PromptPreview } from '../../src/shared/protocol.ts';

const preview: PromptPreview = {
  mode: 'soft-prompt',
  parts: [
    { kind: 'description', text: 'Answer.\n' },
    { kind: 'question', text: 'Q: ▸ two\nlines ⟦odd⟧\nA:' },
  ],
  tokens: ['<s>', 'Q', ':', '\n'],
  answer: ' 42\n',
  stop: ['\n', '</s>'],
  softPromptVectors: 10,
};
const shown = previewText([preview], { task: 't', index: 2, total: 9, model: 'tiny' });
const textOf = (kind: MarkKind): string[] =>
  shown.marks.filter((mark) => mark.kind === kind).map(({ start, end }) => shown.text.slice(start, end));

describe('a prompt preview', () => {
  it('has the exact text of prompt and answer in one piece', () => {
    expect(shown.text).toContain('Answer.\nQ: ▸ two\nlines ⟦odd⟧\nA: 42\n');
  });

  it('marks parts, answer and stop marker', () => {
    expect(textOf('description')).toEqual(['Answer.\n']);
    expect(textOf('question')).toEqual(['Q: ▸ two\nlines ⟦odd⟧\nA:']);
    expect(textOf('answer')).toEqual([' 42']);
    expect(textOf('stop')).toEqual(['\n', '⟦stop: "\\n" or "</s>" or end of text⟧']);
    expect(textOf('soft-prompt')).toEqual(['⟦10 learned vectors⟧']);
    expect(textOf('tokens')).toEqual(['⟦tokens: <s>│Q│:│\\n⟧']);
  });

  it('says which item it is, counted from 1', () => {
    expect(textOf('heading')[0]).toBe('⟦t, item 3 of 9, tokens as tiny reads them⟧');
    expect(textOf('heading')[1]).toBe('⟦soft-prompt: 4 tokens⟧');
  });

  it('finds the part at an offset', () => {
    const answer = shown.text.indexOf(' 42');
    expect(markAt(shown.marks, answer)?.kind).toBe('answer');
    expect(markAt(shown.marks, shown.text.length + 5)).toBeNull();
  });

  it('breaks a long list of tokens into lines', () => {
    const tokens = Array.from({ length: 60 }, (_, at) => `t${at}`);
    const { text } = previewText([{ ...preview, tokens }], { task: 't', index: 0, total: 1, model: 'tiny' });
    const list = text.slice(text.indexOf('⟦tokens: ') + 9, text.lastIndexOf('⟧'));
    expect(list.replaceAll('\n', '').split('│')).toEqual(tokens);
    expect(Math.max(...list.split('\n').map((line) => line.length))).toBeLessThanOrEqual(72);
  });

  it('shows the end of the text where the benchmark has no marker', () => {
    const { text } = previewText([{ ...preview, stop: [], tokens: [] }], {
      task: 't',
      index: 0,
      total: 1,
      model: null,
    });
    expect(text).toContain(' 42\n⟦stop: end of text⟧');
    expect(text).not.toContain('⟦tokens');
  });
});
