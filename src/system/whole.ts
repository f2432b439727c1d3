/** Writing files so that a crash, a full disk or a second process never leaves half of one behind. */
import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { diskError } from './disk-error.ts';
import { replaceFile, temporaryBeside } from './replace.ts';

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

/**
 * Replaces a file as a whole: readers see the old or the new content, never a part.
 * @param errorOf what a failure is thrown as
 * @throws HumanError
 */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
  errorOf: typeof diskError = diskError,
): Promise<void> {
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
    throw errorOf(thrown, path);
  }
}

/** Makes a folder and those it is in, where they are not there. @throws HumanError */
export async function makeFolder(folder: string, errorOf: typeof diskError = diskError): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (thrown) {
    throw errorOf(await reasonOf(thrown, folder), folder, 'make the folder');
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
