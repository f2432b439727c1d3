/**
 * Models on WebGPU against PyTorch's references, where WebGPU runs: on a GPU, or on a software Vulkan device (Mesa's
 * lavapipe, SwiftShader), which computes slowly. Skipped elsewhere.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLanguageModel, providerStatuses, verifyModel } from '../../src/engine/index.ts';

const engine = { executionProvider: 'webgpu', threads: 0 } as const;
const models = join(import.meta.dirname, '../fixtures/models');
const runs = (await providerStatuses()).some(({ name, runs }) => name === 'webgpu' && runs);

// A LayerNorm, and an RMS norm, whose kernel on WebGPU has a wrong second output (onnxruntime-node 1.30.0).
for (const name of ['gpt2-2024-o2', 'llama-optimum'])
  it.runIf(runs)(
    `${name} computes what PyTorch computes`,
    async () => {
      const report = await verifyModel(join(models, name), engine);
      expect(report.reason).toBeNull();
      expect(report.gradient?.relative_error).toBeLessThan(1e-4);
      expect(report.generation?.equal).toBe(report.generation?.compared);
    },
    300_000,
  );

it.runIf(runs)(
  'which nodes the CPU computed is said',
  async () => {
    const model = await openLanguageModel(join(models, 'gpt2-2024-o2'), engine);
    expect(model.provider.nodes).toBeUndefined();
    const decoder = await model.decoder();
    await decoder.read(null, 0, [[5, 6, 7]], [{ row: 0, position: 2 }]);
    const [placement] = model.provider.nodes ?? [];
    expect(placement?.graph).toBe('inference');
    expect(placement?.nodes).toBeGreaterThan(placement?.cpuNodes ?? 0);
    expect(Object.values(placement?.cpuOperators ?? {}).reduce((sum, count) => sum + count, 0)).toBe(
      placement?.cpuNodes,
    );
    expect(placement?.cpuOperators).not.toHaveProperty('MatMul');
    await model.close();
  },
  300_000,
);
