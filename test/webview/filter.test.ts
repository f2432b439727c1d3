import { describe, expect, it } from 'vitest';
import type { ItemRow } from '../../src/shared/protocol.ts';
import type { ColumnMark } from '../../webview/results/columns.ts';
import { complete, countValues, taken } from '../../webview/results/completion.ts';
import { parseFilter, quoteValue, valueGiven, withValue } from '../../webview/results/filter.ts';
import { keyNamed } from '../../webview/results/filter-keys.ts';
import { memoryOf, withRecent, withSaved } from '../../webview/results/filter-memory.ts';
import { Matcher } from '../../webview/results/matching.ts';
import { keyOf, type Row, RowTable } from '../../webview/results/rows.ts';
import { isSortKey, Orders, type SortKey } from '../../webview/results/sorting.ts';
import { verdictOf } from '../../webview/terms.ts';
import { items, mark } from './data.ts';

const choices = (gold: number, ...logLikelihoods: number[]): ItemRow['choices'] => ({
  texts: logLikelihoods.map((_, position) => `choice ${position}`),
  logLikelihoods,
  gold,
  right: logLikelihoods.indexOf(Math.max(...logLikelihoods)) === gold,
  rightNormalised: false,
});
const zero: ItemRow[] = items('zero-shot', 60, 1).map((item) => ({
  ...item,
  choices: choices(item.index % 3, -1 - item.index / 10, -3, -5),
}));
const few: ItemRow[] = items('few-shot', 60, 2);
const tableOf = (...runs: [string, ColumnMark['mode'], ItemRow[]][]): RowTable => {
  const table = new RowTable();
  for (const [order, [run, mode, records]] of runs.entries()) table.add(mark(run, mode), order, records);
  return table;
};
const table = tableOf(['z', 'zero-shot', zero], ['f', 'few-shot', few]);
const rowsOf = (from: RowTable): Row[] => Array.from({ length: from.length }, (_, id) => from.row(id));
const all = rowsOf(table);

const found = (text: string, from: RowTable = table, matcher = new Matcher(from)): string[] => {
  const filter = parseFilter(text, from.marks);
  expect(filter.errors).toEqual([]);
  const { bits } = matcher.match(filter.root);
  return rowsOf(from)
    .filter((_, id) => bits[id])
    .map(keyOf);
};
type Test = (row: ItemRow & { mode: string }) => boolean;
const where = (test: Test): string[] =>
  all.filter(({ record, mark: { mode } }) => test({ ...record, mode })).map(keyOf);
/** The margin of zero-shot items, in other words than the page's. */
const margin = ({ choices: c }: ItemRow): number => {
  const [right, ...others] = [...(c?.logLikelihoods ?? [])].sort((a, b) =>
    a === c?.logLikelihoods[c.gold] ? -1 : b === c?.logLikelihoods[c.gold] ? 1 : b - a,
  );
  return (right ?? Number.NaN) - (others[0] ?? Number.NaN);
};

describe('the filter language', () => {
  it.each<[string, Test]>([
    ['', () => true],
    ['mode:zero-shot', (row) => row.mode === 'zero-shot'],
    ['mode:zero-shot,few-shot', () => true],
    ['-mode:zero-shot', (row) => row.mode === 'few-shot'],
    ['NOT mode:zero-shot', (row) => row.mode === 'few-shot'],
    ['run:few-shot', (row) => row.mode === 'few-shot'],
    ['run:z', (row) => row.mode === 'zero-shot'],
    ['run:2', (row) => row.mode === 'few-shot'],
    ['model:SmolLM2-135M-Instruct', () => true],
    ['cause:"ran on"', (row) => row.cause === 'ran on'],
    ['cause:"ran on","stopped by length"', (row) => row.cause === 'ran on' || row.cause === 'stopped by length'],
    ['cause:any', (row) => row.cause !== null],
    ['cause:none', (row) => row.cause === null],
    ['lenient:right strict:wrong', (row) => row.lenientRight && !row.right],
    ['mode:zero-shot  verdict:unformatted', (row) => row.mode === 'zero-shot' && !row.inFormat && row.lenientRight],
    ['verdict:wrong', (row) => row.inFormat && !row.right],
    ['format:yes', (row) => row.inFormat],
    ['stop:length', (row) => row.stop.reason === 'length'],
    ['likely:right', (row) => row.choices?.right === true],
    ['item:7', (row) => row.index === 7],
    ['item:10-20', (row) => row.index >= 10 && row.index <= 20],
    ['index:10..20', (row) => row.index >= 10 && row.index <= 20],
    ['item:1,5,58..', (row) => [1, 5, 58, 59].includes(row.index)],
    ['item<3', (row) => row.index < 3],
    ['item<=3', (row) => row.index <= 3],
    ['item=3', (row) => row.index === 3],
    ['tokens>40', (row) => row.outputTokens > 40],
    ['tokens:>40', (row) => row.outputTokens > 40],
    ['-tokens:..40', (row) => row.outputTokens > 40],
    ['length>=200', (row) => row.output.length >= 200],
    ['margin:-0.5..0.5', (row) => row.choices !== undefined && Math.abs(margin(row)) <= 0.5],
    ['margin<-1.25', (row) => row.choices !== undefined && margin(row) < -1.25],
    ['tom', (row) => /tom/i.test(row.output)],
    ['"She has"', (row) => row.output.includes('She has')],
    ['-"She has"', (row) => !row.output.includes('She has')],
    ['output:"\\"'.concat('"'), (row) => row.output.includes('"')],
    ['.*', (row) => row.output.includes('.*')],
    ['gold:7', (row) => row.gold.includes('7')],
    ['read:7', (row) => (row.lenient.answer ?? '').includes('7')],
    ['/she HAS \\d/', (row) => /she has \d/i.test(row.output)],
    ['/^ She has 1\\d /m', (row) => /^ She has 1\d /m.test(row.output)],
    ['gold:/^1\\d$/', (row) => /^1\d$/.test(row.gold)],
    ['-output:/\\d$/', (row) => !/\d$/.test(row.output)],
    ['/path/to', (row) => row.output.includes('/path/to')],
    ['item:1 OR item:2', (row) => row.index === 1 || row.index === 2],
    ['mode:zero-shot item:1 OR item:2', (row) => (row.mode === 'zero-shot' && row.index === 1) || row.index === 2],
    ['mode:zero-shot (item:1 OR item:2)', (row) => row.mode === 'zero-shot' && (row.index === 1 || row.index === 2)],
    ['-(item:1 OR item:2)', (row) => row.index !== 1 && row.index !== 2],
    [
      'mode:zero-shot AND -(item>3 OR tokens>40)',
      (row) => row.mode === 'zero-shot' && row.index <= 3 && row.outputTokens <= 40,
    ],
    ['((tom))', (row) => /tom/i.test(row.output)],
    ['colour>3', (row) => row.output.includes('colour>3')],
  ])('%s', (text, test) => {
    expect(found(text)).toEqual(where(test));
  });

  it('finds items whose verdict is not the same in all runs, and which way it went', () => {
    const verdict = (record: ItemRow | undefined): string => (record ? verdictOf(record) : '');
    const isRight = (record: ItemRow | undefined): boolean => record?.right === true;
    const of = (test: (base: ItemRow | undefined, other: ItemRow | undefined) => boolean): string[] =>
      all.filter(({ record: { index } }) => test(zero[index], few[index])).map(keyOf);
    expect(found('changed:yes')).toEqual(of((a, b) => verdict(a) !== verdict(b)));
    expect(found('changed:no')).toEqual(of((a, b) => verdict(a) === verdict(b)));
    expect(found('changed:zero-shot..few-shot')).toEqual(of((a, b) => verdict(a) !== verdict(b)));
    expect(found('gained:zero-shot..few-shot')).toEqual(of((a, b) => !isRight(a) && isRight(b)));
    expect(found('lost:1..2')).toEqual(of((a, b) => isRight(a) && !isRight(b)));
    expect(found('lost:2..1')).toEqual(found('gained:1..2'));
    expect(found('gained:1..2').length).toBeGreaterThan(0);
    const three = tableOf(
      ['z', 'zero-shot', zero],
      ['f', 'few-shot', few],
      ['s', 'soft-prompt', items('soft-prompt', 60, 3)],
    );
    expect(found('changed:1..2', three)).toEqual(found('changed:1..2'));
  });

  it.each([
    ['mode:zero', 0, 9, 'Values: zero-shot'],
    ['x colour:red', 2, 12, 'no key “colour”'],
    ['mode:few-shot cause:"ran', 20, 24, 'not closed'],
    ['item:ten', 0, 8, 'not a number'],
    ['item:1,ten,3', 7, 10, 'not a number'],
    ['strict:', 0, 7, 'needs a value'],
    ['tokens>', 0, 7, 'needs a value'],
    ['constructor:x', 0, 13, 'no key'],
    ['run:nine', 0, 8, 'no run “nine”'],
    ['changed:zero-shot', 0, 17, 'A..B'],
    ['gained:zero-shot..nine', 0, 22, 'no column “nine”'],
    ['lost:1..1', 0, 9, 'twice'],
    ['x /a(/', 2, 6, 'not valid'],
    ['x /a/gy', 2, 7, 'not a flag'],
    ['x OR', 2, 4, 'between two terms'],
    ['(x', 0, 1, 'not closed'],
    ['x ) y', 2, 3, 'closes nothing'],
    ['NOT', 0, 3, 'in front of a term'],
  ])('says what is wrong in %s, and where', (text, start, end, message) => {
    const [error] = parseFilter(text, table.marks).errors;
    expect(error).toMatchObject({ start, end });
    expect(error?.message).toContain(message);
  });

  it('keeps filtering by the terms that are right', () => {
    for (const text of ['mode:zero-shot colour:red', 'mode:zero-shot (colour:red)', 'mode:zero-shot -/(/']) {
      const { root } = parseFilter(text, table.marks);
      expect(new Matcher(table).match(root).bits.reduce((sum, bit) => sum + bit, 0)).toBe(60);
    }
  });

  it('says nothing of columns before they are known', () => {
    expect(parseFilter('run:x model:y gained:1..2', []).errors).toEqual([]);
  });
});

describe('matching', () => {
  it('finds the same whatever was looked for before, as rows come, and in pieces', () => {
    const grown = new RowTable();
    const matcher = new Matcher(grown);
    const texts = [
      't',
      'to',
      'tom',
      'tom has',
      'tom has 1',
      'gold:7',
      'changed:1..2',
      '-tom mode:few-shot',
      '/has 4/ OR gold:8',
    ];
    for (const part of [0, 20, 40]) {
      grown.add(mark('z', 'zero-shot'), 0, zero.slice(part, part + 20));
      grown.add(mark('f', 'few-shot'), 1, few.slice(part, part + 20));
      for (const text of [...texts, ...texts].reverse())
        expect(found(text, grown, matcher)).toEqual(found(text, grown));
    }
    // However often it is broken off, it comes to an end with the same.
    const slow = new Matcher(table);
    const { root } = parseFilter('/has \\d+/ tokens>20 tom', table.marks);
    const whole = new Matcher(table).match(root);
    expect(whole.known).toBe(table.length);
    let part = slow.match(root, () => true);
    expect(part.known).toBe(0);
    for (let round = 0; part.known < table.length && round < 100; round++) {
      let asked = 0;
      part = slow.match(root, () => asked++ > 1);
      // What is known already is right.
      expect(part.bits.subarray(0, part.known)).toEqual(whole.bits.subarray(0, part.known));
    }
    expect(part).toEqual(whole);
  });

  it('finds no text across fields or rows, in any script, and folds case where that changes the length', () => {
    const texts = ['İstanbul', 'ISTANBUL', '日本語 İ', 'ab', 'a'].map((output, index) => ({
      ...(few[0] as ItemRow),
      ...{ index, output, gold: 'GOLD', strict: { answer: 'end', span: null }, lenient: { answer: null, span: null } },
    }));
    const some = tableOf(['f', 'few-shot', texts]);
    const indexes = (text: string): number[] => found(text, some).map((key) => Number.parseInt(key, 10));
    expect(indexes('istanbul')).toEqual([1]);
    expect(indexes('stanbul')).toEqual([0, 1]);
    expect(indexes('日本')).toEqual([2]);
    expect(indexes('abgold')).toEqual([]);
    expect(indexes('endab')).toEqual([]);
    expect(indexes('gold:gold')).toEqual([0, 1, 2, 3, 4]);
    expect(indexes('output:gold')).toEqual([]);
    expect(indexes('output:a')).toEqual([0, 1, 3, 4]);
    expect(indexes('a')).toEqual([0, 1, 3, 4]);
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
    expect(withValue('x OR y', 'mode', 'few-shot')).toBe('mode:few-shot (x OR y)');
    for (const value of ['a "b" \\c', '/x/', '-x', 'OR', 'a,b', '(', 'x:y', ''])
      expect(parseFilter(`gold:${quoteValue(value)}`, []).terms[0]?.values.map(({ text }) => text)).toEqual([value]);
  });
});

describe('completion', () => {
  const at = (text: string, caret = text.length) =>
    complete(text, caret, table.marks, (key) => countValues(key, table, null));
  const labels = (text: string, caret?: number) => at(text, caret)?.options.map(({ label }) => label) ?? [];
  const take = (text: string, label: string, caret?: number) => {
    const completion = at(text, caret);
    const option = completion?.options.find((one) => one.label === label);
    return completion && option && taken(text, completion, option);
  };
  it('offers keys, then their values with how many rows have them', () => {
    expect(labels('')).toContain('cause:');
    expect(labels('c')).toEqual(['cause:', 'changed:']);
    expect(labels('tom -str')).toEqual(['strict:']);
    expect(labels('(mo')).toEqual(['mode:', 'model:']);
    expect(labels('cause:ran')).toEqual(['ran on']);
    const option = at('cause:')?.options.find(({ label }) => label === 'ran on');
    expect(option?.detail).toBe(`${all.filter(({ record }) => record.cause === 'ran on').length} rows`);
    expect(labels('changed:')).toEqual(['yes', 'no', 'zero-shot..few-shot']);
    expect(labels('verdict:')[0]).toBe('right');
    expect(labels('mode:zero-shot,')).toContain('few-shot');
    // of texts the commonest
    const golds = all.map(({ record }) => record.gold);
    const times = (gold: string) => golds.filter((each) => each === gold).length;
    const offered = labels('gold:');
    expect(times(offered[0] ?? '')).toBe(Math.max(...golds.map(times)));
    expect(labels('cause:"ran')).toEqual(['ran on']);
  });
  it('offers nothing within text, patterns and numbers', () => {
    for (const text of ['xyz', '"mode', '/mo/', 'tokens>1', 'colour:', 'mode:nine']) expect(labels(text)).toEqual([]);
  });
  it('puts what was chosen in the place of what was written', () => {
    expect(take('cau', 'cause:')).toEqual({ text: 'cause:', caret: 6 });
    expect(take('cause:ra', 'ran on')).toEqual({ text: 'cause:"ran on" ', caret: 15 });
    expect(take('cause:"ra', 'ran on')).toEqual({ text: 'cause:"ran on" ', caret: 15 });
    expect(take('mode:fe x', 'few-shot', 7)).toEqual({ text: 'mode:few-shot x', caret: 13 });
    expect(take('mode:fex x', 'few-shot', 7)).toEqual({ text: 'mode:few-shot x', caret: 13 });
    expect(take('mo: x', 'mode:', 2)).toEqual({ text: 'mode: x', caret: 5 });
    expect(take('tok', 'tokens')).toEqual({ text: 'tokens', caret: 6 });
  });
  it('counts among the rows that it is given', () => {
    const cause = keyNamed('cause');
    const none = new Uint8Array(table.length);
    expect(cause && countValues(cause, table, none).size).toBe(0);
  });
});

describe('saved filters', () => {
  it('are kept by name; those used last stand first', () => {
    const one = withSaved([], { name: 'b', text: 'x' });
    expect(withSaved(withSaved(one, { name: 'a', text: 'y' }), { name: 'b', text: 'z' })).toEqual([
      { name: 'a', text: 'y' },
      { name: 'b', text: 'z' },
    ]);
    expect(withRecent(['a', 'b'], 'b')).toEqual(['b', 'a']);
    expect(
      withRecent(
        Array.from({ length: 40 }, (_, at) => `${at}`),
        'x',
      ),
    ).toHaveLength(12);
  });
  it('are read from whatever an earlier version kept', () => {
    const empty = { saved: [], recent: [] };
    for (const broken of [null, 3, 'x', [], { saved: {}, recent: 'x' }, { saved: [null, { name: 1, text: 'x' }] }])
      expect(memoryOf(broken)).toEqual(empty);
    const kept = { saved: [{ name: 'a', text: 'x' }], recent: ['y'] };
    expect(memoryOf({ ...kept, more: 1 })).toEqual(kept);
  });
});

describe('sorting', () => {
  const orders = new Orders(table);
  const sorted = (key: SortKey, descending = false): Row[] =>
    Array.from(orders.of({ key, descending }), (id) => table.row(id));
  it('orders by item, then run, and keeps that order among equals', () => {
    expect(sorted('item').slice(0, 4).map(keyOf)).toEqual(['0\nz', '0\nf', '1\nz', '1\nf']);
    expect(sorted('item', true).slice(0, 2).map(keyOf)).toEqual(['59\nz', '59\nf']);
    const byTokens = sorted('tokens', true);
    for (const [position, row] of byTokens.slice(1).entries()) {
      const before = byTokens[position];
      expect(before && before.record.outputTokens >= row.record.outputTokens).toBe(true);
      if (before?.record.outputTokens === row.record.outputTokens)
        expect(before.record.index <= row.record.index).toBe(true);
    }
  });
  it('orders every column, numbers within texts as numbers, and what has nothing last', () => {
    const golds = sorted('gold').map(({ record }) => Number(record.gold));
    expect(golds).toEqual([...golds].sort((a, b) => a - b));
    for (const descending of [false, true]) {
      const rows = sorted('margin', descending);
      expect(rows.slice(60).every(({ record }) => !record.choices)).toBe(true);
      const margins = rows.slice(0, 60).map(({ record }) => margin(record));
      expect(margins).toEqual([...margins].sort((a, b) => (descending ? b - a : a - b)));
      expect(sorted('cause', descending).at(-1)?.record.cause).toBeNull();
    }
    const first = sorted('across').findIndex(({ differs }) => !differs);
    expect(
      sorted('across')
        .slice(first)
        .some(({ differs }) => differs),
    ).toBe(false);
    const stops = sorted('stop').map(({ record }) => record.stop.reason);
    expect([...new Set(stops)]).toEqual(['stop-string', 'eos', 'length']);
    for (const key of ['run', 'verdict', 'read', 'output', 'length'] as const) expect(sorted(key)).toHaveLength(120);
    expect(isSortKey('colour')).toBe(false);
  });
  it('takes in rows that come later, in whichever order items come', () => {
    const grown = new RowTable();
    const kept = new Orders(grown);
    for (const part of [40, 0, 20]) grown.add(mark('z', 'zero-shot'), 0, zero.slice(part, part + 20));
    const indexes = () => Array.from(kept.of({ key: 'item', descending: false }), (id) => grown.indexOf(id));
    expect(indexes()).toEqual(zero.map(({ index }) => index));
    grown.clear();
    expect(indexes()).toEqual([]);
  });
});
