/** One writer to a folder at a time, across processes: a file with the writer's process number. */
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asError, HumanError } from '../shared/errors.ts';
import { isProcessAlive } from '../system/index.ts';
import { diskError } from './file.ts';

/**
 * Takes the lock; a dead process's is taken over. @returns what frees it
 * @param words what is said where another process has it, and what to do where the folder cannot be used
 * @throws HumanError
 */
export async function lockFolder(file: string, words: { busy: string; room: string }): Promise<() => Promise<void>> {
  const folder = dirname(file);
  try {
    await mkdir(folder, { recursive: true });
    for (let attempt = 0; ; attempt++) {
      try {
        const handle = await open(file, 'wx');
        await handle.writeFile(String(process.pid));
        await handle.close();
        return () => rm(file, { force: true });
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 0) throw thrown;
        const holder = Number(await readFile(file, 'utf8').catch(() => ''));
        if (holder > 0 && isProcessAlive(holder))
          throw new HumanError('bad-input', `${words.busy} (process ${holder}).`, {
            todo: `Wait for it to end. If it does not run any more, delete ${file}.`,
          });
        // Its process has gone without removing it.
        await rm(file, { force: true });
      }
    }
  } catch (thrown) {
    if (thrown instanceof HumanError) throw thrown;
    throw (
      diskError(thrown, file, words.room) ??
      new HumanError('disk', `${folder} cannot be used: ${asError(thrown).message}.`, {
        todo: words.room,
        cause: thrown,
      })
    );
  }
}
