/** Responses of one model on disk. Nothing that goes wrong here ends a run: it goes on without. */
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  futimesSync,
  mkdirSync,
  openSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { asError } from '../shared/errors.ts';
import { crc32 } from './crc32.ts';
import type { Context } from './key.ts';
import { KeyTable, keyDigits, type Place } from './key-table.ts';
import { makeRoom } from './limits.ts';
import { aboutFile, giveBackShard, listShards, responsesFolder, scanLines, takeShard } from './shards.ts';

const checksumDigits = 8;
/** Key, space, checksum, space: where the JSON begins. */
const headLength = keyDigits + checksumDigits + 2;

/** Lines wait in memory until there are so many bytes of them or the oldest is so old: a kill costs the cache no more. */
const bufferBytes = 64 * 1024;
const bufferMilliseconds = 250;
const leastShardBytes = 4096;
const mostShardBytes = 64 * 2 ** 20;
/** Neighbouring lines are read in one go, up to so many bytes and over gaps of so many. */
const readBytes = 1 << 20;
const gapBytes = 16 * 1024;

/** The shard that this process writes to. */
interface OwnShard {
  path: string;
  handle: number;
  /** Its number, for reading. */
  shard: number;
  /** Where the next line goes. */
  size: number;
}

interface Shard {
  handle: number;
  /** Its lines up to here are in the table. */
  known: number;
  used: boolean;
}

export interface DiskCacheOptions {
  /** All shards of the store together take at most so many bytes. */
  limitBytes: number;
  /** Told once, in a sentence, when responses cannot be kept. */
  onProblem(message: string): void;
}

const isKey = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);
const sumOf = (json: Uint8Array): string => crc32(json).toString(16).padStart(checksumDigits, '0');

export class DiskCache {
  readonly #folder: string;
  readonly #table = new KeyTable();
  readonly #shards: Shard[] = [];
  #own: OwnShard | null = null;
  #waiting: { key: string; line: Buffer }[] = [];
  #waitingBytes = 0;
  #waitingSince = 0;
  #broken = false;
  /** Size from which on a shard is full. Shards are what is removed when room is made: several, so that little goes at a time. */
  readonly #shardBytes: number;

  /** @param storeFolder holds `responses/` */
  constructor(
    private readonly storeFolder: string,
    private readonly context: Context,
    private readonly options: DiskCacheOptions,
  ) {
    this.#shardBytes = Math.max(leastShardBytes, Math.min(mostShardBytes, options.limitBytes / 8));
    this.#folder = join(storeFolder, responsesFolder, context.digest.slice(0, 16));
    try {
      makeRoom(storeFolder, options.limitBytes);
      for (const { path } of listShards(this.#folder)) this.#index(path);
    } catch (thrown) {
      this.#giveUp('read', thrown);
    }
  }

  /** Responses that can be found. */
  get size(): number {
    return this.#table.size;
  }

  #index(path: string): void {
    let handle: number;
    try {
      handle = openSync(path, 'r');
    } catch {
      // Renamed or removed by another process since the folder was read: its responses are computed again.
      return;
    }
    const shard = this.#shards.push({ handle, known: 0, used: false }) - 1;
    this.#take(shard);
  }

  /** Puts the lines of a shard that are not in the table yet into it. */
  #take(number: number): void {
    const shard = this.#shards[number];
    if (!shard) return;
    shard.known = scanLines(shard.handle, shard.known, (line, offset) => {
      const key = line.toString('latin1', 0, keyDigits);
      if (line.length > headLength && isKey(key)) this.#table.set(key, { shard: number, offset, length: line.length });
    });
  }

  find(key: string): Place | null {
    return this.#table.get(key);
  }

  /**
   * Reads responses, in the order in which they lie on disk, a block at a time. Those that turn out to be damaged or gone
   * are called back with undefined.
   */
  async read<Entry extends { place: Place; key: string }>(
    wanted: readonly Entry[],
    onRead: (entry: Entry, value: unknown) => void | Promise<void>,
  ): Promise<void> {
    const order = [...wanted].sort((a, b) => a.place.shard - b.place.shard || a.place.offset - b.place.offset);
    const block = Buffer.allocUnsafe(readBytes);
    for (let from = 0; from < order.length; ) {
      const first = order[from]?.place;
      if (!first) break;
      let to = from + 1;
      let end = first.offset + first.length;
      for (let next = order[to]?.place; next && next.shard === first.shard; next = order[++to]?.place) {
        if (next.offset > end + gapBytes || next.offset + next.length - first.offset > readBytes) break;
        end = Math.max(end, next.offset + next.length);
      }
      const bytes = end - first.offset <= readBytes ? block : Buffer.allocUnsafe(end - first.offset);
      const filled = this.#fill(first.shard, bytes.subarray(0, end - first.offset), first.offset);
      for (const entry of order.slice(from, to)) {
        const at = entry.place.offset - first.offset;
        const line = bytes.subarray(at, at + entry.place.length);
        const value = at + line.length <= filled ? parseLine(line, entry.key) : undefined;
        const waits = onRead(entry, value);
        if (waits) await waits;
      }
      from = to;
    }
  }

  /** @returns how many bytes could be read */
  #fill(number: number, bytes: Buffer, position: number): number {
    const shard = this.#shards[number];
    if (!shard) return 0;
    this.#touch(shard);
    let filled = 0;
    try {
      while (filled < bytes.length) {
        const read = readSync(shard.handle, bytes, filled, bytes.length - filled, position + filled);
        if (read === 0) break;
        filled += read;
      }
    } catch {
      // As good as gone: computed again.
    }
    return filled;
  }

  /** What is used stays when room is made. */
  #touch(shard: Shard): void {
    if (shard.used) return;
    shard.used = true;
    try {
      futimesSync(shard.handle, new Date(), new Date());
    } catch {
      // A read-only disk: nothing is removed from it either.
    }
  }

  /** Keeps a response: a value that JSON gives back as it was. */
  put(key: string, value: unknown): void {
    if (this.#broken) return;
    const line = Buffer.from(`${key} ${'0'.repeat(checksumDigits)} ${JSON.stringify(value)}\n`);
    line.write(sumOf(line.subarray(headLength, -1)), keyDigits + 1, 'latin1');
    if (this.#waiting.length === 0) this.#waitingSince = performance.now();
    this.#waiting.push({ key, line });
    this.#waitingBytes += line.length;
    const enough = Math.min(bufferBytes, this.#shardBytes);
    if (this.#waitingBytes >= enough || performance.now() - this.#waitingSince > bufferMilliseconds) this.flush();
  }

  /** Hands waiting lines to the system, which keeps them even where this process is killed. */
  flush(): void {
    const group = this.#waiting.splice(0);
    this.#waitingBytes = 0;
    if (group.length === 0 || this.#broken) return;
    try {
      this.#own ??= this.#open();
      const own = this.#own;
      const bytes = Buffer.concat(group.map(({ line }) => line));
      let written = 0;
      while (written < bytes.length)
        written += writeSync(own.handle, bytes, written, bytes.length - written, own.size + written);
      for (const { key, line } of group) {
        this.#table.set(key, { shard: own.shard, offset: own.size, length: line.length - 1 });
        own.size += line.length;
      }
      const shard = this.#shards[own.shard];
      if (shard) shard.known = own.size;
      if (own.size < this.#shardBytes) return;
      this.#giveBack();
      makeRoom(this.storeFolder, this.options.limitBytes);
    } catch (thrown) {
      this.#giveUp('written', thrown);
    }
  }

  #open(): OwnShard {
    mkdirSync(this.#folder, { recursive: true });
    try {
      writeFileSync(join(this.#folder, aboutFile), `${JSON.stringify(this.context.about, null, 2)}\n`, { flag: 'wx' });
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
    }
    const { path, handle } = takeShard(this.#folder, this.#shardBytes);
    // Read under its new name: another process may have written to it since this one read it.
    const shard = this.#shards.push({ handle: openSync(path, 'r'), known: 0, used: true }) - 1;
    this.#take(shard);
    const size = this.#shards[shard]?.known ?? 0;
    // Half a line of a process that was killed.
    if (fstatSync(handle).size > size) ftruncateSync(handle, size);
    return { path, handle, shard, size };
  }

  #giveBack(): void {
    const own = this.#own;
    this.#own = null;
    if (own) giveBackShard(own);
  }

  #giveUp(what: 'read' | 'written', thrown: unknown): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#waiting = [];
    const own = this.#own;
    try {
      // What a full disk took of a line goes again.
      if (own) ftruncateSync(own.handle, own.size);
      this.#giveBack();
    } catch {
      // It is not read anyway: half a line has no newline.
    }
    const code = (thrown as NodeJS.ErrnoException).code;
    // What runs write is worth more than what can be computed again: where there is no room, the cache gives up its own.
    const full = code === 'ENOSPC' || code === 'EDQUOT';
    if (full) makeRoom(this.storeFolder, 0);
    const why = reasons[code ?? ''] ?? asError(thrown).message;
    this.options.onProblem(
      `The response cache in ${join(this.storeFolder, responsesFolder)} could not be ${what} (${why}): the run went on without it${full ? ', and it was emptied to make room' : ''}.`,
    );
  }

  close(): void {
    this.flush();
    try {
      this.#giveBack();
    } catch {
      // A name that says "in use" of a process that is gone: the next one takes it over.
    }
    for (const { handle } of this.#shards.splice(0)) closeSync(handle);
    try {
      makeRoom(this.storeFolder, this.options.limitBytes);
    } catch {
      // The next one makes room.
    }
  }
}

const reasons: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the system allows no larger file',
  EACCES: 'there is no permission',
  EPERM: 'there is no permission',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file is in the way',
  EMFILE: 'too many files are open',
};

/** The value of a line, or undefined where the line is not what was written under this key. */
function parseLine(line: Buffer, key: string): unknown {
  const json = line.subarray(headLength);
  if (line.toString('latin1', 0, headLength) !== `${key} ${sumOf(json)} `) return undefined;
  try {
    return JSON.parse(json.toString('utf8'));
  } catch {
    return undefined;
  }
}
