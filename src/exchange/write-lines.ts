/** Files of many lines, written as they come; whole or not at all. */
import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { diskError, replaceFile, temporaryBeside } from '../system/index.ts';

/** Text is handed to the disk in parts of about this many characters. */
const part = 1 << 20;

/** @returns number of lines and the file's SHA-256 */
export async function writeLines(
  path: string,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<{ count: number; digest: string }> {
  const temporary = temporaryBeside(path);
  const hash = createHash('sha256');
  let handle: FileHandle | null = null;
  let count = 0;
  let waiting = '';
  const flush = async (): Promise<void> => {
    hash.update(waiting);
    await handle?.writeFile(waiting);
    waiting = '';
  };
  try {
    handle = await open(temporary, 'wx');
    for await (const line of lines) {
      waiting += `${line}\n`;
      count++;
      if (waiting.length > part) await flush();
    }
    await flush();
    await handle.sync();
    await handle.close();
    handle = null;
    await replaceFile(temporary, path);
    return { count, digest: hash.digest('hex') };
  } catch (thrown) {
    await handle?.close().catch(() => {});
    await rm(temporary, { force: true }).catch(() => {});
    // What is no error of the system comes from the lines.
    if (!(thrown as NodeJS.ErrnoException).code) throw thrown;
    throw diskError(thrown, path);
  }
}
