import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Drafter, mostProposed, proposals } from '../../src/engine/drafts.ts';
import { type OnnxLanguageModel, openLanguageModel } from '../../src/engine/index.ts';
import type { GenerationResult, GenerationSettings } from '../../src/evaluate/language-model.ts';

describe('proposals out of a text', () => {
  it('are what stood behind the last two tokens before', () => {
    const drafter = new Drafter([1, 2, 3, 4, 5, 1, 2]);
    expect(drafter.propose(3)).toEqual([3, 4, 5]);
    expect(drafter.propose(6)).toEqual([3, 4, 5, 1, 2, 3]);
    drafter.push(9);
    expect(drafter.propose(3)).toEqual([]);
    expect(new Drafter([1]).propose(3)).toEqual([]);
    expect(new Drafter([7, 7, 7]).propose(4)).toEqual([7, 7, 7, 7]);
  });

  it('take the latest place', () => {
    expect(new Drafter([1, 2, 3, 1, 2, 4, 1, 2]).propose(2)).toEqual([4, 1]);
  });

  it('grow where they are kept and stop where they are not', () => {
    const drafter = new Drafter([1, 2, 1, 2, 1, 2]);
    const rooms = [100];
    const before = proposals([drafter], rooms);
    expect(before).toBeGreaterThan(0);
    for (let run = 0; run < 20; run++) drafter.note(3, 3);
    expect(proposals([drafter], rooms)).toBe(mostProposed);
    for (let run = 0; run < 20; run++) drafter.note(3, 0);
    expect(proposals([drafter], rooms)).toBe(0);
    expect(proposals([drafter], [0])).toBe(0);
    // and begin again after a while
    for (let run = 0; run < 300; run++) drafter.note(0, 0);
    expect(proposals([drafter], rooms)).toBeGreaterThan(0);
  });

  it('are few in large batches, whose rows cost more than they save', () => {
    const one = new Drafter([1, 2, 1, 2]);
    const many = Array.from({ length: 32 }, () => new Drafter([1, 2, 1, 2]));
    expect(
      proposals(
        many,
        many.map(() => 50),
      ),
    ).toBeLessThan(proposals([one], [50]));
  });
});

describe('generation with proposals gives what single tokens give', () => {
  let model: OnnxLanguageModel;
  beforeAll(async () => {
    model = await openLanguageModel(join(import.meta.dirname, '../../examples/models/stories260k'), {
      executionProvider: 'cpu',
      threads: 1,
    });
  });
  afterAll(() => model.close());

  const run = async (drafts: boolean, settings: Partial<GenerationSettings>) => {
    const decoder = await model.decoder();
    let runs = 0;
    const read = decoder.read.bind(decoder);
    decoder.read = (...given) => {
      runs++;
      return read(...given);
    };
    if (!drafts) decoder.drafts = async () => false;
    try {
      const results: GenerationResult[] = [];
      const tokens: number[] = [];
      const texts = [
        'Once upon a time, there was a little girl',
        'Tom had a red ball. Tom had a red',
        'One day',
        'One day',
      ];
      await model.generate(
        texts.map((text, index) => ({ index, tokens: model.tokenizer.encode(text, { special: true }) })),
        { until: [], maxNewTokens: 120, temperature: 0, topP: 1, seed: 3, batchSize: 4, softPrompt: null, ...settings },
        { onResult: (result) => void results.push(result), onTokens: (count) => void tokens.push(count) },
      );
      results.sort((a, b) => a.index - b.index);
      expect(tokens.at(-1)).toBe(results.reduce((sum, result) => sum + result.tokens.length, 0));
      return { results, runs };
    } finally {
      Reflect.deleteProperty(decoder, 'read');
      Reflect.deleteProperty(decoder, 'drafts');
    }
  };

  it.each<Partial<GenerationSettings>>([
    {},
    { batchSize: 1 },
    { batchSize: 3, maxNewTokens: 17 },
    { until: ['. She', 'ball'] },
    { temperature: 0.7, topP: 0.95 },
    { temperature: 1, batchSize: 1 },
  ])('%j', async (settings) => {
    const [with_, without] = [await run(true, settings), await run(false, settings)];
    if (settings.until) expect(with_.runs).toBeLessThanOrEqual(without.runs);
    else expect(with_.runs).toBeLessThan(without.runs);
    for (const [index, { tokens, text, stop, logProbabilities }] of with_.results.entries()) {
      const expected = without.results[index];
      expect({ tokens, text, stop }).toEqual({ tokens: expected?.tokens, text: expected?.text, stop: expected?.stop });
      for (const [at, value] of logProbabilities.entries())
        expect(Math.abs(value - (expected?.logProbabilities[at] ?? Number.NaN))).toBeLessThan(1e-4);
    }
  });
});
