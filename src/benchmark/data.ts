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
import { hasRowPerLine, readJson, readJsonLines } from './json-rows.ts';
import { unifier } from './json-types.ts';
import { readParquet } from './parquet.ts';
import { itemsOf, largeSplit, type Rows, rowsAtHand } from './table.ts';
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
  const read: { file: string; rows: Rows }[] = [];
  // Whether every JSON file has one object a line.
  let lines = true;
  let bytesRead = 0;
  for (const file of files) {
    const stored = await readFile(file).catch((thrown: NodeJS.ErrnoException) => {
      throw new HumanError('missing', `The data file ${file} cannot be read (${thrown.code ?? thrown.message}).`, {
        place: { file },
      });
    });
    hash.update(stored);
    const bytes = file.endsWith('.gz') ? unpacked(stored, file) : stored;
    bytesRead += bytes.length;
    checkReadable(bytes, file);
    const kind = format ?? formatOf(file) ?? 'json';
    if (kind === 'parquet' || kind === 'arrow') {
      const rows = kind === 'parquet' ? rowsAtHand(await readParquet(bytes, file)) : await readArrow(bytes, file);
      read.push({ file, rows });
      continue;
    }
    const badLine = options.encoding === 'utf-8' ? firstLineNotUtf8(bytes) : null;
    if (badLine !== null)
      throw new HumanError('bad-input', 'This line is not UTF-8 text.', {
        place: { file, line: badLine },
        todo: 'Save the file as UTF-8, or name its encoding as `encoding:` in `dataset_kwargs`.',
      });
    const large = kind === 'json' && bytes.length >= largeSplit && options.encoding === 'utf-8';
    const byLine = large && options.field === null ? readJsonLines(bytes, file) : null;
    if (byLine) {
      read.push({ file, rows: byLine });
      continue;
    }
    const text = bytes.toString(options.encoding === 'utf-8' ? 'utf8' : options.encoding).replace(/^\uFEFF/, '');
    const tabs = format === null && /\.tsv(?:\.gz)?$/.test(file) ? { ...options, separator: '\t' } : options;
    if (kind === 'json') lines &&= hasRowPerLine(text, options.field);
    const list = kind === 'csv' ? readCsv(text, file, tabs) : readJson(text, file, options);
    const fields = list.map((row) => row.fields);
    read.push({ file, rows: rowsAtHand(fields, (row) => list[row]?.line ?? 1) });
  }
  const isJson = files.some((file) => (format ?? formatOf(file) ?? 'json') === 'json');
  const layout = !isJson ? 'table' : lines ? 'lines' : 'list';
  // One table has one type a column already.
  const convert =
    layout === 'table' && files.length === 1 ? null : unifier(everyRow(read.map(({ rows }) => rows)), layout);
  const { features } = options;
  // Typed files have the types of the card already.
  const typed = files.every((file) => ['parquet', 'arrow'].includes(format ?? formatOf(file) ?? 'json'));
  const cast =
    features && !typed ? (row: Record<string, unknown>) => features.cast(convert ? convert(row) : row) : convert;
  return { items: itemsOf(read, cast, bytesRead >= largeSplit), digest: hash.digest('hex'), files };
}

function* everyRow(files: readonly Rows[]): Generator<Record<string, unknown>> {
  for (const rows of files) for (let row = 0; row < rows.count; row++) yield rows.fields(row);
}

/** @throws HumanError for files that only look like data */
function checkReadable(bytes: Buffer, file: string): void {
  if (/\.(?:zip|zst|xz|bz2)$/.test(file))
    throw new HumanError('unsupported', `Softbench does not read ${file.slice(file.lastIndexOf('.'))} files yet.`, {
      place: { file },
      todo: 'Convert it to .jsonl, .csv or .parquet.',
    });
  if (bytes.length < 400 && bytes.toString('latin1').startsWith('version https://git-lfs.github.com/spec/'))
    throw new HumanError(
      'missing',
      'This file is a pointer of Git LFS: its content was not fetched with the repository.',
      {
        place: { file },
        todo: 'Run `git lfs pull` in its folder, or `softbench datasets download`.',
      },
    );
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
