/** What a benchmark needs of a data set of the Hub: which files that are, whether they are here, and fetching them. */
import {
  consentLines,
  type FetchProgress,
  fetchFiles,
  type HubFile,
  type HubSettings,
  type Listing,
  listRepository,
  readText,
} from '../hub/index.ts';
import { HumanError } from '../shared/errors.ts';
import { datasetSplits } from './dataset-folder.ts';
import { datasetPlaces } from './dataset-places.ts';
import {
  convertedRevision,
  type DatasetRequest,
  filesNamed,
  hasScript,
  type LocatedDataset,
  locateDataset,
  mayBeId,
  noData,
} from './dataset-source.ts';
import { readBenchmarkConfiguration } from './group-tasks.ts';
import { suggestion } from './near-miss.ts';
import { readSettings } from './settings.ts';

export interface DatasetNeed {
  request: DatasetRequest;
  /** Splits that are read; empty: all that there are. */
  splits: string[];
}

/** A need with what is on this machine of it. */
export interface BenchmarkDataset extends DatasetNeed {
  located: LocatedDataset | null;
  /** Why it cannot be read from this machine as it is; null where it can. */
  missing: HumanError | null;
}

/**
 * The data set that a benchmark file names, and whether it is here; null where the file names none of the Hub.
 * @param text the file as it stands in an editor
 */
export async function datasetOf(file: string, text?: string): Promise<BenchmarkDataset | null> {
  if (/\.json$/i.test(file)) return null;
  const configuration = await readBenchmarkConfiguration(file, text);
  if (configuration.problems.some(({ code }) => code === 'broken-yaml' || code === 'missing-file')) return null;
  const settings = readSettings(configuration);
  const { dataset } = settings.data;
  if (!dataset) return null;
  const { test, validation, training, fewShot } = settings.splits;
  const splits = [...new Set([test, validation, training, fewShot].filter((split) => split !== null))];
  const need = { request: dataset, splits };
  try {
    const located = await locateDataset(dataset, configuration.foldersOf('dataset_path'), datasetPlaces(), splits);
    const absent = splits.filter((split) => !located.splits.has(split));
    const partly =
      absent.length > 0 && (located.origin === 'hub' || located.origin === 'datasets')
        ? new HumanError(
            'missing',
            `Of the data set ${dataset.path} the splits ${absent.join(', ')} are not on this machine.`,
          )
        : null;
    return { ...need, located, missing: partly };
  } catch (thrown) {
    if (!(thrown instanceof HumanError)) throw thrown;
    return { ...need, located: null, missing: thrown };
  }
}

/** Whether the Hub may be asked for it: a path of this machine is no id. */
export const canDownload = ({ request }: DatasetNeed): boolean => mayBeId(request.path);

export interface DatasetPlan {
  listing: Listing;
  files: HubFile[];
  configuration: string;
  splits: string[];
}

/**
 * Asks the Hub which files hold the configuration and the splits. What a Python script would make is taken from the Hub's
 * own conversion to parquet, where it offers one.
 * @throws HumanError where there is no such repository, configuration or split, or no data that can be read
 */
export async function planDataset(
  { request, splits: wanted }: DatasetNeed,
  settings: HubSettings,
  signal?: AbortSignal,
): Promise<DatasetPlan> {
  const { path: id, name, revision, dataDir, dataFiles } = request;
  const repository = { kind: 'dataset' as const, id };
  let listing = await listRepository(repository, revision ?? 'main', settings, signal);
  const under = dataDir?.replace(/^\.?\/|\/$/g, '') ?? null;
  const read = async (): Promise<{ configuration: string; splits: Map<string, string[]>; declared: string[] }> => {
    const paths = listing.files.map(({ path }) => path);
    const inside = paths.filter((path) => under === null || path.startsWith(`${under}/`));
    if (dataFiles !== undefined && dataFiles !== null) {
      const splits = filesNamed(id, inside, dataFiles, under);
      return { configuration: name ?? 'default', splits, declared: [...splits.keys()] };
    }
    const hasCard = under === null && paths.includes('README.md');
    const readme = hasCard ? await readText(listing, 'README.md', settings, signal) : null;
    const layout = listing.revision === convertedRevision ? 'converted' : 'repository';
    return datasetSplits(id, inside, readme, under === null ? name : null, layout);
  };
  const scripted = hasScript(
    id,
    listing.files.map(({ path }) => path),
  );
  let found = scripted ? null : await read();
  if (!found || (found.splits.size === 0 && found.declared.length === 0)) {
    const original = listing;
    if (revision === null && (dataFiles ?? null) === null && under === null)
      listing = await listRepository(repository, convertedRevision, settings, signal).catch((thrown: unknown) => {
        if (thrown instanceof HumanError && thrown.kind === 'missing') return original;
        throw thrown;
      });
    if (listing === original) {
      const paths = original.files.map(({ path }) => path);
      const error = noData(id, paths, null);
      throw scripted
        ? new HumanError(
            'unsupported',
            `${error.message} The Hub offers no conversion of it to parquet${revision === null ? '' : ` at the revision ${revision}`}.`,
            {
              todo: 'Run the script once in Python (an older `datasets`), save its rows as .jsonl, and map that folder.',
            },
          )
        : error;
    }
    found = await read();
  }
  const { splits } = found;
  const known = [...splits.keys()];
  for (const split of wanted)
    if (!splits.get(split)?.length)
      throw new HumanError(
        'bad-input',
        `The data set ${id}, configuration ${found.configuration}, has no split "${split}" on the Hub; it has ${known.join(', ')}.${suggestion(split, known)}`,
      );
  const chosen = wanted.length > 0 ? [...wanted] : known;
  const paths = new Set(['README.md', ...chosen.flatMap((split) => splits.get(split) ?? [])]);
  return {
    listing,
    files: listing.files.filter(({ path }) => paths.has(path)),
    configuration: found.configuration,
    splits: chosen,
  };
}

/** What a person agrees to: one line a fact. */
export const datasetConsent = (plan: DatasetPlan, settings: HubSettings): Promise<string[]> =>
  consentLines(plan.listing, plan.files, settings, [
    `configuration ${plan.configuration}`,
    `${plan.splits.length === 1 ? 'split' : 'splits'} ${plan.splits.join(', ')}`,
  ]);

/** Fetches what was agreed to. @returns the folder of the snapshot */
export const fetchDataset = (
  plan: DatasetPlan,
  settings: HubSettings,
  options: { signal?: AbortSignal; onProgress?(progress: FetchProgress): void } = {},
): Promise<string> => fetchFiles(plan.listing, plan.files, settings, options);
