/** Where the rows of a Hugging Face data set lie on this machine: a folder, or the cache of the hub's own clients. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import { splitsOf } from './data.ts';
import { datasetSplits } from './dataset-folder.ts';
import { globPattern } from './glob.ts';

export interface DatasetRequest {
  /** `owner/name`, or a folder. */
  path: string;
  /** Configuration (`dataset_name`). */
  name: string | null;
  revision: string | null;
  dataDir: string | null;
  /** `data_files` of `dataset_kwargs`, within the repository. */
  dataFiles: unknown;
}

const isFolder = async (path: string): Promise<boolean> => (await stat(path).catch(() => null))?.isDirectory() ?? false;

/** The folder that Hugging Face's clients download repositories to; its place can be set by their variables. */
function hubCache(environment: NodeJS.ProcessEnv = process.env): string {
  const { HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME } = environment;
  const home = HF_HOME ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'huggingface');
  return HF_HUB_CACHE ?? HUGGINGFACE_HUB_CACHE ?? join(home, 'hub');
}

/** The snapshot of a data set in the cache, newest where no branch says which; null where there is none. */
async function cachedSnapshot(id: string, revision: string | null, cache: string): Promise<string | null> {
  const repository = join(cache, `datasets--${id.replaceAll('/', '--')}`);
  const snapshots = join(repository, 'snapshots');
  const commit =
    (await readFile(join(repository, 'refs', ...(revision ?? 'main').split('/')), 'utf8').catch(() => null))?.trim() ??
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

/** Files below a folder, links followed (the cache holds nothing else), `/` between folders. */
async function filesBelow(folder: string, under = ''): Promise<string[]> {
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
 * Absolute paths of a data set's files by split.
 * @param folders where relative paths start: the folders of the benchmark file and its includes
 * @throws HumanError where the data set is not on this machine, or has no such configuration
 */
export async function locateDataset(
  request: DatasetRequest,
  folders: readonly string[],
  cache: string = hubCache(),
): Promise<Map<string, string[]>> {
  const { path, name, revision, dataDir, dataFiles } = request;
  let folder: string | null = null;
  for (const start of folders) if (!folder && (await isFolder(resolve(start, path)))) folder = resolve(start, path);
  folder ??= await cachedSnapshot(path, revision, cache);
  if (!folder)
    throw new HumanError('missing', `The data set ${path} of the Hugging Face hub is not on this machine.`, {
      todo: `Download it once with \`hf download --repo-type dataset ${path}\`, which Softbench finds in the cache (${cache}), or name a folder or .jsonl files in its place.`,
    });
  const under = dataDir?.replace(/^\.?\/|\/$/g, '') ?? null;
  const files = (await filesBelow(folder)).filter((file) => under === null || file.startsWith(`${under}/`));
  const root = folder;
  const absolute = (splits: Map<string, string[]>): Map<string, string[]> =>
    new Map([...splits].map(([split, list]) => [split, list.map((file) => join(root, file))]));
  if (dataFiles !== undefined && dataFiles !== null) {
    const splits = new Map<string, string[]>();
    for (const [split, patterns] of splitsOf(dataFiles)) {
      const matchers = patterns.map((pattern) => globPattern(under ? `${under}/${pattern}` : pattern));
      const matching = files.filter((file) => matchers.some((matcher) => matcher.test(file)));
      if (matching.length === 0)
        throw new HumanError('missing', `The data set ${path} has no file ${patterns.join(', ')}.`, {
          place: { file: folder },
        });
      splits.set(split, matching);
    }
    return absolute(splits);
  }
  const readme = files.includes('README.md') ? await readFile(join(folder, 'README.md'), 'utf8') : null;
  const { splits } = datasetSplits(path, files, readme, name);
  if (splits.size === 0)
    throw new HumanError('unsupported', `The data set ${path} has no .parquet, .json, .jsonl or .csv file.`, {
      place: { file: folder },
      todo: files.some((file) => file.endsWith('.py'))
        ? 'It is made by a Python script. The hub keeps converted data under the revision refs/convert/parquet: give it as `dataset_revision`.'
        : 'Convert its data to .parquet or .jsonl.',
    });
  return absolute(splits);
}
