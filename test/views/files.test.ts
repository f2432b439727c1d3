import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyUnlessChanged } from '../../src/views/copy.ts';
import { isModelFolder, modelFoldersIn } from '../../src/views/find-models.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'softbench-views-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function put(name: string, text = ''): Promise<void> {
  await mkdir(dirname(join(root, name)), { recursive: true });
  await writeFile(join(root, name), text);
}
const textOf = (name: string): Promise<string> => readFile(join(root, name), 'utf8');

describe('finding model folders', () => {
  it('goes by the files in them', async () => {
    await put('plain/config.json');
    await put('plain/model.onnx');
    await put('nested/config.json');
    await put('nested/onnx/model_fp16.onnx');
    await put('weights/config.json');
    await put('weights/model.safetensors');
    expect(await isModelFolder(join(root, 'plain'))).toBe(true);
    expect(await isModelFolder(join(root, 'nested'))).toBe(true);
    expect(await isModelFolder(join(root, 'weights'))).toBe(false);
    expect(await isModelFolder(join(root, 'nowhere'))).toBe(false);
  });

  it('looks so deep and no deeper, and not where packages are', async () => {
    for (const folder of ['a', 'run/step-1', 'run/step-2', 'x/y/z', 'node_modules/m', '.cache/m']) {
      await put(`${folder}/config.json`);
      await put(`${folder}/model.onnx`);
    }
    expect(await modelFoldersIn(root, 2)).toEqual(['a', 'run/step-1', 'run/step-2'].map((name) => join(root, name)));
    expect(await modelFoldersIn(join(root, 'a'), 0)).toEqual([join(root, 'a')]);
  });
});

describe('copies of the examples', () => {
  const copy = (): Promise<void> => copyUnlessChanged(join(root, 'bundled'), join(root, 'storage', 'benchmarks'));

  it('bring folders along', async () => {
    await put('bundled/a.yaml', 'one');
    await put('bundled/data/a.jsonl', 'rows');
    await copy();
    expect(await textOf('storage/benchmarks/a.yaml')).toBe('one');
    expect(await textOf('storage/benchmarks/data/a.jsonl')).toBe('rows');
  });

  it('follow an update, but keep what the user has changed', async () => {
    await put('bundled/a.yaml', 'one');
    await put('bundled/b.yaml', 'two');
    await copy();
    await put('storage/benchmarks/b.yaml', 'two, edited');
    await put('bundled/a.yaml', 'one, updated');
    await put('bundled/b.yaml', 'two, updated');
    await copy();
    expect(await textOf('storage/benchmarks/a.yaml')).toBe('one, updated');
    expect(await textOf('storage/benchmarks/b.yaml')).toBe('two, edited');
  });

  it('come back when the user has deleted them', async () => {
    await put('bundled/a.yaml', 'one');
    await copy();
    await rm(join(root, 'storage/benchmarks/a.yaml'));
    await copy();
    expect(await textOf('storage/benchmarks/a.yaml')).toBe('one');
  });
});
