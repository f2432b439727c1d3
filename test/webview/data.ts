/** Made-up but real-shaped runs for the page tests: seeded, with every verdict, several causes and hostile texts. */

import type { FailureCause } from '../../src/shared/failure-causes.ts';
import { type PromptMode, usesExamples, usesSoftPrompt } from '../../src/shared/modes.ts';
import type { ItemDetail, LeaderboardView, ResultsView, RunColumn } from '../../src/shared/protocol.ts';
import type { ItemRecord, RunFile, RunSummary, Scores, Share, TuningRecord } from '../../src/shared/results.ts';

import type { ColumnMark } from '../../webview/results/columns.ts';

/** Uniform numbers in [0, 1) by seed (mulberry32). */
export function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Wilson's 95 % interval. */
export function share(count: number, n: number): Share {
  if (n === 0) return { value: null, low: 0, high: 1, count, n };
  const z = 1.959964;
  const p = count / n;
  const middle = (p + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
  const half = (z * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n ** 2))) / (1 + z ** 2 / n);
  return { value: p, low: Math.max(0, middle - half), high: Math.min(1, middle + half), count, n };
}

const stories = [
  'Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May. How many clips did Natalia sell altogether in April and May?',
  'A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?',
  'James decides to run 3 sprints 3 times a week. He runs 60 meters each sprint. How many total meters does he run a week?',
  'Wendi feeds each of her 20 chickens three cups of mixed chicken feed a day, in three separate meals. How many cups does she need to give in the final meal?',
  'Toulouse has twice as many sheep as Charleston. Charleston has 4 times as many sheep as Seattle. How many sheep do they have together if Seattle has 20 sheep?',
];

export const hostile: Record<number, string> = {
  3: '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u001b[31mred\u001b[0m\u0000 #### 5',
  4: '\u202Eevil\u202C \u2066isolate\u2069 **Answer: $18$** \\boxed{18}',
  5: `${'long '.repeat(200_000)}#### 7`,
  6: 'שלום עולם 42 日本語の答え：四十二。\n\n#### 42',
};

interface Shape {
  /** Chances of: in the format; right when in it; leniently right when not. */
  format: number;
  right: number;
  lenient: number;
  causes: [FailureCause, number][];
}

const shapes: Record<PromptMode, Shape> = {
  'zero-shot': {
    format: 0.06,
    right: 0.5,
    lenient: 0.44,
    causes: [
      ['ran on', 0.55],
      ['answer not in the required form', 0.2],
      ['stopped by length', 0.12],
      ['LaTeX or Markdown wrapping', 0.06],
      ['empty output', 0.04],
      ['no answer found', 0.03],
    ],
  },
  'few-shot': {
    format: 0.78,
    right: 0.49,
    lenient: 0.3,
    causes: [
      ['ran on', 0.5],
      ['stopped by length', 0.25],
      ['several candidates', 0.15],
      ['no answer found', 0.1],
    ],
  },
  'soft-prompt': {
    format: 0.975,
    right: 0.53,
    lenient: 0.3,
    causes: [
      ['stopped by length', 0.7],
      ['no answer found', 0.3],
    ],
  },
  'few-shot+soft-prompt': { format: 0.985, right: 0.54, lenient: 0.3, causes: [['stopped by length', 1]] },
};

/** The cause at `draw` of the cumulated weights. */
function pick(causes: Shape['causes'], draw: number): FailureCause {
  let sum = 0;
  for (const [cause, weight] of causes) {
    sum += weight;
    if (draw < sum) return cause;
  }
  return 'no answer found';
}

export function items(mode: PromptMode, n: number, seed = 1): ItemRecord[] {
  const random = uniform(seed);
  const gold = uniform(99);
  const shape = shapes[mode];
  return Array.from({ length: n }, (_, index) => {
    const answer = String(Math.floor(gold() * 90) + 3);
    const inFormat = random() < shape.format;
    const right = inFormat && random() < shape.right;
    const lenientRight = inFormat ? right : random() < shape.lenient;
    const draw = random();
    const cause = inFormat ? null : pick(shape.causes, draw);
    const said = lenientRight ? answer : String(Number(answer) + 1 + Math.floor(random() * 9));
    const working = `She has ${said} in all, because ${Number(said) - 2} + 2 = ${said}.`;
    let output = inFormat
      ? ` ${working}\n#### ${said}`
      : ` ${working}\n\nQuestion: Tom has ${answer} apples. How many are left?\nAnswer: Tom has`;
    if (cause === 'empty output') output = '';
    if (cause === 'LaTeX or Markdown wrapping') output = ` ${working} The answer is $\\boxed{${said}}$.`;
    if (cause === 'no answer found') output = ' I am thinking about the question, and about many other things.';
    if (mode === 'zero-shot' && hostile[index] !== undefined) output = hostile[index] ?? '';
    const strictAt = output.indexOf(`#### ${said}`);
    const lenientAt = output.indexOf(said);
    return {
      schema: 1,
      index,
      prompt: { hash: index.toString(16).padStart(64, '0'), tokens: 60 + Math.floor(random() * 40) },
      output,
      outputTokens: Math.min(256, Math.ceil(output.length / 4)),
      stop:
        cause === 'stopped by length'
          ? { reason: 'length' }
          : inFormat
            ? { reason: 'eos' }
            : { reason: 'stop-string', marker: 'Question:' },
      gold: answer,
      strict: inFormat
        ? { answer: said, span: strictAt < 0 ? null : [strictAt, strictAt + said.length + 5] }
        : { answer: null, span: null },
      lenient:
        lenientAt < 0 ? { answer: null, span: null } : { answer: said, span: [lenientAt, lenientAt + said.length] },
      inFormat,
      right,
      lenientRight,
      cause,
    };
  });
}

function scores(records: ItemRecord[]): Scores {
  const n = records.length;
  const number = (test: (record: ItemRecord) => boolean): number => records.filter(test).length;
  const F = number(({ inFormat }) => inFormat);
  const S = number(({ right }) => right);
  const K = share(S, F);
  const causes: Scores['causes'] = {};
  for (const { cause } of records) if (cause) causes[cause] = (causes[cause] ?? 0) + 1;
  return {
    n,
    F: share(F, n),
    S: share(S, n),
    K: { ...K, unreliable: K.high - K.low > 0.1 },
    L: share(
      number(({ lenientRight }) => lenientRight),
      n,
    ),
    LL: null,
    constant: { answer: '18', share: share(Math.round(n * 0.045), n) },
    commonest: { answer: '40', share: share(Math.round(n * 0.06), n) },
    chance: null,
    causes,
  };
}

export function run(mode: PromptMode, n: number): RunFile {
  return {
    schema: 1,
    id: `20260611-101500-gsm8k-smollm2-${mode}`,
    softbench: '0.1.0',
    onnxruntime: '1.30.0',
    created: '2026-06-11T10:15:00Z',
    updated: '2026-06-11T10:21:00Z',
    status: 'finished',
    group: 'job-1',
    mode,
    model: {
      name: 'SmolLM2-135M-Instruct',
      folder: '/models/smollm2',
      graphFile: 'onnx/model.onnx',
      digests: {
        graph: 'a'.repeat(64),
        weights: 'b3c1d9f0a2e4'.padEnd(64, '0'),
        tokenizer: 'c'.repeat(64),
        config: 'd'.repeat(64),
      },
    },
    benchmark: {
      task: 'gsm8k',
      file: '/benchmarks/gsm8k.yaml',
      digests: { config: 'e'.repeat(64), data: 'f'.repeat(64) },
      items: n,
      split: 'test',
    },
    settings: {
      limit: n,
      shots: usesExamples(mode) ? 5 : 0,
      fewShotSeed: 1234,
      batchSize: 8,
      generation: { until: ['Question:', '</s>'], maxNewTokens: 256, temperature: 0, topP: 1, seed: 0 },
      softPrompt: usesSoftPrompt(mode)
        ? {
            vectors: 10,
            steps: 80,
            batchSize: 8,
            learningRate: 0.03,
            init: 'vocabulary',
            seed: 0,
            validateEvery: 10,
            validationItems: 32,
          }
        : null,
      softPromptFrom: null,
    },
    ...(usesSoftPrompt(mode) && {
      learningRate: {
        value: 0.03,
        by: 'search' as const,
        trials: [
          { rate: 0.01, steps: 6, loss: 2.02 },
          { rate: 0.03, steps: 6, loss: 1.71 },
          { rate: 0.09, steps: 6, loss: null },
        ],
      },
    }),
    provider: { asked: 'auto', running: 'cpu', reason: 'No CUDA libraries were found.', threads: 2 },
    notes:
      mode === 'zero-shot'
        ? []
        : ['The benchmark has no validation split: tuning and few-shot examples take from “train”.'],
  };
}

export function tuning(upTo = 80): TuningRecord[] {
  const random = uniform(7);
  const records: TuningRecord[] = [];
  const validation = (step: number): void => {
    const F = 0.0625 + 0.9 * (1 - Math.exp(-step / 14));
    const K = step === 0 ? 0.5 : 0.52 + 0.06 * (random() - 0.5);
    records.push({
      schema: 1,
      kind: 'validation',
      step,
      n: 128,
      F,
      S: F * K,
      K,
      loss: 0.5 + 1.6 * Math.exp(-step / 18),
      best: step <= 70,
    });
  };
  validation(0);
  for (const [rate, loss] of [
    [0.03, 1.71],
    [0.09, null],
    [0.01, 2.02],
  ] as const)
    records.push({ schema: 1, kind: 'trial', step: 0, rate, steps: 6, loss, losses: [2.2, 2.1], seconds: 9 });
  for (let step = 1; step <= upTo; step++) {
    records.push({
      schema: 1,
      kind: 'step',
      step,
      loss: 0.48 + 1.8 * Math.exp(-step / 15) + 0.25 * random(),
      gradientNorm: random(),
      learningRate: 0.03,
      seconds: 1.4,
      batch: [8, 128],
      answerTokens: 700,
    });
    if (step % 10 === 0) validation(step);
  }
  return records;
}

/** How a page names and draws a run in one mode. */
export const mark = (run: string, mode: PromptMode, label: string = mode): ColumnMark => ({
  run,
  mode,
  label,
  model: 'SmolLM2-135M-Instruct',
  look: { colour: mode, fill: mode },
});

export function modeResult(mode: PromptMode, n: number, done = n): { result: RunColumn; records: ItemRecord[] } {
  const records = items(mode, done, mode.length);
  const file = run(mode, n);
  const summary: RunSummary | null =
    done < n
      ? null
      : {
          schema: 1,
          run: file.id,
          mode,
          scores: scores(records),
          seconds: 42.4 + 30 * mode.length,
          tuningSeconds: usesSoftPrompt(mode) ? 118.2 : 0,
          promptTokens: n * 84,
          outputTokens: n * 61,
          peakMemoryBytes: 1.3e9,
          bestStep: usesSoftPrompt(mode) ? 70 : null,
        };
  return {
    result: {
      run: { ...file, status: done < n ? 'running' : 'finished' },
      label: mode,
      summary,
      tuning: usesSoftPrompt(mode) ? tuning() : [],
      done,
      total: n,
    },
    records,
  };
}

export interface ResultsData {
  page: 'results';
  view: ResultsView;
  items: Record<string, ItemRecord[]>;
  details: ItemDetail[];
}

export function resultsData(n = 200, modes: PromptMode[] = ['zero-shot', 'few-shot', 'soft-prompt']): ResultsData {
  const all = modes.map((mode) => modeResult(mode, n));
  const byRun = Object.fromEntries(all.map(({ result, records }) => [result.run.id, records]));
  return {
    page: 'results',
    view: {
      title: 'gsm8k · SmolLM2-135M-Instruct',
      benchmark: { task: 'gsm8k', file: '/benchmarks/gsm8k.yaml' },
      model: { name: 'SmolLM2-135M-Instruct', folder: '/models/smollm2' },
      columns: all.map(({ result }) => result),
      warnings: [],
      job: null,
      problem: null,
    },
    items: byRun,
    details: Array.from({ length: Math.min(n, 40) }, (_, index) => detail(index, all)),
  };
}

export function detail(index: number, all: { result: RunColumn; records: ItemRecord[] }[]): ItemDetail {
  const question = { kind: 'question', text: `Question: ${stories[index % stories.length]}\nAnswer:` };
  return {
    index,
    prompts: all.map(
      ({
        result: {
          run: { id, mode },
        },
      }) => ({
        run: id,
        parts: usesExamples(mode)
          ? [
              ...[1, 2].map((shot) => ({
                kind: 'example',
                text: `Question: ${stories[(index + shot) % stories.length]}\nAnswer: It is ${shot}.\n#### ${shot}\n\n`,
              })),
              question,
            ]
          : usesSoftPrompt(mode)
            ? [
                { kind: 'note', text: 'The benchmark file has changed since this run.\n' },
                { kind: 'soft-prompt', text: '' },
                question,
              ]
            : [question],
      }),
    ),
    records: all.flatMap(
      ({
        result: {
          run: { id },
        },
        records,
      }) => (records[index] ? [{ run: id, record: records[index] }] : []),
    ),
    gold: all[0]?.records[index]?.gold ?? '',
    source: { file: '/benchmarks/data/test.jsonl', line: index + 1 },
  };
}

export function leaderboardView(): LeaderboardView {
  const models = [
    'SmolLM2-135M-Instruct',
    'SmolLM2-135M',
    'stories260k',
    'gpt2-medium-a-rather-long-name-q4',
    'pythia-160m',
  ];
  const tasks = ['gsm8k', 'capitals', 'boolq'];
  const random = uniform(5);
  return {
    benchmarks: tasks.map((task) => ({ task, file: `/benchmarks/${task}.yaml` })),
    models: models.map((name) => ({ name, folder: `/models/${name}` })),
    cells: models.flatMap((model, position) =>
      tasks.flatMap((task, at) =>
        (['zero-shot', 'few-shot', 'soft-prompt'] as const).flatMap((mode) => {
          if (position === 4 && at === 2) return [];
          const { result, records } = modeResult(mode, 100);
          const rescored = records.map((record) =>
            random() < 0.12 * position ? { ...record, right: false, lenientRight: false } : record,
          );
          if (!result.summary) return [];
          return [
            {
              model,
              task,
              mode,
              cell: {
                run: result.run.id,
                summary: { ...result.summary, scores: scores(rescored) },
                status: 'finished' as const,
              },
            },
          ];
        }),
      ),
    ),
  };
}
