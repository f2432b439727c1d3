/** Takes chosen files out of a zip archive (a Python wheel is one), and says what they are. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Entry, ZipFile } from 'yauzl';
import { diskError } from '../download/index.ts';
import { asError, CancelledError, HumanError } from '../shared/errors.ts';

export interface Extracted {
  name: string;
  bytes: number;
  sha256: string;
}

/**
 * Writes the entries at the given paths to `folder`, each under `names(path)`, by default its last part.
 * @throws HumanError where the archive is none, lacks an entry, or the disk is full
 */
export async function extract(
  archive: string,
  paths: readonly string[],
  folder: string,
  settings: { signal?: AbortSignal; names?(path: string): string; onBytes?(bytes: number): void } = {},
): Promise<Extracted[]> {
  const { signal, names = (path) => basename(path), onBytes } = settings;
  const yauzl = await import('yauzl');
  await mkdir(folder, { recursive: true });
  let zip: ZipFile;
  try {
    zip = await new Promise<ZipFile>((resolve, reject) =>
      // Sizes are checked by the library; names cannot lead out of the folder, being ours.
      yauzl.open(archive, { lazyEntries: true, autoClose: false }, (error, opened) =>
        opened ? resolve(opened) : reject(error),
      ),
    );
  } catch (thrown) {
    throw new HumanError('engine', `${basename(archive)} is not a zip archive: ${asError(thrown).message}.`, {
      todo: 'Fetch it again.',
      cause: thrown,
    });
  }
  try {
    const entries = await listed(zip);
    const results: Extracted[] = [];
    let before = 0;
    for (const path of paths) {
      if (signal?.aborted) throw new CancelledError('Stopped. Nothing was installed.');
      const entry = entries.get(path);
      if (!entry)
        throw new HumanError('engine', `${basename(archive)} has no ${path}.`, { todo: 'Report this message.' });
      const name = names(path);
      const source = await new Promise<NodeJS.ReadableStream>((resolve, reject) =>
        zip.openReadStream(entry, (error, stream) => (stream ? resolve(stream) : reject(error))),
      );
      const hash = createHash('sha256');
      let bytes = 0;
      const watch = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          hash.update(chunk);
          bytes += chunk.length;
          onBytes?.(before + bytes);
          done(null, chunk);
        },
      });
      const target = join(folder, name);
      try {
        await pipeline(source, watch, createWriteStream(target, { mode: 0o644 }), { signal });
      } catch (thrown) {
        if (signal?.aborted) throw new CancelledError('Stopped. Nothing was installed.');
        throw diskError(thrown, target, 'Make room, or name another folder in SOFTBENCH_LIBRARIES.') ?? thrown;
      }
      before += bytes;
      results.push({ name, bytes, sha256: hash.digest('hex') });
    }
    return results;
  } finally {
    zip.close();
  }
}

function listed(zip: ZipFile): Promise<Map<string, Entry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    zip.on('entry', (entry: Entry) => {
      entries.set(entry.fileName, entry);
      zip.readEntry();
    });
    zip.on('end', () => resolve(entries));
    zip.on('error', reject);
    zip.readEntry();
  });
}
