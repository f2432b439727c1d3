/** The real rooms behind the worker's calls. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBenchmark } from '../benchmark/index.ts';
import {
  engineSchema,
  inspectModel,
  onnxRuntimeVersion,
  openLanguageModel,
  providerStatuses,
  verifyModel,
} from '../engine/index.ts';
import type { SoftPrompt } from '../evaluate/index.ts';
import { exportRuns, importResults, measureResultsPage, writeResultsPage } from '../exchange/index.ts';
import { loadTokenizer, readModelFolder } from '../model/index.ts';
import { openResponseCache } from '../responses/index.ts';
import { importAdapter, openRunStore, readSoftPrompt, runFiles } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import type { StoredRun, WorkerRooms } from './handlers.ts';

export const rooms: WorkerRooms = {
  openModel: openLanguageModel,
  openBenchmark,
  openStore: openRunStore,
  readSoftPromptFile,
  inspectModel,
  verifyModel,
  readChatTemplates: async (folder) => readModelFolder(folder).chatTemplates,
  openTokenizer: async (folder) => loadTokenizer(readModelFolder(folder)),
  providers: providerStatuses,
  importResults: (paths, storeFolder, signal, onProgress) =>
    importResults(paths, openRunStore(storeFolder), { softbench: productVersion(), signal, onProgress }),
  exportRuns: (runs, storeFolder, to, signal) =>
    exportRuns(openRunStore(storeFolder), runs, to, { softbench: productVersion(), signal, pages: pagesFolder() }),
  measurePage: (runs, signal) => measureResultsPage(runs.map(storedRun), { pages: pagesFolder(), signal }),
  writePage: (runs, { file, content }, signal, onProgress) =>
    writeResultsPage(file, runs.map(storedRun), content, { pages: pagesFolder(), signal, onProgress }),
  openResponseCache: async (model, settings) =>
    openResponseCache(model, { onnxruntime: await onnxRuntimeVersion(), engine: engineSchema }, settings),
  versions: async () => ({ softbench: productVersion(), onnxruntime: await onnxRuntimeVersion() }),
};

/** This file is bundled to dist/worker.js, below package.json. */
function productVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}

/** Beside this file in dist/. */
const pagesFolder = (): string => fileURLToPath(new URL('./webview', import.meta.url));

const storedRun = ({ run, storeFolder }: StoredRun) => ({ id: run, store: openRunStore(storeFolder) });

/** A soft prompt from a safetensors file, a run's folder, or a PEFT prompt-tuning adapter folder. */
async function readSoftPromptFile(path: string): Promise<SoftPrompt> {
  const info = statSync(path, { throwIfNoEntry: false });
  const missing = (what: string): HumanError =>
    new HumanError('missing', `There is no soft prompt: ${what}.`, {
      place: { file: path },
      todo: 'Give a .safetensors file, a run folder, or a PEFT adapter folder.',
    });
  if (!info) throw missing('the file does not exist');
  if (!info.isDirectory()) {
    const read = await readSoftPrompt(path);
    if (!read) throw missing('the file does not exist');
    return read.softPrompt;
  }
  if (statSync(join(path, 'adapter_config.json'), { throwIfNoEntry: false }))
    return (await importAdapter(path)).softPrompt;
  const inRun = await readSoftPrompt(join(path, runFiles.softPrompt));
  if (!inRun) throw missing('the folder is neither a run that has one nor an adapter');
  return inRun.softPrompt;
}
