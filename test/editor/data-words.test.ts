import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BenchmarkDataset } from '../../src/benchmark/dataset-download.ts';
import { splitSizes } from '../../src/benchmark/index.ts';
import { dataHover, dataKeyLine } from '../../src/editor/data-words.ts';
import { HumanError } from '../../src/shared/errors.ts';

/** Files of pandas and pyarrow, of which the other tests know the rows. */
const { cases }: { cases: { name: string; files: Record<string, string>; rows?: unknown[] }[] } = JSON.parse(
  readFileSync(new URL('../benchmark/data-values.json', import.meta.url), 'utf8'),
);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-rows-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('rows of a split', () => {
  it.each([
    'parquet: several row groups',
    'parquet: several files',
    'arrow: several files',
    'several files',
    'packed',
    'types of columns',
    'a list of objects over lines',
    'blank lines',
    'no last line break',
    'Windows line breaks',
  ])('are counted: %s', async (name) => {
    const one = cases.find((each) => each.name === name);
    if (!one?.rows) throw new Error('no such case');
    const under = join(folder, name.replace(/\W+/g, '-'));
    mkdirSync(under);
    const files = Object.entries(one.files).map(([file, content]) => {
      writeFileSync(join(under, file), Buffer.from(content, 'base64'));
      return join(under, file);
    });
    expect(await splitSizes({ splits: new Map([['test', files]]) })).toMatchObject([
      { name: 'test', files: files.length, rows: one.rows.length },
    ]);
  });
  it('are not known of a file that is gone', async () => {
    expect(await splitSizes({ splits: new Map([['test', [join(folder, 'gone.jsonl')]]]) })).toMatchObject([
      { rows: null, bytes: 0 },
    ]);
  });
});

describe('the hover', () => {
  const request = { path: 'owner/sums', name: 'main', revision: null, dataDir: null, dataFiles: null };
  it('has a row for each split, with those that are read in bold and those that are missing', () => {
    const dataset: BenchmarkDataset = {
      request,
      splits: ['test', 'train'],
      located: {
        origin: 'hub',
        folder: '/cache',
        configuration: 'main',
        splits: new Map([
          ['test', ['a']],
          ['dev', ['b']],
        ]),
        declared: [],
      },
      missing: new HumanError('missing', 'Of the data set owner/sums the splits train are not on this machine.'),
    };
    const text = dataHover(dataset, [
      { name: 'test', files: 1, bytes: 2000, rows: 1319 },
      { name: 'dev', files: 2, bytes: 10, rows: null },
    ]);
    expect(text.split('\n')).toEqual([
      '**owner/sums**, configuration main',
      '',
      '| split | rows | |',
      '|---|--:|---|',
      expect.stringMatching(/^\| \*\*test\*\* \| 1,319 \| .* in 1 file \|$/),
      expect.stringMatching(/^\| dev \| \? \| .* in 2 files \|$/),
      '| **train** | – | not here |',
      '',
      'From the cache of the Hugging Face Hub: `/cache`',
      '',
      'Of the data set owner/sums the splits train are not on this machine.',
    ]);
  });
  it('says what is missing where there is nothing', () => {
    expect(dataHover({ request, splits: [], located: null, missing: new HumanError('missing', 'Not here.') }, [])).toBe(
      '**owner/sums**, configuration main\n\nNot here.',
    );
  });
  it('is for the keys that say which data is read', () => {
    for (const line of ['dataset_path: a/b', 'test_split: test', '  fewshot_split: x', 'dataset_name: main'])
      expect(dataKeyLine.test(line)).toBe(true);
    for (const line of ['task: a', 'doc_to_text: test_split', 'dataset_kwargs: {}'])
      expect(dataKeyLine.test(line)).toBe(false);
  });
});
