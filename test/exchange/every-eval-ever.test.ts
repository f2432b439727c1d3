/** Files of Every Eval Ever that other tools wrote, by the published schema (0.3.0) and by older ones. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importResults } from '../../src/exchange/index.ts';
import { type DiskRunStore, openRunStore } from '../../src/runs/index.ts';
import type { HumanError } from '../../src/shared/errors.ts';

let folder: string;
let store: DiskRunStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-eee-'));
  store = openRunStore(join(folder, 'store'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const uuid = '0f0f0f0f-1111-4222-8333-444444444444';

/** What the schema requires, and nothing else. */
const aggregate = (results: unknown[], change: Record<string, unknown> = {}): Record<string, unknown> => ({
  schema_version: '0.3.0',
  evaluation_id: 'gsm8k/org__model/1764547200',
  retrieved_timestamp: '1764547200',
  source_metadata: {
    source_type: 'evaluation_run',
    source_organization_name: 'somebody',
    evaluator_relationship: 'third_party',
  },
  eval_library: { name: 'lm_eval', version: '0.4.9' },
  model_info: {
    name: 'org/model',
    id: 'org/model',
    additional_details: { deployment_type: 'self_deployed', model_availability: 'open_weights' },
  },
  evaluation_results: results,
  ...change,
});

const result = (
  name: string,
  score: number,
  metric: Record<string, unknown>,
  more: Record<string, unknown> = {},
): unknown => ({
  evaluation_name: name,
  source_data: { dataset_name: 'gsm8k', source_type: 'hf_dataset', hf_repo: 'openai/gsm8k', hf_split: 'test' },
  metric_config: { lower_is_better: false, ...metric },
  score_details: { score, ...more },
});

/** As lm-eval's converter writes a sample: `output.raw` is what the filter left. */
const sample = (id: number, filter: string, taken: string, score: number): unknown => ({
  schema_version: '0.3.0',
  evaluation_id: 'gsm8k/org__model/1764547200',
  model_id: 'org/model',
  evaluation_name: filter === 'none' ? 'gsm8k' : `gsm8k/${filter}`,
  sample_id: String(id),
  interaction_type: 'single_turn',
  input: { raw: `Question: 1 + ${id}\nAnswer:`, reference: [`#### ${id + 1}`] },
  output: { raw: [taken] },
  answer_attribution: [
    { turn_idx: 0, source: 'output.raw', extracted_value: taken, extraction_method: filter, is_terminal: true },
  ],
  evaluation: { score, is_correct: score === 1 },
  metadata: { filter },
});

async function write(value: unknown, samples: readonly unknown[] = []): Promise<string> {
  const file = join(folder, `${uuid}.json`);
  await writeFile(file, JSON.stringify(value));
  if (samples.length > 0)
    await writeFile(join(folder, `${uuid}_samples.jsonl`), samples.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return file;
}

const from = (file: string): ReturnType<typeof importResults> => importResults([file], store, { softbench: '0.0.0' });

describe('evaluations of other tools', () => {
  it("lm-eval's filters are one evaluation, with F, S, K and L from their samples", async () => {
    const strict = { evaluation_description: 'exact_match (filter: strict-match)' };
    const lenient = { evaluation_description: 'exact_match (filter: flexible-extract)' };
    const uncertainty = { uncertainty: { standard_error: { value: 0.2 }, num_samples: 4 } };
    const { imported } = await from(
      await write(
        aggregate([
          result('gsm8k/strict-match', 0.25, strict, uncertainty),
          result('gsm8k/flexible-extract', 0.75, lenient, uncertainty),
        ]),
        [
          sample(0, 'strict-match', '1', 1),
          sample(1, 'strict-match', '7', 0),
          sample(2, 'strict-match', '[invalid]', 0),
          sample(3, 'strict-match', '[invalid]', 0),
          sample(0, 'flexible-extract', '1', 1),
          sample(1, 'flexible-extract', '7', 0),
          sample(2, 'flexible-extract', '3', 1),
          sample(3, 'flexible-extract', '4', 1),
        ],
      ),
    );
    expect(imported.map(({ task, items }) => [task, items])).toEqual([['gsm8k', 4]]);
    const { run, summary } = await store.read(imported[0]?.run ?? '');
    expect(run.source).toMatchObject({
      tool: 'every-eval-ever',
      version: '0.3.0',
      library: 'lm_eval 0.4.9',
      evaluated: '2025-12-01T00:00:00.000Z',
    });
    const { F, S, K, L } = summary?.scores ?? {};
    expect([F?.count, S?.count, K?.n, L?.count]).toEqual([2, 1, 2, 3]);
    expect(summary?.measures).toEqual([
      { metric: 'exact_match', filter: 'strict-match', value: 0.25, standardError: 0.2, higherIsBetter: true, n: 4 },
      {
        metric: 'exact_match',
        filter: 'flexible-extract',
        value: 0.75,
        standardError: 0.2,
        higherIsBetter: true,
        n: 4,
      },
    ]);
  });

  it('a leaderboard has scores of several benchmarks, in percent too, and lower may be better', async () => {
    const { imported } = await from(
      await write(
        aggregate([
          result('MMLU', 61.5, { metric_name: 'accuracy', metric_unit: 'percent' }),
          result('WikiText', 8.25, { metric_id: 'perplexity', lower_is_better: true }),
        ]),
      ),
    );
    expect(imported.map(({ task, items }) => [task, items])).toEqual([
      ['MMLU', 0],
      ['WikiText', 0],
    ]);
    const [mmlu, wiki] = await Promise.all(imported.map(({ run }) => store.read(run)));
    expect(mmlu?.summary?.measures?.[0]).toMatchObject({ metric: 'accuracy', value: 0.615, higherIsBetter: true });
    expect(mmlu?.summary?.scores.F.value).toBeNull();
    expect(mmlu?.summary?.scores.S.value).toBe(0.615);
    expect(wiki?.summary?.measures?.[0]).toMatchObject({ metric: 'perplexity', value: 8.25, higherIsBetter: false });
    expect(wiki?.summary?.scores.S.value).toBeNull();
  });

  it('samples with names for numbers and answers of their own are read by the built-in reader', async () => {
    const row = (id: string, output: string, right: boolean): unknown => ({
      ...(sample(0, 'none', output, right ? 1 : 0) as object),
      sample_id: id,
      evaluation_name: 'sums',
      input: { raw: 'What is 1 + 1?', reference: ['2'] },
      answer_attribution: [],
      metadata: null,
    });
    const { imported } = await from(
      await write(aggregate([result('sums', 0.5, { metric_id: 'accuracy' })]), [
        row('sums_a', '2', true),
        row('sums_b', 'I think it is 2.', false),
      ]),
    );
    const id = imported[0]?.run ?? '';
    const items = await store.readItems(id);
    expect(items.map(({ index, inFormat, right, lenientRight }) => [index, inFormat, right, lenientRight])).toEqual([
      [0, true, true, true],
      [1, false, false, true],
    ]);
    expect(items[1]?.cause).toBe('answer not in the required form');
  });

  it('older versions are read, newer ones with a note', async () => {
    const result01 = result('MMLU', 0.5, { evaluation_description: 'Accuracy' });
    const old = aggregate([result01], { schema_version: '0.1.0', eval_library: undefined });
    const first = await from(await write(old));
    expect((await store.read(first.imported[0]?.run ?? '')).run.notes.join()).not.toContain('this Softbench knows');
    const next = await from(await write(aggregate([result01], { schema_version: '1.0.0' })));
    expect((await store.read(next.imported[0]?.run ?? '')).run.notes.join()).toContain(
      'The file follows version 1.0.0 of the schema; this Softbench knows 0.1 to 0.3',
    );
  });

  it.each([
    [aggregate([]), '`evaluation_results` is empty'],
    [aggregate([{ evaluation_name: 'x' }]), '`evaluation_results[0].score_details.score` should be a number'],
    [aggregate([{}]), '`evaluation_results[0].evaluation_name` should be a text'],
    [aggregate([result('x', 1, {})], { model_info: {} }), '`model_info` has neither `id` nor `name`'],
  ])('what does not follow the schema is refused: %#', async (value, message) => {
    await expect(from(await write(value))).rejects.toThrow(message);
    expect((await store.list()).runs).toEqual([]);
  });

  it('a broken sample is named by its line', async () => {
    const rows = [sample(0, 'none', '1', 1), { ...(sample(1, 'none', '2', 1) as object), evaluation: {} }];
    const error = await from(await write(aggregate([result('gsm8k', 0.5, {})]), rows)).then(
      () => null,
      (thrown: HumanError) => thrown.sentence,
    );
    expect(error).toContain(`${uuid}_samples.jsonl:2: The row does not follow the schema of Every Eval Ever`);
  });
});
