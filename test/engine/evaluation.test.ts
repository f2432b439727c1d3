import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OnnxLanguageModel, openLanguageModel, verifyModel } from '../../src/engine/index.ts';
import type { GenerationResult, GenerationSettings, SoftPrompt } from '../../src/evaluate/language-model.ts';
import { HumanError } from '../../src/shared/errors.ts';
import type { EngineSettings } from '../../src/shared/protocol.ts';

const engine: EngineSettings = { executionProvider: 'cpu', threads: 2 };
const fixtures = join(import.meta.dirname, '../fixtures/models');
const stories = join(import.meta.dirname, '../../examples/models/stories260k');
const names = [
  'llama-optimum',
  'gpt2-optimum',
  'gptneox-optimum',
  'gptneox-2024',
  // the fused attention operators: their caches and what they read behind one
  'gpt2-ort-attention',
  'llama-genai-fp32',
  'llama-genai-fp32-mha',
  'llama-dynamo-opset23',
];

const greedy: GenerationSettings = {
  until: [],
  maxNewTokens: 24,
  temperature: 0,
  topP: 1,
  seed: 0,
  batchSize: 4,
  softPrompt: null,
};

async function generateAll(
  model: OnnxLanguageModel,
  prompts: readonly (readonly number[])[],
  settings: Partial<GenerationSettings> = {},
): Promise<GenerationResult[]> {
  const results: GenerationResult[] = [];
  await model.generate(
    prompts.map((tokens, index) => ({ index, tokens })),
    { ...greedy, ...settings },
    { onResult: (result) => void results.push(result) },
  );
  return results.sort((a, b) => a.index - b.index);
}

describe('against PyTorch in float64', () => {
  it.each(names)('%s: logits, log-likelihoods, generations, gradients, Adam steps', async (name) => {
    const report = await verifyModel(join(fixtures, name), engine);
    expect(report.reason).toBeNull();
    expect(report.ok).toBe(true);
    // Much tighter than the reference's tolerances: what float32 reaches.
    expect(report.logits?.max_abs).toBeLessThan(2e-5);
    expect(report.log_likelihood?.max_abs).toBeLessThan(5e-5);
    expect(report.gradient?.relative_error).toBeLessThan(1e-5);
    expect(report.generation?.compared).toBe(144);
    expect(report.generation?.equal).toBe(144);
  });
});

describe.each(names)('%s in batches', (name) => {
  let model: OnnxLanguageModel;
  let softPrompt: SoftPrompt;
  const text = 'Question: how many apples does Tom have if the baker sold 12 loaves of bread?';
  beforeAll(async () => {
    model = await openLanguageModel(join(fixtures, name), engine);
    const ids = [305, 435, 498, 181, 447];
    softPrompt = { vectors: 5, hiddenSize: 64, data: await model.embeddingRows(ids) };
  });
  afterAll(() => model.close());

  const prompts = (): number[][] => {
    const ids = model.tokenizer.encode(text);
    return [3, 9, 4, 20, 1, 9, 14].map((length) => ids.slice(0, length));
  };

  it.each([false, true])('gives each item what it gives alone (soft prompt: %s)', async (soft) => {
    const settings = { softPrompt: soft ? softPrompt : null, maxNewTokens: 12 };
    const together = await generateAll(model, prompts(), { ...settings, batchSize: 3 });
    const alone: GenerationResult[] = [];
    for (const tokens of prompts()) alone.push(...(await generateAll(model, [tokens], settings)));
    expect(together.map(({ tokens }) => tokens)).toEqual(alone.map(({ tokens }) => tokens));
    for (const [index, { logProbabilities }] of together.entries())
      for (const [step, value] of logProbabilities.entries())
        expect(Math.abs(value - (alone[index]?.logProbabilities[step] ?? Number.NaN))).toBeLessThan(1e-4);
  });

  it('samples the same for a seed in any batch, and differently for another', async () => {
    const settings = { temperature: 1, topP: 0.9, maxNewTokens: 8 };
    const run = async (batchSize: number, seed: number) =>
      (await generateAll(model, prompts(), { ...settings, batchSize, seed })).map(({ tokens }) => tokens);
    expect(await run(5, 7)).toEqual(await run(1, 7));
    expect(await run(5, 7)).not.toEqual(await run(5, 8));
  });

  it.each([false, true])(
    'scores a shared context and a shared beginning as whole texts (soft prompt: %s)',
    async (soft) => {
      const ids = model.tokenizer.encode(text);
      const contexts = [ids.slice(0, 8), ids.slice(0, 8), ids.slice(0, 12), ids.slice(0, 8)];
      const continuations = [ids.slice(8, 11), [7], [9, 11], [5, 6, 7, 8]];
      const requests = contexts.map((context, index) => ({ index, context, continuation: continuations[index] ?? [] }));
      const settings = { batchSize: 2, softPrompt: soft ? softPrompt : null };
      const score = async (some: typeof requests): Promise<number[][]> => {
        const found: number[][] = [];
        await model.logLikelihood(some, settings, {
          onResult: ({ index, tokens }) => {
            found[index] = tokens;
          },
        });
        return found;
      };
      const together = await score(requests);
      for (const request of requests) {
        const alone = (await score([request]))[request.index] ?? [];
        expect(together[request.index]).toHaveLength(request.continuation.length);
        for (const [step, value] of alone.entries())
          expect(Math.abs(value - (together[request.index]?.[step] ?? Number.NaN))).toBeLessThan(1e-4);
      }
    },
  );

  it('the log-probabilities of a generation are its log-likelihood', async () => {
    const tokens = prompts()[3] ?? [];
    const [result] = await generateAll(model, [tokens], { maxNewTokens: 6 });
    if (!result) throw new Error('nothing generated');
    await model.logLikelihood(
      [{ index: 0, context: tokens, continuation: result.tokens }],
      { batchSize: 1, softPrompt: null },
      {
        onResult: (scored) => {
          expect(scored.greedy).toBe(true);
          for (const [step, value] of scored.tokens.entries())
            expect(value).toBeCloseTo(result.logProbabilities[step] ?? Number.NaN, 4);
        },
      },
    );
  });

  it('fills the context to its end, beside rows of other lengths', async () => {
    const ids = model.tokenizer.encode(text.repeat(6), { special: true });
    const prompts = [110, 96, 40, 104].map((length) => ids.slice(-length));
    for (const prompt of [null, softPrompt]) {
      const together = await generateAll(model, prompts, { softPrompt: prompt, batchSize: 3 });
      expect(together[0]?.tokens.length).toBe(128 - 110 - (prompt?.vectors ?? 0));
      for (const [index, tokens] of prompts.entries()) {
        const [alone] = await generateAll(model, [tokens], { softPrompt: prompt });
        expect(together[index]?.tokens).toEqual(alone?.tokens);
      }
    }
    const scores: number[] = [];
    await model.logLikelihood(
      prompts.map((context, index) => ({ index, context, continuation: ids.slice(0, 18) })),
      { batchSize: 4, softPrompt: null },
      { onResult: ({ sum }) => void scores.push(sum) },
    );
    expect(scores.filter((score) => score < 0)).toHaveLength(4);
  });

  it('refuses what does not fit, with the item and the numbers', async () => {
    const long = Array.from({ length: 130 }, (_, index) => index + 5);
    await expect(generateAll(model, [[5], long])).rejects.toThrow(/item 1 has 130 tokens.*128/);
    await expect(
      generateAll(model, [[5]], { softPrompt: { vectors: 1, hiddenSize: 32, data: new Float32Array(32) } }),
    ).rejects.toThrow(/32 numbers.*takes 64/);
    const [last] = await generateAll(model, [long.slice(0, 120)], { maxNewTokens: 50 });
    expect(last?.stop.reason === 'length' ? last.tokens.length : 8).toBe(8);
  });

  it('stops between steps and keeps what was finished', async () => {
    const stop = new AbortController();
    const finished: number[] = [];
    const run = model.generate(
      prompts().map((tokens, index) => ({ index, tokens })),
      { ...greedy, batchSize: 2 },
      {
        signal: stop.signal,
        onResult: ({ index }) => {
          finished.push(index);
          stop.abort();
        },
      },
    );
    await expect(run).rejects.toMatchObject({ kind: 'cancelled' });
    expect(finished.length).toBeLessThan(7);
  });
});

describe('stories260k', () => {
  let model: OnnxLanguageModel;
  beforeAll(async () => {
    model = await openLanguageModel(stories, engine);
  });
  afterAll(() => model.close());
  const start = () => model.tokenizer.encode('', { special: true });

  // Greedy text that the model's author published with it (llama2.c, doc/stories260K.md).
  const published =
    'Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball. She wanted to play with it, but it was too high.\n' +
    'Lily\'s mom said, "Lily, let\'s go to the park." Lily was sad and didn\'t know what to do. She said, "I want to play with your ball, but I can\'t find it."';

  it('tells the published story', async () => {
    const [result] = await generateAll(model, [start()], { maxNewTokens: 200 });
    expect(result?.text.startsWith(published)).toBe(true);
  });

  it.each(['named Lily', 'utside in', '. One', "high.\nLily's", 'a'])(
    'stops before %j wherever tokens end',
    async (stop) => {
      const [result] = await generateAll(model, [start()], { maxNewTokens: 200, until: ['never said', stop] });
      expect(result?.text).toBe(published.slice(0, published.indexOf(stop)));
      expect(result?.stop).toEqual({ reason: 'stop-string', marker: stop });
    },
  );

  it('of two stop strings takes the earlier one', async () => {
    const [result] = await generateAll(model, [start()], { maxNewTokens: 200, until: ['park', 'girl'] });
    expect(result?.stop.marker).toBe('girl');
  });

  it('gives the scale of its embedding as its weights have it', () => {
    const bytes = readFileSync(join(stories, 'model.safetensors'));
    const length = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.subarray(8, 8 + length).toString());
    const [from, to] = header['model.embed_tokens.weight'].data_offsets as [number, number];
    const data = new Float32Array(Uint8Array.from(bytes.subarray(8 + length + from, 8 + length + to)).buffer);
    const scale = Math.sqrt(data.reduce((sum, value) => sum + value * value, 0) / data.length);
    expect(model.embeddingScale).toBeCloseTo(scale, 6);
  });

  it('looks up rows of its embedding', async () => {
    const rows = await model.embeddingRows([3, 500, 3]);
    expect(rows).toHaveLength(3 * 64);
    expect(rows.subarray(0, 64)).toEqual(rows.subarray(128));
    expect(rows.subarray(0, 64)).not.toEqual(rows.subarray(64, 128));
  });
});

describe('execution providers', () => {
  it('auto always runs and says why', async () => {
    const model = await openLanguageModel(stories, { executionProvider: 'auto', threads: 0 });
    expect(model.provider.asked).toBe('auto');
    expect(['cpu', 'cuda']).toContain(model.provider.running);
    expect(model.provider.reason).not.toBe('');
    expect(model.provider.threads).toBeGreaterThan(0);
    await model.close();
  });

  it('one that cannot run here is refused with what to do', async () => {
    const other = process.platform === 'win32' ? 'coreml' : 'dml';
    const error = await openLanguageModel(stories, { executionProvider: other, threads: 0 }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(HumanError);
    expect(error.details.todo).toBeTruthy();
  });
});
