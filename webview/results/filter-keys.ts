/** What the keys of the filter language mean: one row a key, for filtering, completion and the help. */
import { likelihoodVerdict } from '../../src/metrics/index.ts';
import { failureCauses } from '../../src/shared/failure-causes.ts';
import { rowBits, stopReasonOf, stopReasons, type TextField } from '../../src/shared/item-rows.ts';
import { markKinds } from '../../src/shared/marks.ts';
import { promptModes } from '../../src/shared/modes.ts';
import { type Verdict, verdictNames, verdicts } from '../terms.ts';
import type { ColumnMark } from './columns.ts';
import { likelihoodMargin } from './margins.ts';
import type { RowTable } from './rows.ts';

export type RowTest = (id: number) => boolean;

export interface FilterKey {
  hint: string;
  /** The values there are, where they can be listed; no others are allowed but those that `check` takes. */
  values?(marks: readonly ColumnMark[]): readonly string[];
  /** What a value means, for completion. */
  words?(value: string): string;
  /** Says what is wrong with a value, or null. Where a key has `values` too, it is asked about others than those. */
  check?(value: string, marks: readonly ColumnMark[]): string | null;
  /** A number of each row, to be compared: `12`, `3..10`, `>5`. */
  number?(table: RowTable): (id: number) => number | null;
  /** Text of the row that is searched. */
  text?: TextField;
  test?(table: RowTable, value: string): RowTest;
  /** Values that a row has, to be counted for completion. */
  valuesOf?(table: RowTable): (id: number) => readonly string[];
  /** The answer for a row depends on other rows of its item. */
  acrossRuns?: true;
  /** For the help. */
  example?: string;
}

const anyMark = 'any';
const noMark = 'none';
const anyCause = 'any';
const noCause = 'none';
const yesNo = ['yes', 'no'] as const;
const rightOrWrong = ['right', 'wrong'] as const;

/** The verdicts as right and wrong; null for outputs that were not judged and texts that were only measured. */
const rightness: Record<Verdict, boolean | null> = {
  right: true,
  unformatted: false,
  wrong: false,
  neither: false,
  likely: true,
  unlikely: false,
  measured: null,
  unscored: null,
};

/** A key about something that is or is not so of a generated output. */
const ofOutputs = (hint: string, bit: number, [yes, no]: readonly [string, string]): FilterKey => ({
  hint,
  values: () => [yes, no],
  test: (table, value) => {
    const { flags } = table;
    const wanted = value === yes ? bit : 0;
    return (id) => ((flags[id] ?? 0) & (bit | rowBits.notGenerated)) === wanted;
  },
  valuesOf: (table) => (id) => (table.isGenerated(id) ? [(table.flags[id] ?? 0) & bit ? yes : no] : []),
});

const number = (hint: string, example: string, of: NonNullable<FilterKey['number']>): FilterKey => ({
  hint,
  example,
  number: of,
  check: (value) =>
    rangeOf(value) ? null : `“${value}” is not a number, a range such as 3..10, or a comparison such as >5.`,
});

const outputNumber =
  (of: (table: RowTable, id: number) => number): NonNullable<FilterKey['number']> =>
  (table) =>
  (id) =>
    table.isGenerated(id) ? of(table, id) : null;

/** The position of the column that a name means: its label, mode or run where that is one column's, or its number from 1. */
export function columnNamed(name: string, marks: readonly ColumnMark[]): number {
  const wanted = name.trim().toLowerCase();
  for (const by of ['label', 'mode', 'run'] as const) {
    const found = marks.flatMap((mark, order) => (mark?.[by].toLowerCase() === wanted ? [order] : []));
    if (found.length === 1) return found[0] ?? -1;
  }
  return /^[1-9]\d*$/.test(wanted) && Number(wanted) <= marks.length ? Number(wanted) - 1 : -1;
}

const pairOf = (value: string, marks: readonly ColumnMark[]): [number, number] | null => {
  const [base, other, ...more] = value.split('..');
  if (base === undefined || other === undefined || more.length > 0) return null;
  return [columnNamed(base, marks), columnNamed(other, marks)];
};

/** All pairs of columns in their order, as `A..B`. */
export const pairsOf = (marks: readonly ColumnMark[]): string[] =>
  marks.flatMap((base, at) => marks.slice(at + 1).map((other) => `${base.label}..${other.label}`));

function checkPair(value: string, marks: readonly ColumnMark[]): string | null {
  const pair = pairOf(value, marks);
  if (!pair) return `“${value}” does not name two columns: write A..B, with names or numbers of columns.`;
  const missing = value.split('..')[pair.indexOf(-1)];
  if (missing !== undefined)
    return `There is no column “${missing}”. Columns: ${marks.map(({ label }) => label).join(', ')}.`;
  return pair[0] === pair[1] ? `“${value}” names the same column twice.` : null;
}

/** A key about how an item's verdict differs between two columns; it shows the item's rows in those two. */
function between(table: RowTable, value: string, holds: (base: Verdict, other: Verdict) => boolean): RowTest {
  const [base, other] = pairOf(value, table.marks) ?? [-1, -1];
  return (id) => {
    const order = table.orders[id];
    if (order !== base && order !== other) return false;
    const [first, second] = [table.inColumn(id, base), table.inColumn(id, other)];
    return first >= 0 && second >= 0 && holds(table.verdictOf(first), table.verdictOf(second));
  };
}

const direction = (hint: string, from: boolean): FilterKey => ({
  hint,
  example: 'A..B',
  acrossRuns: true,
  values: pairsOf,
  check: checkPair,
  test: (table, value) =>
    between(table, value, (base, other) => rightness[base] === from && rightness[other] === !from),
});

const distinct = (names: readonly string[]): string[] => [...new Set(names)];

export const filterKeys: Record<string, FilterKey> = {
  mode: {
    hint: 'prompt mode',
    values: () => promptModes,
    test: (table, value) => (id) => table.marks[table.orders[id] ?? 0]?.mode === value,
    valuesOf: (table) => (id) => [table.marks[table.orders[id] ?? 0]?.mode ?? ''],
  },
  run: {
    hint: 'name of the run, as its column has it',
    values: (marks) => marks.map(({ label }) => label),
    check: (value, marks) =>
      columnNamed(value, marks) >= 0
        ? null
        : `There is no run “${value}”. Runs: ${marks.map(({ label }) => label).join(', ')}.`,
    test: (table, value) => {
      const order = columnNamed(value, table.marks);
      return (id) => table.orders[id] === order;
    },
    valuesOf: (table) => (id) => [table.marks[table.orders[id] ?? 0]?.label ?? ''],
  },
  model: {
    hint: 'name of the model',
    values: (marks) => distinct(marks.map(({ model }) => model)),
    test: (table, value) => (id) => table.marks[table.orders[id] ?? 0]?.model === value,
    valuesOf: (table) => (id) => [table.marks[table.orders[id] ?? 0]?.model ?? ''],
  },
  verdict: {
    hint: 'format and answer together',
    values: () => verdictNames,
    words: (value) => verdicts[value as Verdict].label,
    test: (table, value) => {
      const wanted = verdictNames.indexOf(value as Verdict);
      return (id) => table.verdictNumbers[id] === wanted;
    },
    valuesOf: (table) => (id) => [table.verdictOf(id)],
  },
  cause: {
    hint: 'why the strict reading rejected the output',
    example: '"ran on"',
    values: () => [...failureCauses, anyCause, noCause],
    test: (table, value) => {
      if (value === anyCause) return (id) => (table.causeNumbers[id] ?? 0) > 0;
      const wanted = value === noCause ? 0 : failureCauses.indexOf(value as (typeof failureCauses)[number]) + 1;
      return (id) => table.causeNumbers[id] === wanted;
    },
    valuesOf: (table) => (id) => {
      const cause = failureCauses[(table.causeNumbers[id] ?? 0) - 1];
      return cause === undefined ? [noCause] : [cause, anyCause];
    },
  },
  format: ofOutputs('in the required format', rowBits.inFormat, yesNo),
  strict: ofOutputs('verdict of the strict reading', rowBits.right, rightOrWrong),
  lenient: ofOutputs('verdict of the lenient reading', rowBits.lenientRight, rightOrWrong),
  likely: {
    hint: 'is the gold answer the most likely candidate',
    values: () => rightOrWrong,
    test: (table, value) => (id) => likelihoodVerdict(table.rare(id)) === (value === 'right'),
    valuesOf: (table) => (id) => {
      const verdict = likelihoodVerdict(table.rare(id));
      return verdict === null ? [] : [verdict ? 'right' : 'wrong'];
    },
  },
  stop: {
    hint: 'why generation ended',
    values: () => stopReasons,
    test: (table, value) => (id) => table.isGenerated(id) && stopReasonOf(table.flags[id] ?? 0) === value,
    valuesOf: (table) => (id) => (table.isGenerated(id) ? [stopReasonOf(table.flags[id] ?? 0)] : []),
  },
  changed: {
    hint: 'is the verdict not the same in all columns, or in columns A and B',
    example: 'A..B',
    acrossRuns: true,
    values: (marks) => [...yesNo, ...pairsOf(marks)],
    check: checkPair,
    test: (table, value) =>
      value === 'yes' || value === 'no'
        ? (id) => table.differs(id) === (value === 'yes')
        : between(table, value, (base, other) => base !== other),
  },
  gained: direction('wrong in column A, right in column B', false),
  lost: direction('right in column A, wrong in column B', true),
  mark: {
    hint: 'what somebody marked the item as',
    values: () => [...markKinds.map(({ kind }) => kind), anyMark, noMark],
    words: (value) => markKinds.find(({ kind }) => kind === value)?.sentence ?? '',
    test: (table, value) => (id) => {
      const mark = table.itemMarks.get(table.indexOf(id));
      return value === anyMark ? mark !== undefined : value === noMark ? !mark : mark?.kind === value;
    },
    valuesOf: (table) => (id) => {
      const mark = table.itemMarks.get(table.indexOf(id));
      return mark ? [mark.kind, anyMark] : [noMark];
    },
  },
  item: number('position of the item in the split, from 0', '3..10', (table) => (id) => table.indexOf(id)),
  tokens: number(
    'length of the output in tokens',
    '>100',
    outputNumber(({ tokens }, id) => tokens[id] ?? 0),
  ),
  length: number(
    'length of the output in characters',
    '..20',
    outputNumber((table, id) => table.text(id, 'output').length),
  ),
  margin: number(
    'log-likelihood of the right candidate less that of the best other one',
    '-0.5..0.5',
    (table) => (id) => likelihoodMargin(table.rare(id)),
  ),
  output: { hint: 'text in the output', text: 'output', example: '/\\d+ apples/' },
  gold: {
    hint: 'text in the gold answer',
    text: 'gold',
    valuesOf: (table) => (id) => [table.text(id, 'gold')],
  },
  read: {
    hint: 'text in what the lenient reading took',
    text: 'lenient',
    valuesOf: (table) => (id) => [table.text(id, 'lenient')],
  },
};

/** Other names of keys. */
const aliases: Record<string, string> = { index: 'item', chars: 'length' };
export const keyNamed = (name: string): FilterKey | null => {
  const key = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
  return Object.hasOwn(filterKeys, key) ? (filterKeys[key] ?? null) : null;
};
export const comparesNumbers = (name: string): boolean => keyNamed(name)?.number !== undefined;

const numeral = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)`;
const comparison = new RegExp(`^(>=|<=|>|<|=)?(${numeral})$`);
/** `3..10`, `3..`, `..10`; of whole numbers from 0 also `3-10`. */
const spanned = new RegExp(`^(${numeral})?\\.\\.(${numeral})?$`);
const hyphened = /^(\d+)-(\d+)$/;

export interface NumberRange {
  low: number;
  high: number;
  /** The bounds themselves count. */
  closed: boolean;
}

/** The numbers that a value of a number key means; null where it means none. */
export function rangeOf(value: string): NumberRange | null {
  const [, sign, bound] = comparison.exec(value) ?? [];
  if (bound !== undefined) {
    const limit = Number(bound);
    if (sign === '>' || sign === '>=') return { low: limit, high: Number.POSITIVE_INFINITY, closed: sign === '>=' };
    if (sign === '<' || sign === '<=') return { low: Number.NEGATIVE_INFINITY, high: limit, closed: sign === '<=' };
    return { low: limit, high: limit, closed: true };
  }
  const [all, low, high] = spanned.exec(value) ?? hyphened.exec(value) ?? [];
  if (all === undefined || (low === undefined && high === undefined)) return null;
  return {
    low: low === undefined ? Number.NEGATIVE_INFINITY : Number(low),
    high: high === undefined ? Number.POSITIVE_INFINITY : Number(high),
    closed: true,
  };
}

export const inRange = (number: number | null, { low, high, closed }: NumberRange): boolean =>
  number !== null && (closed ? number >= low && number <= high : number > low && number < high);
