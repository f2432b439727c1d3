/** Writing files so that a crash, a full disk or a second process never leaves half of one behind. */
import { existsSync } from 'node:fs';
import { access, type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
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

/**
 * Makes a folder and those it is in, where they are not there. One level after the other: Node's recursive mkdir says
 * ENOENT on a read-only disk, and where the system makes no folders at all (/proc) it never ends.
 * @throws HumanError
 */
export async function makeFolder(folder: string, errorOf: typeof diskError = diskError): Promise<void> {
  const missing: string[] = [];
  for (let at = resolve(folder); !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.unshift(at);
  try {
    for (const one of missing)
      await mkdir(one).catch((thrown: NodeJS.ErrnoException) => {
        // Another process may have made it meanwhile.
        if (thrown.code !== 'EEXIST') throw thrown;
      });
    // A file of that name is no folder: the system says so here, not at the first file that is written.
    await access(`${folder}${sep}`);
  } catch (thrown) {
    throw errorOf(thrown, folder, 'make the folder');
  }
}
