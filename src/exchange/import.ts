/** Imports results of other tools into a store: all that was named is checked first, then all of it is written, or nothing. */
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { DiskRunStore, RunFolder } from '../runs/index.ts';
import { HumanError, sentenceOf, throwIfCancelled } from '../shared/errors.ts';
import type { ImportReport } from '../shared/protocol.ts';
import { everyEvalEverForeign, isEveryEvalEver } from './every-eval-ever-import.ts';
import {
  type ReadJson,
  readJson,
  resultsBeside,
  resultsIn,
  samplesBeside,
  taskOfSamples,
  timeOf,
} from './find-files.ts';
import { noGeneration } from './foreign.ts';
import { lmEvalForeign } from './lm-eval-import.ts';
import { isLmEvalResults, type LmEvalTask, readLmEvalResults, withoutMetric } from './lm-eval-results.ts';
import { type Foreign, writeForeign } from './to-run.ts';

export interface ImportOptions {
  /** Version of this Softbench. */
  softbench: string;
  /** Take only these tasks. */
  tasks?: readonly string[];
  signal?: AbortSignal;
  /** A sentence of what is done, and the share of it that is done where that is known. */
  onProgress?(message: string, fraction: number | null): void;
}

/** What becomes of one results file. */
type Reader = (read: ReadJson, options: ImportOptions) => Promise<Foreign[]>;

/** The formats: which file is one, and how it is read. One row each. */
const formats: readonly { name: string; is(value: unknown): boolean; read: Reader }[] = [
  { name: 'results of lm-evaluation-harness', is: isLmEvalResults, read: readLmEval },
  { name: 'Every Eval Ever', is: isEveryEvalEver, read: (read, options) => everyEvalEverForeign(read, options) },
];

/**
 * @param paths results files, samples files, or folders that are searched for results files
 * @throws HumanError where a file that was named is none, or where any file is broken; nothing is imported then
 */
export async function importResults(
  paths: readonly string[],
  store: DiskRunStore,
  options: ImportOptions,
): Promise<ImportReport> {
  const report: ImportReport = { imported: [], known: [], skipped: [] };
  const foreigns = await gather(paths, options, report);
  const { runs } = await store.list();
  await removeHalves(store, runs);
  const wanted = foreigns.filter((foreign) => {
    const { task, source } = foreign.task;
    const twin = runs.find(
      ({ run }) => run.source?.digest === source.digest && run.benchmark.task === task && run.status === 'finished',
    );
    if (twin) report.known.push({ file: source.file, task, run: twin.run.id });
    return !twin;
  });
  const group = `import-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '')}-${randomBytes(3).toString('hex')}`;
  try {
    for (const [number, foreign] of wanted.entries()) {
      throwIfCancelled(options.signal);
      const { task, source, model } = foreign.task;
      const say = (done: number): void =>
        options.onProgress?.(`Importing ${task}: ${done} items`, number / wanted.length);
      say(0);
      const { run, items } = await writeForeign(store, foreign, { group, softbench: options.softbench, onItems: say });
      report.imported.push({
        run,
        task,
        model: model.name,
        items,
        file: source.file,
        group: source.group !== undefined,
      });
    }
  } catch (thrown) {
    for (const { run } of report.imported) await store.remove(run).catch(() => {});
    throw thrown;
  }
  return report;
}

/** What an import that was killed left behind. */
async function removeHalves(store: DiskRunStore, runs: readonly RunFolder[]): Promise<void> {
  for (const { run } of runs) if (run.source && run.status === 'stopped') await store.remove(run.id).catch(() => {});
}

async function gather(paths: readonly string[], options: ImportOptions, report: ImportReport): Promise<Foreign[]> {
  const foreigns: Foreign[] = [];
  const seen = new Set<string>();
  for (const path of paths.map((each) => resolve(each))) {
    const info = await stat(path).catch(() => null);
    if (!info) throw new HumanError('missing', 'There is no such file or folder.', { place: { file: path } });
    const files = info.isDirectory() ? await resultsIn(path) : [path];
    let found = 0;
    for (const file of files) {
      throwIfCancelled(options.signal);
      options.onProgress?.(`Reading ${basename(file)}`, null);
      const read = await foreignsOf(file, options, info.isDirectory(), report);
      found += read.length;
      for (const foreign of read) {
        const key = JSON.stringify([foreign.task.source.digest, foreign.task.task]);
        if (!seen.has(key)) foreigns.push(foreign);
        seen.add(key);
      }
    }
    if (info.isDirectory() && found === 0)
      throw new HumanError('missing', 'The folder has no results files.', {
        place: { file: path },
        todo: `Softbench imports ${formats.map(({ name }) => name).join(' and ')}.${report.skipped[0] ? ` ${placed(report.skipped[0])}` : ''}`,
      });
  }
  // Oldest first: of two evaluations of one model the later one becomes the newest run.
  return foreigns.sort((a, b) => ((a.task.source.evaluated ?? '') < (b.task.source.evaluated ?? '') ? -1 : 1));
}

/** Most reasons say which file it is. */
const placed = ({ file, reason }: { file: string; reason: string }): string =>
  reason.startsWith(file) ? reason : `${file}: ${reason}`;

async function foreignsOf(
  file: string,
  options: ImportOptions,
  inFolder: boolean,
  report: ImportReport,
): Promise<Foreign[]> {
  if (!inFolder && (/\.jsonl(?:\.gz)?$/.test(file) || taskOfSamples(file) !== null)) return samplesAlone(file, options);
  let read: ReadJson;
  try {
    read = await readJson(file);
  } catch (thrown) {
    // A folder may hold anything; what has the name of results is said to be broken.
    if (!inFolder || /^results.*\.json$/.test(basename(file))) throw thrown;
    report.skipped.push({ file, reason: sentenceOf(thrown) });
    return [];
  }
  const format = formats.find(({ is }) => is(read.value));
  if (format) return format.read(read, options);
  const reason = `The file is neither ${formats.map(({ name }) => name).join(' nor ')}.`;
  if (!inFolder) throw new HumanError('bad-input', reason, { place: { file } });
  report.skipped.push({ file, reason });
  return [];
}

const isWanted = (task: string, { tasks }: ImportOptions): boolean => !tasks || tasks.includes(task);

async function readLmEval({ file, value, digest }: ReadJson, options: ImportOptions): Promise<Foreign[]> {
  const { tasks } = readLmEvalResults(file, value, digest);
  const foreigns: Foreign[] = [];
  for (const task of tasks) {
    if (!isWanted(task.task, options)) continue;
    const samples = task.group ? null : await samplesBeside(file, task.task);
    if (samples) options.onProgress?.(`Reading ${basename(samples)}`, null);
    if (samples === null && task.metrics.length === 0) continue;
    foreigns.push(await lmEvalForeign(task, samples, { signal: options.signal }));
  }
  if (foreigns.length === 0 && tasks.every(({ metrics }) => metrics.length === 0)) throw withoutMetric(file);
  return foreigns;
}

/** A samples file that was named: with its results where they are beside it, else for itself. */
async function samplesAlone(file: string, options: ImportOptions): Promise<Foreign[]> {
  const name = taskOfSamples(file) ?? basename(file).replace(/\.jsonl?(?:\.gz)?$/, '');
  const results = await resultsBeside(file);
  if (results) {
    const { value, digest } = await readJson(results);
    if (isLmEvalResults(value)) {
      const task = readLmEvalResults(results, value, digest).tasks.find((each) => each.task === name);
      if (task) return [await lmEvalForeign(task, file, { signal: options.signal })];
    }
  }
  const model = basename(dirname(file));
  const task: LmEvalTask = {
    task: name,
    config: {},
    group: null,
    model: { name: model, identity: model, weights: '' },
    source: { kind: 'imported', tool: 'lm-eval', version: '', file, digest: '', evaluated: isoTime(timeOf(file)) },
    shots: 0,
    fewShotSeed: 1234,
    limit: null,
    n: null,
    split: '',
    outputType: null,
    taskVersion: '',
    generation: noGeneration,
    chat: null,
    metrics: [],
    notes: [
      'There is no results file beside the samples: the model is named by their folder, the number of examples is not known, and scores are counted from the rows.',
    ],
  };
  return [await lmEvalForeign(task, file, { signal: options.signal })];
}

function isoTime(text: string | null): string | null {
  const time = text === null ? null : new Date(`${text.replace(/T(\d\d)-(\d\d)-(\d\d)/, 'T$1:$2:$3')}Z`);
  return time && !Number.isNaN(time.valueOf()) ? time.toISOString() : null;
}
