/** Runs that ask for likelihoods alone, for whole texts, for several contexts and for several outputs an item. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBenchmark } from '../../src/benchmark/index.ts';
import { runJob } from '../../src/evaluate/index.ts';
import type { LanguageModel } from '../../src/evaluate/language-model.ts';
import { answeredOf, recordOf } from '../../src/evaluate/records.ts';
import { encodePair, rollingWindows } from '../../src/evaluate/text.ts';
import { openRunStore } from '../../src/runs/index.ts';
import type { JobRequest } from '../../src/shared/protocol.ts';
import type { ItemRecord, RunSummary } from '../../src/shared/results.ts';
import { scriptedModel, scriptedRequest } from './scripted.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-likelihoods-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const rows = Array.from({ length: 8 }, (_, i) => ({
  text: `Item ${i} ends with word${i}`,
  options: [`The cup ${i}`, `The vase ${i}`],
  label: i % 2,
  rest: 'is full.',
}));

/** Runs a task on the model and gives back its summary and records. */
async function run(
  keys: Record<string, unknown>,
  change: Partial<LanguageModel> = {},
  request: Partial<JobRequest> = {},
): Promise<{ summary: RunSummary; records: ItemRecord[] }> {
  await writeFile(join(folder, 'data.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
  const file = join(folder, 'task.yaml');
  const data = { dataset_path: 'json', dataset_kwargs: { data_files: { train: 'data.jsonl', test: 'data.jsonl' } } };
  await writeFile(
    file,
    JSON.stringify({ task: 'task', ...data, training_split: 'train', test_split: 'test', ...keys }),
  );
  const [summary] = await runJob(
    scriptedRequest(folder, { benchmarkFile: file, modes: ['zero-shot'], ...request }),
    {
      openModel: async () => ({ ...scriptedModel(), ...change }),
      openBenchmark,
      openStore: openRunStore,
      readSoftPromptFile: async () => ({ vectors: 1, hiddenSize: 4, data: new Float32Array(4) }),
      versions: { softbench: '0', onnxruntime: '0' },
    },
    { signal: new AbortController().signal, progress: () => undefined },
  );
  if (!summary) throw new Error('There is no summary.');
  return { summary, records: await openRunStore(folder).readItems(summary.run) };
}

const { tokenizer } = scriptedModel();
/** Likelihoods by what is asked; nothing may be generated. */
const scoring = (
  of: (context: string, continuation: string) => [sum: number, greedy: boolean],
): Partial<LanguageModel> => ({
  generate: async () => {
    throw new Error('Nothing is to be generated.');
  },
  async logLikelihood(requests, _settings, { onResult }) {
    for (const { index, context, continuation } of requests) {
      const [sum, greedy] = of(tokenizer.decode(context), tokenizer.decode(continuation));
      await onResult({ index, tokens: [], sum, greedy });
    }
  },
});
const value = ({ measures }: RunSummary, metric: string): number | null | undefined =>
  measures?.find((one) => one.metric === metric)?.value;

describe('likelihoods alone', () => {
  it('the target behind the prompt, as LAMBADA', async () => {
    const { summary, records } = await run(
      {
        output_type: 'loglikelihood',
        doc_to_text: "{{text.split(' ')[:-1]|join(' ')}}",
        doc_to_target: "{{' ' + text.split(' ')[-1]}}",
      },
      scoring((context, continuation) => {
        expect(context).toMatch(/^Item \d ends with$/);
        expect(continuation).toMatch(/^ word\d$/);
        return [-2, /[0-2]$/.test(continuation)];
      }),
    );
    expect(value(summary, 'perplexity')).toBeCloseTo(Math.exp(2), 12);
    expect(value(summary, 'acc')).toBe(3 / 8);
    expect(summary.scores.LL?.count).toBe(3);
    // What was not generated is no failure.
    for (const share of [summary.scores.F, summary.scores.S, summary.scores.K, summary.scores.L])
      expect(share).toMatchObject({ value: null, n: 0 });
    expect(summary.scores.constant).toBeNull();
    expect(summary.scores.causes).toEqual({});
    expect(records[0]).toMatchObject({
      generated: false,
      cause: null,
      likelihoods: [{ sum: -2, tokens: 6, greedy: true }],
    });
    expect(records[0]?.metrics).toEqual([{ filter: 'none', values: { perplexity: -2, acc: 1 } }]);
    const [made] = (await openRunStore(folder).list()).runs;
    expect(made?.run.settings.generates).toBe(false);
  });

  it('whole texts, in windows where they are longer than the context', async () => {
    const asked: [string, string][] = [];
    const { summary, records } = await run(
      { output_type: 'loglikelihood_rolling', doc_to_text: '', doc_to_target: '{{text}}' },
      {
        contextLength: 10,
        ...scoring((context, continuation) => {
          asked.push([context, continuation]);
          return [-continuation.length, false];
        }),
      },
    );
    // The scripted tokenizer puts BOS before the text, and the harness another one before that.
    expect(asked.slice(0, 3)).toEqual([
      ['', 'Item 0 en'],
      ['n', 'ds with wo'],
      [' with wo', 'rd0'],
    ]);
    const length = 'Item 0 ends with word0'.length;
    expect(records[0]?.likelihoods).toEqual([{ sum: -length, tokens: length + 1 }]);
    expect(value(summary, 'bits_per_byte')).toBeCloseTo(1 / Math.LN2, 12);
    expect(value(summary, 'byte_perplexity')).toBeCloseTo(Math.E, 12);
    expect(value(summary, 'word_perplexity')).toBeCloseTo(Math.exp(length / 5), 8);
    expect(summary.measures?.map(({ standardError }) => standardError)).toEqual([null, null, null]);
    expect(summary.scores.LL).toBeNull();
  });

  it('candidates that are whole contexts, as WinoGrande', async () => {
    const { summary, records } = await run(
      { output_type: 'multiple_choice', doc_to_text: 'label', doc_to_choice: 'options', doc_to_target: 'rest' },
      scoring((context, continuation) => {
        expect(continuation).toBe(' is full.');
        return [context.includes('vase') ? -1 : -2, false];
      }),
    );
    expect(value(summary, 'acc')).toBe(0.5);
    expect(records.map(({ choices }) => choices?.right)).toEqual(rows.map(({ label }) => label === 1));
  });

  it('candidates without the question are computed once for all items', async () => {
    let alone = 0;
    const { summary } = await run(
      {
        output_type: 'multiple_choice',
        doc_to_text: '{{text}}',
        doc_to_choice: ['no', 'yes'],
        doc_to_target: 'label',
        metric_list: [{ metric: 'acc' }, { metric: 'acc_mutual_info' }],
      },
      scoring((context, continuation) => {
        if (context === '') alone++;
        // "yes" is likelier always, and more so without the question.
        return [continuation === ' yes' ? (context === '' ? -1 : -3) : -4, false];
      }),
      { overrides: { generate: false } },
    );
    expect(alone).toBe(2);
    expect([value(summary, 'acc'), value(summary, 'acc_mutual_info')]).toEqual([0.5, 0.5]);
    expect(summary.scores.chance).toBe(0.5);
  });
});

describe('several outputs an item', () => {
  const votes = {
    doc_to_text: '{{text}}',
    doc_to_target: 'B',
    repeats: 3,
    filter_list: [{ name: 'maj', filter: [{ function: 'majority_vote' }, { function: 'take_first' }] }],
  };
  const generating = (asked: number[]): Partial<LanguageModel> => ({
    async generate(requests, _settings, { onResult }) {
      // The last comes first: what belongs together is found by its number.
      for (const { index } of [...requests].reverse()) {
        asked.push(index);
        await onResult({
          index,
          tokens: [1],
          text: index < rows.length ? 'A' : 'B',
          stop: { reason: 'eos' },
          logProbabilities: [],
        });
      }
    },
  });

  it('differ by their number where they are drawn', async () => {
    const asked: number[] = [];
    const { summary, records } = await run(
      { ...votes, generation_kwargs: { do_sample: true, temperature: 0.5 } },
      generating(asked),
      { overrides: { limit: 4 } },
    );
    // The split has eight rows: a limit changes nothing of what is drawn.
    expect(asked.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19]);
    expect(records[0]).toMatchObject({ output: 'A', repeats: [{ output: 'B' }, { output: 'B' }] });
    expect(records[0]?.metrics).toEqual([{ filter: 'maj', answer: 'B', values: { exact_match: 1 } }]);
    expect(value(summary, 'exact_match')).toBe(1);
  });

  it('are of a share of the items where the limit is below 1, rounded up as the harness does', async () => {
    const { summary } = await run(votes, generating([]), { overrides: { limit: 0.3 } });
    expect(summary.scores.n).toBe(Math.ceil(0.3 * rows.length));
  });

  it('are generated once and copied where they are greedy', async () => {
    const asked: number[] = [];
    const { records } = await run(votes, generating(asked));
    expect(asked.length).toBe(rows.length);
    expect(records[0]?.repeats?.map(({ output }) => output)).toEqual(['A', 'A']);
    expect(records[0]?.metrics?.[0]?.answer).toBe('A');
  });
});

describe('what is kept of an item', () => {
  it('is all that judging and measuring need', async () => {
    const { records } = await run(
      { output_type: 'multiple_choice', doc_to_text: '{{text}}', doc_to_choice: ['no', 'yes'], doc_to_target: 'label' },
      {},
    );
    const benchmark = await openBenchmark(join(folder, 'task.yaml'));
    const items = await benchmark.items('evaluation');
    for (const record of records) {
      const item = items[record.index];
      expect(record.generated).toBeUndefined();
      if (item) expect(recordOf(benchmark, item, answeredOf(record))).toEqual(record);
    }
  });
});

describe('tuning where nothing is generated', () => {
  const tuning = { vectors: 2, steps: 4, validateEvery: 2, batchSize: 2, learningRate: 0.1 };
  it('keeps the vectors of the best likelihoods, and then of the lowest loss', async () => {
    const { summary } = await run(
      {
        output_type: 'loglikelihood',
        doc_to_text: 'Item',
        doc_to_target: "{{' ' + text.split(' ')[-1]}}",
      },
      scoring(() => [-1, true]),
      { modes: ['soft-prompt'], overrides: { softPrompt: tuning } },
    );
    const records = await openRunStore(folder).readTuning(summary.run);
    const validations = records.flatMap((record) => (record.kind === 'validation' ? [record] : []));
    expect(validations.map(({ step, LL, generated }) => [step, LL, generated])).toEqual([
      [0, 1, false],
      [2, 1, false],
      [4, 1, false],
    ]);
    // The scripted loss falls with every step.
    expect(summary.bestStep).toBe(4);
    expect(summary.scores.F.value).toBeNull();
  });
  it('goes by the loss alone for whole texts', async () => {
    const { summary } = await run(
      { output_type: 'loglikelihood_rolling', doc_to_text: '', doc_to_target: '{{text}}' },
      scoring(() => [-1, true]),
      { modes: ['soft-prompt'], overrides: { softPrompt: tuning } },
    );
    const records = await openRunStore(folder).readTuning(summary.run);
    expect(records.some((record) => record.kind === 'validation' && 'LL' in record)).toBe(false);
    expect(summary.bestStep).toBe(4);
  });
});

describe('tokens', () => {
  it('windows over long texts are those of lm-evaluation-harness', async () => {
    const cases = JSON.parse(await readFile(new URL('windows.json', import.meta.url), 'utf8')) as {
      count: number;
      most: number;
      windows: [number[], number[]][];
    }[];
    for (const { count, most, windows } of cases) {
      const tokens = Array.from({ length: count }, (_, i) => 100 + i);
      const found = rollingWindows(tokens, 1, most).map(({ context, continuation }) => [context, continuation]);
      expect(found).toEqual(windows);
    }
  });
  it('an empty context is the start token; spaces at the end of a context belong to what follows', () => {
    const ids = (text: string): number[] => tokenizer.encode(text);
    expect(encodePair(tokenizer, '', ' a')).toEqual({ context: [1], continuation: ids(' a') });
    expect(encodePair(tokenizer, 'Q:  ', 'a')).toEqual({ context: [1, ...ids('Q:')], continuation: ids('  a') });
    expect(encodePair({ ...tokenizer, bosTokenId: null }, '', 'a').context).toEqual([2]);
  });
});
