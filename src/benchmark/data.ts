/** The rows of a benchmark: JSON, JSON lines, CSV and parquet files, by split, as Hugging Face `datasets` would load them. */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { HumanError } from '../shared/errors.ts';
import { readArrow } from './arrow.ts';
import { readCsv } from './csv.ts';
import type { DataOptions } from './data-options.ts';
import { type DataFormat, formatOf } from './dataset-folder.ts';
import { globPattern, hasGlob } from './glob.ts';
import { JsonError, parseJson, parseRows } from './json.ts';
import { unifyRows } from './json-types.ts';
import { readParquet } from './parquet.ts';
import { PythonFloat } from './python.ts';
import type { Item } from './types.ts';
import { firstLineNotUtf8 } from './utf8.ts';

export interface Split {
  items: readonly Item[];
  /** SHA-256 of the files' bytes, in order. */
  digest: string;
  files: readonly string[];
}

/** `dataset_kwargs.data_files` as a map of split → patterns; one file or a list is the split `train`. */
export function splitsOf(dataFiles: unknown): Map<string, string[]> {
  const list = (value: unknown): string[] =>
    (Array.isArray(value) ? value : [value]).filter((entry) => typeof entry === 'string');
  if (typeof dataFiles === 'string' || Array.isArray(dataFiles)) return new Map([['train', list(dataFiles)]]);
  return new Map(Object.entries(dataFiles ?? {}).map(([split, files]) => [split, list(files)]));
}

/** Files under the fixed beginning of a pattern that match it, sorted by path. */
async function expand(pattern: string): Promise<string[]> {
  const parts = pattern.split(sep);
  const fixed = parts.slice(0, parts.findIndex(hasGlob)).join(sep) || sep;
  const matcher = globPattern(relative(fixed, pattern).split(sep).join('/'));
  const deep = pattern.includes('**') || relative(fixed, pattern).includes(sep);
  const entries = await readdir(fixed, { recursive: deep, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => matcher.test(relative(fixed, file).split(sep).join('/')))
    .sort();
}

/**
 * The files that the patterns of a split name, looked for in each of `folders` in turn.
 * @throws HumanError where a pattern names none
 */
export async function resolveFiles(patterns: readonly string[], folders: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const pattern of patterns) {
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(pattern))
      throw new HumanError('unsupported', `The data file ${pattern} is on the network.`, {
        todo: 'Download it and give the path of the copy.',
      });
    const candidates = isAbsolute(pattern) ? [pattern] : folders.map((folder) => resolve(folder, pattern));
    let found: string[] = [];
    let folder: string | null = null;
    for (const candidate of candidates) {
      if (found.length > 0) break;
      const entry = await stat(candidate).catch(() => null);
      if (entry?.isDirectory()) folder ??= candidate;
      if (entry?.isFile()) found = [candidate];
      else if (hasGlob(pattern)) found = await expand(candidate);
    }
    if (found.length === 0 && folder !== null)
      throw new HumanError('missing', `The data file ${folder} is a folder.`, {
        todo: 'Name the file in it, or several with a pattern such as "folder/*.jsonl".',
      });
    if (found.length === 0)
      throw new HumanError('missing', `There is no data file ${candidates[0] ?? pattern}.`, {
        todo: 'Paths in `data_files` are relative to the benchmark file.',
      });
    files.push(...found);
  }
  return files;
}

/**
 * Reads the files of a split.
 * @param format of all files; null: what each one's name says
 * @throws HumanError with file and line where one is broken
 */
export async function readSplit(
  files: readonly string[],
  format: DataFormat | null,
  options: DataOptions,
): Promise<Split> {
  const hash = createHash('sha256');
  const rows: { fields: Record<string, unknown>; file: string; line: number }[] = [];
  // Whether a JSON file has one object a line.
  let lines = true;
  for (const file of files) {
    const stored = await readFile(file).catch((thrown: NodeJS.ErrnoException) => {
      throw new HumanError('missing', `The data file ${file} cannot be read (${thrown.code ?? thrown.message}).`, {
        place: { file },
      });
    });
    hash.update(stored);
    if (/\.(?:zip|zst|xz|bz2)$/.test(file))
      throw new HumanError('unsupported', `Softbench does not read ${file.slice(file.lastIndexOf('.'))} files yet.`, {
        place: { file },
        todo: 'Convert it to .jsonl, .csv or .parquet.',
      });
    const bytes = file.endsWith('.gz') ? unpacked(stored, file) : stored;
    const kind = format ?? formatOf(file) ?? 'json';
    if (kind === 'parquet' || kind === 'arrow') {
      const read = kind === 'parquet' ? readParquet : readArrow;
      for (const [row, fields] of (await read(bytes, file)).entries()) rows.push({ fields, file, line: row + 1 });
      continue;
    }
    const badLine = options.encoding === 'utf-8' ? firstLineNotUtf8(bytes) : null;
    if (badLine !== null)
      throw new HumanError('bad-input', 'This line is not UTF-8 text.', {
        place: { file, line: badLine },
        todo: 'Save the file as UTF-8, or name its encoding as `encoding:` in `dataset_kwargs`.',
      });
    const text = bytes.toString(options.encoding === 'utf-8' ? 'utf8' : options.encoding).replace(/^\uFEFF/, '');
    const tabs = format === null && /\.tsv(?:\.gz)?$/.test(file) ? { ...options, separator: '\t' } : options;
    if (kind === 'json') lines &&= hasRowPerLine(text, options.field);
    const read = kind === 'csv' ? readCsv(text, file, tabs) : readJson(text, file, options);
    for (const row of read) rows.push({ ...row, file });
  }
  const isJson = files.some((file) => (format ?? formatOf(file) ?? 'json') === 'json');
  const fields = rows.map((row) => row.fields);
  const layout = !isJson ? 'table' : lines ? 'lines' : 'list';
  // One table has one type a column already.
  const unified = layout === 'table' && files.length === 1 ? fields : unifyRows(fields, layout);
  const items = rows.map(
    ({ file, line }, index): Item => ({ index, fields: unified[index] ?? {}, place: { file, line } }),
  );
  return { items, digest: hash.digest('hex'), files };
}

function unpacked(bytes: Buffer, file: string): Buffer {
  try {
    return gunzipSync(bytes);
  } catch (thrown) {
    throw new HumanError(
      'bad-input',
      `The file cannot be unpacked: ${thrown instanceof Error ? thrown.message : thrown}.`,
      {
        place: { file },
        todo: 'Download it again.',
        cause: thrown,
      },
    );
  }
}

const isRow = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof PythonFloat);

/** Whether a text is JSON lines; else it is one value, a list or objects over several lines. */
function hasRowPerLine(text: string, field: string | null): boolean {
  if (field !== null) return false;
  const first = /\S.*/.exec(text)?.[0].trimEnd() ?? '';
  return first.startsWith('{') && first.endsWith('}');
}

function readJson(
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
