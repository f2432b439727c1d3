// What decides whether a response is taken from the cache, and that it is the response that was computed.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GenerationSettings, LanguageModel, LogLikelihoodResult } from '../../src/evaluate/language-model.ts';
import { openResponseCache } from '../../src/responses/index.ts';
import { type AskedModel, askedModel, generateRange, greedy, opened, promptOf, versions } from './asked.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-responses-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Generates ten items through a cache of its own. @returns how many reached the model, and the results */
async function generateTen(settings: Partial<GenerationSettings> = {}, asked: AskedModel = askedModel()) {
  const before = asked.generated.length;
  const cache = opened(asked, folder);
  const results = await generateRange(cache.model, 0, 10, settings);
  cache.close();
  expect(cache.problems()).toEqual([]);
  return { computed: asked.generated.length - before, results, counts: cache.counts() };
}

const softPrompt = (value: number, position?: 'prefix' | 'suffix') => ({
  vectors: 1,
  hiddenSize: 4,
  data: new Float32Array(4).fill(value),
  ...(position && { position }),
});

async function shardLines(): Promise<{ path: string; lines: string[] }> {
  const [context = ''] = await readdir(join(folder, 'responses'));
  const at = join(folder, 'responses', context);
  const name = (await readdir(at)).find((one) => one.endsWith('.jsonl')) ?? '';
  const path = join(at, name);
  return { path, lines: (await readFile(path, 'utf8')).split('\n').slice(0, -1) };
}

describe('generations', () => {
  it('are computed once and then come from the disk, to the last digit', async () => {
    const first = await generateTen();
    const second = await generateTen();
    expect(first).toMatchObject({ computed: 10, counts: { cached: 0, computed: 10 } });
    expect(second).toMatchObject({ computed: 0, counts: { cached: 10, computed: 0 } });
    expect(second.results).toEqual(first.results);
  });

  it('do not depend on how many are computed at a time, nor on which others are asked for', async () => {
    await generateTen();
    expect((await generateTen({ batchSize: 1 })).computed).toBe(0);
    const asked = askedModel();
    const cache = opened(asked, folder);
    await generateRange(cache.model, 7, 14);
    expect(asked.generated).toEqual([10, 11, 12, 13]);
    cache.close();
  });

  it.each([
    ['another stop marker', { until: ['\n\n'] }],
    ['another length', { maxNewTokens: 9 }],
    ['a soft prompt', { softPrompt: softPrompt(1) }],
    ['sampling', { temperature: 0.5 }],
  ])('are computed again with %s', async (_, settings) => {
    await generateTen();
    expect((await generateTen(settings)).computed).toBe(10);
    expect((await generateTen(settings)).computed).toBe(0);
    expect((await generateTen()).computed).toBe(0);
  });

  it('go by the vectors of a soft prompt and by where it stands', async () => {
    expect((await generateTen({ softPrompt: softPrompt(1) })).computed).toBe(10);
    expect((await generateTen({ softPrompt: softPrompt(1, 'prefix') })).computed).toBe(0);
    expect((await generateTen({ softPrompt: softPrompt(1, 'suffix') })).computed).toBe(10);
    expect((await generateTen({ softPrompt: softPrompt(2) })).computed).toBe(10);
  });

  it('without sampling do not go by seed and top-p; with it they do', async () => {
    await generateTen();
    expect((await generateTen({ seed: 5, topP: 0.3 })).computed).toBe(0);
    await generateTen({ temperature: 1, seed: 1 });
    expect((await generateTen({ temperature: 1, seed: 1 })).computed).toBe(0);
    expect((await generateTen({ temperature: 1, seed: 2 })).computed).toBe(10);
    expect((await generateTen({ temperature: 1, seed: 1, topP: 0.9 })).computed).toBe(10);
  });

  it('sampled for two items with the same prompt are two outputs: each has its own stream of random numbers', async () => {
    const ask = async (temperature: number): Promise<number[]> => {
      const asked = askedModel();
      const cache = opened(asked, folder);
      const requests = [3, 4].map((index) => ({ index, tokens: promptOf(0) }));
      const seen: number[] = [];
      await cache.model.generate(
        requests,
        { ...greedy, temperature },
        { onResult: ({ index }) => void seen.push(index) },
      );
      cache.close();
      expect(seen).toEqual([3, 4]);
      return asked.generated;
    };
    expect(await ask(1)).toEqual([3, 4]);
    expect(await ask(1)).toEqual([]);
    // Greedily they are one and the same.
    expect(await ask(0)).toEqual([3]);
    expect(await ask(0)).toEqual([]);
  });

  it('sampled without a fixed seed are never kept', async () => {
    const settings = { temperature: 1, seed: Number.NaN };
    await generateTen(settings);
    const again = await generateTen(settings);
    expect(again).toMatchObject({ computed: 10, counts: { cached: 0, computed: 10 } });
    expect(await readdir(folder)).toEqual([]);
  });

  it.each<[string, () => Partial<LanguageModel>]>([
    ['weights', () => ({ identity: identityWith('weights') })],
    ['a graph', () => ({ identity: identityWith('graph') })],
    ['a tokenizer', () => ({ identity: identityWith('tokenizer') })],
    ['a configuration', () => ({ identity: identityWith('config') })],
    ['a provider', () => ({ provider: { ...askedModel().model.provider, running: 'cuda' } })],
  ])('of a model with %s of its own are its own', async (_, change) => {
    await generateTen();
    expect((await generateTen({}, askedModel(change()))).computed).toBe(10);
  });

  it('of another version of ONNX Runtime or of the engine are computed again; the name of the model does not count', async () => {
    await generateTen();
    for (const other of [
      { ...versions, onnxruntime: '2' },
      { ...versions, engine: 2 },
    ]) {
      const asked = askedModel();
      const cache = openResponseCache(asked.model, other, { storeFolder: folder, limitBytes: 2 ** 30, lookUp: true });
      await generateRange(cache.model, 0, 10);
      cache.close();
      expect(asked.generated).toHaveLength(10);
    }
    const { identity } = askedModel().model;
    const moved = askedModel({ identity: { ...identity, name: 'renamed', folder: '/elsewhere' } });
    expect((await generateTen({}, moved)).computed).toBe(0);
  });

  it('are kept but not looked up where that is asked for', async () => {
    await generateTen();
    const asked = askedModel();
    const cache = opened(asked, folder, { lookUp: false });
    await generateRange(cache.model, 0, 10);
    cache.close();
    expect(asked.generated).toHaveLength(10);
    expect((await generateTen()).computed).toBe(0);
  });
});

const identityWith = (part: 'graph' | 'weights' | 'tokenizer' | 'config') => {
  const { identity } = askedModel().model;
  return { ...identity, digests: { ...identity.digests, [part]: 'another' } };
};

describe('log-likelihoods', () => {
  const score = async (
    requests: { context: number[]; continuation: number[] }[],
    model = askedModel(),
  ): Promise<{ scored: number[]; results: LogLikelihoodResult[] }> => {
    const cache = opened(model, folder);
    const results: LogLikelihoodResult[] = [];
    await cache.model.logLikelihood(
      requests.map((request, index) => ({ index, ...request })),
      { batchSize: 8, softPrompt: null },
      { onResult: (result) => void results.push(result) },
    );
    cache.close();
    return { scored: model.scored, results: results.sort((a, b) => a.index - b.index) };
  };

  it('go by context and continuation, and by where the one ends', async () => {
    const requests = [
      { context: [1, 2], continuation: [3] },
      { context: [1], continuation: [2, 3] },
      { context: [1, 2, 3], continuation: [4] },
    ];
    const first = await score(requests);
    const second = await score(requests);
    expect(first.scored).toEqual([0, 1, 2]);
    expect(second.scored).toEqual([]);
    expect(second.results).toEqual(first.results);
  });

  it('asked for twice in a call are computed once and answered twice', async () => {
    const same = { context: [], continuation: [7] };
    const { scored, results } = await score([same, { context: [1], continuation: [7] }, same]);
    expect(scored).toEqual([0, 1]);
    expect(results.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect({ ...results[2], index: 0 }).toEqual(results[0]);
  });

  it('that are not finite are not kept: JSON has no such numbers', async () => {
    const endless = (): AskedModel => {
      const asked = askedModel();
      asked.model.logLikelihood = async (requests, _, hooks) => {
        for (const { index } of requests) {
          asked.scored.push(index);
          await hooks.onResult({
            index,
            tokens: [-1, Number.NEGATIVE_INFINITY],
            sum: Number.NEGATIVE_INFINITY,
            greedy: false,
          });
        }
      };
      return asked;
    };
    const requests = [{ context: [1], continuation: [2, 3] }];
    await score(requests, endless());
    expect((await score(requests, endless())).results[0]?.sum).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe('a call', () => {
  it('answers what it has before it asks the model, and says meanwhile that it does', async () => {
    const first = opened(askedModel(), folder);
    await generateRange(first.model, 4, 8);
    first.close();
    const cache = opened(askedModel(), folder);
    const order: [number, boolean][] = [];
    await cache.model.generate(
      [0, 5, 1, 6].map((index) => ({ index, tokens: promptOf(index) })),
      greedy,
      { onResult: ({ index }) => void order.push([index, cache.isDelivering]) },
    );
    cache.close();
    expect(order).toEqual([
      [5, true],
      [6, true],
      [0, false],
      [1, false],
    ]);
  });

  it('that is stopped keeps what was finished', async () => {
    const controller = new AbortController();
    const asked = askedModel();
    const cache = opened(asked, folder);
    await expect(
      cache.model.generate(
        Array.from({ length: 10 }, (_, index) => ({ index, tokens: promptOf(index) })),
        greedy,
        { signal: controller.signal, onResult: ({ index }) => (index === 3 ? controller.abort() : undefined) },
      ),
    ).rejects.toThrow();
    cache.close();
    const again = askedModel();
    expect((await generateTen({}, again)).computed).toBe(6);
    expect(again.generated).toEqual([4, 5, 6, 7, 8, 9]);
  });

  it('passes on what its caller throws', async () => {
    await generateTen();
    const cache = opened(askedModel(), folder);
    const failing = cache.model.generate([{ index: 0, tokens: promptOf(0) }], greedy, {
      onResult: () => Promise.reject(new Error('no room for the item')),
    });
    await expect(failing).rejects.toThrow('no room for the item');
    cache.close();
  });

  it('computes again what was damaged on disk', async () => {
    const first = await generateTen();
    const { path, lines } = await shardLines();
    expect(lines).toHaveLength(10);
    const changed = (lines[2] ?? '').replace('Σ ', 'Σ 9');
    await writeFile(path, [...lines.slice(0, 2), changed, 'garbage', ...lines.slice(3), ''].join('\n'));
    const again = await generateTen();
    expect(again.computed).toBe(1);
    expect(again.results).toEqual(first.results);
  });

  it('leaves all else of the model as it is', async () => {
    const { model } = askedModel();
    const cache = opened({ model, generated: [], scored: [] }, folder);
    expect(cache.model.identity).toBe(model.identity);
    expect(cache.model.tokenizer.encode('a')).toEqual(model.tokenizer.encode('a'));
    expect(cache.model.contextLength).toBe(model.contextLength);
    cache.close();
  });
});
