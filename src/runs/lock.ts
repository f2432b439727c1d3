/**
 * The lock of a run folder: `lock.json` names the one writer. It is taken by exclusive creation, kept alive by its
 * modification time, checked before every write, and taken over when its holder is known to be dead.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, open, readFile, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import { isProcessAlive } from '../system/index.ts';
import { diskError } from './files.ts';

const lockFile = 'lock.json';

interface LockContent {
  pid: number;
  host: string;
  /** When the process started, as the system tells it: a process id is used again after a while. Null where unknown. */
  processStart: string | null;
  /** The process that started it and without which it ends, where there is one: a worker without its host is as good as dead. */
  parent: { pid: number; processStart: string | null } | null;
  /** One per writer. */
  token: string;
  since: string;
}

/** A holder that gave no sign of life for this long is taken for dead where nothing better is known of it. */
const silentMilliseconds = 5 * 60_000;
const heartbeatMilliseconds = 20_000;
/** So long a worker whose host has died may need to notice: it looks between two calls of the engine. */
const orphanMilliseconds = 10_000;
/** Taking needs milliseconds; one that is older belongs to a process that died in the middle. */
const takeoverMilliseconds = 10_000;

const held = new Set<string>();

/** Linux: state and start time (clock ticks since boot), fields 3 and 22 of /proc/PID/stat. Null where unknown. */
function processStatus(pid: number): { state: string; start: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may itself hold spaces and brackets.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, start] = [fields[0], fields[19]];
    return state !== undefined && start !== undefined ? { state, start } : null;
  } catch {
    return null;
  }
}

async function read(path: string): Promise<{ content: LockContent | null; age: number } | null> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    let content: LockContent | null = null;
    try {
      content = JSON.parse(text) as LockContent;
    } catch {
      // Created but not yet written, or its writer died in between: its age decides.
    }
    return { content, age: Date.now() - mtimeMs };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw diskError(thrown, path, 'read');
  }
}

function isHolderAlive(lock: { content: LockContent | null; age: number }): boolean {
  const { content, age } = lock;
  if (!content) return age < takeoverMilliseconds;
  if (content.host !== hostname()) return age < silentMilliseconds;
  if (content.pid === process.pid) return held.has(content.token);
  return isSameAlive(content) ?? age < silentMilliseconds;
}

/** Whether the process is alive and the same one as when the lock was made; null where the system does not say. */
function isSameAlive({ pid, processStart }: { pid: number; processStart: string | null }): boolean | null {
  if (!isProcessAlive(pid)) return false;
  const status = processStatus(pid);
  // A dead process stays in the table until its parent has looked at it.
  if (status?.state === 'Z') return false;
  return processStart !== null && status !== null ? processStart === status.start : null;
}

/** Whether the holder is a worker of this machine whose host has died, so that it ends by itself as soon as it notices. */
const isOrphan = ({ content }: { content: LockContent | null }): boolean =>
  Boolean(content?.parent && content.host === hostname() && isSameAlive(content.parent) === false);

async function isMade(gate: string): Promise<boolean> {
  try {
    await mkdir(gate);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  }
}

/** Removes a gate whose process died in the middle; false where its process is in, or has just gone. */
async function isLeftOver(gate: string): Promise<boolean> {
  const entry = await stat(gate).catch(() => null);
  if (!entry || Date.now() - entry.mtimeMs < takeoverMilliseconds) return false;
  await rmdir(gate).catch(() => {});
  return true;
}

/** Who writes to the folder now, in words; null where nobody does. */
export async function holderOf(folder: string): Promise<string | null> {
  const lock = await read(join(folder, lockFile));
  if (!lock || !isHolderAlive(lock) || isOrphan(lock)) return null;
  const { content } = lock;
  if (!content) return 'another process';
  return content.host === hostname() ? `process ${content.pid}` : `process ${content.pid} on ${content.host}`;
}

export class FolderLock {
  readonly #path: string;
  readonly #content: LockContent;
  #heartbeat: NodeJS.Timeout | undefined;

  private constructor(
    private readonly folder: string,
    file: string,
  ) {
    this.#path = join(folder, file);
    this.#content = {
      pid: process.pid,
      host: hostname(),
      processStart: processStatus(process.pid)?.start ?? null,
      // A process with a channel to its parent is a worker.
      parent: process.send ? { pid: process.ppid, processStart: processStatus(process.ppid)?.start ?? null } : null,
      token: randomUUID(),
      since: new Date().toISOString(),
    };
  }

  /**
   * Throws HumanError('bad-input') where a living process holds the folder.
   * @param file another lock than the run's one writer's
   */
  static async acquire(folder: string, file = lockFile): Promise<FolderLock> {
    const lock = new FolderLock(folder, file);
    // Before the file is there: a second one of this process must not take it for a dead one's.
    held.add(lock.#content.token);
    try {
      await lock.#take();
    } catch (thrown) {
      held.delete(lock.#content.token);
      throw diskError(thrown, lock.#path);
    }
    lock.#heartbeat = setInterval(() => {
      const now = new Date();
      utimes(lock.#path, now, now).catch(() => {});
    }, heartbeatMilliseconds);
    lock.#heartbeat.unref();
    return lock;
  }

  async #create(): Promise<boolean> {
    try {
      const handle = await open(this.#path, 'wx');
      try {
        await handle.writeFile(`${JSON.stringify(this.#content)}\n`);
      } catch (thrown) {
        await rm(this.#path, { force: true });
        throw thrown;
      } finally {
        await handle.close();
      }
      return true;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw thrown;
    }
  }

  /**
   * Only one at a time may look whether there is a lock, remove a dead one, and make its own: the lock that another makes
   * in between would be removed in place of the dead one.
   */
  async #take(): Promise<void> {
    const gate = `${this.#path}.takeover`;
    const inUse = async (): Promise<HumanError> =>
      new HumanError(
        'bad-input',
        `The run in ${this.folder} is being written by ${(await holderOf(this.folder)) ?? 'another process'}.`,
        { todo: 'Wait until it has ended or stop it there.' },
      );
    // Whoever makes the folder is in. One that a dead process left is removed first.
    if (!(await isMade(gate)) && !((await isLeftOver(gate)) && (await isMade(gate)))) throw await inUse();
    try {
      let lock = await read(this.#path);
      const patience = Date.now() + orphanMilliseconds;
      while (lock && isHolderAlive(lock)) {
        if (!isOrphan(lock)) throw await inUse();
        // One that does not notice in time finds its lock gone before its next write.
        if (Date.now() > patience) break;
        await utimes(gate, new Date(), new Date());
        await new Promise((resolve) => setTimeout(resolve, 50));
        lock = await read(this.#path);
      }
      if (lock) await rm(this.#path, { force: true });
      if (!(await this.#create())) throw await inUse();
    } finally {
      await rmdir(gate).catch(() => {});
    }
  }

  /** Throws where the lock is no longer ours (taken over while this process slept, or the folder deleted). */
  async check(): Promise<void> {
    const lock = await read(this.#path);
    if (lock?.content?.token === this.#content.token) return;
    throw new HumanError(
      'disk',
      lock
        ? `The run in ${this.folder} was taken over by ${(await holderOf(this.folder)) ?? 'another process'}.`
        : `The run folder ${this.folder} was removed or its ${lockFile} deleted while the run was on.`,
      { todo: 'Finished items that were written stay as they are.' },
    );
  }

  async release(): Promise<void> {
    clearInterval(this.#heartbeat);
    try {
      const lock = await read(this.#path).catch(() => null);
      if (lock?.content?.token === this.#content.token) await rm(this.#path, { force: true });
    } finally {
      // Not before the file is gone: until then it is no dead one's.
      held.delete(this.#content.token);
    }
  }
}
