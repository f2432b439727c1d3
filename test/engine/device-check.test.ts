/** The comparison of a device with the CPU, with devices that are wrong in different ways. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Decoder } from '../../src/engine/decoder.ts';
import { type Checked, compareWithCpu } from '../../src/engine/device-check.ts';
import { type OnnxLanguageModel, openLanguageModel } from '../../src/engine/index.ts';
import type { Distribution } from '../../src/engine/run-tensors.ts';

const settings = { provider: 'webgpu', vocabularySize: 500, contextLength: null };
let model: OnnxLanguageModel;
let cpu: Decoder;
beforeAll(async () => {
  model = await openLanguageModel(join(import.meta.dirname, '../fixtures/models/llama-optimum'), {
    executionProvider: 'cpu',
    threads: 1,
  });
  cpu = await model.decoder();
}, 60_000);
afterAll(() => model.close());

/** The CPU's decoder with its logits changed: `rows` and `cached` tell of the call that they come from. */
function device(change: (logit: number, position: number, rows: number, cached: boolean) => number): Checked {
  return {
    cached: true,
    newCache: (rows, longest) => cpu.newCache(rows, longest),
    read: async (cache, from, tokens, wanted, options) => {
      const found = await cpu.read(cache, from, tokens, wanted, options);
      return found.map(
        (one, index): Distribution => ({
          ...one,
          logits:
            one.logits?.map((logit) => change(logit, wanted[index]?.position ?? 0, tokens.length, cache !== null)) ??
            null,
        }),
      );
    },
  };
}

describe('a device', () => {
  it('is right where it differs by what half precision explains', async () => {
    const half = device((logit) => logit * (1 + 2 ** -10) + 2 ** -10);
    expect(await compareWithCpu(half, cpu, settings)).toBe('batch');
  });

  it('keeps to rows of one length where others are wrong in a batch', async () => {
    const batches = device((logit, _, rows) => (rows > 1 ? -logit : logit));
    expect(await compareWithCpu(batches, cpu, settings)).toBe('alone');
  });

  it('is refused where it is wrong from some position on, behind a cache, or not a number', async () => {
    for (const wrong of [
      device((logit, position) => (position >= 20 ? logit + 1 : logit)),
      device((logit, _, __, cached) => (cached ? 0 : logit)),
      device(() => Number.NaN),
    ])
      await expect(compareWithCpu(wrong, cpu, settings)).rejects.toThrow(
        /^The execution provider "webgpu" computes this model wrongly: its logits .* differ from the CPU's by/,
      );
  });
});
