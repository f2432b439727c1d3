/** One table of records out of many sources, with what is not used and why. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { RunFolder } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import { bigBenchRecords, isBigBenchResult } from './big-bench-records.ts';
import { filteredRecords, type RecordFilters } from './filters.ts';
import { LeftOutCounter } from './left-out.ts';
import { emptyMapping, type Mapping, readMapping } from './mapping.ts';
import { resultFilesIn } from './record-stamp.ts';
import { runRecords } from './run-records.ts';
import { readTable } from './table-files.ts';
import { inTurns, turns } from './turn.ts';
import type { RecordTable } from './types.ts';

export interface RecordSources {
  /** Runs of a store, newest first. */
  runs?: readonly RunFolder[];
  /** CSV and JSON files, BIG-bench's result files or folders of them, and mapping files that name their table. */
  files?: readonly string[];
  /** Says what the columns of `files` are. */
  mapping?: Mapping;
}

/**
 * Reads all sources and leaves out what flatters predictors. Of two records of one configuration the first stands: runs before
 * files, newer runs before older ones, files in their order.
 * @throws HumanError where a file cannot be read
 */
export async function readRecords(
  { runs = [], files = [], mapping }: RecordSources,
  filters: RecordFilters = {},
): Promise<RecordTable> {
  const tables = [runRecords(runs)];
  for (const file of files) tables.push(await readRecordFile(file, mapping));
  return combineTables(tables, filters);
}

/** Records of one file, or of a folder of BIG-bench's results; not yet filtered. */
export async function readRecordFile(file: string, mapping: Mapping = emptyMapping): Promise<RecordTable> {
  if ((await stat(file).catch(() => null))?.isDirectory()) return readResultFolder(file);
  if (/\.ya?ml$/i.test(file)) {
    const own = await readMapping(file);
    if (own.table === null)
      throw new HumanError('bad-input', 'The mapping file does not say which table it is for.', {
        place: { file },
        todo: 'Give it the key `table`, or name it with --mapping.',
      });
    // Messages name it as the mapping file was named.
    return readTable(isAbsolute(own.table) ? own.table : join(dirname(file), own.table), own);
  }
  if (/\.json$/i.test(file) && mapping === emptyMapping) {
    const value = await jsonOf(file);
    if (isBigBenchResult(value)) return bigBenchRecords(value, file);
  }
  return readTable(file, mapping);
}

async function readResultFolder(folder: string): Promise<RecordTable> {
  const files = await resultFilesIn(folder).catch((cause: unknown) => {
    throw new HumanError('missing', 'The folder cannot be read.', { place: { file: folder }, cause });
  });
  if (files.length === 0)
    throw new HumanError('bad-input', 'This is a folder without results of BIG-bench (scores_….json).', {
      place: { file: folder },
      todo: 'Name files with scores.',
    });
  const leftOut = new LeftOutCounter();
  const records: RecordTable['records'] = [];
  for (const file of files) {
    const value = await jsonOf(file);
    if (!isBigBenchResult(value)) {
      leftOut.add('files that are no results of BIG-bench', file);
      continue;
    }
    const table = bigBenchRecords(value, file);
    for (const record of table.records) records.push(record);
    leftOut.addAll(table.leftOut);
  }
  return { records, leftOut: leftOut.list() };
}

/** Null where it is no JSON: the reader of tables says what is wrong with it. */
async function jsonOf(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as unknown;
  } catch {
    return null;
  }
}

/** Puts tables of sources together, the first in front, and filters them. */
export async function combineTables(tables: readonly RecordTable[], filters: RecordFilters = {}): Promise<RecordTable> {
  const leftOut = new LeftOutCounter();
  for (const table of tables) leftOut.addAll(table.leftOut);
  const all = tables.flatMap((table) => table.records);
  const records = await inTurns(filteredRecords(all, filters, leftOut), turns());
  return { records, leftOut: leftOut.list(), notes: tables.flatMap(({ notes }) => notes ?? []) };
}
