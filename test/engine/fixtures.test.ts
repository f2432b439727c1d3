/** Every model folder of test/fixtures/models, as its exporter wrote it, against its PyTorch reference. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyModel } from '../../src/engine/index.ts';

const models = join(import.meta.dirname, '../fixtures/models');
const folders = readdirSync(models, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'make')
  .map(({ name }) => name);

/** Folders that hold so far; this list only grows. */
const holding = new Set([
  'gemma-optimum',
  'gpt2-2024-o2',
  'gpt2-dynamo',
  'gpt2-dynamo-nopast',
  'gpt2-merged',
  'gpt2-nopast',
  'gpt2-optimum',
  'gpt2-ort-attention',
  'gpt2-ortopt-o2',
  'gptneox-2024',
  'gptneox-optimum',
  'gptneox-ort-all',
  'llama-2024-merged',
  'llama-2024-o3',
  'llama-dynamo',
  'llama-dynamo-opset23',
  'llama-genai-fp32',
  'llama-genai-fp32-mha',
  'llama-merged',
  'llama-nopast',
  'llama-optimum',
  'llama-ort-extended',
  'llama-ortopt-o3',
  'qwen2-dynamo-eager',
  'qwen2-optimum-external',
]);

describe('the fixtures of every exporter', () => {
  it('are 31 folders', () => expect(folders).toHaveLength(31));
  for (const folder of folders)
    it.runIf(holding.has(folder))(
      folder,
      async () => {
        const report = await verifyModel(join(models, folder), { executionProvider: 'cpu', threads: 2 });
        expect(report.reason).toBeNull();
        expect(report.ok).toBe(true);
        expect(report.gradient?.relative_error).toBeLessThanOrEqual(1e-4);
        expect(report.generation?.equal).toBe(report.generation?.compared);
      },
      60_000,
    );
});
