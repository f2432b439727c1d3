/** Writing files so that a crash, a full disk or a second process never leaves half of one behind. */
import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asError, HumanError } from '../shared/errors.ts';
import { replaceFile, temporaryBeside } from '../system/index.ts';

const advice: Record<string, [what: string, todo: string]> = {
  ENOSPC: ['the disk is full', 'Free some space and resume the run: everything finished so far is kept.'],
  EDQUOT: ['your disk quota is used up', 'Free some space and resume the run: everything finished so far is kept.'],
  EACCES: ['there is no permission to write there', 'Change the permissions, or choose another folder for runs.'],
  EPERM: ['there is no permission to write there', 'Change the permissions, or choose another folder for runs.'],
  EROFS: ['the file system is read-only', 'Choose another folder for runs.'],
  ENOTDIR: ['a part of the path is a file, not a folder', 'Choose another folder for runs.'],
  ENOENT: ['the folder is gone', 'Was it deleted or moved while the run was on? Start the run again.'],
  EMFILE: ['too many files are open', 'Close other programs or raise the limit (ulimit -n), then resume the run.'],
  ENAMETOOLONG: ['the path is too long', 'Choose a folder for runs with a shorter path.'],
  EIO: ['the disk reported an input/output error', 'Check the disk; everything finished so far is kept.'],
};

/** A failed write as a message for people. A HumanError passes unchanged. */
export function diskError(thrown: unknown, path: string, doing = 'write'): HumanError {
  if (thrown instanceof HumanError) return thrown;
  const error = asError(thrown) as NodeJS.ErrnoException;
  const [what, todo] = advice[error.code ?? ''] ?? [error.message, undefined];
  return new HumanError('disk', `Cannot ${doing} ${path}: ${what}.`, { todo, cause: error });
}

/** Makes a folder's own entries (a new or renamed file in it) survive a power failure, where the platform can. */
async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, 'r');
    await handle.sync();
  } catch {
    // Windows opens no folders, some network file systems do not sync them: the file itself is synced all the same.
  } finally {
    await handle?.close();
  }
}

/** Replaces a file as a whole: readers see the old or the new content, never a part. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = temporaryBeside(path);
  try {
    const handle = await open(temporary, 'wx');
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await replaceFile(temporary, path);
    await syncFolder(dirname(path));
  } catch (thrown) {
    await rm(temporary, { force: true }).catch(() => {});
    throw diskError(thrown, path);
  }
}

export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (thrown) {
    throw diskError(await reasonOf(thrown, folder), folder, 'make the folder');
  }
}

/** Node's recursive mkdir says ENOENT on a read-only disk: the first missing folder by itself gives the real reason. */
async function reasonOf(thrown: unknown, folder: string): Promise<unknown> {
  if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') return thrown;
  let missing = folder;
  while (dirname(missing) !== missing && !existsSync(dirname(missing))) missing = dirname(missing);
  return mkdir(missing).then(
    () => thrown,
    (reason: unknown) => reason,
  );
}

/** JSON as it stands in files that people may open: indented, with a final newline. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
