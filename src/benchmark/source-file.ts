/** Reading a benchmark's own file: its text, or why there is none, in the words of a problem. */
import { readFile } from 'node:fs/promises';
import type { Problem } from './types.ts';
import { firstLineNotUtf8 } from './utf8.ts';

/** Text of a file; null where it cannot be read, `reason` says why then. `notUtf8`: there is text, but not as it was meant. */
export async function readSource(
  path: string,
): Promise<{ text: string; notUtf8: Problem | null } | { text: null; reason: string }> {
  try {
    const bytes = await readFile(path);
    const line = firstLineNotUtf8(bytes);
    const notUtf8: Problem | null =
      line === null
        ? null
        : {
            severity: 'error',
            code: 'not-utf-8',
            message: 'This line is not UTF-8 text. Save the file as UTF-8.',
            place: { file: path, line, column: 1 },
          };
    return { text: bytes.toString('utf8'), notUtf8 };
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    // Not the file's fault.
    if (code === undefined) throw thrown;
    if (code === 'ENOENT') return { text: null, reason: `There is no file ${path}.` };
    return { text: null, reason: `The file ${path} ${code === 'EISDIR' ? 'is a folder' : 'cannot be read'}.` };
  }
}
