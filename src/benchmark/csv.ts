/** CSV as Hugging Face `datasets` (pandas) reads it: the type of a column follows from all of its values. */
import { CsvError, parse } from 'csv-parse/sync';
import { HumanError } from '../shared/errors.ts';
import type { DataOptions } from './data-options.ts';
import { float } from './python.ts';

/** Texts that pandas takes for a missing value. */
const missing = new Set([
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
const integer = /^\s*[-+]?\d{1,15}\s*$/;
const decimal = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$|^\s*[-+]?inf(?:inity)?\s*$/i;

type Reader = (text: string) => unknown;

const toFloat: Reader = (text) =>
  /inf/i.test(text) ? (text.includes('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY) : float(Number(text));

/** A column without missing values may hold whole numbers; with them, whole numbers become floats. */
function readerOf(values: readonly string[]): Reader {
  const present = values.filter((value) => !missing.has(value));
  if (present.length === 0) return (text) => text;
  if (present.every((value) => integer.test(value))) return present.length === values.length ? Number : toFloat;
  if (present.every((value) => decimal.test(value))) return toFloat;
  if (present.length === values.length && present.every((value) => /^(?:true|false)$/i.test(value)))
    return (text) => text.toLowerCase() === 'true';
  return (text) => text;
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
  const names = options.columnNames ?? records.shift()?.record ?? [];
  const readers = names.map((_, column) => readerOf(records.map(({ record }) => record[column] ?? '')));
  return records.map(({ record, info }) => {
    const height = record.join('').split('\n').length - 1;
    const fields = names.map((name, column) => {
      const value = record[column] ?? '';
      return [name, missing.has(value) ? null : readers[column]?.(value)] as const;
    });
    return { fields: Object.fromEntries(fields), line: Math.max(1, info.lines - height) };
  });
}
