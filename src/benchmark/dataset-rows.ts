/** How many rows a data set has, without reading them where its files tell. */
import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readSplit } from './data.ts';
import { readDataOptions } from './data-options.ts';
import { formatOf } from './dataset-folder.ts';
import type { LocatedDataset } from './dataset-source.ts';

export interface SplitSize {
  name: string;
  files: number;
  bytes: number;
  /** Null where it would take reading a large file. */
  rows: number | null;
}

/** Files of other formats are read to be counted up to this size. */
const readable = 8 * 2 ** 20;
/** Counted by file, size and time of change. */
const known = new Map<string, number | null>();

/** Splits with their sizes. */
export async function splitSizes({ splits }: Pick<LocatedDataset, 'splits'>): Promise<SplitSize[]> {
  return Promise.all(
    [...splits].map(async ([name, files]) => {
      const counted = await Promise.all(files.map((file) => sizeOf(file, name)));
      const rows = counted.map((one) => one.rows);
      return {
        name,
        files: files.length,
        bytes: counted.reduce((sum, one) => sum + one.bytes, 0),
        rows: rows.includes(null) ? null : rows.reduce<number>((sum, count) => sum + (count ?? 0), 0),
      };
    }),
  );
}

async function sizeOf(file: string, split: string): Promise<{ bytes: number; rows: number | null }> {
  const found = await stat(file).catch(() => null);
  if (!found) return { bytes: 0, rows: null };
  const key = `${file}\0${found.size}\0${found.mtimeMs}`;
  let rows = known.get(key);
  if (rows === undefined) {
    rows = await countRows(file, found.size, split).catch(() => null);
    known.set(key, rows);
  }
  return { bytes: found.size, rows };
}

async function countRows(file: string, bytes: number, split: string): Promise<number | null> {
  const format = formatOf(file);
  if (format === 'parquet') return parquetRows(file, bytes);
  if (format === 'arrow' && !/-of-\d{5}\.arrow$/.test(file)) {
    // The cache of `datasets` says it beside the file.
    const info = JSON.parse(await readFile(join(dirname(file), 'dataset_info.json'), 'utf8').catch(() => '{}'));
    const count = (info as { splits?: Record<string, { num_examples?: unknown }> }).splits?.[split]?.num_examples;
    if (typeof count === 'number') return count;
  }
  if (/\.(?:jsonl|ndjson)$/.test(file)) return lineCount(file);
  if (bytes > readable || format === null) return null;
  return (await readSplit([file], format, readDataOptions({}))).items.length;
}

/** By the file's last bytes, where its description stands. */
async function parquetRows(file: string, bytes: number): Promise<number> {
  const { parquetMetadataAsync } = await import('hyparquet');
  const handle = await open(file);
  try {
    const metadata = await parquetMetadataAsync({
      byteLength: bytes,
      slice: async (from: number, to = bytes) => {
        const buffer = new ArrayBuffer(to - from);
        await handle.read(new Uint8Array(buffer), 0, to - from, from);
        return buffer;
      },
    });
    return Number(metadata.num_rows);
  } finally {
    await handle.close();
  }
}

/** Lines with something on them. */
async function lineCount(file: string): Promise<number> {
  let count = 0;
  let isBlank = true;
  for await (const chunk of createReadStream(file, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>)
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === 10) {
        if (!isBlank) count++;
        isBlank = true;
      } else if (byte !== 32 && byte !== 13 && byte !== 9) {
        isBlank = false;
        // The rest of the line says nothing more.
        const end = chunk.indexOf(10, at);
        at = (end < 0 ? chunk.length : end) - 1;
      }
    }
  return isBlank ? count : count + 1;
}
