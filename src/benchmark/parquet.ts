/** Parquet files as Hugging Face `datasets` reads them, values as Python would have them. */
import type { FileMetaData, ParquetParsers, SchemaTree } from 'hyparquet';
import { asError, HumanError } from '../shared/errors.ts';
import {
  bigEndian,
  day,
  decimal,
  floating,
  integer,
  moment,
  PythonBytes,
  type TimeUnit,
  timeOfDay,
} from './column-values.ts';

type Convert = (value: unknown) => unknown;

/** Numbers are left as they stand in the file: what they count depends on the column. */
const raw = (value: unknown): never => value as never;
const parsers: Partial<ParquetParsers> = {
  timestampFromMilliseconds: raw,
  timestampFromMicroseconds: raw,
  timestampFromNanoseconds: raw,
  dateFromDays: raw,
  // To Python this is text.
  jsonFromBytes: (bytes: Uint8Array) => bytes && new TextDecoder().decode(bytes),
};

/**
 * All rows of a parquet file.
 * @throws HumanError where the file is damaged
 */
export async function readParquet(bytes: Uint8Array, file: string): Promise<Record<string, unknown>[]> {
  // Loaded with the first such file: the editor's host, which checks benchmark files, starts without.
  const [{ parquetMetadata, parquetReadObjects, parquetSchema }, { compressors }] = await Promise.all([
    import('hyparquet'),
    import('hyparquet-compressors'),
  ]);
  try {
    const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
    const buffer = (
      whole ? bytes.buffer : bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
    ) as ArrayBuffer;
    const metadata = parquetMetadata(buffer);
    const columns = parquetSchema(metadata).children.map((column): [string, Convert] => [
      column.element.name,
      converterOf(column),
    ]);
    exactDecimals(metadata);
    const rows: Record<string, unknown>[] = [];
    // A group of rows at a time: what the file holds is not all there twice.
    for (const { num_rows: count } of metadata.row_groups) {
      const [rowStart, rowEnd] = [rows.length, rows.length + Number(count)];
      const read = { file: buffer, metadata, compressors, parsers, geoparquet: false, utf8: false, rowStart, rowEnd };
      for (const row of await parquetReadObjects(read))
        rows.push(Object.fromEntries(columns.map(([name, convert]) => [name, convert(row[name])])));
    }
    return rows;
  } catch (thrown) {
    throw new HumanError('bad-input', `This is not a parquet file that can be read: ${asError(thrown).message}`, {
      place: { file },
      todo: 'Download it again, or convert it to .jsonl.',
      cause: thrown,
    });
  }
}

/** The library would make floats of decimals; without their mark it hands over digits. After the converters were made. */
function exactDecimals(metadata: FileMetaData): void {
  for (const element of metadata.schema)
    if (element.converted_type === 'DECIMAL') {
      delete element.converted_type;
      delete element.logical_type;
    }
}

/** How the values of a column become Python's: a whole double is a float still, an integer is a number. */
function converterOf(column: SchemaTree): Convert {
  const { element, children } = column;
  const orNull =
    (convert: Convert): Convert =>
    (value) =>
      value === null || value === undefined ? null : convert(value);
  if (element.converted_type === 'LIST' || element.logical_type?.type === 'LIST') {
    const entry = children[0]?.children[0] ?? children[0];
    const convert = entry ? converterOf(entry) : orNull((value) => value);
    return orNull((value) => (Array.isArray(value) ? value.map(convert) : value));
  }
  if (children.length > 0) {
    const fields = children.map((child): [string, Convert] => [child.element.name, converterOf(child)]);
    const object: Convert = orNull((value) => objectOf(value, fields));
    // A repeated group without the LIST mark.
    return orNull((value) => (Array.isArray(value) ? value.map(object) : object(value)));
  }
  const leaf = orNull(leafConverter(element));
  return orNull((value) => (Array.isArray(value) ? value.map(leaf) : leaf(value)));
}

const objectOf = (value: unknown, fields: readonly [string, Convert][]): Record<string, unknown> =>
  Object.fromEntries(fields.map(([name, convert]) => [name, convert((value as Record<string, unknown>)[name])]));

const unitNames: Readonly<Record<string, TimeUnit>> = {
  MILLIS: 'millisecond',
  MICROS: 'microsecond',
  NANOS: 'nanosecond',
};

function leafConverter(element: SchemaTree['element']): Convert {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (type === 'DOUBLE' || type === 'FLOAT' || logical?.type === 'FLOAT16') return floating;
  if (converted === 'DECIMAL') {
    const { scale = 0 } = element;
    return (value) => decimal(value instanceof Uint8Array ? bigEndian(value) : (value as number | bigint), scale);
  }
  if (converted === 'DATE') return (value) => day(value as number);
  if (type === 'INT96') return (value) => moment(value as bigint, 'nanosecond');
  const unit =
    unitNames[logical && 'unit' in logical ? String(logical.unit) : ''] ??
    (converted?.endsWith('_MILLIS') ? 'millisecond' : 'microsecond');
  if (logical?.type === 'TIMESTAMP' || converted?.startsWith('TIMESTAMP_')) {
    const utc = logical?.type === 'TIMESTAMP' ? logical.isAdjustedToUTC : true;
    return (value) => moment(value as bigint, unit, utc ? 'UTC' : null);
  }
  if (logical?.type === 'TIME' || converted?.startsWith('TIME_'))
    return (value) => timeOfDay(value as number | bigint, unit);
  return (value) => {
    if (typeof value === 'bigint') return integer(value);
    if (value instanceof Uint8Array) return new PythonBytes(Uint8Array.from(value));
    return value;
  };
}
