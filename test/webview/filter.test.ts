import { describe, expect, it } from 'vitest';
import { parseFilter, quoteValue, valueGiven, withValue } from '../../webview/results/filter.ts';
import { keyOf, RowTable, sortRows } from '../../webview/results/rows.ts';
import { items, mark } from './data.ts';

const table = new RowTable();
const zero = items('zero-shot', 60, 1);
const few = items('few-shot', 60, 2);
table.add(mark('z', 'zero-shot'), 0, zero);
table.add(mark('f', 'few-shot', 'few-shot · 8 shots'), 1, few);
const all = table.rows.map((row) => ({ ...row, ...row.record, mode: row.mark.mode }));

const matching = (text: string): string[] => {
  const filter = parseFilter(text);
  expect(filter.errors).toEqual([]);
  return table.rows.filter((row) => filter.matches(row)).map(keyOf);
};
const where = (test: (row: (typeof all)[number]) => boolean): string[] => all.filter(test).map((row) => keyOf(row));

describe('the filter language', () => {
  it.each<[string, (row: (typeof all)[number]) => boolean]>([
    ['', () => true],
    ['mode:zero-shot', (row) => row.mode === 'zero-shot'],
    ['mode:zero-shot,few-shot', () => true],
    ['-mode:zero-shot', (row) => row.mode === 'few-shot'],
    ['run:zero-shot', (row) => row.run === 'z'],
    ['run:"few-shot · 8 shots"', (row) => row.run === 'f'],
    ['-run:f', (row) => row.run === 'z'],
    ['cause:"ran on"', (row) => row.cause === 'ran on'],
    ['cause:"ran on","stopped by length"', (row) => row.cause === 'ran on' || row.cause === 'stopped by length'],
    ['cause:any', (row) => row.cause !== null],
    ['cause:none', (row) => row.cause === null],
    ['lenient:right strict:wrong', (row) => row.lenientRight && !row.right],
    ['mode:zero-shot  verdict:unformatted', (row) => row.mode === 'zero-shot' && !row.inFormat && row.lenientRight],
    ['verdict:wrong', (row) => row.inFormat && !row.right],
    ['format:yes', (row) => row.inFormat],
    ['stop:length', (row) => row.stop.reason === 'length'],
    ['item:7', (row) => row.index === 7],
    ['item:10-20', (row) => row.index >= 10 && row.index <= 20],
    ['tom', (row) => /tom/i.test(row.output)],
    ['"She has"', (row) => row.output.includes('She has')],
    ['-"She has"', (row) => !row.output.includes('She has')],
    ['output:"\\"'.concat('"'), (row) => row.output.includes('"')],
    ['.*', (row) => row.output.includes('.*')],
  ])('%s', (text, test) => {
    expect(matching(text)).toEqual(where(test));
  });

  it('finds items whose verdict is not the same in all modes', () => {
    const changed = matching('changed:yes');
    for (let index = 0; index < 60; index++) {
      const verdicts = new Set(table.byItem.get(index)?.map(({ verdict }) => verdict));
      expect(changed.includes(`${index}\nz`)).toBe(verdicts.size > 1);
    }
  });

  it.each([
    ['mode:zero', 0, 9, 'Values: zero-shot'],
    ['x colour:red', 2, 12, 'no key “colour”'],
    ['mode:few-shot cause:"ran', 20, 24, 'not closed'],
    ['item:ten', 0, 8, 'not an item number'],
    ['strict:', 0, 7, 'needs a value'],
    ['constructor:x', 0, 13, 'no key'],
  ])('says what is wrong in %s, and where', (text, start, end, message) => {
    const [error] = parseFilter(text).errors;
    expect(error).toMatchObject({ start, end });
    expect(error?.message).toContain(message);
  });

  it('keeps filtering by the terms that are right', () => {
    const filter = parseFilter('mode:zero-shot colour:red');
    expect(table.rows.filter((row) => filter.matches(row))).toHaveLength(60);
  });
});

describe('terms of one key', () => {
  it('are read where there is one plain value', () => {
    expect(valueGiven('mode:few-shot x', 'mode')).toBe('few-shot');
    expect(valueGiven('cause:"ran on"', 'cause')).toBe('ran on');
    expect(valueGiven('-mode:few-shot', 'mode')).toBeNull();
    expect(valueGiven('mode:few-shot,zero-shot', 'mode')).toBeNull();
    expect(valueGiven('mode:a mode:b', 'mode')).toBeNull();
    expect(valueGiven('"mode:few-shot"', 'mode')).toBeNull();
  });
  it('are replaced, added and taken out', () => {
    expect(withValue('', 'mode', 'few-shot')).toBe('mode:few-shot');
    expect(withValue('"a b" mode:zero-shot c', 'mode', 'few-shot')).toBe('mode:few-shot "a b" c');
    expect(withValue('mode:a x -mode:b', 'mode', null)).toBe('x');
    expect(withValue('x', 'cause', 'ran on')).toBe('cause:"ran on" x');
    expect(parseFilter(`cause:${quoteValue('a "b" \\c')}`).terms[0]?.values).toEqual(['a "b" \\c']);
  });
});

describe('sorting', () => {
  it('orders by item, then mode, and keeps that order among equals', () => {
    const rows = sortRows([...table.rows].reverse(), { key: 'item', descending: false });
    expect(rows.slice(0, 4).map(keyOf)).toEqual(['0\nz', '0\nf', '1\nz', '1\nf']);
    const byTokens = sortRows([...table.rows], { key: 'tokens', descending: true });
    for (const [position, row] of byTokens.slice(1).entries()) {
      const before = byTokens[position];
      expect(before && before.record.outputTokens >= row.record.outputTokens).toBe(true);
      if (before?.record.outputTokens === row.record.outputTokens)
        expect(before.record.index <= row.record.index).toBe(true);
    }
  });
});
