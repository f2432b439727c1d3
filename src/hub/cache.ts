/**
 * The folder that Hugging Face's clients keep repositories in, read and written as they do (`huggingface_hub`,
 * file_download.py): `blobs` by etag, `snapshots/COMMIT` with links to them, `refs` with the commit of a branch.
 */
import { copyFile, link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { replaceFile, temporaryBeside } from '../system/index.ts';
import { folderName, type Repository } from './repository.ts';

const withHome = (path: string): string => path.replace(/^~(?=$|[\\/])/, homedir());

/** Hugging Face's own folder on this machine. */
export function hubHome({ HF_HOME, XDG_CACHE_HOME }: NodeJS.ProcessEnv = process.env): string {
  return withHome(HF_HOME || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface'));
}

/** The folder that Hugging Face's clients download repositories to; its place can be set by their variables. */
export function hubCache(environment: NodeJS.ProcessEnv = process.env): string {
  const { HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE } = environment;
  return withHome(HF_HUB_CACHE || HUGGINGFACE_HUB_CACHE || join(hubHome(environment), 'hub'));
}

export const repositoryFolder = (repository: Repository, cache: string): string => join(cache, folderName(repository));

const isFolder = async (path: string): Promise<boolean> => (await stat(path).catch(() => null))?.isDirectory() ?? false;

/**
 * The snapshot of a repository in the cache; null where there is none.
 * @param revision branch, tag or commit; null: `main`, else the newest that is there
 */
export async function cachedSnapshot(
  repository: Repository,
  revision: string | null,
  cache: string,
): Promise<string | null> {
  const folder = repositoryFolder(repository, cache);
  const snapshots = join(folder, 'snapshots');
  const commit =
    (await readFile(join(folder, 'refs', ...(revision ?? 'main').split('/')), 'utf8').catch(() => null))?.trim() ??
    revision;
  if (commit && (await isFolder(join(snapshots, commit)))) return join(snapshots, commit);
  if (revision !== null) return null;
  const found = await Promise.all(
    (await readdir(snapshots).catch(() => [])).map(async (name) => ({
      path: join(snapshots, name),
      time: (await stat(join(snapshots, name))).mtimeMs,
    })),
  );
  return found.sort((a, b) => b.time - a.time)[0]?.path ?? null;
}

/** Files below a folder, links followed (a snapshot holds nothing else), `/` between folders. */
export async function filesBelow(folder: string, under = ''): Promise<string[]> {
  const entries = await readdir(join(folder, under), { withFileTypes: true });
  const lists = await Promise.all(
    entries.map(async (entry) => {
      const path = under ? `${under}/${entry.name}` : entry.name;
      if (entry.name === '.git') return [];
      return entry.isDirectory() ? filesBelow(folder, path) : [path];
    }),
  );
  return lists.flat().sort();
}

/**
 * Puts a blob into a snapshot: a relative link, so that the cache can be moved; where the system permits none (Windows
 * without developer mode) a second name of the same file, else a copy.
 */
export async function placeInSnapshot(blob: string, pointer: string): Promise<void> {
  await mkdir(dirname(pointer), { recursive: true });
  await rm(pointer, { force: true });
  try {
    await symlink(relative(dirname(pointer), blob), pointer);
  } catch {
    await link(blob, pointer).catch(() => copyFile(blob, pointer));
  }
}

/** Notes which commit a branch or tag is at. */
export async function writeRef(folder: string, revision: string, commit: string): Promise<void> {
  if (revision === commit) return;
  const file = join(folder, 'refs', ...revision.split('/'));
  await mkdir(dirname(file), { recursive: true });
  // Whole or not at all: another client may read it meanwhile.
  const temporary = temporaryBeside(file);
  await writeFile(temporary, commit);
  await replaceFile(temporary, file);
}
