import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  diskError,
  isProcessAlive,
  makeFolder,
  replaceFile,
  sha256,
  temporaryBeside,
  writeWhole,
} from '../../src/system/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'softbench-system-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('sha256', () => {
  // FIPS 180-4's own examples, and a text whose UTF-8 bytes are not its characters.
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('of %j', (text, digest) => expect(sha256(text)).toBe(digest));

  it('of a text is that of its UTF-8 bytes', () => expect(sha256('Ω')).toBe(sha256(new Uint8Array([0xce, 0xa9]))));
});

describe('isProcessAlive', () => {
  it('tells this process from one that has ended', async () => {
    expect(isProcessAlive(process.pid)).toBe(true);
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    expect(isProcessAlive(child.pid ?? 0)).toBe(false);
  });
});

describe('replaceFile', () => {
  it('puts what was written beside a file in its place', async () => {
    const file = join(folder, 'kept.json');
    writeFileSync(file, 'old');
    const [one, other] = [temporaryBeside(file), temporaryBeside(file)];
    expect(one).not.toBe(other);
    expect(dirname(one)).toBe(folder);
    writeFileSync(one, 'new');
    await replaceFile(one, file);
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(readdirSync(folder)).toEqual(['kept.json']);
  });

  it('throws where there is nothing to put there', async () => {
    await expect(replaceFile(join(folder, 'none'), join(folder, 'kept.json'))).rejects.toThrow(/ENOENT/);
  });
});

describe('errors of the disk', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

  it('say what is wrong, where, and what to do', () => {
    expect(diskError(full, '/d/file').sentence).toBe(
      'Cannot write /d/file: the disk is full. Free some space and try again.',
    );
    const resumed = diskError(full, '/d/file', 'close', { ENOSPC: 'Resume the run.' });
    expect(resumed.sentence).toBe('Cannot close /d/file: the disk is full. Resume the run.');
  });

  it('keep the words of what is in no table', () => {
    expect(diskError(new Error('a stray message'), '/d/file').message).toBe('Cannot write /d/file: a stray message.');
  });

  it('are what writing and making folders fail with', async () => {
    const inFile = join(folder, 'kept.json', 'below');
    await expect(makeFolder(inFile)).rejects.toThrow(/^Cannot make the folder .*: a part of the path is a file/);
    await expect(writeWhole(inFile, '')).rejects.toThrow(/^Cannot write .*: a part of the path is a file/);
  });
  it('are made with those they are in, and a file of that name is no folder', async () => {
    const deep = join(folder, 'a', 'b', 'c');
    await Promise.all([makeFolder(deep), makeFolder(deep)]);
    await writeWhole(join(deep, 'x'), 'x');
    await makeFolder(deep);
    await expect(makeFolder(join(deep, 'x'))).rejects.toThrow(/a part of the path is a file/);
  });
  it.runIf(process.platform === 'linux')('end where the system makes none', async () => {
    await expect(makeFolder('/proc/softbench/x')).rejects.toThrow(/^Cannot make the folder/);
  });
});
