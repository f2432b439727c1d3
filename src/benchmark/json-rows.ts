/** The rows of JSON files: one object a line, a list, or below a key. */
import { HumanError } from '../shared/errors.ts';
import type { DataOptions } from './data-options.ts';
import { JsonError, parseJson, parseRows } from './json.ts';
import { PythonFloat } from './python.ts';
import type { Rows } from './table.ts';

/**
 * Rows of a large file with one object a line, parsed when they are asked for; null where it is another kind of JSON.
 * @throws HumanError with the line, when a row is asked for that is broken
 */
export function readJsonLines(bytes: Buffer, file: string): Rows | null {
  const begins: number[] = [];
  const ends: number[] = [];
  const lines: number[] = [];
  let line = 1;
  for (let at = bytes.length > 2 && bytes.readUIntBE(0, 3) === 0xefbbbf ? 3 : 0; at < bytes.length; line++) {
    const found = bytes.indexOf(10, at);
    const end = found < 0 ? bytes.length : found;
    let from = at;
    while (from < end && (bytes[from] === 32 || bytes[from] === 9 || bytes[from] === 13)) from++;
    if (from < end) {
      if (begins.length === 0 && !hasRowPerLine(bytes.toString('utf8', from, end), null)) return null;
      begins.push(from);
      ends.push(end);
      lines.push(line);
    }
    at = end + 1;
  }
  return {
    count: begins.length,
    line: (row) => lines[row] ?? 1,
    fields: (row) => {
      const place = { file, line: lines[row] ?? 1 };
      let value: unknown;
      try {
        value = parseJson(bytes.toString('utf8', begins[row], ends[row]));
      } catch (thrown) {
        const why = thrown instanceof Error ? thrown.message : String(thrown);
        throw new HumanError('bad-input', `This line is not valid JSON: ${why}`, { place });
      }
      if (!isRow(value)) throw new HumanError('bad-input', 'A row must be an object with named fields.', { place });
      return value;
    },
  };
}

const isRow = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof PythonFloat);

/** Whether a text is JSON lines; else it is one value, a list or objects over several lines. */
export function hasRowPerLine(text: string, field: string | null): boolean {
  if (field !== null) return false;
  const first = /\S.*/.exec(text)?.[0].trimEnd() ?? '';
  return first.startsWith('{') && first.endsWith('}');
}

/**
 * Rows of a JSON text with their lines.
 * @throws HumanError with the line where it is broken
 */
export function readJson(
  text: string,
  file: string,
  options: DataOptions,
): { fields: Record<string, unknown>; line: number }[] {
  const lineOf = lineCounter(text);
  const fail = (message: string, line: number): never => {
    throw new HumanError('bad-input', message, { place: { file, line } });
  };
  const rows: { value: unknown; line: number }[] = [];
  if (hasRowPerLine(text, options.field)) {
    for (const [number, line] of text.split('\n').entries()) {
      if (line.trim() !== '') {
        try {
          rows.push({ value: parseJson(line), line: number + 1 });
        } catch (thrown) {
          fail(`This line is not valid JSON: ${thrown instanceof Error ? thrown.message : thrown}`, number + 1);
        }
      }
    }
  } else {
    try {
      for (const { value, offset } of parseRows(text, options.field)) rows.push({ value, line: lineOf(offset) });
    } catch (thrown) {
      if (!(thrown instanceof JsonError)) throw thrown;
      fail(`This is not the JSON that the benchmark asks for: ${thrown.message}`, lineOf(thrown.offset));
    }
  }
  const only = rows.length === 1 ? rows[0] : undefined;
  if (
    only &&
    isRow(only.value) &&
    options.field === null &&
    !/\.(?:jsonl|ndjson)(?:\.gz)?$/.test(file) &&
    Object.values(only.value).some(isListOfRows)
  ) {
    const name = Object.entries(only.value).find(([, value]) => isListOfRows(value))?.[0];
    fail(
      `The file is one object; its rows seem to stand under "${name}". Add \`field: ${name}\` to \`dataset_kwargs\`.`,
      1,
    );
  }
  // A list of plain values is a column `text`.
  if (!text.trimStart().startsWith('{') || options.field !== null)
    if (rows.length > 0 && rows.every(({ value }) => !isRow(value) && !Array.isArray(value)))
      return rows.map(({ value, line }) => ({ fields: { text: value }, line }));
  return rows.map(({ value, line }) => {
    if (!isRow(value)) return fail('A row must be an object with named fields.', line);
    return { fields: value, line };
  });
}

const isListOfRows = (value: unknown): boolean => Array.isArray(value) && value.length > 1 && value.every(isRow);

function lineCounter(text: string): (offset: number) => number {
  let [line, at] = [1, 0];
  return (offset) => {
    if (offset < at) [line, at] = [1, 0];
    for (let next = text.indexOf('\n', at); next >= 0 && next < offset; next = text.indexOf('\n', at)) {
      line++;
      at = next + 1;
    }
    return line;
  };
}
