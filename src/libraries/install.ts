/** Fetches, checks and unpacks a package of provider libraries; all or nothing. */
import { existsSync } from 'node:fs';
import { readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkFile, type DownloadSettings, diskError, download, lockFolder, type Wanted } from '../download/index.ts';
import { HumanError } from '../shared/errors.ts';
import { extract } from './archive.ts';
import { type Archive, downloadBytes, type LibraryPackage, packageNames } from './packages.ts';
import { findPackage, type Installed, installedFile, packageFolder, packageState } from './place.ts';

const roomAdvice = 'Make room, or name another folder in SOFTBENCH_LIBRARIES.';
const otherwise =
  'fetch the file elsewhere ("softbench providers list --json" has its address) and give its folder with --from.';
const words = {
  network: `What has arrived is kept: try again to go on from there. Behind a proxy set HTTPS_PROXY (in VS Code: http.proxy); without a network ${otherwise}`,
  refused: `Check the network, a proxy or a mirror in between; or ${otherwise}`,
  changed: 'Nothing of it was installed. A proxy or a mirror may have changed it; try again, or from another network.',
  room: roomAdvice,
};

export interface InstallProgress {
  /** `fetching` counts bytes of the archives, `unpacking` bytes of the files in them. */
  phase: 'fetching' | 'unpacking';
  bytes: number;
  total: number;
  /** The file under way. */
  file: string;
}

export interface InstallSettings extends Omit<DownloadSettings, 'onBytes'> {
  /** Folder of all packages. */
  folder: string;
  /** A folder, or the address of one, that holds the archives by their names: in place of their publisher's. */
  from?: string;
  onProgress?(progress: InstallProgress): void;
  /** Default: this machine's. For tests. */
  platform?: string;
}

/** The package of that name for this machine. @throws HumanError where there is none */
export function packageFor(name: string, platform = `${process.platform}/${process.arch}`): LibraryPackage {
  const found = findPackage(name);
  if (!found)
    throw new HumanError('bad-input', `There are no provider libraries "${name}".`, {
      todo: `There are ${packageNames.join(', ')}.`,
    });
  if (found.platform !== platform)
    throw new HumanError('unsupported', `${found.title} are published for ${found.platform}, not for ${platform}.`, {
      todo: 'Use another execution provider: "softbench providers list" shows which run here.',
    });
  return found;
}

/** Installs into `settings.folder` and gives the folder of the libraries. An installation that is whole stays. */
export async function installPackage(wanted: LibraryPackage, settings: InstallSettings): Promise<string> {
  const { folder, signal, onProgress } = settings;
  const there = packageState(folder, wanted).lib;
  if (there) return there;
  const free = await lockFolder(join(folder, `${wanted.name}.lock`), {
    busy: 'These libraries are being installed already',
    room: roomAdvice,
  });
  try {
    await checkRoom(folder, wanted);
    const total = downloadBytes(wanted);
    const place = packageFolder(folder, wanted);
    const partial = `${place}.partial`;
    await rm(partial, { recursive: true, force: true });
    const files: Installed['files'] = [];
    const downloads: string[] = [];
    let fetched = 0;
    let unpacked = 0;
    for (const archive of wanted.archives) {
      const path = await obtain(archive, settings, (bytes) =>
        onProgress?.({ phase: 'fetching', bytes: fetched + bytes, total, file: archive.file }),
      );
      if (path.startsWith(downloadsFolder(folder))) downloads.push(path);
      fetched += archive.bytes;
      const found = await extract(path, archive.files, join(partial, 'lib'), {
        signal,
        onBytes: (bytes) =>
          onProgress?.({
            phase: 'unpacking',
            bytes: unpacked + bytes,
            total: wanted.unpackedBytes,
            file: archive.file,
          }),
      });
      await extract(path, [archive.licence], partial, { signal, names: () => `LICENCE ${archive.file}.txt` });
      unpacked += found.reduce((sum, { bytes }) => sum + bytes, 0);
      files.push(...found.map(({ name, ...rest }) => ({ path: `lib/${name}`, ...rest })));
    }
    const { name, version, onnxruntime } = wanted;
    const installed: Installed = { name, version, onnxruntime, files };
    await writeFile(join(partial, installedFile), `${JSON.stringify(installed, null, 2)}\n`);
    await rm(place, { recursive: true, force: true });
    await rename(partial, place);
    await removeOthers(folder, wanted);
    // Kept until here, so that an attempt that was stopped does not fetch them again.
    for (const path of downloads) await rm(path, { force: true });
    return join(place, 'lib');
  } catch (thrown) {
    throw diskError(thrown, join(folder, wanted.name), roomAdvice) ?? thrown;
  } finally {
    await free();
  }
}

const wantedOf = ({ file, bytes, sha256 }: Archive): Wanted => ({
  file,
  bytes,
  digest: { kind: 'sha256', hex: sha256 },
});

const downloadsFolder = (folder: string): string => join(folder, 'downloads');

/** The archive, checked, on this disk: fetched, or the user's own. */
async function obtain(
  archive: Archive,
  { folder, from, ...settings }: InstallSettings,
  onBytes: (bytes: number) => void,
): Promise<string> {
  const isAddress = from !== undefined && /^https?:\/\//.test(from);
  if (from !== undefined && !isAddress) {
    const path = join(resolve(from), archive.file);
    await checkFile(path, wantedOf(archive), {
      ...(settings.signal && { signal: settings.signal }),
      words,
      missing:
        'The file must have the name that it has at its publisher: "softbench providers list --json" has that and its address.',
    });
    onBytes(archive.bytes);
    return path;
  }
  const address =
    from === undefined ? new URL(archive.url) : new URL(archive.file, from.endsWith('/') ? from : `${from}/`);
  const path = join(downloadsFolder(folder), archive.file);
  await download(address, path, wantedOf(archive), { ...settings, words, onBytes });
  return path;
}

/** Room for the archives and the unpacked files together. */
async function checkRoom(folder: string, wanted: LibraryPackage): Promise<void> {
  const needed = wanted.unpackedBytes + downloadBytes(wanted);
  const { bavail, bsize } = await statfs(folder);
  const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
  if (bavail * bsize < needed)
    throw new HumanError(
      'disk',
      `${wanted.title} need ${gigabytes(needed)} in ${folder}; ${gigabytes(bavail * bsize)} are free.`,
      { todo: roomAdvice },
    );
}

/** Other versions of the package: nothing loads them any more. */
async function removeOthers(folder: string, wanted: LibraryPackage): Promise<void> {
  const keep = `${wanted.name}-${wanted.version}`;
  for (const entry of await readdir(folder))
    if (entry !== keep && new RegExp(`^${wanted.name}-\\d`).test(entry))
      await rm(join(folder, entry), { recursive: true, force: true });
}

/** Removes what is installed of a package, all versions. @returns whether there was something */
export async function removePackage(wanted: Pick<LibraryPackage, 'name'>, folder: string): Promise<boolean> {
  if (!existsSync(folder)) return false;
  let some = false;
  for (const entry of await readdir(folder))
    if (new RegExp(`^${wanted.name}-\\d`).test(entry)) {
      await rm(join(folder, entry), { recursive: true, force: true });
      some = true;
    }
  return some;
}

/** What a person agrees to: one line a fact. */
export function consentLines(wanted: LibraryPackage, folder: string, from?: string): string[] {
  const size = (bytes: number): string =>
    bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;
  const hosts = [...new Set(wanted.archives.map(({ url }) => new URL(url).host))].join(', ');
  const source =
    from === undefined
      ? `${wanted.publisher}, from ${hosts}`
      : /^https?:/.test(from)
        ? `${wanted.publisher}, from ${new URL(from).host}`
        : `${wanted.publisher}, from ${pathToFileURL(resolve(from)).pathname}`;
  return [
    `${wanted.title}, version ${wanted.version}`,
    `Download: ${size(downloadBytes(wanted))}, ${size(wanted.unpackedBytes)} on disk`,
    `Source: ${source}`,
    `Licence: ${wanted.licence.name} (${wanted.licence.url})`,
    `Goes to: ${packageFolder(folder, wanted)}`,
    `Checked: size and SHA-256 of ${wanted.archives.length === 1 ? 'the archive' : `all ${wanted.archives.length} archives`}`,
    `Needs: ${wanted.needs}`,
  ];
}
