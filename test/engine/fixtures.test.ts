/** Every model folder of test/fixtures/models, as its exporter wrote it, against its PyTorch reference. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyModel } from '../../src/engine/index.ts';

const models = join(import.meta.dirname, '../fixtures/models');
const folders = readdirSync(models, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'make')
  .map(({ name }) => name);

/** Folders that hold so far; this list only grows. */
const holding = new Set(['gpt2-optimum', 'gptneox-2024', 'gptneox-optimum', 'llama-optimum']);

const isFloat32 = (folder: string): boolean => {
  const { graph } = JSON.parse(readFileSync(join(models, folder, 'reference.json'), 'utf8'));
  return !/int4|int8|fp16|q4/.test(folder) && graph !== null;
};

describe('the fixtures of every exporter', () => {
  it('are 31 folders', () => expect(folders).toHaveLength(31));
  for (const folder of folders)
    it.runIf(holding.has(folder))(
      folder,
      async () => {
        const report = await verifyModel(join(models, folder), { executionProvider: 'cpu', threads: 2 });
        expect(report.reason).toBeNull();
        expect(report.ok).toBe(true);
        if (isFloat32(folder)) expect(report.gradient?.relative_error).toBeLessThanOrEqual(1e-4);
        expect(report.generation?.equal).toBe(report.generation?.compared);
      },
      60_000,
    );
});
