/** Log-probabilities token by token: against PyTorch in float64, against sums of log-likelihoods, against generations. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OnnxLanguageModel, openLanguageModel } from '../../src/engine/index.ts';
import { readReference, rowsOf, vectorCounts } from '../../src/engine/reference.ts';
import { scoreTokens } from '../../src/engine/token-scores.ts';
import type { SoftPrompt, TokenScore } from '../../src/evaluate/language-model.ts';
import { HumanError } from '../../src/shared/errors.ts';
import type { EngineSettings } from '../../src/shared/protocol.ts';

const engine: EngineSettings = { executionProvider: 'cpu', threads: 2 };
const models = join(import.meta.dirname, '../fixtures/models');
const folders = readdirSync(models, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'make')
  .map(({ name }) => name);

const sumOf = (scores: readonly TokenScore[]): number =>
  scores.reduce((sum, { logProbability }) => sum + logProbability, 0);

describe('token scores are those of PyTorch in float64', () => {
  it.each(folders)(
    '%s',
    async (name) => {
      const reference = readReference(join(models, name));
      // What the weights say: files that round activations have a reference without that.
      const model = await openLanguageModel(join(models, name), engine, { exactArithmetic: true });
      try {
        const counts = vectorCounts(reference, 'logprobs_n');
        expect(counts).toContain(0);
        for (const vectors of counts) {
          const data = reference.tensors.get(`P${vectors}`);
          const softPrompt: SoftPrompt | null = data
            ? { vectors, hiddenSize: data.shape[1] ?? 0, data: Float32Array.from(data.values) }
            : null;
          expect(softPrompt === null).toBe(vectors === 0);
          const expected = [...(reference.tensors.get(`logprobs_n${vectors}`)?.values ?? [])];
          const logits = rowsOf(
            reference.tensors.get(`logits_n${vectors}`) ?? { shape: [], values: new Float64Array() },
          );
          const scores: TokenScore[] = [];
          for (const { prompt, answer } of reference.sequences)
            scores.push(
              ...(await model.tokenScores({ context: prompt, continuation: answer }, { softPrompt, alternatives: 3 })),
            );
          expect(scores.map(({ token }) => token)).toEqual(reference.sequences.flatMap(({ answer }) => answer));
          expect(scores).toHaveLength(expected.length);
          for (const [place, { token, logProbability, rank, best }] of scores.entries()) {
            expect(Math.abs(logProbability - (expected[place] ?? Number.NaN))).toBeLessThan(reference.tolerance.logits);
            const row = [...(logits[place] ?? [])];
            const own = row[token] ?? Number.NaN;
            // Ranks count where no other logit is within what float32 may be off.
            const sure = row.filter((logit, id) => id !== token && Math.abs(logit - own) < 1e-3).length === 0;
            if (sure) expect(rank).toBe(1 + row.filter((logit) => logit > own).length);
            expect(best).toHaveLength(3);
            const likeliest = [...row].sort((a, b) => b - a);
            const normaliser = own - (expected[place] ?? Number.NaN);
            for (const [at, one] of best.entries())
              expect(Math.abs(one.logProbability + normaliser - (likeliest[at] ?? Number.NaN))).toBeLessThan(2e-3);
          }
        }
      } finally {
        await model.close();
      }
    },
    60_000,
  );
});

describe.each(['llama-optimum', 'gpt2-nopast', 'gpt2-optimum', 'gptneox-2024', 'gpt2-merged'])('%s', (name) => {
  let model: OnnxLanguageModel;
  let softPrompt: SoftPrompt;
  const text = 'Question: how many apples does Tom have if the baker sold 12 loaves of bread?';
  beforeAll(async () => {
    model = await openLanguageModel(join(models, name), engine);
    softPrompt = { vectors: 5, hiddenSize: 64, data: await model.embeddingRows([305, 435, 498, 181, 447]) };
  });
  afterAll(() => model.close());

  it.each([
    ['no soft prompt', null],
    ['one in front', 'prefix'],
    ['one behind the prompt', 'suffix'],
  ] as const)('%s: their sum is the log-likelihood, and a greedy output has rank 1 throughout', async (_, position) => {
    const soft = position && { ...softPrompt, position };
    const tokens = model.tokenizer.encode(text);
    const outputs: { tokens: number[]; logProbabilities: number[] }[] = [];
    const settings = { until: [], maxNewTokens: 16, temperature: 0, topP: 1, seed: 0, batchSize: 1 };
    await model.generate(
      [{ index: 0, tokens }],
      { ...settings, softPrompt: soft },
      {
        onResult: (result) => void outputs.push(result),
      },
    );
    const [output] = outputs;
    if (!output) throw new Error('nothing generated');
    const greedy = { context: tokens, continuation: output.tokens };
    const other = { context: tokens.slice(0, 9), continuation: tokens.slice(9) };
    for (const request of [greedy, other]) {
      const scores = await model.tokenScores(request, { softPrompt: soft, alternatives: 2 });
      const sums: { sum: number; tokens: number[] }[] = [];
      await model.logLikelihood(
        [{ index: 0, ...request }],
        { batchSize: 1, softPrompt: soft },
        {
          onResult: (result) => void sums.push(result),
        },
      );
      expect(sumOf(scores)).toBeCloseTo(sums[0]?.sum ?? Number.NaN, 4);
      for (const [place, { logProbability }] of scores.entries())
        expect(Math.abs(logProbability - (sums[0]?.tokens[place] ?? Number.NaN))).toBeLessThan(1e-5);
      if (request !== greedy) continue;
      expect(scores.map(({ rank }) => rank)).toEqual(output.tokens.map(() => 1));
      for (const [place, { token, best }] of scores.entries()) {
        expect(best[0]?.token).toBe(token);
        expect(best[0]?.logProbability).toBeCloseTo(output.logProbabilities[place] ?? Number.NaN, 4);
      }
    }
  });
});

describe('a continuation of many places', () => {
  it.each(['llama-optimum', 'gpt2-nopast', 'gptneox-2024'])('%s: is the same in parts', async (name) => {
    const model = await openLanguageModel(join(models, name), engine);
    try {
      const decoder = await model.decoder();
      const data = await model.embeddingRows([305, 435, 498]);
      const scoring = { decoder, contextLength: model.contextLength, startToken: null, vocabularySize: 512 };
      const tokens = model.tokenizer.encode('Tom has 12 apples and the baker sold 7 loaves of bread.');
      const request = { context: tokens.slice(0, 6), continuation: tokens.slice(6) };
      for (const position of ['prefix', 'suffix'] as const) {
        const settings = { softPrompt: { vectors: 3, hiddenSize: 64, data, position }, alternatives: 1 };
        const whole = await scoreTokens(scoring, request, settings);
        const parts = await scoreTokens(scoring, request, { ...settings, places: 4 });
        expect(parts.map(({ token, rank }) => [token, rank])).toEqual(whole.map(({ token, rank }) => [token, rank]));
        for (const [place, { logProbability }] of parts.entries())
          expect(Math.abs(logProbability - (whole[place]?.logProbability ?? Number.NaN))).toBeLessThan(1e-5);
      }
    } finally {
      await model.close();
    }
  });
});

describe('what is asked of it', () => {
  it('nothing of nothing; a text that is longer than the context is refused; a stop stops it', async () => {
    const model = await openLanguageModel(join(models, 'llama-optimum'), engine);
    try {
      const settings = { softPrompt: null, alternatives: 1 };
      expect(await model.tokenScores({ context: [5], continuation: [] }, settings)).toEqual([]);
      const long = new Array<number>((model.contextLength ?? 0) + 2).fill(7);
      await expect(model.tokenScores({ context: [5], continuation: long }, settings)).rejects.toThrow(HumanError);
      const controller = new AbortController();
      controller.abort();
      const stopped = model.tokenScores(
        { context: [5], continuation: [7] },
        { ...settings, signal: controller.signal },
      );
      await expect(stopped).rejects.toThrow();
    } finally {
      await model.close();
    }
  });
});
