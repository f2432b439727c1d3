/** Odd files of every format, value by value as `datasets` loads them (make/data_values.py). */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSplit } from '../../src/benchmark/data.ts';
import { readDataOptions } from '../../src/benchmark/data-options.ts';
import type { DataFormat } from '../../src/benchmark/dataset-folder.ts';
import { str } from '../../src/benchmark/python.ts';

interface Case {
  name: string;
  format: DataFormat;
  files: Record<string, string>;
  options: Record<string, unknown>;
  rows?: Record<string, string>[];
  /** The exception of `datasets`. */
  error?: string;
}
const { cases }: { cases: Case[] } = JSON.parse(readFileSync(new URL('data-values.json', import.meta.url), 'utf8'));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-values-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function read({ format, files, options }: Case, at: number): Promise<Record<string, string>[]> {
  const paths = Object.entries(files).map(([name, content]) => {
    const path = join(folder, String(at), name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.from(content, 'base64'));
    return path;
  });
  const { items } = await readSplit(paths, format, readDataOptions(options));
  return items.map(({ fields }) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, str(value)])),
  );
}

describe('values', () => {
  for (const [at, one] of cases.entries()) {
    if (one.rows) it(one.name, async () => expect(await read(one, at)).toEqual(one.rows));
  }
});
