// The cache on disk: killed, full, read-only, wanted by several processes at once, too large.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { crc32 } from '../../src/responses/crc32.ts';
import { cacheStatus, clearCache } from '../../src/responses/index.ts';
import { KeyTable } from '../../src/responses/key-table.ts';
import { bundle } from '../support/bundle.ts';
import { canMount } from '../support/mount.ts';
import { askedModel, generateRange, opened } from './asked.ts';

let program: string;
let folder: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  program = await bundle('test/responses/caching-process.ts');
});
afterAll(() => rm(dirname(program), { recursive: true, force: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-responses-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Starts a caching process. `until` looks at each line and says when to go on; the rest comes with `ended`. */
async function start(args: string[], until: (line: string) => boolean = () => false, command: string[] = []) {
  const [first = process.execPath, ...more] = [...command, process.execPath, program, folder, ...args];
  const child = spawn(first, more, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const lines: string[] = [];
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  await new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      if (until(line)) resolve();
    });
    void ended.then(resolve);
  });
  return { child, lines, ended };
}

const last = (lines: string[]): { cached: number; computed: number; answers: number; problems: string[] } =>
  JSON.parse(lines.at(-1) ?? '');

const contextFolder = (): string => {
  const [name = ''] = readdirSync(join(folder, 'responses'));
  return join(folder, 'responses', name);
};
const shards = (): string[] =>
  readdirSync(contextFolder())
    .filter((name) => name !== 'context.json')
    .sort();

async function generate(from: number, to: number, limitBytes?: number) {
  const asked = askedModel();
  const cache = opened(asked, folder, limitBytes === undefined ? {} : { limitBytes });
  const results = await generateRange(cache.model, from, to);
  cache.close();
  return { generated: asked.generated, results, problems: cache.problems() };
}

describe('a process that is killed', () => {
  it('loses no more than the last quarter of a second; what it wrote is used, and written on', async () => {
    const first = await start(['0', '400', '10'], (line) => line === '60');
    first.child.kill('SIGKILL');
    await first.ended;
    expect(shards()).toEqual([expect.stringMatching(/\.open$/)]);
    const again = await generate(0, 100);
    expect(again.results.size).toBe(100);
    // 25 of the 61 may have waited in memory; on a slow machine fewer.
    expect(again.generated.length).toBeLessThanOrEqual(100 - 36);
    // The half-finished shard was taken over: there is one file, and all of it is readable.
    expect(shards()).toEqual([expect.stringMatching(/\.jsonl$/)]);
    expect((await generate(0, 100)).generated).toEqual([]);
  });

  it('leaves half a line behind that nobody reads and the next writer cuts off', async () => {
    await generate(0, 10);
    const path = join(contextFolder(), shards()[0] ?? '');
    const whole = readFileSync(path);
    appendFileSync(path, whole.subarray(0, 50));
    const again = await generate(0, 12);
    expect(again.generated).toEqual([10, 11]);
    const lines = readFileSync(path, 'utf8').split('\n');
    expect(lines).toHaveLength(13);
    expect(new Set(lines.slice(0, -1).map((line) => line.slice(0, 32))).size).toBe(12);
  });
});

describe('two processes', () => {
  it('write at the same time, each to a shard of its own, and nothing of either is lost', async () => {
    const [one, other] = await Promise.all([
      start(['0', '300', '5'], (line) => line === '100'),
      start(['250', '550', '5'], (line) => line === '350'),
    ]);
    expect(shards()).toHaveLength(2);
    await Promise.all([one.ended, other.ended]);
    for (const { lines } of [one, other]) expect(last(lines)).toMatchObject({ answers: 300, problems: [] });
    const both = await generate(0, 550);
    expect(both.generated).toEqual([]);
    expect(both.results.size).toBe(550);
  });

  it('read what the other has finished so far', async () => {
    const one = await start(['0', '1000', '20'], (line) => line === '50');
    const meanwhile = await generate(0, 20);
    expect(meanwhile.generated).toEqual([]);
    one.child.kill('SIGKILL');
    await one.ended;
  });

  it('one of which clears the cache while the other writes: that one goes on', async () => {
    await generate(500, 600);
    const one = await start(['0', '100', '10'], (line) => line === '40');
    clearCache(folder);
    await one.ended;
    expect(last(one.lines)).toMatchObject({ answers: 100, problems: [] });
  });
});

describe('a disk', () => {
  it.skipIf(process.platform === 'win32')(
    'that takes no more stops the keeping, with a message; every answer arrives, and what was kept is sound',
    async () => {
      // The system's limit on the size of a file (in KiB) stands for a full disk.
      const { lines, ended } = await start(['0', '600'], undefined, [
        'bash',
        '-c',
        'ulimit -f 48; exec "$@"',
        'limited',
      ]);
      await ended;
      const { answers, computed, problems } = last(lines);
      expect({ answers, computed }).toEqual({ answers: 600, computed: 600 });
      expect(problems).toEqual([
        expect.stringMatching(/response cache in .* could not be written .* went on without it/),
      ]);
      const again = await generate(0, 600);
      expect(again.problems).toEqual([]);
      expect(again.results.size).toBe(600);
    },
  );

  it.skipIf(!canMount)('that is full: the cache gives its room to the run (needs the right to mount)', async () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]);
    try {
      const cache = opened(askedModel(), disk);
      const results = await generateRange(cache.model, 0, 3000);
      cache.close();
      expect(results.size).toBe(3000);
      expect(cache.problems()).toEqual([expect.stringMatching(/the disk is full.*emptied to make room/)]);
      expect(cacheStatus(disk).bytes).toBe(0);
      writeFileSync(join(disk, 'items.jsonl'), Buffer.alloc(200 * 1024));
    } finally {
      execFileSync('umount', [disk]);
    }
  });

  it('where a file is in the way: the run goes on, and says so once', async () => {
    writeFileSync(join(folder, 'responses'), '');
    const { results, problems } = await generate(0, 300);
    expect(results.size).toBe(300);
    expect(problems).toHaveLength(1);
  });

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('that is read-only is read', async () => {
    await generate(0, 10);
    chmodSync(contextFolder(), 0o500);
    const { generated, results } = await generate(0, 12);
    chmodSync(contextFolder(), 0o700);
    expect(generated).toEqual([10, 11]);
    expect(results.size).toBe(12);
  });
});

describe('the limit', () => {
  it('removes what was longest unused, and keeps what was used since', async () => {
    // Shards of 4 KiB, the least.
    await generate(0, 80, 32 * 1024);
    const files = shards();
    expect(files.length).toBeGreaterThan(3);
    for (const [age, name] of [...files].reverse().entries()) {
      const time = new Date(Date.now() - 60_000 * (age + 1));
      utimesSync(join(contextFolder(), name), time, time);
    }
    const oldest = join(contextFolder(), files[0] ?? '');
    const second = join(contextFolder(), files[1] ?? '');
    // The oldest is used now: it becomes the newest.
    await generate(0, 1);
    const used = statSync(oldest).mtimeMs > statSync(second).mtimeMs ? oldest : null;
    const total = cacheStatus(folder).bytes;
    await generate(0, 1, total - 1);
    expect(cacheStatus(folder).bytes).toBeLessThan(total);
    if (used) {
      expect(existsSync(oldest)).toBe(true);
      expect(existsSync(second)).toBe(false);
    }
  });

  it('holds over all models of a store, also while one run writes more than fits', async () => {
    const limit = 32 * 1024;
    await generate(0, 2000, limit);
    expect(cacheStatus(folder).bytes).toBeLessThanOrEqual(limit);
  });

  it('a status says what is there; clearing removes it all but what is being written', async () => {
    await generate(0, 50);
    const status = cacheStatus(folder);
    expect(status).toMatchObject({ files: 1, contexts: [{ model: 'scripted', provider: 'cpu' }] });
    expect(status.bytes).toBe(statSync(join(contextFolder(), shards()[0] ?? '')).size);
    expect(clearCache(folder)).toEqual({ freed: status.bytes, inUse: 0, failed: 0 });
    expect(cacheStatus(folder)).toMatchObject({ bytes: 0, files: 0, contexts: [] });
    expect((await generate(0, 50)).generated).toHaveLength(50);

    const one = await start(['100', '200', '20'], (line) => line === '115');
    expect(clearCache(folder).inUse).toBe(1);
    one.child.kill('SIGKILL');
    await one.ended;
    expect(clearCache(folder).inUse).toBe(0);
  });

  it('of a store without a cache is no matter', () => {
    expect(cacheStatus(folder)).toMatchObject({ bytes: 0, contexts: [] });
    expect(clearCache(folder)).toEqual({ freed: 0, inUse: 0, failed: 0 });
  });

  it('says what could not be removed, which is not what is in use', async () => {
    await generate(0, 5);
    const { bytes } = cacheStatus(folder);
    mkdirSync(join(contextFolder(), 'stays.jsonl'));
    expect(clearCache(folder)).toEqual({ freed: bytes, inUse: 0, failed: 1 });
  });
});

describe('a shard of another process', () => {
  it('whose process is gone is taken over; one on another machine is left alone for a day', async () => {
    await generate(0, 10);
    const file = join(contextFolder(), shards()[0] ?? '');
    const foreign = file.replace(/\.jsonl$/, '.00000000-77.open');
    renameSync(file, foreign);
    expect((await generate(0, 11)).generated).toEqual([10]);
    expect(shards()).toHaveLength(2);
    const longAgo = new Date(Date.now() - 25 * 3_600_000);
    utimesSync(foreign, longAgo, longAgo);
    rmSync(join(contextFolder(), shards().find((name) => name.endsWith('.jsonl')) ?? ''));
    expect((await generate(20, 21)).generated).toEqual([20]);
    expect(shards()).toEqual([expect.stringMatching(/\.jsonl$/)]);
  });

  it('may be any file: a folder or noise under such a name is no matter', async () => {
    await generate(0, 3);
    mkdirSync(join(contextFolder(), 'folder.jsonl'));
    writeFileSync(
      join(contextFolder(), 'noise.jsonl'),
      Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7) % 256)),
    );
    const { generated, results } = await generate(0, 5);
    expect(generated).toEqual([3, 4]);
    expect(results.size).toBe(5);
  });
});

describe('the checksum', () => {
  it('is CRC-32: the check value of its definition', () => {
    expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
    expect(crc32(Buffer.alloc(0))).toBe(0);
  });
});

describe('the table of keys', () => {
  it('finds every key that was put in, and none other, as it grows; a newer place wins', () => {
    const table = new KeyTable(4);
    const hex = (n: number): string => n.toString(16).padStart(8, '0');
    // Many keys with the same first digits: they share a place in the table.
    const key = (n: number): string => `${hex(0xfffffff0 + (n % 5))}${hex(0)}${hex(n)}${hex(0xabcdef01)}`;
    for (let n = 0; n < 1000; n++) table.set(key(n), { shard: n % 3, offset: n * 10, length: n + 1 });
    table.set(key(7), { shard: 9, offset: 1, length: 2 });
    expect(table.size).toBe(1000);
    for (let n = 0; n < 1000; n++)
      expect(table.get(key(n))).toEqual(
        n === 7 ? { shard: 9, offset: 1, length: 2 } : { shard: n % 3, offset: n * 10, length: n + 1 },
      );
    expect(table.get(key(1000))).toBeNull();
  });
});
