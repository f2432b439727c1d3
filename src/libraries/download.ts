/**
 * One file of known size and digest, from the network or from a folder, into a place on disk. What arrived is kept when
 * the connection breaks or the user stops: the next attempt asks for the rest (HTTP Range).
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { asError, CancelledError, HumanError, throwIfCancelled } from '../shared/errors.ts';
import type { Archive } from './packages.ts';
import { get, networkWords, type RequestSettings } from './request.ts';

export interface DownloadSettings extends Pick<RequestSettings, 'signal' | 'stallMilliseconds' | 'environment'> {
  /** Called with the bytes that are there. */
  onBytes?(bytes: number): void;
  /** Attempts in a row that bring nothing new before giving up. */
  attempts?: number;
  /** Milliseconds before the second attempt; doubled each time. */
  pauseMilliseconds?: number;
}

type Wanted = Pick<Archive, 'file' | 'bytes' | 'sha256'>;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const stopped = 'Stopped. What has arrived is kept; the next attempt goes on from there.';

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
  const { signal, attempts = 5, pauseMilliseconds = 1000, onBytes } = settings;
  await mkdir(dirname(to), { recursive: true });
  if (await isWanted(to, wanted)) return;
  const part = `${to}.part`;
  let idle = 0;
  // The most that was ever there: a server that begins again and again brings nothing new.
  let most = (await stat(part).catch(() => null))?.size ?? 0;
  for (;;) {
    if (signal?.aborted) throw new CancelledError(stopped);
    const before = (await stat(part).catch(() => null))?.size ?? 0;
    let failure: unknown = null;
    if (before < wanted.bytes)
      try {
        await fetchRest(address, part, before, wanted, settings);
      } catch (thrown) {
        if (signal?.aborted) throw new CancelledError(stopped);
        if (thrown instanceof HumanError) throw thrown;
        failure = thrown;
      }
    const after = (await stat(part).catch(() => null))?.size ?? 0;
    if (after === wanted.bytes) break;
    if (after > wanted.bytes) {
      await rm(part, { force: true });
      throw differs(wanted, address.host, `it is longer than ${megabytes(wanted.bytes)}`);
    }
    idle = after > most ? 0 : idle + 1;
    most = Math.max(most, after);
    if (idle >= attempts)
      throw new HumanError(
        'engine',
        `${wanted.file} could not be fetched: ${failure ? networkWords(failure, address) : `${address.host} ends after ${megabytes(after)} of ${megabytes(wanted.bytes)}`}.`,
        {
          todo: 'What has arrived is kept: try again to go on from there. Behind a proxy set HTTPS_PROXY (in VS Code: http.proxy); without a network fetch the file elsewhere ("softbench providers list --json" has its address) and give its folder with --from.',
          cause: failure ?? undefined,
        },
      );
    await pause(pauseMilliseconds * 2 ** Math.min(idle, 5), undefined, { signal }).catch(() => {});
  }
  onBytes?.(wanted.bytes);
  const digest = await sha256Of(part, signal);
  if (digest !== wanted.sha256) {
    // Going on from wrong bytes would never end well.
    await rm(part, { force: true });
    throw differs(wanted, address.host, `its SHA-256 is ${digest}, not ${wanted.sha256}`);
  }
  await rename(part, to);
}

/** One request for what is missing. Returns at the end of the answer, however much came. */
async function fetchRest(
  address: URL,
  part: string,
  from: number,
  wanted: Wanted,
  { signal, stallMilliseconds = 60_000, environment, onBytes }: DownloadSettings,
): Promise<void> {
  const headers: Record<string, string> = { 'Accept-Encoding': 'identity' };
  if (from > 0) headers.Range = `bytes=${from}-`;
  const response = await get(address, { headers, signal, stallMilliseconds, environment });
  const status = response.statusCode ?? 0;
  if (status !== 200 && status !== 206) {
    response.destroy();
    if (status === 416) return rm(part, { force: true });
    // A server or a gateway that is busy may have it later.
    if (status >= 500 || status === 429) throw new Error(`${address.host} answers ${status}`);
    throw new HumanError('engine', `${address.host} answers ${status} for ${wanted.file}.`, {
      todo: 'Check the network, a proxy or a mirror in between; or fetch the file elsewhere ("softbench providers list --json" has its address) and give its folder with --from.',
    });
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
    throw differs(wanted, address.host, `it has ${total} bytes, not ${wanted.bytes}`);
  }
  // Listened to before anything is waited for: a timeout may come at any moment.
  response.setTimeout(stallMilliseconds, () =>
    response.destroy(new Error(`${address.host} sent nothing for ${stallMilliseconds / 1000} s`)),
  );
  let handle: FileHandle | null = null;
  let position = start;
  try {
    handle = await open(part, start > 0 ? 'r+' : 'w');
    for await (const chunk of response as AsyncIterable<Buffer>) {
      throwIfCancelled(signal);
      await handle.write(chunk, 0, chunk.length, position);
      position += chunk.length;
      onBytes?.(Math.min(position, wanted.bytes));
      if (position > wanted.bytes) break;
    }
  } catch (thrown) {
    throw diskError(thrown, part) ?? thrown;
  } finally {
    response.destroy();
    await handle?.close();
  }
}

/** Checks a file that somebody put there, without changing it. */
export async function checkFile(path: string, wanted: Wanted, signal?: AbortSignal): Promise<void> {
  const size = (await stat(path).catch(() => null))?.size;
  if (size === undefined)
    throw new HumanError('missing', `There is no ${wanted.file} in ${dirname(path)}.`, {
      todo: 'The file must have the name that it has at its publisher: "softbench providers list --json" has that and its address.',
    });
  if (size !== wanted.bytes) throw differs(wanted, path, `it has ${size} bytes, not ${wanted.bytes}`);
  const digest = await sha256Of(path, signal);
  if (digest !== wanted.sha256) throw differs(wanted, path, `its SHA-256 is ${digest}, not ${wanted.sha256}`);
}

async function isWanted(path: string, wanted: Wanted): Promise<boolean> {
  const size = (await stat(path).catch(() => null))?.size;
  return size === wanted.bytes && (await sha256Of(path)) === wanted.sha256;
}

async function sha256Of(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    if (signal?.aborted) throw new CancelledError(stopped);
    hash.update(chunk);
  }
  return hash.digest('hex');
}

const differs = ({ file }: Wanted, from: string, how: string): HumanError =>
  new HumanError('engine', `What ${from} gives as ${file} is not the file that was published: ${how}.`, {
    todo: 'Nothing of it was installed. A proxy or a mirror may have changed it; try again, or from another network.',
  });

/** A HumanError where writing failed for a reason that a person can do something about; null else. */
export function diskError(thrown: unknown, path: string): HumanError | null {
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
        todo: 'Make room, or name another folder in SOFTBENCH_LIBRARIES.',
        cause: thrown,
      });
}
