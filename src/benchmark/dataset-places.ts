/** Where data sets of the Hugging Face Hub are looked for on this machine: mapped folders and two caches. */
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { hubCache, hubHome } from '../hub/index.ts';
import { type DatasetFolders, datasetFolders, foldersVariable } from '../shared/dataset-folders.ts';
import { HumanError } from '../shared/errors.ts';

export interface DatasetPlaces {
  folders: DatasetFolders;
  /** The cache of the Hub's clients (`huggingface_hub`). */
  hub: string;
  /** The cache of the `datasets` library: Arrow files that it has prepared. */
  datasets: string;
}

/** The places of this process; what its user has set goes before the environment. */
export function datasetPlaces(environment: NodeJS.ProcessEnv = process.env): DatasetPlaces {
  const named = environment.HF_DATASETS_CACHE?.replace(/^~(?=$|[\\/])/, homedir());
  return {
    folders: { ...readFolders(environment[foldersVariable] ?? ''), ...datasetFolders() },
    hub: hubCache(environment),
    datasets: named || join(hubHome(environment), 'datasets'),
  };
}

/**
 * The mappings of a text as {@link foldersVariable} has it; folders are absolute afterwards.
 * @throws HumanError where it is neither form
 */
function readFolders(text: string, base = process.cwd()): Record<string, string> {
  if (text.trim() === '') return {};
  if (text.trimStart().startsWith('{')) {
    try {
      const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
      return Object.fromEntries(entries.map(([id, folder]) => [id, resolve(base, withHome(String(folder)))]));
    } catch {
      throw new HumanError('bad-input', `${foldersVariable} is not valid JSON.`, {
        todo: `Write {"owner/name": "folder"}, or owner/name=folder with "${delimiter}" between several.`,
      });
    }
  }
  return Object.fromEntries(
    text
      .split(delimiter)
      .filter((part) => part.trim() !== '')
      .map((part) => readFolder(part, base)),
  );
}

/** One mapping `id=folder`. @throws HumanError */
export function readFolder(text: string, base = process.cwd()): [id: string, folder: string] {
  const at = text.indexOf('=');
  const [id, folder] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (at < 1 || id === '' || folder === '')
    throw new HumanError('bad-input', `"${text}" maps no data set to a folder.`, {
      todo: 'Write owner/name=folder, or owner/*=folder for all of an owner.',
    });
  return [id, resolve(base, withHome(folder))];
}

const withHome = (path: string): string => path.replace(/^~(?=$|[\\/])/, homedir());

/**
 * The folder that an id is mapped to, by the most exact of the mappings; null where none fits. What `*` stands for in the
 * id takes the place of `*` in the folder, or is a folder below it. An id that ends in `/` maps all that begin with it.
 */
export function mappedFolder(id: string, folders: DatasetFolders): { folder: string; exact: boolean } | null {
  const own = folders[id];
  if (own !== undefined) return { folder: own, exact: true };
  const patterns = Object.entries(folders)
    .map(([key, folder]) => [key.endsWith('/') ? `${key}*` : key, folder] as const)
    .filter(([key]) => key.split('*').length === 2)
    .sort(([a], [b]) => b.length - a.length);
  for (const [key, folder] of patterns) {
    const [before = '', after = ''] = key.split('*');
    if (id.length < before.length + after.length || !id.startsWith(before) || !id.endsWith(after)) continue;
    const rest = id.slice(before.length, id.length - after.length);
    // No way out of the folder by an id.
    if (rest.split('/').includes('..')) continue;
    return { folder: folder.includes('*') ? folder.replace('*', rest) : join(folder, rest), exact: false };
  }
  return null;
}
