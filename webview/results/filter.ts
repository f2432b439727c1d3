/**
 * The filter of the item table: reads its text (filter-language.ts), checks it against the keys (filter-keys.ts), and makes
 * of each term a test of rows. Errors carry their place in the text; the terms that are right go on filtering.
 */
import { type TextField, textFields } from '../../src/shared/item-rows.ts';
import type { ColumnMark } from './columns.ts';
import { comparesNumbers, filterKeys, inRange, keyNamed, type RowTest, rangeOf } from './filter-keys.ts';
import { type Expression, type FilterError, quoteValue, readFilter, type Term, type Value } from './filter-language.ts';
import type { RowTable } from './rows.ts';

export type { FilterError } from './filter-language.ts';
export { quoteValue } from './filter-language.ts';

/** A value looked for in the text of rows. */
export interface TextNeedle {
  /** Where; null: everywhere. */
  field: TextField | null;
  /** In lower case. */
  text: string;
}

/** One term as rows are tested by it, without its negation. */
export interface Condition {
  /** The same for terms that mean the same. */
  id: string;
  /** Text that is looked for, where that is all. */
  needle: TextNeedle | null;
  acrossRuns: boolean;
  /** A test of rows as the table is now; columns are looked up when it is made. */
  test(table: RowTable): RowTest;
}

export type Compiled =
  | { kind: 'condition'; condition: Condition }
  | { kind: 'not'; part: Compiled }
  | { kind: 'and' | 'or'; parts: Compiled[] };

export interface Filter {
  terms: Term[];
  errors: FilterError[];
  root: Compiled;
}

const listed = (values: readonly string[]): string => values.join(', ');

export function parseFilter(text: string, marks: readonly ColumnMark[]): Filter {
  const { expression, terms, errors } = readFilter(text, comparesNumbers);
  const columns = marks.filter(Boolean);
  const unreadable = [...errors];
  const compile = (part: Expression): Compiled | null => {
    switch (part.kind) {
      case 'term': {
        // Of a term that is not written to its end, nothing more is said.
        const isWhole = !unreadable.some(({ start }) => start >= part.term.start && start < part.term.end);
        const condition = conditionOf(part.term, columns, isWhole ? errors : []);
        if (!condition) return null;
        const compiled: Compiled = { kind: 'condition', condition };
        return part.term.negated ? { kind: 'not', part: compiled } : compiled;
      }
      case 'not': {
        const inside = compile(part.part);
        return inside && { kind: 'not', part: inside };
      }
      default: {
        const parts = part.parts.map(compile).filter((one) => one !== null);
        // Of alternatives of which none is right, nothing is left to filter by.
        return parts.length === 0 && part.parts.length > 0 ? null : { kind: part.kind, parts };
      }
    }
  };
  const root = compile(expression) ?? { kind: 'and', parts: [] };
  errors.sort((a, b) => a.start - b.start);
  return { terms, errors, root };
}

function conditionOf(term: Term, marks: readonly ColumnMark[], errors: FilterError[]): Condition | null {
  const { key, values, start, end } = term;
  const fail = (message: string, at: { start: number; end: number } = term): null => {
    errors.push({ start: at.start, end: Math.max(at.end, at.start + 1), message });
    return null;
  };
  const known = key === null ? null : keyNamed(key);
  if (key !== null && !known)
    return fail(`There is no key “${key}”. Keys: ${listed(Object.keys(filterKeys))}.`, { start, end });
  const tests: { id: string; needle: TextNeedle | null; test(table: RowTable): RowTest }[] = [];
  for (const value of values) {
    const field = known?.text ?? null;
    if (value.flags !== null && (known === null || known.text)) {
      const pattern = patternOf(value);
      if (pattern instanceof RegExp) tests.push(byPattern(pattern, field));
      else return fail(pattern, value);
      continue;
    }
    const written = value.flags === null ? value.text : `/${value.text}/${value.flags}`;
    if (key !== null && written === '') {
      const some = known?.values?.(marks) ?? [];
      return fail(`“${key}:” needs a value${some.length ? `: ${listed(some)}` : ''}.`, { start, end });
    }
    if (known === null || known.text) {
      tests.push(byText({ field, text: written.toLowerCase() }));
      continue;
    }
    const allowed = known.values?.(marks);
    // Before the view is there, nothing is known of columns: their names are looked at again when it comes.
    const wrong = allowed?.includes(written)
      ? null
      : known.check
        ? known.check(written, marks)
        : `“${written}” is not a value of “${key}”. Values: ${listed(allowed ?? [])}.`;
    if (wrong !== null && !(marks.length === 0 && known.values?.([]).length === 0))
      return fail(wrong, values.length > 1 ? value : { start, end });
    const range = known.number ? rangeOf(written) : null;
    const { number, test } = known;
    tests.push({
      id: written,
      needle: null,
      test: (table) => {
        if (number && range) {
          const of = number(table);
          return (id) => inRange(of(id), range);
        }
        return test ? test(table, written) : () => false;
      },
    });
  }
  const [only] = tests;
  if (!only) return null;
  return {
    id: JSON.stringify([key, ...tests.map(({ id }) => id)]),
    needle: tests.length === 1 ? only.needle : null,
    acrossRuns: known?.acrossRuns === true,
    test: (table) => {
      const made = tests.map(({ test }) => test(table));
      const [first] = made;
      return made.length === 1 && first ? first : (id) => made.some((one) => one(id));
    },
  };
}

function patternOf({ text, flags }: Value): RegExp | string {
  const unknown = [...(flags ?? '')].find((flag) => !'imsu'.includes(flag));
  if (unknown !== undefined) return `“${unknown}” is not a flag of a pattern here: i, m, s and u are.`;
  try {
    // Without flags letters match in either case, as plain text does; with any, as they are given.
    return new RegExp(text, flags === '' ? 'i' : (flags ?? undefined));
  } catch (error) {
    const [, reason] = /: ([^:]+)$/.exec(error instanceof Error ? error.message : '') ?? [];
    return `The pattern /${text}/ is not valid${reason ? `: ${reason.toLowerCase()}` : ''}.`;
  }
}

const fieldsOf = (field: TextField | null): readonly TextField[] => (field === null ? textFields : [field]);

const byPattern = (pattern: RegExp, field: TextField | null) => ({
  id: `${pattern} ${field}`,
  needle: null,
  test:
    (table: RowTable): RowTest =>
    (id) =>
      fieldsOf(field).some((name) => pattern.test(table.text(id, name))),
});

const byText = (needle: TextNeedle) => ({
  id: `${needle.text} ${needle.field}`,
  needle,
  test:
    // Of rows that are few.
      (table: RowTable): RowTest =>
      (id) =>
        fieldsOf(needle.field).some((name) => table.text(id, name).toLowerCase().includes(needle.text)),
});

// ---------------------------------------------------------------- changing a filter's text

const scan = (text: string): Term[] => readFilter(text, comparesNumbers).terms;

/** The value that the text gives for a key, or null where it gives none, several, or a negation. */
export function valueGiven(text: string, key: string): string | null {
  const found = scan(text).filter((term) => term.key === key);
  const [term] = found;
  return term && found.length === 1 && !term.negated && term.values.length === 1
    ? (term.values[0]?.text ?? null)
    : null;
}

/** The text with its terms for `key` replaced by one for `value`, or taken out where `value` is null. */
export function withValue(text: string, key: string, value: string | null): string {
  const found = scan(text).filter((term) => term.key === key);
  let result = text;
  for (const { start, end } of [...found].reverse())
    result = `${result.slice(0, start).trimEnd()} ${result.slice(end).trimStart()}`;
  result = result.trim();
  if (value === null) return result;
  const term = `${key}:${quoteValue(value)}`;
  if (!result) return term;
  // In front of alternatives the term would belong to the first of them only.
  return /(^|\s)OR(\s|$)/.test(result) ? `${term} (${result})` : `${term} ${result}`;
}
