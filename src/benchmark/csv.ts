/** CSV as Hugging Face `datasets` (pandas) reads it: the type of a column follows from all of its values. */
import { CsvError, parse } from 'csv-parse/sync';
import { HumanError } from '../shared/errors.ts';
import { integer as exactInteger } from './column-values.ts';
import type { DataOptions } from './data-options.ts';
import { float } from './python.ts';

/** Texts that pandas takes for a missing value. */
const missingTexts: ReadonlySet<string> = new Set([
  '',
  '#N/A',
  '#N/A N/A',
  '#NA',
  '-1.#IND',
  '-1.#QNAN',
  '-NaN',
  '-nan',
  '1.#IND',
  '1.#QNAN',
  '<NA>',
  'N/A',
  'NA',
  'NULL',
  'NaN',
  'None',
  'n/a',
  'nan',
  'null',
]);
const integer = /^\s*[-+]?\d{1,18}\s*$/;
const toInteger: Reader = (text) => exactInteger(BigInt(text.trim().replace(/^\+/, '')));
const decimal = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$|^\s*[-+]?inf(?:inity)?\s*$/i;

type Reader = (text: string) => unknown;

const toFloat: Reader = (text) =>
  /inf/i.test(text) ? (text.includes('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY) : float(Number(text));

/** A column without missing values may hold whole numbers; with them, whole numbers become floats. */
function readerOf(values: readonly string[], missing: ReadonlySet<string>): Reader {
  const present = values.filter((value) => !missing.has(value));
  if (present.length === 0) return (text) => text;
  if (present.every((value) => integer.test(value))) return present.length === values.length ? toInteger : toFloat;
  if (present.every((value) => decimal.test(value))) return toFloat;
  if (present.length === values.length && present.every((value) => /^(?:true|false)$/i.test(value)))
    return (text) => text.toLowerCase() === 'true';
  return (text) => text;
}

/** Names as pandas makes them: `Unnamed: 0` for an empty one, `a.1` for a second `a`. */
function uniqueNames(names: readonly string[]): string[] {
  const made: string[] = [];
  for (const [at, name] of names.entries()) {
    const own = name === '' ? `Unnamed: ${at}` : name;
    let unique = own;
    for (let count = 1; made.includes(unique); count++) unique = `${own}.${count}`;
    made.push(unique);
  }
  return made;
}

/**
 * Rows with their first lines.
 * @throws HumanError with the line where the file is broken
 */
export function readCsv(
  text: string,
  file: string,
  options: DataOptions,
): { fields: Record<string, unknown>; line: number }[] {
  let records: { record: string[]; info: { lines: number } }[];
  try {
    records = parse(text, {
      delimiter: options.separator ?? (file.endsWith('.tsv') ? '\t' : ','),
      quote: options.plainQuotes ? null : (options.quote ?? '"'),
      from_line: (options.skipRows ?? 0) + (options.header ?? 0) + 1,
      info: true,
      skip_empty_lines: true,
      relax_column_count_less: true,
    }) as unknown as typeof records;
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    const line = Number((thrown as unknown as { lines?: number }).lines ?? 0);
    throw new HumanError('bad-input', `This is not valid CSV: ${thrown.message}.`, {
      place: { file, ...(line > 0 ? { line } : {}) },
    });
  }
  const missing: ReadonlySet<string> = options.keepMissing ? new Set() : missingTexts;
  // pandas: names that are given come with no header line, if none is said.
  const header = options.header === undefined ? (options.columnNames ? null : 0) : options.header;
  const width = records[0]?.record.length ?? 0;
  const head = header === null ? null : records.shift()?.record;
  const names = options.columnNames ?? uniqueNames(head ?? Array.from({ length: width }, (_, at) => String(at)));
  const readers = names.map((_, column) =>
    readerOf(
      records.map(({ record }) => record[column] ?? ''),
      missing,
    ),
  );
  return records.map(({ record, info }) => {
    const height = record.join('').split('\n').length - 1;
    const fields = names.map((name, column) => {
      const value = record[column] ?? '';
      return [name, missing.has(value) ? null : readers[column]?.(value)] as const;
    });
    return { fields: Object.fromEntries(fields), line: Math.max(1, info.lines - height) };
  });
}
