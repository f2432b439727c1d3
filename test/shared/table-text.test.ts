import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { csvRow, markdownRow } from '../../src/shared/table-text.ts';

describe('rows of tables as text', () => {
  it('writes CSV that a CSV reader reads back', () => {
    const cells = ['plain', 'a, b', 'she said "no"', 'two\r\nlines', ' spaced ', '', 'ü'];
    expect(parse(`${csvRow(cells)}\r\n`)).toEqual([cells]);
  });

  it('leaves absent values empty and writes numbers in full', () => {
    expect(csvRow([null, undefined, 0, 1 / 3, false])).toBe(',,0,0.3333333333333333,false');
  });

  it('keeps a Markdown row on one line and its cells apart', () => {
    expect(markdownRow(['a|b', 'two\nlines', 'c'])).toBe('| a\\|b | two lines | c |');
  });
});
