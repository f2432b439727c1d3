/** Every model folder of test/fixtures/models, as its exporter wrote it, against its PyTorch reference. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyModel } from '../../src/engine/index.ts';

const models = join(import.meta.dirname, '../fixtures/models');
const folders = readdirSync(models, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'make')
  .map(({ name }) => name);

describe('the fixtures of every exporter', () => {
  it('are 38 folders', () => expect(folders).toHaveLength(38));
  for (const folder of folders)
    it(folder, async () => {
      const report = await verifyModel(join(models, folder), { executionProvider: 'cpu', threads: 2 });
      expect(report.reason).toBeNull();
      expect(report.ok).toBe(true);
      expect(report.gradient?.relative_error).toBeLessThanOrEqual(1e-4);
      expect(report.generation?.equal).toBe(report.generation?.compared);
    }, 60_000);
});
