/** A model as it lies in the Hugging Face cache, where every file is a link to a blob of another name. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { inspectModel, verifyModel } from '../../src/engine/index.ts';

const models = join(import.meta.dirname, '../fixtures/models');
const root = mkdtempSync(join(tmpdir(), 'softbench-cache-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Lays a fixture out as huggingface_hub does, and gives its snapshot's folder. */
function cached(name: string): string {
  const repository = join(root, `models--owner--${name}`);
  const snapshot = join(repository, 'snapshots', '0123456789abcdef0123456789abcdef01234567');
  mkdirSync(join(repository, 'blobs'), { recursive: true });
  mkdirSync(snapshot, { recursive: true });
  for (const [at, file] of readdirSync(join(models, name)).entries()) {
    cpSync(join(models, name, file), join(repository, 'blobs', `blob-${at}`));
    symlinkSync(join('..', '..', 'blobs', `blob-${at}`), join(snapshot, file));
  }
  return snapshot;
}

// Windows lets only some users make links; huggingface_hub then copies.
describe.skipIf(process.platform === 'win32')('a folder of links', () => {
  it.each([
    ['llama-optimum', 'its weights in the graph file'],
    ['qwen2-optimum-external', 'its weights beside it'],
  ])('%s runs, %s', async (name) => {
    const folder = cached(name);
    const report = await verifyModel(folder, { executionProvider: 'cpu', threads: 1 });
    expect(report.reason).toBeNull();
    expect(report.gradient?.relative_error).toBeLessThanOrEqual(1e-4);
    const [linked, plain] = [await inspectModel(folder), await inspectModel(join(models, name))];
    expect({ ...linked, folder: plain.folder, name: plain.name }).toEqual(plain);
  });
});
