/** Files of a repository into the Hub's cache, where Python's clients find them too. */
import { mkdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { diskError, download, lockFolder } from '../download/index.ts';
import { HumanError } from '../shared/errors.ts';
import { placeInSnapshot, repositoryFolder, writeRef } from './cache.ts';
import type { HubFile, Listing } from './listing.ts';
import { ask } from './listing.ts';
import { checkOnline, refusal } from './refusals.ts';
import { fileAddress, folderName } from './repository.ts';
import type { HubSettings } from './settings.ts';

export interface FetchProgress {
  bytes: number;
  total: number;
  /** The file under way, from 1. */
  file: number;
  files: number;
  path: string;
  /** Milliseconds that the server asked to wait, where it did. */
  waits?: number;
}

const roomAdvice = 'Make room, or let HF_HOME name a folder on another disk.';

/** The text of a small file, such as a card; nothing is kept. */
export async function readText(
  listing: Listing,
  path: string,
  settings: HubSettings,
  signal?: AbortSignal,
): Promise<string> {
  const { body } = await ask(
    fileAddress(listing, listing.commit, path, settings.endpoint),
    listing,
    listing.revision,
    settings,
    {},
    signal,
  );
  return body.toString('utf8');
}

/** Which of the files are not in the snapshot yet. */
export async function missingFiles(listing: Listing, files: readonly HubFile[], cache: string): Promise<HubFile[]> {
  const snapshot = join(repositoryFolder(listing, cache), 'snapshots', listing.commit);
  const there = await Promise.all(
    files.map(async ({ path, bytes }) => (await stat(join(snapshot, path)).catch(() => null))?.size === bytes),
  );
  return files.filter((_, at) => !there[at]);
}

/**
 * Fetches files and gives the snapshot's folder. The snapshot shows them once all are there: what was stopped half way is
 * no split with fewer rows. What has arrived is gone on from, by this program or by Python's.
 * @throws HumanError, CancelledError
 */
export async function fetchFiles(
  listing: Listing,
  files: readonly HubFile[],
  settings: HubSettings,
  { signal, onProgress }: { signal?: AbortSignal; onProgress?(progress: FetchProgress): void } = {},
): Promise<string> {
  const { cache, endpoint, token } = settings;
  const folder = repositoryFolder(listing, cache);
  const snapshot = join(folder, 'snapshots', listing.commit);
  const wanted = await missingFiles(listing, files, cache);
  if (wanted.length > 0) checkOnline(settings);
  const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  const free = await lockFolder(join(cache, '.locks', folderName(listing), 'softbench.lock'), {
    busy: `${listing.id} is being downloaded already`,
    room: roomAdvice,
  });
  try {
    await mkdir(join(folder, 'blobs'), { recursive: true });
    await checkRoom(folder, wanted, listing.id);
    let before = 0;
    for (const [at, file] of wanted.entries()) {
      const show = (bytes: number, waits?: number): void =>
        onProgress?.({
          bytes: before + bytes,
          total,
          file: at + 1,
          files: wanted.length,
          path: file.path,
          ...(waits && { waits }),
        });
      let arrived = 0;
      await download(
        fileAddress(listing, listing.commit, file.path, endpoint),
        blobOf(folder, file),
        { file: file.path, bytes: file.bytes, digest: file.digest },
        {
          ...(signal && { signal }),
          environment: settings.proxies,
          ...(settings.stallMilliseconds !== undefined && { stallMilliseconds: settings.stallMilliseconds }),
          ...(settings.pauseMilliseconds !== undefined && { pauseMilliseconds: settings.pauseMilliseconds }),
          headers: token ? { Authorization: `Bearer ${token.text}` } : {},
          // The name under which `huggingface_hub` goes on too.
          part: `${blobOf(folder, file)}.incomplete`,
          words: { room: roomAdvice },
          refusal: (status, headers) => refusal(listing, listing.revision, settings, status, headers),
          onBytes: (bytes) => {
            arrived = bytes;
            show(bytes);
          },
          onPause: (milliseconds) => show(arrived, milliseconds),
        },
      );
      before += file.bytes;
      show(0);
    }
    for (const file of wanted) await placeInSnapshot(blobOf(folder, file), join(snapshot, file.path));
    await mkdir(snapshot, { recursive: true });
    await writeRef(folder, listing.revision, listing.commit);
    return snapshot;
  } catch (thrown) {
    throw diskError(thrown, folder, roomAdvice) ?? thrown;
  } finally {
    await free();
  }
}

/** Named by the etag, which is the digest: SHA-256 of files in large-file storage, git's name of the others. */
const blobOf = (folder: string, { digest }: HubFile): string => join(folder, 'blobs', digest.hex);

async function checkRoom(folder: string, files: readonly HubFile[], id: string): Promise<void> {
  const sizes = await Promise.all(
    files.map(async (file) => {
      const blob = blobOf(folder, file);
      const there = (await stat(blob).catch(() => null)) ?? (await stat(`${blob}.incomplete`).catch(() => null));
      return Math.max(0, file.bytes - (there?.size ?? 0));
    }),
  );
  const needed = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const { bavail, bsize } = await statfs(folder);
  const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(bytes < 1e8 ? 3 : 1)} GB`;
  if (bavail * bsize < needed)
    throw new HumanError(
      'disk',
      `${id} needs ${gigabytes(needed)} more in ${folder}; ${gigabytes(bavail * bsize)} are free.`,
      {
        todo: roomAdvice,
      },
    );
}
