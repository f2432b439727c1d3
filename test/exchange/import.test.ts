/** Import of real results of lm-evaluation-harness, of other versions' forms, and of files that are broken. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importResults } from '../../src/exchange/index.ts';
import { type DiskRunStore, openRunStore } from '../../src/runs/index.ts';
import type { HumanError } from '../../src/shared/errors.ts';
import type { ImportReport } from '../../src/shared/protocol.ts';
import type { ItemRecord, RunFile, RunSummary } from '../../src/shared/results.ts';

const real = resolve('test/fixtures/exchange/lm-eval');
let folder: string;
let store: DiskRunStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-import-'));
  store = openRunStore(join(folder, 'store'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const from = (...paths: string[]): Promise<ImportReport> => importResults(paths, store, { softbench: '0.0.0' });

async function imported(task: string): Promise<{ run: RunFile; summary: RunSummary; items: ItemRecord[] }> {
  const { runs } = await store.list();
  const found = runs.find(({ run }) => run.benchmark.task === task);
  if (!found?.summary) throw new Error(`${task} was not imported`);
  return { run: found.run, summary: found.summary, items: await store.readItems(found.run.id) };
}

async function failure(...paths: string[]): Promise<string> {
  const error = await from(...paths).then(
    () => null,
    (thrown: HumanError) => thrown,
  );
  expect(error).not.toBeNull();
  // Whatever went wrong, nothing of it is there.
  expect((await store.list()).runs).toEqual([]);
  return (error?.sentence ?? '').replaceAll(folder, '');
}

/** The rows of a real samples file. */
const rowsOf = async (file: string): Promise<Record<string, unknown>[]> =>
  (await readFile(file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const fileOf = async (number: string, start: string): Promise<string> => {
  const [model = ''] = await readdir(join(real, number));
  const names = await readdir(join(real, number, model));
  return join(real, number, model, names.find((name) => name.startsWith(start)) ?? '');
};

describe('results of lm-eval 0.4.13 with samples', { timeout: 60_000 }, () => {
  it('have F and S from the strict filter, L from the lenient one, counted by the rows themselves', async () => {
    await from(join(real, '2'));
    const rows = await rowsOf(await fileOf('2', 'samples_'));
    const strict = rows.filter(({ filter }) => filter === 'strict-match');
    const lenient = rows.filter(({ filter }) => filter === 'flexible-extract');
    const valid = strict.filter(({ filtered_resps }) => (filtered_resps as string[])[0] !== '[invalid]');
    const right = valid.filter(({ exact_match }) => exact_match === 1);
    const { run, summary, items } = await imported('exchange_capitals');
    expect(summary.scores.n).toBe(strict.length);
    expect(summary.scores.F.count).toBe(valid.length);
    expect(summary.scores.S.count).toBe(right.length);
    expect(summary.scores.K.count).toBe(right.length);
    expect(summary.scores.L.count).toBe(lenient.filter(({ exact_match }) => exact_match === 1).length);
    expect(items.map(({ output }) => output)).toEqual(strict.map(({ resps }) => (resps as string[][])[0]?.[0]));
    expect(items.every(({ inFormat, cause }) => inFormat === (cause === null))).toBe(true);
    expect(items.map(({ prompt }) => prompt.hash)).toEqual(strict.map(({ prompt_hash }) => prompt_hash));
    expect(run.mode).toBe('zero-shot');
    expect(run.status).toBe('finished');
    expect(run.model.name).toBe('HuggingFaceTB/SmolLM2-135M-Instruct');
    expect(run.source).toMatchObject({ kind: 'imported', tool: 'lm-eval', version: '0.4.13' });
  });

  it('keep every metric with its standard error', async () => {
    await from(real);
    for (const number of ['1', '2', '3']) {
      const results = JSON.parse(await readFile(await fileOf(number, 'results_'), 'utf8')).results;
      for (const [task, entry] of Object.entries<Record<string, unknown>>(results)) {
        const { runs } = await store.list();
        const same = runs.filter(({ run }) => run.benchmark.task === task && run.settings.chat === undefined);
        const measures = same.flatMap(({ summary }) => summary?.measures ?? []);
        for (const [key, value] of Object.entries(entry)) {
          const [metric = '', filter] = key.split(',');
          if (filter === undefined || metric.endsWith('_stderr')) continue;
          const error = entry[`${metric}_stderr,${filter}`];
          expect(measures).toContainEqual(
            expect.objectContaining({ metric, filter, value, standardError: error === 'N/A' ? null : error }),
          );
        }
      }
    }
  });

  it('have F, S and K of a filter that finds some answers, and say where these stand in the output', async () => {
    await from(join(real, '1'));
    const { run: fewShot } = await imported('exchange_gsm8k');
    expect([fewShot.mode, fewShot.settings.shots]).toEqual(['few-shot', 2]);
    const parity = resolve('test/fixtures/parity/runs/stories260k/zero-shot');
    await importResults([parity], store, { softbench: '0.0.0', tasks: ['parity_gen_vote'] });
    const rows = await rowsOf(join(parity, 'samples_parity_gen_vote.jsonl'));
    const votes = rows.filter(({ filter }) => filter === 'vote');
    const { summary, items } = await imported('parity_gen_vote');
    const found = votes.filter(({ filtered_resps }) => (filtered_resps as string[])[0] !== '[invalid]');
    expect(found.length).toBeGreaterThan(0);
    expect(summary.scores.F).toMatchObject({ count: found.length, n: votes.length });
    expect(summary.scores.S.count).toBe(found.filter(({ exact_match }) => exact_match === 1).length);
    expect(summary.scores.K.n).toBe(found.length);
    // Three outputs an item.
    expect(items.map(({ repeats }) => repeats?.length)).toEqual(votes.map(() => 2));
    const placed = items.filter(({ strict }) => strict.span !== null);
    expect(placed).toHaveLength(found.length);
    for (const { output, strict } of placed) expect(output.slice(...(strict.span ?? []))).toBe(strict.answer);
  });

  it('have likelihoods of candidates, and those of groups as means over their tasks', async () => {
    await from(join(real, '3'));
    const rows = await rowsOf(await fileOf('3', 'samples_exchange_aqua'));
    const aqua = await imported('exchange_aqua');
    expect(aqua.summary.scores.LL?.count).toBe(rows.filter(({ acc }) => acc === 1).length);
    expect(aqua.summary.scores.F.n).toBe(0);
    expect(aqua.items[0]?.choices?.texts).toEqual(['A', 'B', 'C', 'D', 'E']);
    expect(aqua.items[0]?.generated).toBe(false);
    const group = await imported('exchange_group');
    expect(group.run.source?.group).toEqual(['exchange_aqua', 'exchange_cities']);
    expect(group.items).toEqual([]);
    const results = JSON.parse(await readFile(await fileOf('3', 'results_'), 'utf8')).results.exchange_group;
    expect(group.summary.scores.LL?.value).toBeCloseTo(results['acc,none'], 12);
    const text = await imported('exchange_text');
    expect(text.items).toHaveLength(4);
    expect(text.summary.scores.LL).toBeNull();
  });

  it('are told apart by chat template', async () => {
    await from(join(real, '2'), join(real, '4'));
    const { runs } = await store.list();
    const chats = runs.map(({ run }) => run.settings.chat);
    expect(chats.filter((chat) => chat === undefined)).toHaveLength(1);
    expect(chats.find((chat) => chat)?.systemInstruction).toBe('Be brief.');
    expect(chats.find((chat) => chat)?.fewshotAsMultiturn).toBe(true);
  });

  it('are not imported twice', async () => {
    const first = await from(real);
    const again = await from(real, join(real, '1'));
    expect(again.imported).toEqual([]);
    expect(again.known).toHaveLength(first.imported.length);
    expect((await store.list()).runs).toHaveLength(first.imported.length);
  });

  it('come from a samples file, packed or not, that has lost its results', async () => {
    const samples = await fileOf('2', 'samples_');
    const place = join(folder, 'model-x', 'samples_exchange_capitals_2026-01-02T03-04-05.123456.jsonl.gz');
    await mkdir(join(folder, 'model-x'));
    await writeFile(place, gzipSync(await readFile(samples)));
    await from(place);
    const { run, summary } = await imported('exchange_capitals');
    const { summary: whole } = await (async () => {
      await from(join(real, '2'));
      return imported('exchange_capitals');
    })();
    expect(run.model.name).toBe('model-x');
    expect(run.source?.evaluated).toBe('2026-01-02T03:04:05.123Z');
    expect([summary.scores.F.count, summary.scores.S.count, summary.scores.L.count]).toEqual([
      whole.scores.F.count,
      whole.scores.S.count,
      whole.scores.L.count,
    ]);
  });
});

describe('other versions', () => {
  const write = async (name: string, value: unknown): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value));
    return file;
  };

  it('0.3: no filters, no samples: scores without F', async () => {
    const file = await write('results.json', {
      results: { boolq: { acc: 0.5, acc_stderr: 0.05 }, gsm8k: { acc: 0.25, acc_stderr: 0.0125 } },
      versions: { boolq: 1, gsm8k: 0 },
      config: {
        model: 'hf-causal',
        model_args: 'pretrained=EleutherAI/pythia-160m,revision=step100',
        num_fewshot: 5,
        batch_size: 8,
        limit: null,
        bootstrap_iters: 100000,
      },
    });
    await from(file);
    const { run, summary, items } = await imported('boolq');
    expect(run.model.name).toBe('EleutherAI/pythia-160m');
    expect(run.source?.version).toBe('0.3');
    expect(run.mode).toBe('few-shot');
    expect(items).toEqual([]);
    expect(summary.scores.F.value).toBeNull();
    expect(summary.scores.LL).toMatchObject({ value: 0.5, low: 0.5 - 1.959963984540054 * 0.05 });
    expect(summary.measures).toEqual([
      { metric: 'acc', filter: 'none', value: 0.5, standardError: 0.05, higherIsBetter: true, n: 0 },
    ]);
  });

  it('0.4.0: rows that do not name their filter, arguments as lists, a file that is one list', async () => {
    const config = {
      task: 'sums',
      output_type: 'generate_until',
      filter_list: [
        {
          name: 'strict-match',
          filter: [{ function: 'regex', regex_pattern: '#### (\\d+)' }, { function: 'take_first' }],
        },
        { name: 'flexible-extract', filter: [{ function: 'regex', regex_pattern: '(\\d+)', group_select: -1 }] },
      ],
      metric_list: [{ metric: 'exact_match' }],
    };
    await write('results.json', {
      results: { sums: { 'exact_match,strict-match': 0.5, 'exact_match_stderr,strict-match': 0.5, alias: 'sums' } },
      configs: { sums: config },
      versions: { sums: 2 },
      'n-shot': { sums: 0 },
      config: { model: 'hf', model_args: 'pretrained=gpt2,dtype=float32' },
    });
    const row = (doc_id: number, output: string, filtered: string, exact_match: number): unknown => ({
      doc_id,
      doc: { question: '1 + 1' },
      target: '#### 2',
      arguments: [['1 + 1 =', { until: ['\n'] }]],
      resps: [[output]],
      filtered_resps: [filtered],
      exact_match,
    });
    await write(
      'pretrained__gpt2,dtype__float32_sums.jsonl',
      JSON.stringify(
        [
          row(0, '#### 2', '2', 1),
          row(1, 'It is 2', '[invalid]', 0),
          row(0, '#### 2', '2', 1),
          row(1, 'It is 2', '2', 1),
        ],
        null,
        2,
      ),
    );
    await from(join(folder, 'results.json'));
    const { run, summary, items } = await imported('sums');
    expect(run.source?.version).toBe('0.4');
    expect(summary.scores).toMatchObject({ n: 2, F: { count: 1 }, S: { count: 1 }, L: { count: 2 } });
    expect(items[1]).toMatchObject({ inFormat: false, cause: 'answer not in the required form', lenientRight: true });
    expect(items[1]?.lenient).toEqual({ answer: '2', span: [6, 7] });
  });

  it('a leaderboard: groups without a score of their own are left out, numbers of items add up', async () => {
    const file = await write('results_2024-06-12T10-00-00.123456.json', {
      results: {
        leaderboard: { ' ': ' ', alias: 'leaderboard' },
        leaderboard_bbh: { 'acc_norm,none': 0.5, 'acc_norm_stderr,none': 0.01, alias: ' - leaderboard_bbh' },
        leaderboard_bbh_snarks: { 'acc_norm,none': 0.5, 'acc_norm_stderr,none': 0.03, alias: '  - snarks' },
      },
      groups: { leaderboard_bbh: { 'acc_norm,none': 0.5 } },
      group_subtasks: {
        leaderboard: ['leaderboard_bbh'],
        leaderboard_bbh: ['leaderboard_bbh_snarks'],
        leaderboard_bbh_snarks: [],
      },
      configs: { leaderboard_bbh_snarks: { task: 'leaderboard_bbh_snarks', output_type: 'multiple_choice' } },
      versions: { leaderboard_bbh_snarks: 0 },
      'n-shot': { leaderboard_bbh_snarks: 3 },
      'n-samples': { leaderboard_bbh_snarks: { original: 178, effective: 178 } },
      config: { model: 'hf', model_args: 'pretrained=org/model,revision=main', model_sha: 'abcdef' },
      model_name: 'org/model',
    });
    const { imported: runs } = await from(file);
    expect(runs.map(({ task, group }) => [task, group])).toEqual([
      ['leaderboard_bbh', true],
      ['leaderboard_bbh_snarks', false],
    ]);
    const { run, summary } = await imported('leaderboard_bbh');
    expect(summary.scores.n).toBe(178);
    expect(run.settings.shots).toBe(3);
    expect(run.model.digests.weights).toBe('abcdef');
    expect(run.source?.evaluated).toBe('2024-06-12T10:00:00.000Z');
  });

  it('NaN, as Python writes it, is no score', async () => {
    const file = await write(
      'results.json',
      '{"results": {"t": {"mcc,none": NaN, "mcc_stderr,none": NaN, "acc,none": 1.0, "acc_stderr,none": "N/A"}}, "versions": {"t": 1}, "config": {"model_args": {"pretrained": "m"}}}',
    );
    await from(file);
    const { summary } = await imported('t');
    expect(summary.measures?.map(({ metric, value }) => [metric, value])).toEqual([
      ['mcc', null],
      ['acc', 1],
    ]);
  });

  it('models of one name that were loaded otherwise stay apart', async () => {
    const results = (dtype: string, batch: number): unknown => ({
      results: { t: { 'acc,none': 0.5 } },
      versions: { t: 1 },
      config: { model: 'hf', model_args: `pretrained=org/model,dtype=${dtype}`, batch_size: batch },
    });
    await from(
      await write('results_a.json', results('float32', 1)),
      await write('results_b.json', results('float16', 1)),
      await write('results_c.json', results('float32', 2)),
    );
    const { runs } = await store.list();
    expect(new Set(runs.map(({ run }) => run.model.folder)).size).toBe(2);
  });
});

describe('files that are broken, huge or something else', { timeout: 60_000 }, () => {
  const copy = async (number: string): Promise<{ results: string; samples: string }> => {
    const place = join(folder, 'copy');
    await cp(join(real, number), place, { recursive: true });
    const [model = ''] = await readdir(place);
    const names = await readdir(join(place, model));
    const path = (start: string): string => join(place, model, names.find((name) => name.startsWith(start)) ?? '');
    return { results: path('results_'), samples: path('samples_') };
  };

  it.each([
    ['nothing', '', /results\.json:1: The file is not valid JSON/],
    ['half of it', '{"results": {\n"a": 1', /results\.json:2: The file is not valid JSON/],
    [
      'another JSON file',
      '{"name": "x"}',
      /The file is neither results of lm-evaluation-harness nor Every Eval Ever\./,
    ],
    ['no metric', '{"results": {"t": {"alias": "t"}}, "versions": {}}', /has no task with a metric/],
    ['wrong types', '{"results": {"t": [1]}, "versions": 3, "config": "x"}', /has no task with a metric/],
  ])('%s', async (_, text, message) => {
    const file = join(folder, 'results.json');
    await writeFile(file, text);
    expect(await failure(file)).toMatch(message);
  });

  it('a file that is not there, a folder without results', async () => {
    expect(await failure(join(folder, 'none'))).toMatch(/There is no such file or folder/);
    await mkdir(join(folder, 'empty'));
    expect(await failure(join(folder, 'empty'))).toMatch(/The folder has no results files/);
  });

  it('a samples file that is cut off: its line is named, and no other task of the results is imported', async () => {
    const { results, samples } = await copy('3');
    const text = await readFile(samples, 'utf8');
    await writeFile(samples, text.slice(0, -30));
    expect(await failure(results)).toMatch(/samples_\S+:4: This row is not valid JSON/);
  });

  it('rows of two evaluations in one file, a filter that lacks rows, a row without its document', async () => {
    const { results, samples } = await copy('2');
    const lines = (await readFile(samples, 'utf8')).trimEnd().split('\n');
    await writeFile(samples, [...lines, lines[0]].join('\n'));
    expect(await failure(results)).toMatch(/:25: Document 0 comes twice for the filter strict-match/);
    await writeFile(samples, lines.slice(0, -1).join('\n'));
    expect(await failure(results)).toMatch(/The filter flexible-extract has 11 rows, but there are 12 documents/);
    await writeFile(samples, ['{"doc": {}}', ...lines].join('\n'));
    expect(await failure(results)).toMatch(/:1: The row has no `doc_id`/);
    await writeFile(samples, ['', 'x', ...lines].join('\n'));
    expect(await failure(results)).toMatch(/:2: This row is not valid JSON/);
    await writeFile(samples, `[\n${lines.join(',\n')}\n]\n{}`);
    expect(await failure(results)).toMatch(/:27: Something stands behind the end of the list/);
    await writeFile(samples, `[\n${lines.join(',\n')},\n7]`);
    expect(await failure(results)).toMatch(/:26: A row must be an object/);
    await writeFile(samples, `[\n${lines.join(',\n')}`);
    expect(await failure(results)).toMatch(/The list does not end: the file is cut off/);
    await writeFile(
      samples,
      Buffer.concat([Buffer.from('{"doc_id": 0, "x": "'), Buffer.from([0xff]), Buffer.from('"}\n')]),
    );
    expect(await failure(results)).toMatch(/:1: This row is not UTF-8 text/);
  });

  it('hostile names stay names', async () => {
    const file = join(folder, 'results.json');
    await writeFile(
      file,
      JSON.stringify({
        results: { '../../../evil': { 'acc,none': 0.5 }, __proto__: { 'acc,none': 1 } },
        versions: {},
        config: { model_args: 'pretrained=../../x' },
      }),
    );
    await from(file);
    const entries = await readdir(join(folder, 'store', 'runs'));
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatch(/^\d{8}-\d{6}-evil-x-zero-shot$/);
    expect(await readdir(folder)).toEqual(expect.arrayContaining(['results.json', 'store']));
    expect(({} as Record<string, unknown>)['acc,none']).toBeUndefined();
  });

  it('a samples file is read as a stream', async () => {
    const { results, samples } = await copy('2');
    const lines = (await readFile(samples, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    // 10,000 rows, 6 MB: more than any one read, with documents in the order of the harness.
    const many: string[] = [];
    for (const filter of ['strict-match', 'flexible-extract']) {
      const rows = lines.filter((row) => row.filter === filter);
      for (let id = 0; id < 5_000; id++) many.push(JSON.stringify({ ...rows[id % rows.length], doc_id: id }));
    }
    await writeFile(samples, many.join('\n'));
    await from(results);
    const { summary, items } = await imported('exchange_capitals');
    expect(items).toHaveLength(5_000);
    expect(summary.scores.n).toBe(5_000);
    const strict = many.slice(0, 5_000).filter((line) => !line.includes('"filtered_resps":["[invalid]"]'));
    expect(summary.scores.F.count).toBe(strict.length);
  }, 60_000);
});
