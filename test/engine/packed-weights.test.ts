import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Decoder } from '../../src/engine/decoder.ts';
import { packedFolder } from '../../src/engine/packed-weights.ts';
import { openModelFiles } from '../../src/model/index.ts';

let work: string;
let folder: string;
let model: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'softbench-packed-'));
  folder = join(work, 'packed');
  model = join(work, 'model');
  cpSync(join(import.meta.dirname, '../fixtures/models/llama-optimum'), model, { recursive: true });
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

const tokens = [7, 70, 12, 305, 44];

/** Logits behind `tokens`, with weights packed on disk (`kept`) or not at all. */
async function logits(limits: { smallest: number; most: number } | null): Promise<number[]> {
  const decoder = await Decoder.open(openModelFiles(model), {
    provider: { asked: 'cpu', running: 'cpu', reason: '', threads: 1 },
    padTokenId: 0,
    vocabularySize: 512,
    hiddenSize: 64,
    contextLength: 128,
    ...(limits ? { packedWeights: { folder, ...limits } } : { prepack: false }),
  });
  await decoder.prepare(1000);
  const cache = decoder.newCache(1, 8);
  cache.addRow();
  const [found] = await decoder.read(cache, 0, [tokens], [{ row: 0, position: 4 }], { logits: true });
  await decoder.close();
  return [...(found?.logits ?? [])];
}
const kept = { smallest: 0, most: 1e9 };
const entries = (): string[] => readdirSync(folder).sort();

describe('packed weights on disk', () => {
  it('are written once, and give what the weights in the file give', async () => {
    const plain = await logits(null);
    expect(plain).toHaveLength(512);
    const close = (found: number[]): void => {
      for (const [index, value] of found.entries()) expect(Math.abs(value - (plain[index] ?? 0))).toBeLessThan(1e-5);
    };
    close(await logits(kept));
    const [entry, ...others] = entries();
    expect(others).toEqual([]);
    const file = join(folder, entry ?? '', 'weights.bin');
    const { mtimeMs, ino } = statSync(file);
    close(await logits(kept));
    expect(statSync(file)).toMatchObject({ mtimeMs, ino });
  });

  it('are made anew for changed weights, and where they are damaged', async () => {
    const first = await logits(kept);
    const [entry = ''] = entries();
    writeFileSync(join(folder, entry, 'graph.onnx'), 'not a graph');
    expect(await logits(kept)).toEqual(first);
    expect(entries()).toEqual([entry]);
    utimesSync(join(model, 'model.onnx'), new Date(), new Date(1_000_000));
    expect(await logits(kept)).toEqual(first);
    expect(entries()).toHaveLength(2);
  });

  it('make room by what was longest unused', async () => {
    await logits(kept);
    const [old = ''] = entries();
    const bytes = readdirSync(join(folder, old)).reduce((sum, file) => sum + statSync(join(folder, old, file)).size, 0);
    utimesSync(join(model, 'model.onnx'), new Date(), new Date(1_000_000));
    await logits({ smallest: 0, most: bytes * 1.5 });
    expect(entries()).toHaveLength(1);
    expect(entries()).not.toContain(old);
  });

  it('are not kept of small models, nor where nothing can be written', async () => {
    const plain = await logits({ smallest: 1e9, most: 1e10 });
    expect(() => entries()).toThrow();
    writeFileSync(folder, 'a file in the way');
    expect(await logits(kept)).toEqual(plain);
  });

  it('lie where the system keeps caches, or where a person says', () => {
    expect(packedFolder({ SOFTBENCH_CACHE: '/big' }, 'linux')).toBe(join('/big', 'packed'));
    expect(packedFolder({ SOFTBENCH_CACHE: 'off' }, 'linux')).toBeNull();
    expect(packedFolder({ XDG_CACHE_HOME: '/c' }, 'linux')).toBe(join('/c', 'softbench', 'packed'));
    expect(packedFolder({ LOCALAPPDATA: 'L' }, 'win32')).toBe(join('L', 'softbench', 'packed'));
    expect(packedFolder({}, 'darwin')).toContain(join('Library', 'Caches'));
  });
});
