/** The parts of `dataset_kwargs` that say how files are read, by the names of `datasets` (its json and csv builders). */
import type { CardFeatures } from './card-features.ts';
import { number, text } from './values.ts';

export interface DataOptions {
  field: string | null;
  separator: string | null;
  columnNames: readonly string[] | null;
  encoding: BufferEncoding | 'utf-8';
  /** Line of a CSV file that names the columns, from 0; null: none does. Absent: the first, unless names are given. */
  header?: number | null;
  /** Lines of a CSV file to leave out before anything is read. */
  skipRows?: number;
  quote?: string;
  /** A quote in a CSV file is a character as any other (`quoting: 3`). */
  plainQuotes?: boolean;
  /** Texts such as `NA` stay texts. */
  keepMissing?: boolean;
  /** Types that the card of a data set gives. */
  features?: CardFeatures;
}

const encodings: Readonly<Record<string, DataOptions['encoding']>> = {
  'latin-1': 'latin1',
  latin1: 'latin1',
  'iso-8859-1': 'latin1',
  'utf-16-le': 'utf16le',
};

export function readDataOptions(options: Readonly<Record<string, unknown>>): DataOptions {
  const names = options.column_names ?? options.names;
  const { header } = options;
  return {
    field: text(options.field),
    separator: text(options.delimiter) ?? text(options.sep),
    columnNames: Array.isArray(names) ? names.map(String) : null,
    encoding: encodings[text(options.encoding)?.toLowerCase() ?? ''] ?? 'utf-8',
    ...((header === null || typeof header === 'number') && { header }),
    ...(number(options.skiprows) !== null && { skipRows: number(options.skiprows) ?? 0 }),
    ...(text(options.quotechar) !== null && { quote: text(options.quotechar) ?? '"' }),
    ...(options.quoting === 3 && { plainQuotes: true }),
    ...((options.keep_default_na === false || options.na_filter === false) && { keepMissing: true }),
  };
}
