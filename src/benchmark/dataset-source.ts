/** Where the rows of a Hugging Face data set lie on this machine: a folder, or a cache of the Hub's own clients. */
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { cachedSnapshot, filesBelow } from '../hub/index.ts';
import { HumanError } from '../shared/errors.ts';
import { type CardFeatures, cardFeatures } from './card-features.ts';
import { splitsOf } from './data.ts';
import { datasetSplits } from './dataset-folder.ts';
import { type DatasetPlaces, datasetPlaces, mappedFolder } from './dataset-places.ts';
import { cachedDatasets } from './datasets-cache.ts';
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

/** `folder`: named by the file itself; `mapped`: by the settings; the others are caches. */
export type DatasetOrigin = 'folder' | 'mapped' | 'hub' | 'datasets';

export interface LocatedDataset {
  origin: DatasetOrigin;
  folder: string;
  configuration: string;
  /** Absolute paths by split. */
  splits: Map<string, string[]>;
  /** Splits that the data set is said to have, here or not. */
  declared: string[];
  /** Types that its card gives. */
  features?: CardFeatures;
}

/** The branch on which the Hub keeps what it made of a data set as parquet files. */
export const convertedRevision = 'refs/convert/parquet';

const isFolder = async (path: string): Promise<boolean> => (await stat(path).catch(() => null))?.isDirectory() ?? false;

/** An id of the Hub, and no path of this machine. */
export const mayBeId = (path: string): boolean =>
  /^[\w.-]+(?:\/[\w.-]+)?$/.test(path) && !/^\.{1,2}(?:\/|$)/.test(path);

/**
 * The files of a data set.
 * @param folders where relative paths start: the folders of the benchmark file and its includes
 * @param wanted splits that are needed; a place that has them all is preferred
 * @throws HumanError where the data set is not on this machine (`missing`), or has no such configuration
 */
export async function locateDataset(
  request: DatasetRequest,
  folders: readonly string[],
  places: DatasetPlaces = datasetPlaces(),
  wanted: readonly string[] = [],
): Promise<LocatedDataset> {
  const { path, name, revision } = request;
  const mapped = mappedFolder(path, places.folders);
  if (mapped && (await isFolder(mapped.folder))) return readFolder(request, mapped.folder, 'mapped');
  if (mapped?.exact)
    throw new HumanError('missing', `The data set ${path} is mapped to ${mapped.folder}, which is not a folder.`, {
      todo: 'Mend the mapping: the setting `softbench.datasetFolders`, --dataset_folder, or SOFTBENCH_DATASETS.',
    });
  for (const start of folders) {
    const folder = resolve(start, path);
    if (await isFolder(folder)) return readFolder(request, folder, 'folder');
  }
  const found: LocatedDataset[] = [];
  let failure: HumanError | null = null;
  const look = async (place: () => Promise<LocatedDataset | null>): Promise<boolean> => {
    try {
      const located = await place();
      if (located) found.push(located);
      return located !== null && wanted.every((split) => located.splits.has(split));
    } catch (thrown) {
      if (!(thrown instanceof HumanError)) throw thrown;
      failure ??= thrown;
      return false;
    }
  };
  const snapshot = await cachedSnapshot({ kind: 'dataset', id: path }, revision, places.hub);
  if (snapshot && (await look(() => readFolder(request, snapshot, 'hub')))) return best(found);
  if (revision === null) {
    const converted = await cachedSnapshot({ kind: 'dataset', id: path }, convertedRevision, places.hub);
    if (converted && converted !== snapshot && (await look(() => readFolder(request, converted, 'hub', true))))
      return found.at(-1) ?? best(found);
  }
  if (await look(() => fromDatasetsCache(request, places.datasets))) return found.at(-1) ?? best(found);
  if (found.length > 0) return best(found);
  if (failure) throw failure;
  if (!mayBeId(path))
    throw new HumanError('missing', `There is no folder ${path} to read data from.`, {
      todo: 'A path is relative to the benchmark file.',
    });
  throw new HumanError(
    'missing',
    `The data set ${path}${name === null ? '' : ` (${name})`} of the Hugging Face Hub is not on this machine.`,
    {
      todo: `Download it: \`softbench datasets download ${path}${name === null ? '' : ` --name ${name}`}\`, or "Download from Hugging Face" here. Or map a folder to it (\`softbench.datasetFolders\`, --dataset_folder ${path}=DIR). Looked in ${places.hub} and ${places.datasets}.`,
    },
  );
}

/** The one with the most splits; of equals the first. */
function best(found: readonly LocatedDataset[]): LocatedDataset {
  const [first, ...others] = found;
  if (!first) throw new Error('nothing was found');
  return others.reduce((most, one) => (one.splits.size > most.splits.size ? one : most), first);
}

/** Reads a folder that is laid out as a repository. */
async function readFolder(
  request: DatasetRequest,
  folder: string,
  origin: DatasetOrigin,
  converted = false,
): Promise<LocatedDataset> {
  const { path, name, dataFiles } = request;
  const all = await filesBelow(folder);
  if (origin !== 'mapped' && hasScript(path, all)) throw noData(path, all, folder);
  const under = request.dataDir?.replace(/^\.?\/|\/$/g, '') ?? null;
  const files = all.filter((file) => under === null || file.startsWith(`${under}/`));
  const located = (configuration: string, splits: Map<string, string[]>, declared: string[]): LocatedDataset => ({
    origin,
    folder,
    configuration,
    splits: new Map([...splits].map(([split, list]) => [split, list.map((file) => join(folder, file))])),
    declared,
  });
  if (dataFiles !== undefined && dataFiles !== null) {
    const splits = filesNamed(path, files, dataFiles, under);
    const missing = [...splits].find(([, list]) => list.length === 0)?.[0];
    if (missing !== undefined)
      throw new HumanError(
        'missing',
        `The data set ${path} has no file for the split "${missing}" that \`data_files\` names.`,
        {
          place: { file: folder },
        },
      );
    return located(name ?? 'default', splits, [...splits.keys()]);
  }
  const readme = all.includes('README.md') ? await readFile(join(folder, 'README.md'), 'utf8') : null;
  const layout =
    converted || request.revision === convertedRevision ? 'converted' : origin === 'mapped' ? 'own' : 'repository';
  const { configuration, splits, declared } = datasetSplits(
    path,
    files,
    under === null ? readme : null,
    under === null ? name : null,
    layout,
  );
  if (splits.size === 0 && declared.length === 0) throw noData(path, all, folder);
  const features = cardFeatures(readme, configuration);
  return { ...located(configuration, splits, declared), ...(features && { features }) };
}

/** Files by split as `data_files` names them, within a repository. */
export function filesNamed(
  id: string,
  files: readonly string[],
  dataFiles: unknown,
  under: string | null,
): Map<string, string[]> {
  // `hf://datasets/ID@REVISION/path` and the address of a file in this same repository are paths within it.
  const own = new RegExp(
    `^(?:hf://datasets/|https?://[^/]+/datasets/)${id.replace(/[.+]/g, '\\$&')}(?:@[^/]+|/resolve/[^/]+)?/`,
  );
  return new Map(
    [...splitsOf(dataFiles)].map(([split, patterns]) => {
      const matchers = patterns
        .map((pattern) => pattern.replace(own, '').replace(/^\.\//, ''))
        .map((pattern) => globPattern(under ? `${under}/${pattern}` : pattern));
      return [split, files.filter((file) => matchers.some((matcher) => matcher.test(file)))];
    }),
  );
}

/** A script of the data set's own name makes its rows: `datasets` 4 refuses it, whatever other files there are. */
export const hasScript = (id: string, files: readonly string[]): boolean =>
  files.includes(`${id.split('/').at(-1)}.py`);

/** Where a repository or folder has no file that rows can be read from. */
export function noData(id: string, files: readonly string[], folder: string | null): HumanError {
  const isScript = files.some((file) => file.endsWith('.py'));
  return new HumanError(
    isScript && folder !== null ? 'missing' : 'unsupported',
    isScript
      ? `The data set ${id} is made by a Python script, which Softbench does not run (nor does \`datasets\` 4).`
      : `The data set ${id} has no .parquet, .arrow, .json, .jsonl or .csv file.`,
    {
      ...(folder !== null && { place: { file: folder } }),
      todo: isScript
        ? `Download the Hub's conversion of it to parquet (revision ${convertedRevision}), which \`softbench datasets download ${id}\` does by itself; or run the script once in Python, save its rows as .jsonl, and map that folder.`
        : 'Convert its data to .parquet or .jsonl.',
    },
  );
}

/** What the `datasets` library has prepared, of the data set as a whole: options such as `data_files` make other rows. */
async function fromDatasetsCache(request: DatasetRequest, cache: string): Promise<LocatedDataset | null> {
  const { path, name, revision, dataDir, dataFiles } = request;
  if (dataDir !== null || (dataFiles !== undefined && dataFiles !== null)) return null;
  const commit = revision !== null && /^[0-9a-f]{40}$/.test(revision) ? revision : null;
  if (revision !== null && commit === null) return null;
  const found = await cachedDatasets(path, name, commit, cache);
  const chosen = found.find(({ configuration }) => configuration === 'default') ?? found[0];
  if (!chosen) return null;
  if (name === null && found.length > 1 && chosen.configuration !== 'default')
    throw new HumanError(
      'bad-input',
      `The data set ${path} has several configurations in the cache of \`datasets\`: ${found.map(({ configuration }) => configuration).join(', ')}.`,
      { todo: 'Name one as `dataset_name`.' },
    );
  return { origin: 'datasets', ...chosen, declared: [...chosen.splits.keys()] };
}
