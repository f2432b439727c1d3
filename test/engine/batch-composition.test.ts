/** What an item gets does not depend on what it is computed beside: batch size, order, and what is read once for several. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type OnnxLanguageModel, openLanguageModel } from '../../src/engine/index.ts';
import type * as plan from '../../src/engine/reading-plan.ts';
import type {
  GenerationRequest,
  GenerationResult,
  LogLikelihoodRequest,
  LogLikelihoodResult,
  SoftPrompt,
} from '../../src/evaluate/language-model.ts';
import type { EngineSettings } from '../../src/shared/protocol.ts';

// How to share can be overruled: that is how the tree is switched off.
let sharing: 'by cost' | 'never' = 'by cost';
vi.mock('../../src/engine/reading-plan.ts', async (original) => {
  const real = await original<typeof plan>();
  return {
    ...real,
    planPrefixes: ((root, ...rest) =>
      sharing === 'never'
        ? { length: 0, text: root.text, nodes: [root], inner: [] }
        : real.planPrefixes(root, ...rest)) satisfies typeof plan.planPrefixes,
    branchesOf: ((node, start, costs, held) =>
      real.branchesOf(node, start, sharing === 'never' ? null : costs, held)) satisfies typeof plan.branchesOf,
  };
});

const engine: EngineSettings = { executionProvider: 'cpu', threads: 2 };
const fixtures = join(import.meta.dirname, '../fixtures/models');
const stories = join(import.meta.dirname, '../../examples/models/stories260k');

/** `tolerance`: by which log-probabilities may differ, as the arithmetic rounds. */
const models = [
  { name: 'llama-optimum', what: 'plain', tolerance: 1e-5 },
  { name: 'gpt2-ort-attention', what: 'fused attention', tolerance: 1e-5 },
  { name: 'llama-genai-fp32', what: 'GroupQueryAttention', tolerance: 1e-5 },
  { name: 'llama-merged', what: 'a merged decoder', tolerance: 1e-5 },
  { name: 'llama-2024-merged', what: 'a merged decoder that reads token by token', tolerance: 1e-5 },
  { name: 'llama-nopast', what: 'no cache', tolerance: 1e-5 },
  { name: 'llama-tjs-int8', what: '8 bits, activations too', tolerance: 0 },
  { name: 'llama-tjs-q4', what: '4 bits', tolerance: 1e-5 },
  { name: 'qwen2-dynamo-eager', what: 'dynamo', tolerance: 1e-5 },
];

/** Items of several groups: examples that differ by group, questions of their own, choices; some contexts are copies. */
function requestsFor(model: OnnxLanguageModel): { scored: LogLikelihoodRequest[]; asked: GenerationRequest[] } {
  const encode = (text: string): number[] => model.tokenizer.encode(text);
  const description = encode('Answer each question with one word, please.').slice(0, 10);
  const blocks = ['The baker sold 12 loaves of bread.', 'Tom has many red apples in a big box.'].map((text) =>
    encode(text.repeat(2)).slice(0, 24),
  );
  const questions = ['how many apples?', 'who sold bread?', 'is it so?', 'where is Tom now, in the box?'].map((text) =>
    encode(text),
  );
  const choices = ['yes', 'no', 'no way', 'the baker sold it', 'y'].map((text) => encode(text).slice(0, 6));
  const contexts = blocks.flatMap((block) => questions.map((question) => [...description, ...block, ...question]));
  // Without examples, twice the same, and one that begins another.
  contexts.push(questions[0] ?? [], questions[0] ?? [], (questions[3] ?? []).slice(0, 4), questions[3] ?? []);
  return {
    scored: contexts
      .flatMap((context) => choices.map((continuation) => ({ context, continuation })))
      .map((request, index) => ({ index, ...request })),
    asked: contexts.map((tokens, index) => ({ index, tokens })),
  };
}

const inOrder = <Result extends { index: number }>(results: Result[]): Result[] =>
  results.sort((a, b) => a.index - b.index);

async function score(
  model: OnnxLanguageModel,
  requests: readonly LogLikelihoodRequest[],
  batchSize: number,
  softPrompt: SoftPrompt | null,
): Promise<LogLikelihoodResult[]> {
  const results: LogLikelihoodResult[] = [];
  await model.logLikelihood(requests, { batchSize, softPrompt }, { onResult: (result) => void results.push(result) });
  return inOrder(results);
}

async function generate(
  model: OnnxLanguageModel,
  requests: readonly GenerationRequest[],
  batchSize: number,
  softPrompt: SoftPrompt | null,
): Promise<GenerationResult[]> {
  const results: GenerationResult[] = [];
  const settings = { until: [], maxNewTokens: 10, temperature: 0, topP: 1, seed: 0, batchSize, softPrompt };
  await model.generate(requests, settings, { onResult: (result) => void results.push(result) });
  return inOrder(results);
}

/** Deterministic, far from the order of the requests. */
const shuffled = <Value>(values: readonly Value[]): Value[] =>
  values
    .map((value, at) => ({ value, key: (at * 7919) % 101 }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);

describe.each([
  ...models.map((model) => ({ ...model, path: join(fixtures, model.name) })),
  {
    name: 'stories260k',
    what: 'the bundled model',
    tolerance: 1e-5,
    path: stories,
  },
])('$name ($what)', ({ path, tolerance }) => {
  let model: OnnxLanguageModel;
  let softPrompts: [string, SoftPrompt | null][];
  beforeAll(async () => {
    model = await openLanguageModel(path, engine);
    const data = await model.embeddingRows([7, 11, 3]);
    const vectors = { vectors: 3, hiddenSize: model.hiddenSize, data };
    softPrompts = [
      ['none', null],
      ['in front', vectors],
      ['behind', { ...vectors, position: 'suffix' }],
    ];
  });
  afterAll(() => model.close());

  it.each(['none', 'in front', 'behind'])('log-likelihoods, soft prompt: %s', async (position) => {
    const [, softPrompt = null] = softPrompts.find(([name]) => name === position) ?? [];
    const { scored } = requestsFor(model);
    const one = await score(model, scored, 1, softPrompt);
    const others = {
      eight: await score(model, scored, 8, softPrompt),
      shuffled: await score(model, shuffled(scored), 8, softPrompt),
      three: await score(model, shuffled(scored).reverse(), 3, softPrompt),
    };
    for (const [name, results] of Object.entries(others)) {
      expect(results.map(({ index }) => index)).toEqual(scored.map(({ index }) => index));
      for (const [index, { tokens, sum, greedy }] of results.entries()) {
        const expected = one[index];
        expect(tokens).toHaveLength(scored[index]?.continuation.length ?? -1);
        expect(greedy, name).toBe(expected?.greedy);
        expect(Math.abs(sum - (expected?.sum ?? Number.NaN)), `${name} ${index}`).toBeLessThanOrEqual(
          tolerance * tokens.length,
        );
      }
    }
  });

  it.each(['none', 'in front', 'behind'])('outputs, soft prompt: %s', async (position) => {
    const [, softPrompt = null] = softPrompts.find(([name]) => name === position) ?? [];
    const { asked } = requestsFor(model);
    const one = await generate(model, asked, 1, softPrompt);
    for (const requests of [asked, shuffled(asked)])
      expect((await generate(model, requests, 8, softPrompt)).map(({ tokens }) => tokens)).toEqual(
        one.map(({ tokens }) => tokens),
      );
  });

  // With one scale for all tokens of a run, reading a beginning by itself is another computation.
  it.skipIf(tolerance === 0)('the tree of beginnings changes nothing', async () => {
    const { scored, asked } = requestsFor(model);
    for (const [, softPrompt] of softPrompts) {
      const shared = await score(model, scored, 8, softPrompt);
      const outputs = await generate(model, asked, 8, softPrompt);
      sharing = 'never';
      try {
        for (const [index, { sum, greedy, tokens }] of (await score(model, scored, 8, softPrompt)).entries()) {
          expect(greedy).toBe(shared[index]?.greedy);
          expect(Math.abs(sum - (shared[index]?.sum ?? Number.NaN))).toBeLessThanOrEqual(tolerance * tokens.length);
        }
        expect((await generate(model, asked, 8, softPrompt)).map(({ tokens }) => tokens)).toEqual(
          outputs.map(({ tokens }) => tokens),
        );
      } finally {
        sharing = 'by cost';
      }
    }
  });
});
