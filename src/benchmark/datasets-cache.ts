/**
 * The cache of the `datasets` library: what it has prepared of a data set, as Arrow files, under
 * `ID/CONFIGURATION/VERSION/HASH` (datasets 4.x, naming.py and packaged_modules/cache).
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface CachedDataset {
  folder: string;
  configuration: string;
  /** Absolute paths by split, in order. */
  splits: Map<string, string[]>;
}

const snakeCase = (name: string): string =>
  name
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase();

const folders = async (path: string): Promise<string[]> =>
  (await readdir(path, { withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isDirectory() && !entry.name.endsWith('.incomplete'))
    .map((entry) => entry.name);

/**
 * What is prepared of a configuration, the newest where there are several; all configurations where none is named.
 * @param commit only what was made from this commit of the repository; null: any
 */
export async function cachedDatasets(
  id: string,
  configuration: string | null,
  commit: string | null,
  cache: string,
): Promise<CachedDataset[]> {
  const parts = id.split('/');
  const name = snakeCase(parts.pop() ?? '');
  const root = join(cache, [...parts, name].join('___'));
  const found: CachedDataset[] = [];
  for (const each of configuration === null ? await folders(root) : [configuration]) {
    const made: { path: string; time: number }[] = [];
    for (const version of await folders(join(root, each)))
      for (const hash of await folders(join(root, each, version)))
        if (commit === null || hash === commit) {
          const path = join(root, each, version, hash);
          made.push({ path, time: (await stat(path)).mtimeMs });
        }
    for (const { path } of made.sort((a, b) => b.time - a.time)) {
      const splits = await splitsOf(path, each, name);
      if (splits === null) continue;
      found.push({ folder: path, configuration: each, splits });
      break;
    }
  }
  return found;
}

/** Splits by dataset_info.json, which is written when all files are; null where it is not whole. */
async function splitsOf(folder: string, configuration: string, name: string): Promise<Map<string, string[]> | null> {
  let info: { config_name?: unknown; dataset_name?: unknown; splits?: Record<string, unknown> };
  try {
    info = JSON.parse(await readFile(join(folder, 'dataset_info.json'), 'utf8'));
  } catch {
    return null;
  }
  // A folder with options in its name (`default-data_dir=…`) holds other rows than the configuration's own.
  if (info.config_name !== undefined && info.config_name !== configuration) return null;
  const prefix = typeof info.dataset_name === 'string' ? info.dataset_name : name;
  const files = (await readdir(folder)).filter((file) => file.endsWith('.arrow')).sort();
  const splits = new Map<string, string[]>();
  for (const split of Object.keys(info.splits ?? {})) {
    const single = `${prefix}-${split}.arrow`;
    const shards = files.filter(
      (file) =>
        file.startsWith(`${prefix}-${split}-`) &&
        /^\d{5}-of-\d{5}\.arrow$/.test(file.slice(prefix.length + split.length + 2)),
    );
    const wanted = Number(shards[0]?.slice(-11, -6) ?? Number.NaN);
    if (files.includes(single)) splits.set(split, [join(folder, single)]);
    else if (shards.length > 0 && shards.length === wanted)
      splits.set(
        split,
        shards.map((file) => join(folder, file)),
      );
    else return null;
  }
  return splits.size > 0 ? splits : null;
}
