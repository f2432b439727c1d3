/**
 * The filter language of the item table: `mode:zero-shot cause:"ran on" lenient:right -stop:length "text"`.
 * Terms are and-ed, values after one key (separated by commas) are or-ed, `-` negates, anything else is text that is
 * looked for in the output, the gold answer and what was read. Errors carry their place in the text.
 */
import { likelihoodVerdict } from '../../src/metrics/index.ts';
import { failureCauses } from '../../src/shared/failure-causes.ts';
import { promptModes } from '../../src/shared/modes.ts';
import { verdictNames } from '../terms.ts';
import type { Row } from './rows.ts';

export interface Term {
  start: number;
  end: number;
  negated: boolean;
  /** Null for plain text. */
  key: string | null;
  values: string[];
}

export interface FilterError {
  start: number;
  end: number;
  message: string;
}

export interface Filter {
  terms: Term[];
  errors: FilterError[];
  matches(row: Row): boolean;
}

interface Key {
  hint: string;
  /** The allowed values; any value that `check` accepts where absent. */
  values?: readonly string[];
  check?(value: string): string | null;
  test(row: Row, value: string): boolean;
}

const anyCause = 'any';
const noCause = 'none';
const rightOrWrong = ['right', 'wrong'] as const;
const contains = (text: string, value: string): boolean => text.toLowerCase().includes(value.toLowerCase());
const range = /^(\d+)(?:-(\d+))?$/;

/** One row a key. */
export const filterKeys: Record<string, Key> = {
  mode: { hint: 'prompt mode', values: promptModes, test: (row, value) => row.mark.mode === value },
  run: {
    hint: 'name of the run, as its column has it',
    test: ({ mark }, value) => mark.label === value || mark.run === value,
  },
  verdict: { hint: 'format and answer together', values: verdictNames, test: (row, value) => row.verdict === value },
  cause: {
    hint: 'why the strict reading rejected the output',
    values: [...failureCauses, anyCause, noCause],
    test: ({ record }, value) =>
      value === anyCause ? record.cause !== null : value === noCause ? record.cause === null : record.cause === value,
  },
  format: {
    hint: 'in the required format',
    values: ['yes', 'no'],
    test: ({ record }, value) => record.generated !== false && record.inFormat === (value === 'yes'),
  },
  strict: {
    hint: 'verdict of the strict reading',
    values: rightOrWrong,
    test: ({ record }, value) => record.generated !== false && record.right === (value === 'right'),
  },
  lenient: {
    hint: 'verdict of the lenient reading',
    values: rightOrWrong,
    test: ({ record }, value) => record.generated !== false && record.lenientRight === (value === 'right'),
  },
  likely: {
    hint: 'is the gold answer the most likely candidate',
    values: rightOrWrong,
    test: ({ record }, value) => likelihoodVerdict(record) === (value === 'right'),
  },
  stop: {
    hint: 'why generation ended',
    values: ['stop-string', 'eos', 'length'],
    test: ({ record }, value) => record.generated !== false && record.stop.reason === value,
  },
  changed: {
    hint: 'is the verdict not the same in all columns',
    values: ['yes', 'no'],
    test: (row, value) => row.differs === (value === 'yes'),
  },
  item: {
    hint: 'number or range of items, such as 12 or 10-20',
    check: (value) => (range.test(value) ? null : `“${value}” is not an item number or a range such as 10-20.`),
    test({ record }, value) {
      const [, first, last] = range.exec(value) ?? [];
      return record.index >= Number(first) && record.index <= Number(last ?? first);
    },
  },
  gold: { hint: 'text in the gold answer', test: ({ record }, value) => contains(record.gold, value) },
  output: { hint: 'text in the output', test: ({ record }, value) => contains(record.output, value) },
};

const list = (values: readonly string[]): string => values.join(', ');

interface Scan {
  terms: Term[];
  errors: FilterError[];
}

/** Cuts the text into terms. A quote that is not closed is an error and ends with the text. */
function scan(text: string): Scan {
  const terms: Term[] = [];
  const errors: FilterError[] = [];
  let at = 0;
  const quoted = (): string => {
    const start = at++;
    let value = '';
    while (at < text.length && text[at] !== '"') {
      if (text[at] === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\')) at++;
      value += text[at++] ?? '';
    }
    if (at >= text.length) errors.push({ start, end: text.length, message: 'The quotation mark is not closed.' });
    else at++;
    return value;
  };
  const bare = (stop: RegExp): string => {
    const start = at;
    while (at < text.length && !stop.test(text[at] ?? '')) at++;
    return text.slice(start, at);
  };
  while (at < text.length) {
    if (/\s/.test(text[at] ?? '')) {
      at++;
      continue;
    }
    const start = at;
    const negated = text[at] === '-' && at + 1 < text.length && !/\s/.test(text[at + 1] ?? '');
    if (negated) at++;
    const key = /^([a-z]+):/i.exec(text.slice(at))?.[1] ?? null;
    if (key === null) {
      const value = text[at] === '"' ? quoted() : bare(/[\s"]/);
      if (value) terms.push({ start, end: at, negated, key: null, values: [value] });
      continue;
    }
    at += key.length + 1;
    const values: string[] = [];
    do {
      if (text[at] === ',') at++;
      values.push(text[at] === '"' ? quoted() : bare(/[\s,]/));
    } while (text[at] === ',');
    terms.push({ start, end: at, negated, key: key.toLowerCase(), values });
  }
  return { terms, errors };
}

export function parseFilter(text: string): Filter {
  const { terms, errors } = scan(text);
  const tests: ((row: Row) => boolean)[] = [];
  for (const { key, values, negated, start, end } of terms) {
    if (key === null) {
      const pattern = new RegExp((values[0] ?? '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
      tests.push(
        ({ record }) =>
          (pattern.test(record.output) ||
            pattern.test(record.gold) ||
            pattern.test(record.strict.answer ?? '') ||
            pattern.test(record.lenient.answer ?? '')) !== negated,
      );
      continue;
    }
    const rule = Object.hasOwn(filterKeys, key) ? filterKeys[key] : undefined;
    if (!rule) {
      errors.push({ start, end, message: `There is no key “${key}”. Keys: ${list(Object.keys(filterKeys))}.` });
      continue;
    }
    const wrong = values
      .map((value) => {
        if (value === '') return `“${key}:” needs a value${rule.values ? `: ${list(rule.values)}` : ''}.`;
        if (rule.values && !rule.values.includes(value))
          return `“${value}” is not a value of “${key}”. Values: ${list(rule.values)}.`;
        return rule.check?.(value) ?? null;
      })
      .find((message) => message !== null);
    if (wrong) {
      errors.push({ start, end, message: wrong });
      continue;
    }
    tests.push((row) => values.some((value) => rule.test(row, value)) !== negated);
  }
  return { terms, errors, matches: (row) => tests.every((test) => test(row)) };
}

export const quoteValue = (value: string): string =>
  /[\s",:]/.test(value) ? `"${value.replace(/[\\"]/g, '\\$&')}"` : value;

/** The value that the text gives for a key, or null where it gives none, several, or a negation. */
export function valueGiven(text: string, key: string): string | null {
  const found = scan(text).terms.filter((term) => term.key === key);
  const [term] = found;
  return term && found.length === 1 && !term.negated && term.values.length === 1 ? (term.values[0] ?? null) : null;
}

/** The text with its terms for `key` replaced by one for `value`, or taken out where `value` is null. */
export function withValue(text: string, key: string, value: string | null): string {
  const found = scan(text).terms.filter((term) => term.key === key);
  let result = text;
  for (const { start, end } of [...found].reverse())
    result = `${result.slice(0, start).trimEnd()} ${result.slice(end).trimStart()}`;
  result = result.trim();
  if (value === null) return result;
  const term = `${key}:${quoteValue(value)}`;
  return result ? `${term} ${result}` : term;
}
