import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LanguageModel } from '../../src/evaluate/index.ts';
import type { EngineSettings } from '../../src/shared/protocol.ts';
import { ModelShelf } from '../../src/worker/shelf.ts';
import { scriptedModel } from '../evaluate/scripted.ts';

const engine: EngineSettings = { executionProvider: 'cpu', threads: 1 };
let root: string;
let opened: string[];
let closed: string[];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'softbench-shelf-'));
  opened = [];
  closed = [];
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** A folder with `kilobytes` of model in it. */
async function folder(name: string, kilobytes: number): Promise<string> {
  const path = join(root, name);
  await mkdir(path);
  await writeFile(join(path, 'model.onnx'), Buffer.alloc(kilobytes * 1024));
  return path;
}

const shelf = (kilobytes: number): ModelShelf =>
  new ModelShelf(async (path): Promise<LanguageModel> => {
    const name = path.slice(root.length + 1);
    opened.push(name);
    return {
      ...scriptedModel(),
      close: async () => {
        closed.push(name);
      },
    };
  }, kilobytes * 1024);

describe('the shelf of open models', () => {
  it('opens a model once for two that ask at the same time, and keeps it for the next', async () => {
    const a = await folder('a', 10);
    const models = shelf(100);
    const [one, two] = await Promise.all([models.borrow(a, engine), models.borrow(a, engine)]);
    expect(one.model).toBe(two.model);
    await one.giveBack();
    await two.giveBack();
    await (await models.borrow(a, engine)).giveBack();
    expect([opened, closed]).toEqual([['a'], []]);
    await models.release();
    expect(closed).toEqual(['a']);
  });

  it('closes those that were used longest ago where memory is short, but none in use', async () => {
    const [a, b, c, d] = await Promise.all([folder('a', 40), folder('b', 40), folder('c', 40), folder('d', 90)]);
    const models = shelf(100);
    const first = await models.borrow(a, engine);
    await (await models.borrow(b, engine)).giveBack();
    await (await models.borrow(c, engine)).giveBack();
    expect(closed).toEqual(['b']);
    await first.giveBack();
    await (await models.borrow(d, engine)).giveBack();
    expect(closed).toEqual(['b', 'c', 'a']);
  });

  it('opens a model anew whose files or settings have changed', async () => {
    const a = await folder('a', 10);
    const models = shelf(100);
    const held = await models.borrow(a, engine);
    await writeFile(join(a, 'model.onnx'), Buffer.alloc(20 * 1024));
    await (await models.borrow(a, engine)).giveBack();
    // The old one is still in use: it is closed when it comes back.
    expect([opened, closed]).toEqual([['a', 'a'], []]);
    await held.giveBack();
    expect(closed).toEqual(['a']);
    await (await models.borrow(a, { ...engine, threads: 2 })).giveBack();
    expect(opened).toEqual(['a', 'a', 'a']);
  });

  it('survives a model that cannot be opened', async () => {
    const models = new ModelShelf(() => Promise.reject(new Error('broken')));
    await expect(models.borrow(join(root, 'none'), engine)).rejects.toThrow('broken');
    await expect(models.borrow(join(root, 'none'), engine)).rejects.toThrow('broken');
    await models.release();
  });
});
