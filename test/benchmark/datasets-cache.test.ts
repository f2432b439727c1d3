/** The cache of the `datasets` library, as it wrote it (test/fixtures/hub), and folders of save_to_disk. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkBenchmark, datasetOf, openBenchmark } from '../../src/benchmark/index.ts';
import { str } from '../../src/benchmark/python.ts';

const fixture = join(import.meta.dirname, '../fixtures/hub');
const python: {
  id: string;
  checks: { what: string; ok: boolean }[];
  rows: Record<string, Record<string, Record<string, string>[]>>;
} = JSON.parse(readFileSync(join(fixture, 'python-clients.json'), 'utf8'));

let folder: string;
let cache: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-datasets-cache-'));
  cache = join(folder, 'datasets', 'owner___sums_and_more');
  cpSync(join(fixture, 'datasets'), join(folder, 'datasets'), { recursive: true });
  vi.stubEnv('HF_HOME', folder);
  for (const name of ['HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE', 'HF_DATASETS_CACHE', 'SOFTBENCH_DATASETS'])
    vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const task = (lines: string, field = 'x'): string => {
  const file = join(folder, 'task.yaml');
  writeFileSync(
    file,
    `task: sums\n${lines}\ntest_split: test\ntraining_split: train\ndoc_to_text: "{{${field}}}"\ndoc_to_target: "{{${field}}}"\n`,
  );
  return file;
};
const printed = async (file: string, split: 'evaluation' | 'training'): Promise<Record<string, string>[]> =>
  (await (await openBenchmark(file)).items(split)).map(({ fields }) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, str(value)])),
  );
const problem = async (file: string): Promise<string> =>
  (await checkBenchmark(file)).problems.map(({ code, message }) => `${code}: ${message}`)[0] ?? '';
/** The folder of a configuration's files. */
const prepared = (configuration: string): string => {
  const under = join(cache, configuration, '0.0.0');
  return join(under, readdirSync(under)[0] ?? '');
};

describe('the cache of `datasets`', () => {
  it('was made by clients that read what this product downloads', () => {
    expect(python.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(python.checks.length).toBeGreaterThan(9);
  });
  for (const [configuration, splits] of Object.entries(python.rows))
    it(`has the rows that it gives to Python: ${configuration}`, async () => {
      const field = Object.keys(splits.test?.[0] ?? {})[0];
      const file = task(`dataset_path: ${python.id}\ndataset_name: ${configuration}`, field);
      expect(await printed(file, 'evaluation')).toEqual(splits.test);
      expect(await printed(file, 'training')).toEqual(splits.train);
      expect((await datasetOf(file))?.located).toMatchObject({ origin: 'datasets', configuration });
    });
  it('in shards, and not where one is missing', async () => {
    const under = prepared('plain');
    renameSync(join(under, 'sums_and_more-train.arrow'), join(under, 'sums_and_more-train-00000-of-00002.arrow'));
    cpSync(
      join(under, 'sums_and_more-train-00000-of-00002.arrow'),
      join(under, 'sums_and_more-train-00001-of-00002.arrow'),
    );
    const file = task(`dataset_path: ${python.id}\ndataset_name: plain`);
    const { train = [] } = python.rows.plain ?? {};
    expect(await printed(file, 'training')).toEqual([...train, ...train]);
    rmSync(join(under, 'sums_and_more-train-00001-of-00002.arrow'));
    expect(await problem(file)).toMatch(/^missing-dataset: .*not on this machine/);
  });
  it('is looked up by commit where a revision is pinned', async () => {
    const commit = prepared('plain').slice(-40);
    expect(
      await printed(
        task(`dataset_path: ${python.id}\ndataset_name: plain\ndataset_kwargs: { revision: ${commit} }`),
        'evaluation',
      ),
    ).toHaveLength(25);
    expect(
      await problem(
        task(`dataset_path: ${python.id}\ndataset_name: plain\ndataset_kwargs: { revision: ${'b'.repeat(40)} }`),
      ),
    ).toMatch(/^missing-dataset/);
    expect(
      await problem(task(`dataset_path: ${python.id}\ndataset_name: plain\ndataset_kwargs: { revision: v1.0 }`)),
    ).toMatch(/^missing-dataset/);
  });
  it('does not stand in for options that make other rows', async () => {
    for (const options of ['{ data_files: { test: a.jsonl } }', '{ data_dir: plain }'])
      expect(
        await problem(task(`dataset_path: ${python.id}\ndataset_name: plain\ndataset_kwargs: ${options}`)),
      ).toMatch(/^missing-dataset/);
  });
  it('asks which configuration where there are several', async () => {
    expect(await problem(task(`dataset_path: ${python.id}`))).toMatch(
      /several configurations in the cache of `datasets`: labels, moments, plain/,
    );
    for (const other of ['labels', 'moments']) rmSync(join(cache, other), { recursive: true });
    expect(await printed(task(`dataset_path: ${python.id}`), 'evaluation')).toHaveLength(25);
  });
  it('that is not whole is passed over', async () => {
    rmSync(join(prepared('plain'), 'dataset_info.json'));
    expect(await problem(task(`dataset_path: ${python.id}\ndataset_name: plain`))).toMatch(/^missing-dataset/);
  });
  it('with a damaged file says so', async () => {
    const path = join(prepared('plain'), 'sums_and_more-test.arrow');
    writeFileSync(path, readFileSync(path).subarray(0, 300));
    expect(await problem(task(`dataset_path: ${python.id}\ndataset_name: plain`))).toMatch(
      /not an Arrow file that can be read|has no rows/,
    );
    writeFileSync(path, 'no Arrow at all');
    expect(await problem(task(`dataset_path: ${python.id}\ndataset_name: plain`))).toMatch(
      /not an Arrow file that can be read/,
    );
  });
  it('where HF_DATASETS_CACHE says', async () => {
    renameSync(join(folder, 'datasets'), join(folder, 'elsewhere'));
    expect(await problem(task(`dataset_path: ${python.id}\ndataset_name: plain`))).toMatch(/^missing-dataset/);
    vi.stubEnv('HF_DATASETS_CACHE', join(folder, 'elsewhere'));
    expect(await printed(task(`dataset_path: ${python.id}\ndataset_name: plain`), 'evaluation')).toHaveLength(25);
  });
});

describe('a folder of save_to_disk', () => {
  it('has its splits by folder', async () => {
    for (const split of ['train', 'test']) {
      const to = join(folder, 'saved', split, 'data-00000-of-00001.arrow');
      mkdirSync(dirname(to), { recursive: true });
      cpSync(join(prepared('plain'), `sums_and_more-${split}.arrow`), to);
      writeFileSync(join(dirname(to), 'state.json'), '{}');
    }
    writeFileSync(join(folder, 'saved', 'dataset_dict.json'), '{"splits": ["train", "test"]}');
    const file = task('dataset_path: saved');
    expect(await printed(file, 'evaluation')).toEqual(python.rows.plain?.test);
    expect(await printed(file, 'training')).toEqual(python.rows.plain?.train);
  });
});
