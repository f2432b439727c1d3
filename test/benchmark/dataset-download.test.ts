/** From a benchmark file that names a data set of the Hub to its rows, over a server that speaks as the Hub does. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  checkBenchmark,
  datasetConsent,
  datasetOf,
  fetchDataset,
  openBenchmark,
  planDataset,
} from '../../src/benchmark/index.ts';
import { type HubSettings, hubSettings } from '../../src/hub/index.ts';
import { setDatasetFolders } from '../../src/shared/dataset-folders.ts';
import { HumanError } from '../../src/shared/errors.ts';
import { HubServer } from '../hub/server.ts';

const rows = (split: string, count = 2): string =>
  Array.from({ length: count }, (_, at) => `{"text": "${split} ${at}", "id": ${at}}\n`).join('');
const card = (configurations: string): string => `---\nlicense: mit\nconfigs:\n${configurations}\n---\n`;

let folder: string;
let server: HubServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-data-set-'));
  server = await HubServer.start([
    {
      kind: 'dataset',
      id: 'owner/sums',
      licence: 'mit',
      revisions: {
        main: {
          'README.md': card(
            ['main', 'other']
              .map(
                (name) =>
                  `- config_name: ${name}\n  data_files:\n  - split: train\n    path: ${name}/train-*\n  - split: test\n    path: ${name}/test-*`,
              )
              .join('\n'),
          ),
          ...Object.fromEntries(
            ['main', 'other'].flatMap((name) => [
              [`${name}/train-00000-of-00002.jsonl`, rows(`${name} train`)],
              [`${name}/train-00001-of-00002.jsonl`, rows(`${name} more train`)],
              [`${name}/test-00000-of-00001.jsonl`, rows(`${name} test`)],
            ]),
          ),
        },
      },
    },
    {
      kind: 'dataset',
      id: 'owner/scripted',
      revisions: {
        main: { 'scripted.py': 'import datasets\n', 'README.md': '# Scripted\n', 'raw/train.json': '{"not": "rows"}' },
        'refs/convert/parquet': { 'plain/train/0000.jsonl': rows('train'), 'plain/test/0000.jsonl': rows('test') },
      },
    },
    { kind: 'dataset', id: 'owner/script-only', revisions: { main: { 'script-only.py': '', 'a.txt': 'x' } } },
    { kind: 'dataset', id: 'owner/pictures', revisions: { main: { 'a.png': 'x' } } },
    {
      kind: 'dataset',
      id: 'owner/plain',
      revisions: {
        main: {
          'train.jsonl': rows('train'),
          'test.jsonl': rows('test'),
          'sub/dev.jsonl': rows('dev'),
          'sub/other.csv': 'a\n1\n',
        },
      },
    },
  ]);
  vi.stubEnv('HF_ENDPOINT', server.address);
  vi.stubEnv('HF_HOME', join(folder, 'home'));
  for (const name of ['HF_HUB_CACHE', 'HF_TOKEN', 'HF_DATASETS_CACHE', 'SOFTBENCH_DATASETS', 'HF_HUB_OFFLINE'])
    vi.stubEnv(name, undefined);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const settings = (): HubSettings => ({ ...hubSettings(), pauseMilliseconds: 1 });
const write = (path: string, content: string): string => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
  return join(folder, path);
};
const task = (lines: string, splits = 'test_split: test'): string =>
  write('task.yaml', `task: sums\n${lines}\n${splits}\ndoc_to_text: "{{text}}"\ndoc_to_target: "{{id}}"\n`);
const fetched = (): string[] =>
  server.asked
    .flatMap(({ url }) => /\/resolve\/[^/]+\/(.+)$/.exec(url)?.[1] ?? [])
    .filter((path) => path !== 'README.md');

async function obtain(file: string): Promise<string> {
  const need = await datasetOf(file);
  if (!need?.missing) throw new Error('nothing is missing');
  return fetchDataset(await planDataset(need, settings()), settings());
}
const failure = async (promise: Promise<unknown>): Promise<HumanError> => {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(HumanError);
  return thrown as HumanError;
};
const texts = async (file: string, split: 'evaluation' | 'training' = 'evaluation'): Promise<unknown[]> =>
  (await (await openBenchmark(file)).items(split)).map(({ fields }) => fields.text);

describe('a data set of the Hub', () => {
  it('is fetched as far as the benchmark reads it, and read then', async () => {
    const file = task('dataset_path: owner/sums\ndataset_name: main');
    expect((await checkBenchmark(file)).problems[0]).toMatchObject({
      code: 'missing-dataset',
      place: { line: 2 },
      message: expect.stringMatching(
        /owner\/sums \(main\) .* is not on this machine\. Download it: `softbench datasets download owner\/sums --name main`/,
      ),
    });
    expect(server.asked).toEqual([]);
    await obtain(file);
    expect(fetched()).toEqual(['main/test-00000-of-00001.jsonl']);
    expect(await texts(file)).toEqual(['main test 0', 'main test 1']);
  });
  it('says of a split that is not here yet that it can be fetched, and fetches the rest', async () => {
    await obtain(task('dataset_path: owner/sums\ndataset_name: main'));
    const file = task('dataset_path: owner/sums\ndataset_name: main', 'test_split: test\ntraining_split: train');
    expect((await checkBenchmark(file)).problems).toMatchObject([
      {
        code: 'missing-dataset',
        place: { line: 5 },
        message: expect.stringMatching(/split `train` of owner\/sums is not, or not whole, on this machine/),
      },
    ]);
    server.asked.length = 0;
    await obtain(file);
    expect(fetched()).toEqual(['main/train-00000-of-00002.jsonl', 'main/train-00001-of-00002.jsonl']);
    expect(await texts(file, 'training')).toHaveLength(4);
  });
  it('is not read where a shard is missing', async () => {
    const file = task('dataset_path: owner/sums\ndataset_name: main', 'test_split: train');
    const snapshot = await obtain(file);
    expect(await texts(file)).toHaveLength(4);
    rmSync(join(snapshot, 'main', 'train-00001-of-00002.jsonl'));
    expect((await checkBenchmark(file)).problems).toMatchObject([
      { code: 'missing-dataset', message: expect.stringMatching(/not whole/) },
    ]);
  });
  it('in the configuration that is asked for', async () => {
    await obtain(task('dataset_path: owner/sums\ndataset_name: main'));
    const file = task('dataset_path: owner/sums\ndataset_name: other');
    expect((await checkBenchmark(file)).problems[0]?.code).toBe('missing-dataset');
    await obtain(file);
    expect(await texts(file)).toEqual(['other test 0', 'other test 1']);
  });
  it('of a script is fetched as the Hub has converted it', async () => {
    const file = task('dataset_path: owner/scripted', 'test_split: test\ntraining_split: train');
    const snapshot = await obtain(file);
    expect(fetched()).toEqual(['plain/train/0000.jsonl', 'plain/test/0000.jsonl']);
    expect(existsSync(join(snapshot, '../../refs/refs/convert/parquet'))).toBe(true);
    expect(await texts(file)).toEqual(['test 0', 'test 1']);
    expect(await texts(file, 'training')).toEqual(['train 0', 'train 1']);
  });
  it('of a script without a conversion is refused with advice', async () => {
    const error = await failure(obtain(task('dataset_path: owner/script-only')));
    expect(error.sentence).toMatch(
      /made by a Python script.*no conversion.*save its rows as \.jsonl, and map that folder/,
    );
  });
  it('without data that can be read is refused', async () => {
    expect((await failure(obtain(task('dataset_path: owner/pictures')))).message).toMatch(/has no \.parquet, .* file/);
  });
  it('without the configuration or split that is asked for is refused before anything is fetched', async () => {
    expect((await failure(obtain(task('dataset_path: owner/sums\ndataset_name: mian')))).message).toMatch(
      /no configuration "mian"; it has main, other/,
    );
    expect((await failure(obtain(task('dataset_path: owner/sums')))).message).toMatch(
      /several configurations and no default one: main, other/,
    );
    expect(
      (await failure(obtain(task('dataset_path: owner/sums\ndataset_name: main', 'test_split: tset')))).message,
    ).toMatch(/has no split "tset" on the Hub; it has train, test\. Did you mean `test`\?/);
    expect(fetched()).toEqual([]);
  });
  it('with data_files and data_dir, as paths within the repository', async () => {
    for (const [options, expected] of [
      ['{ data_files: { test: sub/dev.jsonl } }', 'sub/dev.jsonl'],
      ['{ data_files: { test: "sub/d*.jsonl" } }', 'sub/dev.jsonl'],
      ['{ data_files: { test: "hf://datasets/owner/plain/sub/dev.jsonl" } }', 'sub/dev.jsonl'],
      ['{ data_files: { test: dev.jsonl }, data_dir: sub }', 'sub/dev.jsonl'],
    ] as const) {
      rmSync(join(folder, 'home'), { recursive: true, force: true });
      server.asked.length = 0;
      const file = task(`dataset_path: owner/plain\ndataset_kwargs: ${options}`);
      await obtain(file);
      expect(fetched()).toEqual([expected]);
      expect(await texts(file)).toEqual(['dev 0', 'dev 1']);
    }
  });
  it('is agreed to with configuration and splits', async () => {
    const need = await datasetOf(task('dataset_path: owner/sums\ndataset_name: main'));
    if (!need) throw new Error('no data set');
    const lines = await datasetConsent(await planDataset(need, settings()), settings());
    expect(lines[0]).toBe('Data set owner/sums: configuration main, split test');
    expect(lines).toContain('Licence: mit');
    expect(readdirSync(folder)).toEqual(['task.yaml']);
  });
});

describe('a mapped folder', () => {
  const file = (): string => task('dataset_path: owner/sums\ndataset_name: main');
  it.each([
    ['owner/sums', 'mine'],
    ['owner/*', 'mine/*'],
    ['owner/', ''],
    ['*', 'all'],
  ])('%s → %s', async (id, to) => {
    write(
      `${id === 'owner/sums' ? 'mine' : to.includes('*') ? 'mine/sums' : id === '*' ? 'all/owner/sums' : 'sums'}/test.jsonl`,
      rows('mapped'),
    );
    vi.stubEnv('SOFTBENCH_DATASETS', `${id}=${join(folder, to)}`);
    expect(await texts(file())).toEqual(['mapped 0', 'mapped 1']);
    vi.stubEnv('SOFTBENCH_DATASETS', JSON.stringify({ [id]: join(folder, to) }));
    expect(await texts(file())).toEqual(['mapped 0', 'mapped 1']);
  });
  it('goes before what has been downloaded, and need not know configurations', async () => {
    await obtain(file());
    write('mine/test.jsonl', rows('mapped'));
    setDatasetFolders({ 'owner/sums': join(folder, 'mine') });
    const { benchmark } = await checkBenchmark(file());
    setDatasetFolders({});
    expect((await benchmark?.items('evaluation'))?.map(({ fields }) => fields.text)).toEqual(['mapped 0', 'mapped 1']);
  });
  it('that is not there is named', async () => {
    vi.stubEnv('SOFTBENCH_DATASETS', 'owner/sums=/nowhere/at/all');
    expect((await checkBenchmark(file())).problems[0]).toMatchObject({
      code: 'missing-dataset',
      message: expect.stringMatching(/is mapped to .*nowhere.at.all, which is not a folder/),
    });
    vi.stubEnv('SOFTBENCH_DATASETS', 'owner/sums');
    expect((await checkBenchmark(file())).problems[0]?.message).toMatch(/maps no data set to a folder/);
  });
});
