/**
 * One file of known size and digest, from the network or from a folder, into a place on disk. What arrived is kept when
 * the connection breaks or the user stops: the next attempt asks for the rest (HTTP Range).
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { basename, dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { asError, CancelledError, HumanError, throwIfCancelled } from '../shared/errors.ts';
import { get, networkWords, type RequestSettings } from './request.ts';

/** `git`: the SHA-1 of a blob as git names it, over `blob SIZE\0` and the content. */
export interface Digest {
  kind: 'sha256' | 'git';
  hex: string;
}

export interface Wanted {
  /** As messages name it. */
  file: string;
  bytes: number;
  digest: Digest;
}

/** What a person can do, by what went wrong: whole sentences. */
export interface DownloadWords {
  /** The network fails. */
  network: string;
  /** The server does not give the file. */
  refused: string;
  /** What came is another file. */
  changed: string;
  /** There is no room on the disk, or no permission. */
  room: string;
}

export interface DownloadSettings
  extends Pick<RequestSettings, 'headers' | 'signal' | 'stallMilliseconds' | 'environment'> {
  /** Called with the bytes that are there. */
  onBytes?(bytes: number): void;
  /** Called where the server asks to wait, before waiting. */
  onPause?(milliseconds: number): void;
  /** Attempts in a row that bring nothing new before giving up. */
  attempts?: number;
  /** Milliseconds before the second attempt; doubled each time. A server that asks for longer (Retry-After) gets it. */
  pauseMilliseconds?: number;
  /** Where what has arrived is kept; `<to>.part` where absent. */
  part?: string;
  words?: Partial<DownloadWords>;
  /** What an answer other than the file means, where the server's kind says more than its number. */
  refusal?(status: number, headers: IncomingHttpHeaders): HumanError | null;
}

const plainWords: DownloadWords = {
  network:
    'What has arrived is kept: try again to go on from there. Behind a proxy set HTTPS_PROXY (in VS Code: http.proxy).',
  refused: 'Check the network, a proxy or a mirror in between.',
  changed: 'Nothing of it was kept. A proxy or a mirror may have changed it; try again, or from another network.',
  room: 'Make room, or choose another folder.',
};
/** A server that asks for more patience than this is not waited for. */
const longestPause = 120_000;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const stopped = 'Stopped. What has arrived is kept; the next attempt goes on from there.';

/** The server is busy: it may have the file later. */
class BusyError extends Error {
  constructor(
    message: string,
    /** Milliseconds that the server asks to wait; 0 where it does not say. */
    readonly pause: number,
  ) {
    super(message);
  }
}

/**
 * Fetches `address` to `to`. @throws HumanError where the server does not have it, gives something else, the disk is
 * full, or the connection fails again and again; CancelledError where the signal fires
 */
export async function download(
  address: URL,
  to: string,
  wanted: Wanted,
  settings: DownloadSettings = {},
): Promise<void> {
  const { signal, attempts = 5, pauseMilliseconds = 1000, onBytes, part = `${to}.part` } = settings;
  const words = { ...plainWords, ...settings.words };
  await mkdir(dirname(to), { recursive: true }).catch((thrown: unknown) => {
    throw diskError(thrown, to, words.room) ?? thrown;
  });
  if (await isWanted(to, wanted)) return;
  if (wanted.bytes === 0) return writeFile(to, '');
  let idle = 0;
  // The most that was ever there: a server that begins again and again brings nothing new.
  let most = (await stat(part).catch(() => null))?.size ?? 0;
  for (;;) {
    if (signal?.aborted) throw new CancelledError(stopped);
    const before = (await stat(part).catch(() => null))?.size ?? 0;
    let failure: unknown = null;
    if (before < wanted.bytes)
      try {
        await fetchRest(address, part, before, wanted, settings, words);
      } catch (thrown) {
        if (signal?.aborted) throw new CancelledError(stopped);
        if (thrown instanceof HumanError) throw thrown;
        failure = thrown;
      }
    const after = (await stat(part).catch(() => null))?.size ?? 0;
    if (after === wanted.bytes) break;
    if (after > wanted.bytes) {
      await rm(part, { force: true });
      throw differs(wanted, address.host, `it is longer than ${megabytes(wanted.bytes)}`, words);
    }
    idle = after > most ? 0 : idle + 1;
    most = Math.max(most, after);
    const asked = failure instanceof BusyError ? failure.pause : 0;
    if (idle >= attempts || asked > longestPause)
      throw new HumanError(
        'engine',
        `${wanted.file} could not be fetched: ${failure ? networkWords(failure, address) : `${address.host} ends after ${megabytes(after)} of ${megabytes(wanted.bytes)}`}.`,
        { todo: words.network, cause: failure ?? undefined },
      );
    if (asked > 0) settings.onPause?.(asked);
    const milliseconds = Math.max(asked, pauseMilliseconds * 2 ** Math.min(idle, 5));
    await pause(milliseconds, undefined, { signal }).catch(() => {});
  }
  onBytes?.(wanted.bytes);
  const digest = await digestOf(part, wanted, signal);
  if (digest !== wanted.digest.hex) {
    // Going on from wrong bytes would never end well.
    await rm(part, { force: true });
    throw differs(wanted, address.host, otherDigest(wanted, digest), words);
  }
  await rename(part, to).catch((thrown: unknown) => {
    throw diskError(thrown, to, words.room) ?? thrown;
  });
}

/** One request for what is missing. Returns at the end of the answer, however much came. */
async function fetchRest(
  address: URL,
  part: string,
  from: number,
  wanted: Wanted,
  { signal, stallMilliseconds = 60_000, environment, onBytes, headers: more, refusal }: DownloadSettings,
  words: DownloadWords,
): Promise<void> {
  const headers: Record<string, string> = { ...more, 'Accept-Encoding': 'identity' };
  if (from > 0) headers.Range = `bytes=${from}-`;
  const response = await get(address, { headers, signal, stallMilliseconds, environment });
  const status = response.statusCode ?? 0;
  if (status !== 200 && status !== 206) {
    response.destroy();
    if (status === 416) return rm(part, { force: true });
    if (status >= 500 || status === 429) {
      const { words: busy, pause: asked } = busyAnswer(address, status, response.headers);
      throw new BusyError(busy, asked);
    }
    throw (
      refusal?.(status, response.headers) ??
      new HumanError('engine', `${address.host} answers ${status} for ${wanted.file}.`, { todo: words.refused })
    );
  }
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers['content-range'] ?? '');
  // 200: the server begins again. 206 that begins elsewhere is of no use.
  const start = status === 206 && range ? Number(range[1]) : 0;
  const total = status === 206 ? Number(range?.[2]) : Number(response.headers['content-length'] ?? Number.NaN);
  if (start !== from && start !== 0) {
    response.destroy();
    throw new Error(`${address.host} sends another part than the one asked for`);
  }
  if (Number.isFinite(total) && total !== wanted.bytes) {
    response.destroy();
    throw differs(wanted, address.host, `it has ${total} bytes, not ${wanted.bytes}`, words);
  }
  // Listened to before anything is waited for: a timeout may come at any moment.
  response.setTimeout(stallMilliseconds, () =>
    response.destroy(new Error(`${address.host} sent nothing for ${stallMilliseconds / 1000} s`)),
  );
  const chunks = chunksOf(response);
  let handle: FileHandle | null = null;
  let position = start;
  try {
    handle = await open(part, start > 0 ? 'r+' : 'w');
    for await (const chunk of chunks) {
      throwIfCancelled(signal);
      await handle.write(chunk, 0, chunk.length, position);
      position += chunk.length;
      onBytes?.(Math.min(position, wanted.bytes));
      if (position > wanted.bytes) break;
    }
  } catch (thrown) {
    throw diskError(thrown, part, words.room) ?? thrown;
  } finally {
    response.destroy();
    await handle?.close();
  }
}

/** Bytes that may wait for the disk. */
const mostWaiting = 2 ** 20;

/**
 * What arrives, from now on. A stream's own iterator drops what it holds when the connection breaks; here the error comes
 * behind the bytes that came before it.
 */
function chunksOf(response: IncomingMessage): AsyncIterable<Buffer> {
  const queue: Buffer[] = [];
  let waiting = 0;
  let isOver = false;
  let failure: Error | null = null;
  let wake = (): void => {};
  response.on('data', (chunk: Buffer) => {
    queue.push(chunk);
    waiting += chunk.length;
    if (waiting > mostWaiting) response.pause();
    wake();
  });
  response.on('error', (error) => {
    failure = error;
  });
  response.on('close', () => {
    isOver = true;
    wake();
  });
  return (async function* () {
    for (;;) {
      const chunk = queue.shift();
      if (chunk) {
        waiting -= chunk.length;
        yield chunk;
        if (response.isPaused() && waiting < mostWaiting / 2) response.resume();
      } else if (isOver) {
        if (failure) throw failure;
        return;
      } else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  })();
}

/** Milliseconds of a Retry-After header, which gives seconds or a date (RFC 9110, 10.2.3). */
export function retryAfter(header: string | undefined, now = Date.now()): number {
  if (header === undefined) return 0;
  const milliseconds = /^\s*\d+\s*$/.test(header) ? 1000 * Number(header) : Date.parse(header) - now;
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0;
}

/** What a busy server says, in words, and for how many milliseconds it asks to be left alone; 0 where it does not say. */
export function busyAnswer(
  { host }: URL,
  status: number,
  headers: IncomingHttpHeaders,
): { words: string; pause: number } {
  const asked = retryAfter(headers['retry-after']);
  const many = status === 429 ? ' (too many requests)' : '';
  const wait = asked > 0 ? ` and asks to wait ${Math.ceil(asked / 1000)} s` : '';
  return { words: `${host} answers ${status}${many}${wait}`, pause: asked };
}

/** Checks a file that somebody put there, without changing it. */
export async function checkFile(
  path: string,
  wanted: Wanted,
  settings: { signal?: AbortSignal; missing: string; words?: Partial<DownloadWords> },
): Promise<void> {
  const words = { ...plainWords, ...settings.words };
  const size = (await stat(path).catch(() => null))?.size;
  if (size === undefined)
    throw new HumanError('missing', `There is no ${wanted.file} in ${dirname(path)}.`, { todo: settings.missing });
  if (size !== wanted.bytes) throw differs(wanted, path, `it has ${size} bytes, not ${wanted.bytes}`, words);
  const digest = await digestOf(path, wanted, settings.signal);
  if (digest !== wanted.digest.hex) throw differs(wanted, path, otherDigest(wanted, digest), words);
}

async function isWanted(path: string, wanted: Wanted): Promise<boolean> {
  const size = (await stat(path).catch(() => null))?.size;
  return size === wanted.bytes && (await digestOf(path, wanted)) === wanted.digest.hex;
}

async function digestOf(path: string, { bytes, digest }: Wanted, signal?: AbortSignal): Promise<string> {
  const hash = createHash(digest.kind === 'git' ? 'sha1' : 'sha256');
  if (digest.kind === 'git') hash.update(`blob ${bytes}\0`);
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    if (signal?.aborted) throw new CancelledError(stopped);
    hash.update(chunk);
  }
  return hash.digest('hex');
}

const otherDigest = ({ digest }: Wanted, found: string): string =>
  `its ${digest.kind === 'git' ? 'SHA-1 (of a git blob)' : 'SHA-256'} is ${found}, not ${digest.hex}`;

const differs = ({ file }: Wanted, from: string, how: string, words: DownloadWords): HumanError =>
  new HumanError('engine', `What ${from} gives as ${file} is not the file that was published: ${how}.`, {
    todo: words.changed,
  });

/** A HumanError where writing failed for a reason that a person can do something about; null else. */
export function diskError(thrown: unknown, path: string, todo = plainWords.room): HumanError | null {
  const { code } = asError(thrown) as NodeJS.ErrnoException;
  const why: Record<string, string> = {
    ENOSPC: 'the disk is full',
    EDQUOT: 'your quota on this disk is used up',
    EROFS: 'the disk is read-only',
    EACCES: 'writing is not permitted',
    EPERM: 'writing is not permitted',
  };
  const words = why[code ?? ''];
  return words === undefined
    ? null
    : new HumanError('disk', `${basename(path)} could not be written to ${dirname(path)}: ${words}.`, {
        todo,
        cause: thrown,
      });
}
