/** `softbench datasets …`, and the offer to fetch what a benchmark lacks before a job begins. */
import { existsSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import {
  type BenchmarkDataset,
  canDownload,
  checkBenchmark,
  type DatasetNeed,
  datasetConsent,
  datasetOf,
  fetchDataset,
  planDataset,
  readFolder,
} from '../benchmark/index.ts';
import { hubSettings } from '../hub/index.ts';
import { foldersVariable } from '../shared/dataset-folders.ts';
import { HumanError } from '../shared/errors.ts';
import type { Given, Options } from './arguments.ts';
import { type Command, commonOptions, exitCodes, operands } from './command.ts';
import { agree, ByteProgress } from './consent.ts';
import type { Terminal } from './terminal.ts';

/** Options of every command that reads a benchmark's data. */
export const datasetOptions = {
  download: { type: 'flag', help: 'fetch data sets that are not here from the Hugging Face Hub, without being asked' },
  dataset_folder: {
    type: 'texts',
    value: 'ID=DIR',
    help: 'read a data set of the Hub from a folder; owner/*=DIR for all of an owner (may be repeated)',
  },
} as const satisfies Options;

/**
 * Takes --dataset_folder into this process's environment, where benchmarks look and from which the worker's is made.
 * @throws HumanError where one is no mapping
 */
export function mapDatasetFolders(given: Given, environment: NodeJS.ProcessEnv = process.env): void {
  const mappings = given.texts('dataset_folder').map((text) => readFolder(text));
  if (mappings.length === 0) return;
  const before = environment[foldersVariable];
  const known = before?.trimStart().startsWith('{')
    ? (JSON.parse(before) as Record<string, string>)
    : Object.fromEntries(
        (before ?? '')
          .split(delimiter)
          .filter(Boolean)
          .map((text) => readFolder(text)),
      );
  environment[foldersVariable] = JSON.stringify({ ...known, ...Object.fromEntries(mappings) });
}

/** Problems that are there because the data is not. */
const ofData = new Set(['missing-dataset', 'missing-data', 'wrong-dataset', 'unknown-split']);

/**
 * Before a benchmark is run: where its data set is not here, offers to fetch it. Nothing is asked of the network without
 * --download or a yes.
 * @throws HumanError, CancelledError
 */
export async function obtainData(benchmarkFile: string, given: Given, terminal: Terminal): Promise<void> {
  const dataset = await datasetOf(benchmarkFile);
  if (!dataset?.missing || !canDownload(dataset)) return;
  const { missing } = dataset;
  // A configuration or split that the data set does not have is not mended by fetching it.
  if (missing.kind !== 'missing') return;
  // Nor is anything else that stands in the way, which the job will say.
  const { problems } = await checkBenchmark(benchmarkFile);
  if (problems.some(({ severity, code }) => severity === 'error' && !ofData.has(code))) return;
  if (!given.flag('download')) {
    const { ask } = terminal.surroundings;
    if (!ask)
      throw new HumanError('missing', missing.message, {
        todo: `Agree to fetch it with --download; or map a folder with --dataset_folder ${dataset.request.path}=DIR.`,
      });
    terminal.note(missing.message);
    // Names of private data sets tell something too: the Hub is not even asked without a yes.
    const answer = await ask(`Ask ${hubSettings().endpoint.host} for it? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw missing;
  }
  await fetchWanted(dataset, terminal, given.flag('download') ? null : '--download');
}

/** Plans, asks, fetches. @param askFor the option that agrees beforehand; null: it was given */
async function fetchWanted(need: DatasetNeed, terminal: Terminal, askFor: string | null): Promise<string> {
  const { signal } = terminal.surroundings;
  const settings = hubSettings();
  const plan = await planDataset(need, settings, signal);
  const lines = await datasetConsent(plan, settings);
  if (askFor !== null) await agree(terminal, lines, askFor);
  else for (const line of lines) terminal.note(line);
  const progress = new ByteProgress(terminal);
  return fetchDataset(plan, settings, { signal, onProgress: (now) => progress.show(now) }).finally(() =>
    progress.end(),
  );
}

export const downloadDatasetCommand: Command = {
  name: 'datasets download',
  operands: 'BENCHMARK|ID',
  summary: 'fetch the data of a benchmark file, or a data set, from the Hugging Face Hub',
  details: [
    'Of a benchmark file only the configuration and the splits that it reads are fetched; of an ID all splits, or those of',
    '--split. Shown first, and asked for: what, how large, under which licence, where to. Files go to the cache of the',
    "Hub's own clients (HF_HOME, HF_HUB_CACHE). The token is that of HF_TOKEN or of `hf auth login`; HF_ENDPOINT,",
    'HF_HUB_OFFLINE, HTTPS_PROXY and NO_PROXY count. An attempt that was stopped goes on where it left off.',
  ].join('\n'),
  options: {
    yes: { type: 'flag', short: 'y', help: 'agree without being asked' },
    name: { type: 'text', value: 'CONFIGURATION', help: 'configuration of the data set' },
    split: { type: 'text', value: 'LIST', help: 'splits, separated by commas' },
    revision: { type: 'text', value: 'REVISION', help: 'branch, tag or commit' },
    ...commonOptions,
  },
  async run(given, terminal) {
    const [wanted] = operands(given, ['BENCHMARK|ID'] as const);
    const need = await needOf(wanted, given);
    const folder = await fetchWanted(need, terminal, given.flag('yes') ? null : '--yes');
    if (terminal.json) terminal.printJson({ id: need.request.path, folder });
    else terminal.print(folder);
    return exitCodes.done;
  },
};

async function needOf(wanted: string, given: Given): Promise<DatasetNeed> {
  const splits = (given.text('split') ?? '')
    .split(',')
    .map((split) => split.trim())
    .filter(Boolean);
  const options = { name: given.text('name') ?? null, revision: given.text('revision') ?? null };
  if (/\.ya?ml$/i.test(wanted) || existsSync(resolve(wanted))) {
    const dataset: BenchmarkDataset | null = await datasetOf(resolve(wanted));
    if (!dataset)
      throw new HumanError('bad-input', 'This benchmark file names no data set of the Hugging Face Hub.', {
        place: { file: resolve(wanted) },
        todo: 'Its data lies in files of its own: "softbench check" says whether they are there.',
      });
    const { request } = dataset;
    return {
      request: { ...request, name: options.name ?? request.name, revision: options.revision ?? request.revision },
      splits: splits.length > 0 ? splits : dataset.splits,
    };
  }
  return { request: { path: wanted, ...options, dataDir: null, dataFiles: null }, splits };
}
