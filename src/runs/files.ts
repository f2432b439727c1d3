/** The files of runs: as `system` writes files, with what can be done about a failure while a run is on. */
import type { HumanError } from '../shared/errors.ts';
import * as system from '../system/index.ts';

const advice: Record<string, string> = {
  ENOSPC: 'Free some space and resume the run: everything finished so far is kept.',
  EDQUOT: 'Free some space and resume the run: everything finished so far is kept.',
  EACCES: 'Change the permissions, or choose another folder for runs.',
  EPERM: 'Change the permissions, or choose another folder for runs.',
  EROFS: 'Choose another folder for runs.',
  ENOTDIR: 'Choose another folder for runs.',
  ENOENT: 'Was it deleted or moved while the run was on? Start the run again.',
  EMFILE: 'Close other programs or raise the limit (ulimit -n), then resume the run.',
  ENAMETOOLONG: 'Choose a folder for runs with a shorter path.',
  EIO: 'Check the disk; everything finished so far is kept.',
};

/** A failed write to a run as a message for people. A HumanError passes unchanged. */
export const diskError = (thrown: unknown, path: string, doing?: string): HumanError =>
  system.diskError(thrown, path, doing, advice);

export const writeWhole = (path: string, content: string | Uint8Array): Promise<void> =>
  system.writeWhole(path, content, diskError);

export const makeFolder = (folder: string): Promise<void> => system.makeFolder(folder, diskError);

/** JSON as it stands in files that people may open: indented, with a final newline. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
