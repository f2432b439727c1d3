/** A model that answers by a rule and counts what it is asked, behind a cache. */
import type { GenerationResult, GenerationSettings, LanguageModel } from '../../src/evaluate/language-model.ts';
import type { ResponseCache } from '../../src/evaluate/response-cache.ts';
import { type EngineVersions, openResponseCache } from '../../src/responses/index.ts';
import { scriptedModel } from '../evaluate/scripted.ts';

export const versions: EngineVersions = { onnxruntime: '1', engine: 1 };

export interface AskedModel {
  model: LanguageModel;
  /** Indices that reached the model, by kind. */
  generated: number[];
  scored: number[];
}

/** Its numbers need all digits of a float64, so that a loss of one shows. */
export function askedModel(change: Partial<LanguageModel> = {}, onAnswer: () => void = () => undefined): AskedModel {
  const generated: number[] = [];
  const scored: number[] = [];
  const model: LanguageModel = {
    ...scriptedModel(),
    async generate(requests, settings, hooks) {
      for (const { index, tokens } of requests) {
        hooks.signal?.throwIfAborted();
        generated.push(index);
        const sum = tokens.reduce((a, b) => a + b, 0) + (settings.softPrompt?.data[0] ?? 0);
        await hooks.onResult({
          index,
          tokens: [...tokens].reverse(),
          text: `Σ ${sum} "\n\u2028 ${'x'.repeat(index % 50)}`,
          stop: index % 2 ? { reason: 'stop-string', marker: '\n' } : { reason: 'eos' },
          logProbabilities: tokens.map((token) => -Math.sqrt(token + 1) / 3),
        });
        onAnswer();
      }
    },
    async logLikelihood(requests, _settings, hooks) {
      for (const { index, context, continuation } of requests) {
        scored.push(index);
        const tokens = continuation.map((token) => -Math.sqrt(token + context.length) / 7);
        await hooks.onResult({ index, tokens, sum: tokens.reduce((a, b) => a + b, 0), greedy: index % 3 === 0 });
        onAnswer();
      }
    },
    ...change,
  };
  return { model, generated, scored };
}

export const greedy: GenerationSettings = {
  until: ['\n'],
  maxNewTokens: 8,
  temperature: 0,
  topP: 1,
  seed: 0,
  batchSize: 8,
  softPrompt: null,
};

export const promptOf = (index: number): number[] => [1, 5, index + 3, (index * 7) % 100];

/** Asks for a range of items. @returns results by index */
export async function generateRange(
  model: LanguageModel,
  from: number,
  to: number,
  settings: Partial<GenerationSettings> = {},
): Promise<Map<number, GenerationResult>> {
  const results = new Map<number, GenerationResult>();
  await model.generate(
    Array.from({ length: to - from }, (_, i) => ({ index: from + i, tokens: promptOf(from + i) })),
    { ...greedy, ...settings },
    {
      onResult: (result) => {
        results.set(result.index, result);
      },
    },
  );
  return results;
}

export const opened = (
  asked: AskedModel,
  storeFolder: string,
  change: { limitBytes?: number; lookUp?: boolean } = {},
): ResponseCache =>
  openResponseCache(asked.model, versions, { storeFolder, limitBytes: 2 ** 30, lookUp: true, ...change });
