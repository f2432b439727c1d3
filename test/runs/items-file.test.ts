import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ItemsFile } from '../../src/runs/items-file.ts';
import type { ItemRecord } from '../../src/shared/results.ts';
import { sampleItem } from './sample.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-items-'));
  path = join(folder, 'items.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const lines = (records: ItemRecord[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const range = (from: number, to: number): ItemRecord[] =>
  Array.from({ length: to - from }, (_, at) =>
    sampleItem(from + at, `${from + at} 日本 ${'x'.repeat((from + at) % 700)}`),
  );
const indexes = (records: ItemRecord[]): number[] => records.map(({ index }) => index);

describe('items of a run, read in parts', () => {
  it('are the same whichever part is asked for, in whichever order', async () => {
    const records = range(0, 3000);
    await writeFile(path, lines(records));
    const items = new ItemsFile(path);
    // Behind what is known, in what is known, and across the two; the file is longer than several blocks.
    for (const [from, limit] of [
      [10, 5],
      [2500, 10],
      [0, 1],
      [2400, 300],
      [2999, 5],
      [3000, 5],
    ] as const)
      expect(await items.read(from, { limit })).toEqual(records.slice(from, from + limit));
    expect(await items.read()).toEqual(records);
    expect(await items.count()).toBe(3000);
    expect(await items.find(1234)).toEqual(records[1234]);
    expect(await items.find(3000)).toBeNull();
    expect(await new ItemsFile(path).find(2999)).toEqual(records[2999]);
  });

  it('are the same when several ask at once', async () => {
    const records = range(0, 2000);
    await writeFile(path, lines(records));
    const items = new ItemsFile(path);
    const [all, end, count, one] = await Promise.all([items.read(), items.read(1500), items.count(), items.find(700)]);
    expect(all).toEqual(records);
    expect(end).toEqual(records.slice(1500));
    expect(count).toBe(2000);
    expect(one).toEqual(records[700]);
    expect(await items.read(1999)).toEqual(records.slice(1999));
  });

  it('are few where they are long', async () => {
    const records = [0, 1, 2, 3].map((index) => sampleItem(index, 'y'.repeat(index === 1 ? 5_000_000 : 10)));
    await writeFile(path, lines(records));
    const items = new ItemsFile(path);
    expect(indexes(await items.read(0, { limit: 100, bytes: 100_000 }))).toEqual([0, 1]);
    expect(indexes(await items.read(2, { limit: 100, bytes: 100_000 }))).toEqual([2, 3]);
    expect((await items.find(1))?.output).toHaveLength(5_000_000);
  });

  it('grow with the file; half a line is none yet', async () => {
    const items = new ItemsFile(path);
    expect(await items.read()).toEqual([]);
    expect(await items.count()).toBe(0);
    const text = lines(range(0, 3));
    await writeFile(path, text.slice(0, -7));
    expect(await items.count()).toBe(2);
    await appendFile(path, text.slice(-7));
    expect(indexes(await items.read(2))).toEqual([2]);
    await appendFile(path, lines(range(3, 5)));
    expect(indexes(await items.read(1))).toEqual([1, 2, 3, 4]);
  });

  it('leave broken lines out, and take what a resumed run writes in place of garbage', async () => {
    const newer = `${JSON.stringify({ ...sampleItem(9), schema: 2 })}\n`;
    const good = `${lines(range(0, 1))}{"schema": 1, "ind\n${newer}${lines(range(1, 3))}`;
    await writeFile(path, `${good}${'\0'.repeat(64)}\n`);
    const items = new ItemsFile(path);
    expect(indexes(await items.read())).toEqual([0, 1, 2]);
    expect(await items.count()).toBe(3);
    await truncate(path, Buffer.byteLength(good));
    await appendFile(path, lines(range(3, 6)));
    expect(indexes(await items.read(3))).toEqual([3, 4, 5]);
    expect(indexes(await items.read(1, { limit: 2 }))).toEqual([1, 2]);
  });

  it('begin afresh where the file has become shorter, and are the last of those with one index', async () => {
    await writeFile(path, lines(range(0, 50)));
    const items = new ItemsFile(path);
    expect(await items.count()).toBe(50);
    const again = { ...sampleItem(0), gold: 'dog' };
    await writeFile(path, lines([...range(0, 2), again]));
    expect(await items.count()).toBe(3);
    expect((await items.find(0))?.gold).toBe('dog');
  });
});
