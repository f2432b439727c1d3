/** Parquet files as Hugging Face `datasets` reads them, values as Python would have them. */
import type { SchemaTree } from 'hyparquet';
import { HumanError } from '../shared/errors.ts';
import { float } from './python.ts';

type Convert = (value: unknown) => unknown;

/**
 * Rows of a parquet file, nested columns as objects and lists.
 * @throws HumanError where the file is damaged
 */
export async function readParquet(bytes: Uint8Array, file: string): Promise<Record<string, unknown>[]> {
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  // Loaded with the first such file: the editor's host, which checks benchmark files, starts without.
  const [{ parquetMetadata, parquetReadObjects, parquetSchema }, { compressors }] = await Promise.all([
    import('hyparquet'),
    import('hyparquet-compressors'),
  ]);
  try {
    const metadata = parquetMetadata(buffer);
    const rows = await parquetReadObjects({ file: buffer, metadata, compressors, geoparquet: false });
    const columns = parquetSchema(metadata).children.map((column): [string, Convert] => [
      column.element.name,
      converterOf(column),
    ]);
    return rows.map((row) => Object.fromEntries(columns.map(([name, convert]) => [name, convert(row[name])])));
  } catch (thrown) {
    throw new HumanError('bad-input', `This is not a parquet file that can be read: ${reason(thrown)}`, {
      place: { file },
      todo: 'Download it again, or convert it to .jsonl.',
      cause: thrown,
    });
  }
}

const reason = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

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
    return orNull((value) => {
      // A repeated group without the LIST mark.
      if (Array.isArray(value)) return value.map((entry) => objectOf(entry, fields));
      return objectOf(value, fields);
    });
  }
  const leaf = leafConverter(element.type);
  return orNull((value) => (Array.isArray(value) ? value.map(orNull(leaf)) : leaf(value)));
}

const objectOf = (value: unknown, fields: readonly [string, Convert][]): Record<string, unknown> =>
  Object.fromEntries(fields.map(([name, convert]) => [name, convert((value as Record<string, unknown>)[name])]));

function leafConverter(type: string | undefined): Convert {
  if (type === 'DOUBLE' || type === 'FLOAT') return (value) => float(Number(value));
  return (value) => {
    if (typeof value === 'bigint') return Number(value);
    // `str(datetime)`
    if (value instanceof Date)
      return value
        .toISOString()
        .replace('T', ' ')
        .replace(/(?:\.000)?Z$/, '');
    if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
    return value;
  };
}
