/** Odd files of every format, value by value as `datasets` loads them (make/data_values.py). */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSplit } from '../../src/benchmark/data.ts';
import { readDataOptions } from '../../src/benchmark/data-options.ts';
import type { DataFormat } from '../../src/benchmark/dataset-folder.ts';
import { locateDataset } from '../../src/benchmark/dataset-source.ts';
import { str } from '../../src/benchmark/python.ts';
import { largeSplit } from '../../src/benchmark/table.ts';

interface Case {
  name: string;
  format: DataFormat;
  files: Record<string, string>;
  options: Record<string, unknown>;
  rows?: Record<string, string>[];
  /** The exception of `datasets`. */
  error?: string;
}
interface Card extends Pick<Case, 'name' | 'rows' | 'error'> {
  /** Texts by name. */
  files: Record<string, string>;
  configuration: string | null;
}
const { cases, cards }: { cases: Case[]; cards: Card[] } = JSON.parse(
  readFileSync(new URL('data-values.json', import.meta.url), 'utf8'),
);

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

describe('types that a card gives', () => {
  for (const { name, files, configuration, rows } of cards.filter((card) => card.rows))
    it(name, async () => {
      const under = join(folder, `card ${name}`);
      for (const [file, content] of Object.entries(files)) {
        mkdirSync(under, { recursive: true });
        writeFileSync(join(under, file), content);
      }
      const request = { path: under, name: configuration, revision: null, dataDir: null, dataFiles: null };
      const located = await locateDataset(request, [folder]);
      const { items } = await readSplit(located.splits.get('test') ?? [], null, {
        ...readDataOptions({}),
        ...(located.features && { features: located.features }),
      });
      const printed = items.map(({ fields }) =>
        Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, str(value)])),
      );
      expect(printed).toEqual(rows);
    });
});

describe('large files', () => {
  /** The same rows in a file that is small and in one that is not. */
  async function both(name: string, row: (at: number) => string): Promise<void> {
    const count = Math.ceil(largeSplit / row(0).length) + 1000;
    const large = join(folder, `large-${name}`);
    writeFileSync(large, Array.from({ length: count }, (_, at) => row(at)).join(''));
    const small = join(folder, `small-${name}`);
    const some = [0, 1, 2, 700, 1024, count - 1];
    writeFileSync(small, some.map((at) => row(at)).join(''));
    const [all, few] = await Promise.all([large, small].map((file) => readSplit([file], null, readDataOptions({}))));
    expect(all?.items.length).toBe(count);
    expect(some.map((at) => all?.items[at]?.fields)).toEqual(few?.items.map(({ fields }) => fields));
    expect(all?.items[700]?.place).toEqual({ file: large, line: 701 });
    expect(all?.items[700]?.fields).toBe(all?.items[700]?.fields);
    // A row that has not been kept is made again, the same.
    const first = JSON.stringify(all?.items[0]?.fields);
    for (const item of all?.items.slice(0, 3000) ?? []) void item.fields;
    expect(JSON.stringify(all?.items[0]?.fields)).toBe(first);
  }
  const filler = 'x'.repeat(2000);
  it('JSON lines have the types of all rows', () =>
    both(
      'a.jsonl',
      (at) =>
        `{"id": ${at === 1 ? '0.5' : at}, "day": "2020-01-02", "text": "${filler} é"${at % 2 ? ', "odd": {"a": 1}' : ''}}\n`,
    ));
  it('a broken line is named when the file is opened', async () => {
    const file = join(folder, 'broken.jsonl');
    writeFileSync(file, `${`{"text": "${filler}"}\n`.repeat(9000)}{"text": \n`);
    await expect(readSplit([file], null, readDataOptions({}))).rejects.toMatchObject({
      kind: 'bad-input',
      details: { place: { file, line: 9001 } },
    });
  });
  it('a pointer of Git LFS is told from data', async () => {
    const file = join(folder, 'pointer.parquet');
    writeFileSync(file, 'version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n');
    await expect(readSplit([file], null, readDataOptions({}))).rejects.toThrow(/pointer of Git LFS/);
  });
});
