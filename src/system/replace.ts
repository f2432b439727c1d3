/** Files that are replaced as a whole: written beside their place under another name, then renamed. */
import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A name that no other writer has, in the file's own folder: renaming is atomic within one file system only. */
export const temporaryBeside = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`);

/** Puts a file in another's place. On Windows a reader or a virus scanner that has that one open makes it fail for a moment. */
export async function replaceFile(from: string, to: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await rename(from, to);
    } catch (thrown) {
      const code = (thrown as NodeJS.ErrnoException).code ?? '';
      if (process.platform !== 'win32' || attempt >= 10 || !['EPERM', 'EACCES', 'EBUSY'].includes(code)) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** attempt));
    }
  }
}
