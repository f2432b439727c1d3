/** Rows of a CSV file, one at a time, however large it is. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { HumanError } from '../shared/errors.ts';

/** Takes the fields of a row and the line it ends at; rows come in the order of the file. */
export type RowReader = (fields: readonly string[], line: number) => void;

const separators = [',', ';', '\t', '|'] as const;
/** Read at once: rows of so many bytes take a few milliseconds, and messages have their turn behind them. */
const chunkBytes = 1 << 14;
/** Enough for the longest header that anybody writes. */
const headBytes = 1 << 20;

/**
 * Calls `begin` with the header's names (as they are, without a byte order mark) and then its answer with each row.
 * @throws HumanError with the line where the file is no CSV, is empty or is not there
 */
export async function readCsvRows(file: string, begin: (header: string[]) => RowReader): Promise<void> {
  const { encoding, separator } = await look(file);
  let reader: RowReader | null = null;
  const bytes = createReadStream(file, { highWaterMark: chunkBytes });
  const parser = parse({
    bom: true,
    delimiter: separator,
    encoding,
    relax_column_count: true,
    skip_empty_lines: true,
    // Rows are handed on as they are read: none waits in the stream.
    on_record: (row: string[], { lines }) => {
      if (reader) reader(row, lines);
      else reader = begin(headerOf(row, file));
      return null;
    },
  });
  try {
    await pipeline(bytes, parser.resume());
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    const line = Number((thrown as unknown as { lines?: number }).lines ?? 0);
    throw new HumanError('bad-input', `This is not valid CSV: ${thrown.message}.`, {
      place: { file, ...(line > 0 && { line }) },
    });
  }
  if (!reader) throw new HumanError('bad-input', 'The file is empty: there is no header line.', { place: { file } });
}

function headerOf(row: readonly string[], file: string): string[] {
  const header = row.map((name) => name.trim());
  const twice = header.find((name, at) => name !== '' && header.indexOf(name) !== at);
  if (twice !== undefined)
    throw new HumanError('bad-input', `Two columns are named "${twice}".`, {
      place: { file, line: 1 },
      todo: 'Give each a name of its own.',
    });
  return header;
}

/** The encoding by its mark, and the separator by the header line: the one that stands there most often outside of quotes. */
async function look(file: string): Promise<{ encoding: BufferEncoding; separator: string }> {
  let head: Buffer;
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      head = buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw new HumanError('missing', 'The file cannot be read.', { place: { file }, cause });
  }
  if (head[0] === 0xfe && head[1] === 0xff)
    throw new HumanError('unsupported', 'The file is UTF-16 with the high byte first.', {
      place: { file },
      todo: 'Save it as UTF-8.',
    });
  const encoding: BufferEncoding = head[0] === 0xff && head[1] === 0xfe ? 'utf16le' : 'utf8';
  if (encoding === 'utf8' && head.includes(0))
    throw new HumanError('bad-input', 'The file is no text: it holds zero bytes.', {
      place: { file },
      todo: 'Give a CSV file; tables of other programs can be saved as CSV.',
    });
  const [line = ''] = head
    .toString(encoding)
    .replace(/"[^"]*"/g, '')
    .trimStart()
    .split(/\r?\n/, 1);
  const counts = separators.map((separator) => line.split(separator).length - 1);
  const most = Math.max(...counts);
  return { encoding, separator: most > 0 ? (separators[counts.indexOf(most)] ?? ',') : ',' };
}
