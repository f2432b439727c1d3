/** Runs that are killed, run out of disk, or are wanted by two processes at once. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRunStore } from '../../src/runs/index.ts';
import type { HumanError } from '../../src/shared/errors.ts';
import { bundle } from '../support/bundle.ts';
import { canMount } from '../support/mount.ts';
import { sampleItem, sampleRun } from './sample.ts';

let program: string;
let host: string;
let folder: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  program = await bundle('test/runs/writing-process.ts');
  host = await bundle('test/runs/hosting-process.ts');
});
afterAll(async () => {
  for (const file of [program, host]) await rm(dirname(file), { recursive: true, force: true });
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-runs-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Starts the program; `until` looks at each printed line and says when to go on. */
async function start(args: string[], until: (line: string, lines: string[]) => boolean, file = program) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const lines: string[] = [];
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const reader = createInterface({ input: child.stdout });
  await new Promise<void>((resolve) => {
    reader.on('line', (line) => {
      lines.push(line);
      if (until(line, lines)) resolve();
    });
    void ended.then(resolve);
  });
  return {
    lines,
    kill: async (signal: NodeJS.Signals) => {
      child.kill(signal);
      if (signal === 'SIGKILL') await ended;
    },
  };
}

/** A process that nobody waits for may stay in the table as a zombie. */
function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return true;
  }
}

describe('a process that is killed while it appends', () => {
  it('loses nothing that was acknowledged, and its run goes on', async () => {
    let wanted = 0;
    for (let round = 0; round < 4; round++) {
      const id = round === 0 ? [] : [(await openRunStore(folder).list()).runs[0]?.run.id ?? ''];
      const child = await start(
        [round === 0 ? 'create' : 'reopen', folder, ...id],
        (_, lines) => lines.length > 3 + 7 * round,
      );
      await child.kill('SIGKILL');
      const acknowledged = Number(child.lines.at(-1));
      expect(acknowledged).toBeGreaterThan(wanted);
      wanted = acknowledged;

      const store = openRunStore(folder);
      const { runs, unreadable } = await store.list();
      expect(unreadable).toEqual([]);
      expect(runs).toHaveLength(1);
      expect(runs[0]?.run.status).toBe('stopped');
      expect(runs[0]?.run.message).toContain('interrupted');
      const items = await store.readItems(runs[0]?.run.id ?? '');
      expect(items.map(({ index }) => index)).toEqual(items.map((_, position) => position));
      expect(items.length).toBeGreaterThan(acknowledged);
      expect(await store.problems(runs[0]?.run.id ?? '')).toEqual([]);
    }
  });
});

describe('two processes', () => {
  it('never write to one run: the second is told who has it, and gets it when the first is dead', async () => {
    const first = await start(['create', folder], (_, lines) => lines.length > 2);
    const id = first.lines[0] ?? '';
    const second = await start(['reopen', folder, id], () => false);
    expect(second.lines).toHaveLength(1);
    expect(second.lines[0]).toMatch(/^failed: The run in .* is being written by process \d+\. Wait until/);
    await expect(openRunStore(folder).remove(id)).rejects.toThrow('is being written by process');
    expect((await openRunStore(folder).list()).runs[0]?.run.status).toBe('running');
    await first.kill('SIGKILL');
    const third = await start(['reopen', folder, id], (_, lines) => lines.length > 2);
    expect(third.lines[0]).toBe(id);
  });

  it('of which the first is a worker without its host: the second waits until it has ended', async () => {
    const first = await start([program, 'create', folder], (_, lines) => lines.length > 2, host);
    const id = first.lines[0] ?? '';
    const { pid } = JSON.parse(await readFile(join(folder, 'runs', id, 'lock.json'), 'utf8'));
    await first.kill('SIGKILL');
    expect((await openRunStore(folder).list()).runs[0]?.run.status).toBe('stopped');
    const writer = await openRunStore(folder).reopen(id);
    expect(hasEnded(pid)).toBe(true);
    const indices = writer.finishedItems.map(({ index }) => index);
    expect(indices).toEqual(indices.map((_, position) => position));
    expect(indices.length).toBeGreaterThan(Number(first.lines.at(-1)));
    await writer.close();
  });

  it('that want the same dead run: exactly one gets it', async () => {
    const store = openRunStore(folder);
    const writer = await store.create(sampleRun());
    await writer.close();
    const lock = join(writer.folder, 'lock.json');
    for (let round = 0; round < 5; round++) {
      await writeFile(lock, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), processStart: null, token: 'x' }));
      const results = await Promise.allSettled([1, 2, 3, 4].map(() => openRunStore(folder).reopen(writer.run.id)));
      const winners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(winners).toHaveLength(1);
      await winners[0]?.close();
      expect(existsSync(lock)).toBe(false);
    }
  });

  it('on different machines: silence for some minutes counts as death', async () => {
    const store = openRunStore(folder);
    const writer = await store.create(sampleRun());
    await writer.close();
    const lock = join(writer.folder, 'lock.json');
    await writeFile(lock, JSON.stringify({ pid: 1, host: 'elsewhere', processStart: null, token: 'x' }));
    await expect(store.reopen(writer.run.id)).rejects.toThrow('process 1 on elsewhere');
    const longAgo = new Date(Date.now() - 3_600_000);
    await utimes(lock, longAgo, longAgo);
    await (await store.reopen(writer.run.id)).close();
  });

  it('a writer whose lock was taken from it writes no more', async () => {
    const store = openRunStore(folder);
    const writer = await store.create(sampleRun());
    await writer.appendItem(sampleItem(0));
    await writeFile(
      join(writer.folder, 'lock.json'),
      JSON.stringify({ pid: process.ppid, host: hostname(), processStart: null, token: 'other' }),
    );
    await expect(writer.appendItem(sampleItem(1))).rejects.toThrow('was taken over by process');
    await expect(writer.update({ status: 'finished' })).rejects.toThrow('was taken over');
    await writer.close();
    expect(await store.readItems(writer.run.id)).toHaveLength(1);
    expect(existsSync(join(writer.folder, 'lock.json'))).toBe(true);
  });
});

/** A file system of `kilobytes` on `at`; false where this process may not mount. */
function mountSmall(at: string, kilobytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', at], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a disk', () => {
  it.skipIf(!canMount)(
    'that runs full gives a message, and loses no finished item (needs the right to mount)',
    async () => {
      const disk = join(folder, 'disk');
      await mkdir(disk);
      expect(mountSmall(disk, 256)).toBe(true);
      try {
        const store = openRunStore(disk);
        const writer = await store.create(sampleRun());
        let finished = 0;
        let error: HumanError | null = null;
        while (!error) {
          try {
            await writer.appendItem(sampleItem(finished, 'y'.repeat(5000)));
            finished++;
          } catch (thrown) {
            error = thrown as HumanError;
          }
        }
        expect(finished).toBeGreaterThan(5);
        expect(error.kind).toBe('disk');
        expect(error.sentence).toContain('items.jsonl: the disk is full. Free some space and resume');
        // The file ends with the last whole line.
        expect((await readFile(join(writer.folder, 'items.jsonl'), 'utf8')).endsWith('}\n')).toBe(true);
        await expect(
          writer.saveSoftPrompt({ vectors: 1, hiddenSize: 60_000, data: new Float32Array(60_000) }, {}),
        ).rejects.toThrow('the disk is full');
        await writer.close();
        const before = await store.readItems(writer.run.id);
        expect(before).toHaveLength(finished);

        execFileSync('mount', ['-o', 'remount,size=1024k', disk]);
        const again = await store.reopen(writer.run.id);
        expect(again.finishedItems).toHaveLength(finished);
        await again.appendItem(sampleItem(finished));
        await again.close();
        expect(await store.readItems(writer.run.id)).toHaveLength(finished + 1);
        expect(await store.problems(writer.run.id)).toEqual([]);
      } finally {
        execFileSync('umount', [disk]);
      }
    },
  );

  it.skipIf(!canMount)('that is read-only gives a message', async () => {
    const disk = join(folder, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=64k', 'tmpfs', disk]);
    try {
      const error = await openRunStore(disk)
        .create(sampleRun())
        .catch((thrown: HumanError) => thrown);
      expect((error as HumanError).sentence).toContain('the file system is read-only. Choose another folder');
    } finally {
      execFileSync('umount', [disk]);
    }
  });

  it.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
    'without permission gives a message (root may write anywhere)',
    async () => {
      await chmod(folder, 0o500);
      const error = await openRunStore(folder)
        .create(sampleRun())
        .catch((thrown: HumanError) => thrown);
      await chmod(folder, 0o700);
      expect((error as HumanError).sentence).toContain('there is no permission to write there');
    },
  );

  it('where a file stands in place of the folder gives a message', async () => {
    await writeFile(join(folder, 'file'), '');
    const error = await openRunStore(join(folder, 'file'))
      .create(sampleRun())
      .catch((thrown: HumanError) => thrown);
    expect((error as HumanError).kind).toBe('disk');
    expect((error as HumanError).sentence).toContain(join(folder, 'file'));
  });
});
