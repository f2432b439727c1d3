import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { datasetSplits } from '../../src/benchmark/dataset-folder.ts';
import { checkBenchmark, openBenchmark } from '../../src/benchmark/index.ts';
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

describe('a benchmark on a data set', () => {
  let folder = '';
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const commit = 'a'.repeat(40);
  const repository = 'hub/datasets--owner--sums';
  const card =
    '---\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: main/train-*\n  - split: test\n    path: main/test-*\n---\n';
  const task = (lines: string): string =>
    `task: sums\n${lines}\ntraining_split: train\ntest_split: test\ndoc_to_text: "{{text}}"\ndoc_to_target: "{{id}}"\n`;
  const parquet = Buffer.from(oracle.parquet.snappy ?? '', 'base64');
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'softbench-data-sets-'));
    vi.stubEnv('HF_HUB_CACHE', join(folder, 'hub'));
    // As the hub's clients keep it: a branch's commit, and links into a store of blobs.
    write(`${repository}/refs/main`, commit);
    for (const [name, content] of Object.entries({
      'README.md': card,
      'main/train-00000-of-00001.parquet': parquet,
      'main/test-00000-of-00001.parquet': parquet,
    })) {
      write(`${repository}/blobs/${name.replaceAll('/', '_')}`, content);
      const link = join(folder, repository, 'snapshots', commit, name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(folder, repository, 'blobs', name.replaceAll('/', '_')), link);
    }
    write('local/train.jsonl', '{"id": 1, "text": "one"}\n');
    write('local/test.jsonl.gz', gzipSync('{"id": 2, "text": "two"}\n{"id": 3, "text": "three"}\n'));
    write('test.parquet', parquet);
    write('hub.yaml', task('dataset_path: owner/sums\ndataset_name: main'));
    write('folder.yaml', task('dataset_path: local'));
    write(
      'files.yaml',
      task('dataset_path: parquet\ndataset_kwargs: { data_files: { test: test.parquet, train: test.parquet } }'),
    );
    write(
      'own-files.yaml',
      task('dataset_path: owner/sums\ndataset_kwargs: { data_files: { test: "main/test-*", train: "main/train-*" } }'),
    );
    write('configuration.yaml', task('dataset_path: owner/sums\ndataset_name: mian'));
    write(
      'split.yaml',
      task('dataset_path: owner/sums\ndataset_name: main').replace('test_split: test', 'test_split: tset'),
    );
    write('damaged.yaml', task('dataset_path: local').replace('test_split: test', 'test_split: validation'));
    write('local/validation.jsonl.gz', 'not packed');
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  const open = (name: string) => openBenchmark(join(folder, name));
  it('in the cache of the hub, through its links', async () => {
    const benchmark = await open('hub.yaml');
    expect((await benchmark.items('evaluation')).map(({ fields }) => fields.text)).toEqual(['naïve 東京', null]);
    expect((await benchmark.items('training')).length).toBe(2);
  });
  it('in a folder beside the file, packed files too', async () => {
    const items = await (await open('folder.yaml')).items('evaluation');
    expect(items.map(({ fields }) => fields.text)).toEqual(['two', 'three']);
  });
  it('with files named by `data_files`', async () => {
    for (const name of ['files.yaml', 'own-files.yaml'])
      expect((await (await open(name)).items('evaluation')).map(({ fields }) => fields.id)).toEqual([1, 2]);
  });
  it('as Arrow files by name, and as a folder of files', async () => {
    const arrow = join(import.meta.dirname, '../fixtures/hub/datasets/owner___sums_and_more/plain/0.0.0');
    const [hash = ''] = readdirSync(arrow);
    cpSync(join(arrow, hash, 'sums_and_more-test.arrow'), join(folder, 'test.arrow'));
    write(
      'arrow.yaml',
      task('dataset_path: arrow\ndataset_kwargs: { data_files: { test: test.arrow, train: test.arrow } }')
        .replaceAll('{{text}}', '{{x}}')
        .replaceAll('{{id}}', '{{n}}'),
    );
    expect(await (await open('arrow.yaml')).items('evaluation')).toHaveLength(25);
    write('data-dir.yaml', task('dataset_path: json\ndataset_kwargs: { data_dir: local }'));
    expect((await (await open('data-dir.yaml')).items('evaluation')).map(({ fields }) => fields.text)).toEqual([
      'two',
      'three',
    ]);
    write('no-dir.yaml', task('dataset_path: json\ndataset_kwargs: { data_dir: nowhere }'));
    await expect(open('no-dir.yaml')).rejects.toThrow(/There is no folder \.\/nowhere to read data from/);
  });
  it('says at the right key what is not there', async () => {
    const problem = async (name: string) => (await checkBenchmark(join(folder, name))).problems[0];
    expect(await problem('configuration.yaml')).toMatchObject({
      place: { line: 3 },
      message: expect.stringMatching(/no configuration "mian".*main/),
    });
    expect(await problem('split.yaml')).toMatchObject({
      code: 'unknown-split',
      message: expect.stringMatching(/no split `tset` in the data set.*did you mean `test`/i),
    });
    expect(await problem('damaged.yaml')).toMatchObject({
      message: expect.stringMatching(/cannot be unpacked.*validation\.jsonl\.gz/s),
    });
  });
});
