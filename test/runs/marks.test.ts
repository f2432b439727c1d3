/** Marks of items: kept beside the run, changed from several windows, left alone where they cannot be read. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRunStore, readMarks, setMark } from '../../src/runs/index.ts';
import { joinedMarks, longestNote, markKinds } from '../../src/shared/marks.ts';
import { bundle } from '../support/bundle.ts';
import { errorOf } from '../support/error-of.ts';
import { canMount } from '../support/mount.ts';
import { sampleItem, sampleRun } from './sample.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-marks-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const file = (): string => join(folder, 'marks.json');
const indices = async (): Promise<number[]> => (await readMarks(folder)).marks.map(({ index }) => index);

describe('marks of a run', () => {
  it('are none before the first; are set, changed and taken away one by one; stand in item order', async () => {
    expect(await readMarks(folder)).toEqual({ marks: [], problem: null });
    await setMark(folder, 7, { kind: 'bad gold', note: 'it is 12: “twelve”\n日本' });
    await setMark(folder, 3, { kind: 'bad reader', note: '' });
    const changed = await setMark(folder, 7, { kind: 'other', note: 'see 3' });
    expect(changed.map(({ index, kind, note }) => [index, kind, note])).toEqual([
      [3, 'bad reader', ''],
      [7, 'other', 'see 3'],
    ]);
    expect((await readMarks(folder)).marks).toEqual(changed);
    await setMark(folder, 3, null);
    await setMark(folder, 99, null);
    expect(await indices()).toEqual([7]);
    expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({ schema: 1, marks: [{ index: 7 }] });
    expect(existsSync(join(folder, 'marks.lock.json'))).toBe(false);
  });

  it('hold notes of bounded length', async () => {
    const [mark] = await setMark(folder, 0, { kind: 'other', note: 'x'.repeat(longestNote + 10) });
    expect(mark?.note).toHaveLength(longestNote);
  });

  it('can be set on a run that is being written, and do not disturb it', async () => {
    const store = openRunStore(folder);
    const writer = await store.create(sampleRun());
    await writer.appendItem(sampleItem(0));
    await setMark(writer.folder, 0, { kind: 'bad gold', note: '' });
    await writer.appendItem(sampleItem(1));
    await writer.close();
    expect((await store.list()).runs).toHaveLength(1);
    expect((await readMarks(writer.folder)).marks).toHaveLength(1);
  });

  it('of several writers at once are all kept', async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => setMark(folder, index, { kind: 'ambiguous question', note: '' })),
    );
    expect(await indices()).toEqual(Array.from({ length: 12 }, (_, index) => index));
  });

  it('of two processes at once are all kept', async () => {
    const program = await bundle('test/runs/marking-process.ts');
    const run = promisify(execFile);
    await Promise.all(['0', '100'].map((first) => run(process.execPath, [program, folder, first, '15'])));
    expect(await indices()).toHaveLength(30);
    await rm(dirname(program), { recursive: true, force: true });
  });

  it('are not held up by a process that died while it wrote them', async () => {
    const dead = { pid: 2 ** 22 - 1, host: hostname(), processStart: '1', parent: null, token: 'x', since: '' };
    await writeFile(join(folder, 'marks.lock.json'), JSON.stringify(dead));
    await setMark(folder, 1, { kind: 'bad gold', note: '' });
    expect(await indices()).toEqual([1]);
  });
});

describe('a marks.json that cannot be read', () => {
  it.each([
    ['half a file', '{"schema": 1, "marks": [', 'cannot be read'],
    ['a newer version', '{"schema": 2, "marks": []}', 'newer version of Softbench (schema 2)'],
    ['no marks', '{"schema": 1}', '"marks" should be a list'],
    ['an unknown kind', '{"schema":1,"marks":[{"index":1,"kind":"odd","note":"","time":""}]}', 'marks[0].kind'],
    [
      'an index that is none',
      '{"schema":1,"marks":[{"index":-1,"kind":"other","note":"","time":""}]}',
      'marks[0].index',
    ],
  ])('%s: gives a sentence, and is left alone', async (_, content, words) => {
    await writeFile(file(), content);
    const { marks, problem } = await readMarks(folder);
    expect(marks).toEqual([]);
    expect(problem).toContain(words);
    expect(problem).toContain('marks.json');
    const error = await errorOf(setMark(folder, 1, { kind: 'bad gold', note: '' }));
    expect(error.sentence).toContain('left as it is');
    expect(await readFile(file(), 'utf8')).toBe(content);
    expect(existsSync(join(folder, 'marks.lock.json'))).toBe(false);
  });
});

it.skipIf(!canMount)('a read-only disk gives a message', async () => {
  const disk = join(folder, 'disk');
  await mkdir(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=64k', 'tmpfs', disk]);
  try {
    const error = await errorOf(setMark(disk, 1, { kind: 'bad gold', note: '' }));
    expect(error.kind).toBe('disk');
    expect(error.sentence).toContain('read-only');
    expect(await readMarks(disk)).toEqual({ marks: [], problem: null });
  } finally {
    execFileSync('umount', [disk]);
  }
});

it('marks of several runs are joined: the later of two counts', () => {
  const mark = (index: number, time: string, note: string) => ({ index, time, note, kind: 'other' as const });
  const [a, b, c] = [mark(4, '2', 'a'), mark(4, '3', 'b'), mark(1, '1', 'c')];
  expect(joinedMarks([[a], [b, c], []])).toEqual([c, b]);
});

it('every kind of mark has a glyph of its own', () => {
  expect(new Set(markKinds.map(({ glyph }) => glyph)).size).toBe(markKinds.length);
});
