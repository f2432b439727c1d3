import { asError, HumanError } from '../shared/errors.ts';

/** Codes of the system's errors: what is wrong, and what to do where the caller has nothing better to say. */
const meanings: Record<string, [what: string, todo: string]> = {
  ENOSPC: ['the disk is full', 'Free some space and try again.'],
  EDQUOT: ['your disk quota is used up', 'Free some space and try again.'],
  EACCES: ['there is no permission to write there', 'Change the permissions, or choose another folder.'],
  EPERM: ['there is no permission to write there', 'Change the permissions, or choose another folder.'],
  EROFS: ['the file system is read-only', 'Choose another folder.'],
  ENOTDIR: ['a part of the path is a file, not a folder', 'Choose another folder.'],
  ENOENT: ['the folder is gone', 'Was it deleted or moved meanwhile? Try again.'],
  EMFILE: ['too many files are open', 'Close other programs or raise the limit (ulimit -n), then try again.'],
  ENAMETOOLONG: ['the path is too long', 'Choose a folder with a shorter path.'],
  EIO: ['the disk reported an input/output error', 'Check the disk.'],
};

/**
 * A failed write as a message for people. A HumanError passes unchanged.
 * @param doing what failed, as it stands behind "Cannot"
 * @param advice what to do, by the code of the error, where that is more than trying again
 */
export function diskError(
  thrown: unknown,
  path: string,
  doing = 'write',
  advice: Readonly<Record<string, string>> = {},
): HumanError {
  if (thrown instanceof HumanError) return thrown;
  const error = asError(thrown) as NodeJS.ErrnoException;
  const code = error.code ?? '';
  const [what, todo] = meanings[code] ?? [error.message, undefined];
  return new HumanError('disk', `Cannot ${doing} ${path}: ${what}.`, { todo: advice[code] ?? todo, cause: error });
}
