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
 * @returns what was taken for granted, as sentences
 * @throws HumanError with the line where the file is no CSV, is empty or is not there
 */
export async function readCsvRows(file: string, begin: (header: string[]) => RowReader): Promise<string[]> {
  const { encoding, separator } = await look(file);
  let reader: RowReader | null = null;
  const parser = parse({
    bom: true,
    delimiter: separator,
    relax_column_count: true,
    skip_empty_lines: true,
    // Rows are handed on as they are read: none waits in the stream.
    on_record: (row: string[], { lines }) => {
      if (reader) reader(row, lines);
      else if (!isPreamble(row)) reader = begin(headerOf(row, file));
      return null;
    },
  });
  try {
    await pipeline(createReadStream(file, { highWaterMark: chunkBytes }), decoded(encoding), parser.resume());
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    const line = Number((thrown as unknown as { lines?: number }).lines ?? 0);
    throw new HumanError('bad-input', `This is not valid CSV: ${thrown.message}.`, {
      place: { file, ...(line > 0 && { line }) },
    });
  }
  if (!reader) throw new HumanError('bad-input', 'The file is empty: there is no header line.', { place: { file } });
  return encoding === fallback
    ? [`${file} is not valid UTF-8: read as Windows-1252. Save it as UTF-8 where names look wrong.`]
    : [];
}

/** Text of bytes, whose characters may lie across two chunks. */
function decoded(encoding: string): (source: AsyncIterable<Buffer>) => AsyncGenerator<string> {
  return async function* text(source) {
    const decoder = new TextDecoder(encoding);
    for await (const chunk of source) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  };
}

/** In front of the header: blank lines, and the line by which Excel is told of the separator. */
const isPreamble = (row: readonly string[]): boolean =>
  row.every((field) => field.trim() === '') || separatorLine.test(row[0] ?? '');
const separatorLine = /^sep=(.?)$/i;

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

/** What programs on Windows write where they are not told to write UTF-8. */
const fallback = 'windows-1252';

/**
 * The encoding by its mark, else UTF-8 where all of the file is; and the separator by the header line: the one that stands there
 * most often outside of quotes.
 */
async function look(file: string): Promise<{ encoding: string; separator: string }> {
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
  const encoding = await encodingOf(file, head);
  const lines = new TextDecoder(encoding)
    .decode(head)
    .replace(/"[^"]*"/g, '')
    .trimStart()
    .split(/\r\n|\n|\r/, 2);
  const [line = ''] = lines;
  const said = separatorLine.exec(line.trim())?.[1];
  if (said) return { encoding, separator: said };
  const counts = separators.map((separator) => line.split(separator).length - 1);
  const most = Math.max(...counts);
  return { encoding, separator: most > 0 ? (separators[counts.indexOf(most)] ?? ',') : ',' };
}

async function encodingOf(file: string, head: Buffer): Promise<string> {
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isUtf8 = true;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    if (chunk.includes(0))
      throw new HumanError('bad-input', 'The file is no text: it holds zero bytes.', {
        place: { file },
        todo: 'Give a CSV file; tables of other programs can be saved as CSV.',
      });
    if (!isUtf8) continue;
    try {
      decoder.decode(chunk, { stream: true });
    } catch {
      isUtf8 = false;
    }
  }
  return isUtf8 ? 'utf-8' : fallback;
}
