import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { datasetSplits } from '../../src/benchmark/dataset-folder.ts';
import { readParquet } from '../../src/benchmark/parquet.ts';
import { repr } from '../../src/benchmark/python.ts';

/** What `datasets` and pyarrow make of the same files (make/data_sets.py). */
const oracle: {
  layouts: {
    layout: string;
    files: string[];
    readme: string | null;
    configuration: string | null;
    splits: Record<string, string[]>;
  }[];
  parquet: Record<string, string>;
  printed: Record<string, string>[];
} = JSON.parse(readFileSync(new URL('data-sets.json', import.meta.url), 'utf8'));

describe('the files of a data set, as `datasets` finds them', () => {
  for (const { layout, files, readme, configuration, splits } of oracle.layouts)
    it(`${layout}${configuration ? `: ${configuration}` : ''}`, () => {
      const found = datasetSplits('owner/name', files, readme, configuration);
      expect(Object.fromEntries(found.splits)).toEqual(splits);
    });
  it('names the configurations where none is chosen or the chosen one is not there', () => {
    const card = oracle.layouts.find(({ layout }) => layout === 'card');
    expect(() => datasetSplits('a/b', card?.files ?? [], card?.readme ?? null, null)).toThrow(/main, socratic/);
    expect(() => datasetSplits('a/b', card?.files ?? [], card?.readme ?? null, 'mian')).toThrow(
      /"mian".*main, socratic/,
    );
  });
});

describe('parquet', () => {
  for (const [compression, base64] of Object.entries(oracle.parquet))
    it(`${compression}: values print as Python prints them`, async () => {
      const rows = await readParquet(Buffer.from(base64, 'base64'), 'rows.parquet');
      expect(
        rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, repr(value)]))),
      ).toEqual(oracle.printed);
    });
  it('a damaged file is refused with its name', async () => {
    const bytes = Buffer.from(oracle.parquet.snappy ?? '', 'base64');
    for (const broken of [
      bytes.subarray(0, bytes.length >> 1),
      bytes.subarray(bytes.length >> 1),
      Buffer.from('PAR1'),
      Buffer.alloc(0),
    ])
      await expect(readParquet(broken, 'rows.parquet')).rejects.toMatchObject({
        kind: 'bad-input',
        details: { place: { file: 'rows.parquet' } },
      });
  });
});
