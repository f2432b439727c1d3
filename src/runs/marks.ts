/**
 * Marks of a run's items: `marks.json` beside its other files. Unlike those it is written by people, at any time and from
 * any window: each change reads the file, changes one item, and writes it as a whole, under a lock of its own.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { asError, HumanError, sentenceOf } from '../shared/errors.ts';
import { type ItemMark, isMarkKind, longestNote, type MarkedItem, markKinds } from '../shared/marks.ts';
import { jsonText, writeWhole } from './files.ts';
import { FolderLock } from './lock.ts';

const marksFile = 'marks.json';
const lockFile = 'marks.lock.json';
/** A change takes milliseconds: who has not got the lock by then will not. */
const patienceMilliseconds = 5000;

/** Version of the file. */
const schema = 1;

function parseMarks(text: string): MarkedItem[] {
  const value = JSON.parse(text) as unknown;
  if (typeof value !== 'object' || value === null || !('schema' in value)) throw new Error('it has no "schema"');
  if (typeof value.schema === 'number' && value.schema > schema)
    throw new Error(`it was written by a newer version of Softbench (schema ${value.schema})`);
  if (value.schema !== schema) throw new Error(`its schema is ${JSON.stringify(value.schema)}, not ${schema}`);
  if (!('marks' in value) || !Array.isArray(value.marks)) throw new Error('"marks" should be a list');
  return value.marks.map((mark: unknown, at): MarkedItem => {
    const { index, kind, note, time } = (typeof mark === 'object' && mark !== null ? mark : {}) as Partial<MarkedItem>;
    if (!Number.isSafeInteger(index) || index === undefined || index < 0)
      throw new Error(`"marks[${at}].index" should be a whole number from 0`);
    if (!isMarkKind(kind))
      throw new Error(`"marks[${at}].kind" should be one of ${markKinds.map((one) => one.kind).join(', ')}`);
    if (typeof note !== 'string' || typeof time !== 'string')
      throw new Error(`"marks[${at}]" should have a note and a time`);
    return { index, kind, note, time };
  });
}

/** @throws HumanError where the file is broken or of a newer version */
async function readMarksFile(folder: string): Promise<MarkedItem[]> {
  const file = join(folder, marksFile);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new HumanError('disk', `The marks cannot be read: ${asError(thrown).message}.`, {
      place: { file },
      cause: thrown,
    });
  }
  try {
    return parseMarks(text);
  } catch (thrown) {
    throw new HumanError('bad-input', `The marks cannot be read: ${asError(thrown).message}.`, {
      place: { file },
      todo: 'The file is left as it is. Repair it, open it with a newer Softbench, or delete it to begin anew.',
    });
  }
}

/** The marks of a run's folder, by item. `problem`: a sentence where the file cannot be read; it then counts as empty. */
export async function readMarks(folder: string): Promise<{ marks: MarkedItem[]; problem: string | null }> {
  try {
    return { marks: await readMarksFile(folder), problem: null };
  } catch (thrown) {
    return { marks: [], problem: sentenceOf(thrown) };
  }
}

async function acquire(folder: string): Promise<FolderLock> {
  const until = Date.now() + patienceMilliseconds;
  for (;;)
    try {
      return await FolderLock.acquire(folder, lockFile);
    } catch (thrown) {
      const isBusy = thrown instanceof HumanError && thrown.kind === 'bad-input';
      if (!isBusy || Date.now() > until) throw thrown;
      await wait(5 + Math.random() * 20);
    }
}

/**
 * Sets or takes away the mark of one item; the other items' marks are as they are on disk.
 * @returns all marks of the run afterwards
 * @throws HumanError where the file cannot be read (it is left alone) or written
 */
export async function setMark(folder: string, index: number, mark: ItemMark | null): Promise<MarkedItem[]> {
  const lock = await acquire(folder);
  try {
    const others = (await readMarksFile(folder)).filter((one) => one.index !== index);
    const set = mark && {
      index,
      kind: mark.kind,
      note: mark.note.slice(0, longestNote),
      time: new Date().toISOString(),
    };
    return await writeMarks(folder, [...others, ...(set ? [set] : [])]);
  } finally {
    await lock.release();
  }
}

async function writeMarks(folder: string, list: readonly MarkedItem[]): Promise<MarkedItem[]> {
  const marks = [...list].sort((a, b) => a.index - b.index);
  await writeWhole(join(folder, marksFile), jsonText({ schema, marks }));
  return marks;
}

/**
 * Copies the marks of a run that are to be kept to a run that nobody has marked yet, with their times.
 * @throws HumanError where they cannot be read or written
 */
export async function copyMarks(from: string, to: string, keep: (mark: MarkedItem) => boolean): Promise<void> {
  const kept = (await readMarksFile(from)).filter(keep);
  if (kept.length === 0) return;
  const lock = await acquire(to);
  try {
    await writeMarks(to, kept);
  } finally {
    await lock.release();
  }
}
