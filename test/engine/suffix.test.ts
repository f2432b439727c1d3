/** Soft prompts behind the text against PyTorch in float64 (make/suffix_reference.py), on every export of five models. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OnnxLanguageModel, openLanguageModel } from '../../src/engine/index.ts';
import { readReference } from '../../src/engine/reference.ts';
import { paddedTo, wholeTextBatch } from '../../src/engine/suffix-training.ts';
import { TextMemory } from '../../src/engine/text-memory.ts';
import { OnnxTraining } from '../../src/engine/training.ts';
import type { LogLikelihoodResult, SoftPrompt, TrainingExample } from '../../src/evaluate/language-model.ts';
import { trainingForward } from '../../src/gradient/index.ts';
import { weightsInPlace } from '../../src/onnx/index.ts';
import type { EngineSettings } from '../../src/shared/protocol.ts';

const engine: EngineSettings = { executionProvider: 'cpu', threads: 2 };
const models = join(import.meta.dirname, '../fixtures/models');

interface Expected {
  loss: number;
  gradient: number[];
  log_likelihoods: number[];
  adam_losses: number[];
  generated: number[][];
  margins: number[][];
}
const references = JSON.parse(readFileSync(join(import.meta.dirname, 'suffix-reference.json'), 'utf8')) as Record<
  string,
  Expected
>;

/** Folders of which every weight is that of the PyTorch model; those of fewer bits are other functions. */
const folders = readdirSync(models).filter((name) => /^(llama|gpt2|gptneox|qwen2|gemma)-/.test(name));
const exact = folders.filter((name) => !/int4|int8|fp16|q4/.test(name));

/** Exports that take keys and values of texts of different lengths: the others read the whole text at every step. */
const behindText = exact.filter((name) => !/nopast|2024-merged|genai|gemma|ort-attention/.test(name));

const open = (name: string): Promise<OnnxLanguageModel> => openLanguageModel(join(models, name), engine);

function softPromptOf(name: string): SoftPrompt {
  const { shape = [], values = [] } = readReference(join(models, name)).tensors.get('P5') ?? {};
  return { vectors: 5, hiddenSize: shape[1] ?? 0, data: Float32Array.from(values), position: 'suffix' };
}

const relative = (found: ArrayLike<number>, expected: readonly number[]): number =>
  Math.hypot(...expected.map((value, at) => value - (found[at] ?? Number.NaN))) / Math.hypot(...expected);

describe.each(exact)('%s', (name) => {
  const expected = references[name.split('-')[0] ?? ''] as Expected;
  const { sequences } = readReference(join(models, name));
  const softPrompt = softPromptOf(name);
  let model: OnnxLanguageModel;
  beforeAll(async () => {
    model = await open(name);
  });
  afterAll(() => model.close());

  it('gives the gradient and the losses of Adam steps', async () => {
    const training = await model.openTraining({ vectors: 5, batchSize: 3, position: 'suffix' });
    const data = softPrompt.data.slice();
    const first = new Float64Array(data.length);
    const second = new Float64Array(data.length);
    for (const [step, value] of expected.adam_losses.entries()) {
      const { loss, gradient, answerTokens } = await training.step(sequences, { ...softPrompt, data });
      expect(answerTokens).toBe(15);
      expect(Math.abs(loss - value)).toBeLessThan(1e-4);
      if (step === 0) expect(relative(gradient, expected.gradient)).toBeLessThan(1e-5);
      // torch.optim.Adam with a learning rate of 0.05
      for (const [at, g] of gradient.entries()) {
        first[at] = 0.9 * (first[at] ?? 0) + 0.1 * g;
        second[at] = 0.999 * (second[at] ?? 0) + 0.001 * g * g;
        const change =
          (first[at] ?? 0) /
          (1 - 0.9 ** (step + 1)) /
          (Math.sqrt((second[at] ?? 0) / (1 - 0.999 ** (step + 1))) + 1e-8);
        data[at] = (data[at] ?? 0) - 0.05 * change;
      }
    }
    const { loss } = await training.loss(sequences, softPrompt);
    expect(Math.abs(loss - expected.loss)).toBeLessThan(1e-5);
    expect(training.notes?.length ?? 0).toBe(behindText.includes(name) ? 0 : 1);
    await training.close();
  });

  it('generates and scores', async () => {
    const results: number[][] = [];
    await model.generate(
      sequences.map(({ prompt }, index) => ({ index, tokens: prompt })),
      // The references go on past the end token: so long as it does not come, tokens can be compared.
      { until: [], maxNewTokens: 24, temperature: 0, topP: 1, seed: 0, batchSize: 2, softPrompt },
      {
        onResult: ({ index, tokens }) => {
          results[index] = tokens;
        },
      },
    );
    let compared = 0;
    for (const [index, tokens] of results.entries()) {
      const unsure = expected.margins[index]?.findIndex((margin) => margin < 1e-3) ?? 0;
      const length = Math.min(tokens.length, unsure < 0 ? tokens.length : unsure);
      compared += length;
      expect(tokens.slice(0, length)).toEqual(expected.generated[index]?.slice(0, length));
    }
    expect(compared).toBeGreaterThan(20);

    const scores: LogLikelihoodResult[] = [];
    await model.logLikelihood(
      sequences.map(({ prompt, answer }, index) => ({ index, context: prompt, continuation: answer })),
      { batchSize: 2, softPrompt },
      { onResult: (result) => void scores.push(result) },
    );
    for (const { index, sum } of scores)
      expect(Math.abs(sum - (expected.log_likelihoods[index] ?? Number.NaN))).toBeLessThan(1e-4);
    expect(scores).toHaveLength(3);
  });
});

describe('a few-shot block before the text', () => {
  it('is read once, and changes nothing: several continuations of a context score as one by one', async () => {
    const model = await open('llama-optimum');
    const softPrompt = softPromptOf('llama-optimum');
    const shared = Array.from({ length: 40 }, (_, at) => 20 + ((at * 37) % 400));
    const requests = [0, 1, 2].flatMap((item) =>
      [[31, 32, 33], [41], [51, 52]].map((continuation, choice) => ({
        index: item * 3 + choice,
        context: [...shared, 100 + item, ...Array.from({ length: item }, (_, at) => 200 + at)],
        continuation,
      })),
    );
    const score = async (part: typeof requests): Promise<Map<number, number>> => {
      const sums = new Map<number, number>();
      await model.logLikelihood(
        part,
        { batchSize: 4, softPrompt },
        { onResult: ({ index, sum }) => void sums.set(index, sum) },
      );
      return sums;
    };
    const together = await score(requests);
    for (const request of requests) {
      const alone = (await score([request])).get(request.index) ?? Number.NaN;
      expect(Math.abs((together.get(request.index) ?? Number.NaN) - alone)).toBeLessThan(1e-4);
    }
    await model.close();
  });
});

describe.each(['llama-optimum', 'gemma-optimum', 'llama-genai-fp32', 'gpt2-nopast'])(
  '%s: prompts with a common beginning',
  (name) => {
    it('go on as each does alone', async () => {
      const model = await open(name);
      const softPrompt = softPromptOf(name);
      const shared = Array.from({ length: 30 }, (_, at) => 20 + ((at * 37) % 400));
      const prompts = [1, 4, 2, 7, 4].map((length) => [
        ...shared,
        ...Array.from({ length }, (_, at) => 60 + length * 31 + at),
      ]);
      const generate = async (tokens: readonly number[][]): Promise<number[][]> => {
        const found: number[][] = [];
        await model.generate(
          tokens.map((each, index) => ({ index, tokens: each })),
          { until: [], maxNewTokens: 8, temperature: 0, topP: 1, seed: 0, batchSize: 3, softPrompt },
          {
            onResult: (result) => {
              found[result.index] = result.tokens;
            },
          },
        );
        return found;
      };
      const together = await generate(prompts);
      for (const [index, prompt] of prompts.entries()) expect((await generate([prompt]))[0]).toEqual(together[index]);
      await model.close();
    });
  },
);

describe('rows over given keys and values', () => {
  const examples: TrainingExample[] = [
    { prompt: Array.from({ length: 37 }, (_, at) => 30 + at), answer: [11, 12, 13, 2] },
    { prompt: [7], answer: [21] },
    { prompt: Array.from({ length: 18 }, (_, at) => 90 + at), answer: Array.from({ length: 9 }, (_, at) => 300 + at) },
  ];

  it.each(['llama-optimum', 'gpt2-optimum', 'qwen2-dynamo-eager'])(
    '%s: give what one graph over the whole row gives',
    async (name) => {
      const model = await open(name);
      const softPrompt = softPromptOf(name);
      const training = await model.openTraining({ vectors: 5, batchSize: 3, position: 'suffix', passes: 2 });
      const forward = trainingForward(weightsInPlace(model.files.file), { anywhere: true });
      const whole = new OnnxTraining(model.files.file, {
        vectors: 5,
        batchSize: 3,
        provider: model.provider,
        padTokenId: 0,
        layout: {
          batch: async (rows, vectors) => ({ forward, batch: wholeTextBatch(rows, vectors, 0, model.contextLength) }),
          notes: [],
        },
      });
      const found = await training.step(examples, softPrompt);
      const expected = await whole.step(examples, softPrompt);
      expect(Math.abs(found.loss - expected.loss)).toBeLessThan(1e-5);
      expect(relative(found.gradient, [...expected.gradient])).toBeLessThan(2e-6);
      // Kept keys and values are the same again.
      expect((await training.step(examples, softPrompt)).gradient).toEqual(found.gradient);
      await training.close();
      await whole.close();
      await model.close();
    },
  );

  it('refuse a row that is longer than the context', async () => {
    const model = await open('llama-optimum');
    const training = await model.openTraining({ vectors: 5, batchSize: 1, position: 'suffix' });
    const long = { prompt: Array.from({ length: 126 }, (_, at) => 5 + at), answer: [9] };
    await expect(training.step([long], softPromptOf('llama-optimum'))).rejects.toThrow(
      /has 131 tokens .* 128 positions/,
    );
    await training.close();
    await model.close();
  });

  it('fill the context to its last position', async () => {
    // Learned positions and causal masks out of a table end there.
    for (const name of ['gpt2-optimum', 'gptneox-2024', 'llama-2024-o3']) {
      const model = await open(name);
      const training = await model.openTraining({ vectors: 5, batchSize: 2, position: 'suffix' });
      const long = { prompt: Array.from({ length: 120 }, (_, at) => 5 + at), answer: [9, 10, 11] };
      const { loss } = await training.step([long, { prompt: [4, 5], answer: [6] }], softPromptOf(name));
      expect(loss).toBeGreaterThan(0);
      await training.close();
      await model.close();
    }
  });
});

describe('keys and values of texts', () => {
  it('do not depend on what was read before: alone where a text comes again, else with its batch', async () => {
    const model = await open('llama-optimum');
    const text = [11, 12, 13, 14];
    const other = Array.from({ length: 23 }, (_, at) => 40 + at);
    const read = async (passes: number, ...batches: number[][][]): Promise<number[][]> => {
      const memory = new TextMemory(() => model.decoder(), passes);
      const last = [];
      for (const batch of batches) last.push(await memory.read(batch, true));
      const [found] = last.at(-1) ?? [];
      return (found?.tensors ?? []).map(({ data, heads, headSize, capacity }) =>
        Array.from({ length: heads * text.length * headSize }, (_, at) => {
          const head = Math.floor(at / (text.length * headSize));
          return data[head * capacity * headSize + (at % (text.length * headSize))] ?? Number.NaN;
        }),
      );
    };
    const alone = await read(2, [text]);
    expect(await read(2, [other, text], [text, other])).toEqual(alone);
    expect(await read(1, [other], [text, other])).toEqual(await read(1, [text, other]));
    expect(alone.flat().every(Number.isFinite)).toBe(true);
    await model.close();
  });
});

describe('padded sizes', () => {
  it('are few, and never less than what they hold', () => {
    for (let count = 1; count < 600; count++) expect(paddedTo(count, 16)).toBeGreaterThanOrEqual(count);
    expect(new Set(Array.from({ length: 449 }, (_, at) => paddedTo(64 + at, 16))).size).toBe(7);
  });
});
