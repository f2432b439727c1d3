import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { automaticRows, backingOff, batchBytes, modelSizes, OutOfMemoryError } from '../../src/engine/batch-size.ts';
import { Decoder } from '../../src/engine/decoder.ts';
import { type OnnxLanguageModel, openLanguageModel } from '../../src/engine/index.ts';
import { freeBytes } from '../../src/engine/memory.ts';
import type { GenerationResult } from '../../src/evaluate/language-model.ts';

const fixtures = join(import.meta.dirname, '../fixtures/models');

describe('free memory', () => {
  const files =
    (found: Record<string, string>) =>
    (path: string): string | null =>
      found[path] ?? null;
  const system = { '/proc/meminfo': 'MemTotal:       64000000 kB\nMemFree: 100 kB\nMemAvailable:   32000000 kB\n' };

  it('is what the system has available', () => {
    expect(freeBytes(files(system))).toBe(32_000_000 * 1024);
    expect(
      freeBytes(files({ ...system, '/sys/fs/cgroup/memory.max': 'max\n', '/sys/fs/cgroup/memory.current': '5\n' })),
    ).toBe(32_000_000 * 1024);
  });

  it('or what the control group still grants, pages of files given back', () => {
    const group = {
      '/proc/self/cgroup': '0::/user.slice/job\n',
      '/sys/fs/cgroup/user.slice/job/memory.max': '4000000000\n',
      '/sys/fs/cgroup/user.slice/job/memory.current': '3000000000\n',
      '/sys/fs/cgroup/user.slice/job/memory.stat': 'anon 1000000000\ninactive_file 1500000000\nactive_file 400000000\n',
    };
    expect(freeBytes(files({ ...system, ...group }))).toBe(2_900_000_000);
    const old = {
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '2000000000\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': '500000000\n',
    };
    expect(freeBytes(files({ ...system, ...old }))).toBe(1_500_000_000);
  });

  it('is known on this machine', () => {
    expect(freeBytes()).toBeGreaterThan(1e6);
  });
});

describe('the number of rows', () => {
  // SmolLM2-135M: 30 layers × 3 key-value heads × 64 × (keys, values) × 4 bytes.
  const sizes = { cacheBytes: 46_080, hiddenSize: 576, widest: 1536, heads: 9, vocabularySize: 49_152 };
  const extent = { longest: 1000, read: 512, wanted: 1, rows: 1000 };

  it('fits into half of the free memory', () => {
    for (const free of [1e9, 2e9, 3e9]) {
      const rows = automaticRows(sizes, extent, free, 'many');
      expect(batchBytes(sizes, extent, rows, 'many')).toBeLessThanOrEqual(free / 2);
      expect(batchBytes(sizes, extent, rows + 1, 'many')).toBeGreaterThan(free / 2);
    }
    expect(automaticRows(sizes, extent, 1, 'many')).toBe(1);
  });

  it('is no larger than helps, and than there are requests', () => {
    expect(automaticRows(sizes, extent, 1e12, 'many')).toBe(32);
    expect(automaticRows(sizes, { ...extent, rows: 5 }, 1e12, 'many')).toBe(5);
    expect(automaticRows(sizes, { ...extent, longest: 500, read: 500 }, null, 'many')).toBe(8);
  });

  it("sizes are those of the model's configuration", async () => {
    const model = await openLanguageModel(join(fixtures, 'llama-optimum'), { executionProvider: 'cpu', threads: 1 });
    const { hidden_size, intermediate_size, num_hidden_layers, num_key_value_heads, num_attention_heads, vocab_size } =
      model.files.folder.config as Record<string, number>;
    const found = modelSizes(model.files.file.graph, model.files.signature.cache, {
      hiddenSize: model.hiddenSize,
      vocabularySize: vocab_size ?? 0,
    });
    const headSize = (hidden_size ?? 0) / (num_attention_heads ?? 1);
    expect(found).toEqual({
      cacheBytes: (num_hidden_layers ?? 0) * (num_key_value_heads ?? 0) * headSize * 2 * 4,
      hiddenSize: hidden_size,
      widest: intermediate_size,
      heads: num_attention_heads,
      vocabularySize: vocab_size,
    });
    await model.close();
  });
});

describe('memory that runs out', () => {
  const refused = () => new OutOfMemoryError('engine', 'The machine ran out of memory.');
  const requests = Array.from({ length: 20 }, (_, index) => ({ index }));

  it('halves the batch and goes on with what is left', async () => {
    const done: number[] = [];
    const lowered: number[] = [];
    const batches: [number, number][] = [];
    const last = await backingOff<{ index: number }, { index: number }>(
      requests,
      16,
      { onResult: ({ index }) => void done.push(index), onBatchSize: (rows) => void lowered.push(rows) },
      async (left, rows, hooks) => {
        batches.push([left.length, rows]);
        for (const request of left.slice(0, 3)) await hooks.onResult(request);
        if (rows > 4) throw refused();
        for (const request of left.slice(3)) await hooks.onResult(request);
      },
    );
    expect(batches).toEqual([
      [20, 16],
      [17, 8],
      [14, 4],
    ]);
    expect(lowered).toEqual([8, 4]);
    expect(last).toBe(4);
    expect(done).toEqual([...requests.keys()]);
  });

  it('is an error with a single row, and other errors stay what they are', async () => {
    const always = async (): Promise<void> => Promise.reject(refused());
    await expect(backingOff(requests, 4, { onResult: () => {} }, always)).rejects.toThrow(/out of memory/);
    const broken = async (): Promise<void> => Promise.reject(new Error('something else'));
    await expect(backingOff(requests, 4, { onResult: () => {} }, broken)).rejects.toThrow('something else');
  });
});

describe('a model whose memory runs out in the middle', () => {
  let model: OnnxLanguageModel;
  beforeAll(async () => {
    model = await openLanguageModel(join(fixtures, 'llama-optimum'), { executionProvider: 'cpu', threads: 1 });
  });
  afterAll(() => model.close());
  const prompts = Array.from({ length: 9 }, (_, index) => ({ index, tokens: [5, 6, 7 + index, 8] }));
  const settings = { until: [], maxNewTokens: 6, temperature: 0, topP: 1, seed: 0, softPrompt: null };
  const outputs = async (batchSize: number | 'auto', sizes: [number, boolean][] = []) => {
    const results: GenerationResult[] = [];
    await model.generate(
      prompts,
      { ...settings, batchSize },
      {
        onResult: (result) => void results.push(result),
        onBatchSize: (rows, lowered) => void sizes.push([rows, lowered]),
      },
    );
    return results.sort((a, b) => a.index - b.index).map(({ tokens }) => tokens);
  };

  it('gives the outputs of smaller batches, says so, and stays at them', async () => {
    const expected = await outputs(2);
    const read = Decoder.prototype.read;
    let runs = 0;
    const spy = vi.spyOn(Decoder.prototype, 'read').mockImplementation(function (this: Decoder, ...given) {
      // As ONNX Runtime's arena does, from the fourth run on.
      if (given[2].length > 2 && ++runs > 3) return Promise.reject(refused());
      return read.apply(this, given);
    });
    const sizes: [number, boolean][] = [];
    expect(await outputs('auto', sizes)).toEqual(expected);
    expect(sizes).toEqual([
      [9, false],
      [4, true],
      [2, true],
    ]);
    spy.mockRestore();
    const after: [number, boolean][] = [];
    await outputs('auto', after);
    expect(after).toEqual([[2, false]]);
  });
  it('reads many long rows in several runs, with the same results', async () => {
    const requests = Array.from({ length: 40 }, (_, index) => ({
      index,
      context: Array.from({ length: 90 - index }, (_, at) => 5 + ((index * 31 + at * 7) % 60)),
      continuation: [7, 8 + (index % 5)],
    }));
    const score = async (batchSize: number): Promise<number[]> => {
      const sums: number[] = [];
      const onResult = ({ index, sum }: { index: number; sum: number }): void => {
        sums[index] = sum;
      };
      await model.logLikelihood(requests, { batchSize, softPrompt: null }, { onResult });
      return sums;
    };
    const alone = await score(1);
    // Up to 40 × 91 positions.
    for (const [index, sum] of (await score(40)).entries())
      expect(Math.abs(sum - (alone[index] ?? Number.NaN))).toBeLessThan(2e-5);
  });

  const refused = () => new OutOfMemoryError('engine', 'The machine ran out of memory.');
});
