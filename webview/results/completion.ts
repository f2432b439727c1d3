/** What can stand at a place of a filter: keys, then their values with how many rows have them. */
import type { ColumnMark } from './columns.ts';
import { comparesNumbers, type FilterKey, filterKeys, keyNamed } from './filter-keys.ts';
import { quoteValue, readFilter } from './filter-language.ts';
import type { RowTable } from './rows.ts';

export interface Completion {
  /** What of the text an option replaces. */
  start: number;
  end: number;
  /** Set where values of a key are completed. */
  key: string | null;
  options: CompletionOption[];
}

export interface CompletionOption {
  /** Goes in place of what was written. */
  insert: string;
  label: string;
  detail: string;
}

/** What stands around the caret: a part of a key, or a part of a value. */
interface Place {
  start: number;
  end: number;
  key: string | null;
  /** As it was written up to the caret. */
  typed: string;
}

const keyStart = /(?:^|[\s(])-?([a-z]*)$/i;

function placeAt(text: string, caret: number): Place | null {
  const before = text.slice(0, caret);
  const { terms, errors } = readFilter(before, comparesNumbers);
  const last = terms.at(-1);
  if (last && last.end === caret && last.key !== null) {
    const value = last.values.at(-1);
    if (!value || value.flags !== null) return null;
    // The rest of a word that the caret stands in is replaced too.
    const rest = /^[^\s",()]*"?/.exec(text.slice(caret))?.[0] ?? '';
    return { start: value.start, end: caret + rest.length, key: last.key, typed: before.slice(value.start) };
  }
  // Inside of a quotation, text is meant.
  if (errors.some(({ end, message }) => end === caret && message.includes('not closed') && before.includes('"')))
    return null;
  const typed = keyStart.exec(before)?.[1];
  if (typed === undefined) return null;
  const rest = /^[a-z]*(?::(?=[\s)]|$))?/i.exec(text.slice(caret))?.[0] ?? '';
  return { start: caret - typed.length, end: caret + rest.length, key: null, typed };
}

/** Values counted over the rows that `counted` has, or all. Of texts, the commonest. */
export function countValues(key: FilterKey, table: RowTable, counted: Uint8Array | null): Map<string, number> {
  const counts = new Map<string, number>();
  const of = key.valuesOf?.(table);
  if (!of) return counts;
  for (let id = 0; id < table.length; id++) {
    if (counted && !counted[id]) continue;
    for (const value of of(id)) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

const most = 100;
const mostTexts = 12;
const rows = (n: number): string => (n === 1 ? '1 row' : `${n.toLocaleString('en-US')} rows`);

/**
 * @param marks the columns of the page
 * @param countsOf how many rows have each value of a key, where they can be counted
 */
export function complete(
  text: string,
  caret: number,
  marks: readonly ColumnMark[],
  countsOf: (key: FilterKey) => Map<string, number>,
): Completion | null {
  const place = placeAt(text, caret);
  if (!place) return null;
  const { start, end, key, typed } = place;
  if (key === null) {
    const wanted = typed.toLowerCase();
    const options = Object.entries(filterKeys)
      .filter(([name]) => name.startsWith(wanted))
      .map(([name, { hint, number }]) => ({
        insert: number ? name : `${name}:`,
        label: `${name}${number ? '' : ':'}`,
        detail: hint,
      }));
    return options.length > 0 ? { start, end, key, options } : null;
  }
  const known = keyNamed(key);
  if (!known) return null;
  if (known.number) return null;
  const wanted = typed.replace(/^"|"$/g, '').toLowerCase();
  const counts = countsOf(known);
  const listed = known.values?.(marks) ?? [];
  const texts = [...counts.keys()].filter((value) => value !== '' && value.length <= 80 && !listed.includes(value));
  const free = known.values ? [] : texts.sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const matching = [...listed, ...free].filter((value) => value.toLowerCase().includes(wanted));
  // What begins with what was written comes first; what no row has, last.
  const rank = (value: string): number =>
    (counts.size > 0 && !counts.has(value) ? 2 : 0) + (value.toLowerCase().startsWith(wanted) ? 0 : 1);
  const options = matching
    .map((value, at) => ({ value, at }))
    .sort((a, b) => rank(a.value) - rank(b.value) || a.at - b.at)
    .slice(0, known.values ? most : mostTexts)
    .map(({ value }) => {
      const n = counts.get(value);
      const words = known.words?.(value);
      const counted = known.valuesOf ? rows(n ?? 0) : null;
      return {
        insert: quoteValue(value),
        label: value,
        detail: [words === value ? null : words, counted].filter(Boolean).join(' · '),
      };
    });
  return options.length > 0 ? { start, end, key, options } : null;
}

/** The text with an option taken, and where the caret stands then. */
export function taken(
  text: string,
  { start, end }: Completion,
  { insert }: CompletionOption,
): { text: string; caret: number } {
  const after = text.slice(end);
  // A key goes on with its value, a value is followed by the next term.
  const gap = insert.endsWith(':') || after !== '' || comparesNumbers(insert) ? '' : ' ';
  return { text: text.slice(0, start) + insert + gap + after, caret: start + insert.length + gap.length };
}
