/** Graphs as they are run on a device (few shapes, no empty tensors), on the CPU and against PyTorch's references. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyModel } from '../../src/engine/index.ts';
import { providers } from '../../src/engine/providers.ts';

const models = join(import.meta.dirname, '../fixtures/models');
const { cpu, webgpu } = providers;
const asItIs = { ...cpu };
beforeAll(() => {
  Object.assign(cpu, {
    shapes: webgpu.shapes,
    emptyTensors: webgpu.emptyTensors,
    mostTrainingSessions: webgpu.mostTrainingSessions,
  });
});
afterAll(() => {
  Object.assign(cpu, asItIs);
});

describe('the shapes of a device give what PyTorch gives', () => {
  // Separate tensors with positions; without positions; a cache that must be exact; a merged decoder; older; fused; none.
  for (const name of [
    'llama-optimum',
    'gemma-optimum',
    'gpt2-dynamo',
    'gpt2-merged',
    'gptneox-2024',
    'llama-genai-fp32',
    'llama-nopast',
  ])
    it(name, async () => {
      const report = await verifyModel(join(models, name), { executionProvider: 'cpu', threads: 1 });
      expect(report.reason).toBeNull();
      expect(report.generation?.equal).toBe(report.generation?.compared);
    }, 120_000);
});
