/** From runs to the results page: of one benchmark × one model, or of runs of one benchmark that are compared. */
import type { DiskRunStore, RunFolder } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import { byMode } from '../shared/modes.ts';
import type { ResultsView, RunColumn } from '../shared/protocol.ts';
import type { TuningRecord } from '../shared/results.ts';
import { columnLabels } from './columns.ts';
import { comparisonWarnings } from './comparability.ts';

/** Which runs a results page is about: those named, those of one job, or the newest of a benchmark × model. */
export type ResultsOf =
  | { runs: readonly string[] }
  | { group: string }
  | { benchmarkFile: string; modelFolder: string };

function belongs({ run }: RunFolder, of: ResultsOf): boolean {
  if ('runs' in of) return of.runs.includes(run.id);
  if ('group' in of) return run.group === of.group;
  return run.benchmark.file === of.benchmarkFile && run.model.folder === of.modelFolder;
}

/**
 * The run to show per mode: the newest, but a run that failed or was stopped before its first item does not hide an
 * older one that has results.
 * @param runs newest first
 */
export function newestPerMode(runs: readonly RunFolder[], of: ResultsOf): RunFolder[] {
  const mine = runs.filter((folder) => belongs(folder, of));
  const modes = new Set(mine.map(({ run }) => run.mode));
  return [...modes]
    .flatMap((mode) => {
      const ofMode = mine.filter(({ run }) => run.mode === mode);
      return ofMode.find(({ run, summary }) => summary !== null || run.status === 'running') ?? ofMode[0] ?? [];
    })
    .sort((a, b) => byMode(a.run, b.run));
}

/**
 * The runs that a page shows, in the order of its columns: those named as they are named, one below the other of the same
 * mode too; else the newest of each mode.
 * @param runs newest first
 */
export function shownRuns(runs: readonly RunFolder[], of: ResultsOf): RunFolder[] {
  if (!('runs' in of)) return newestPerMode(runs, of);
  return [...new Set(of.runs)].flatMap((id) => runs.find(({ run }) => run.id === id) ?? []);
}

/** The runs cannot stand on one page. @throws HumanError where they are of different benchmarks or fewer than two */
export function checkComparable(runs: readonly RunFolder[]): void {
  if (runs.length < 2)
    throw new HumanError('bad-input', 'A comparison needs two runs or more.', {
      todo: 'Select them in the Runs view with Ctrl (on a Mac: Command) held down, or name them on the command line.',
    });
  checkOneBenchmark(runs);
}

/** @throws HumanError where the runs are of different benchmarks: they cannot stand on one page */
export function checkOneBenchmark(runs: readonly RunFolder[]): void {
  const tasks = [...new Set(runs.map(({ run }) => run.benchmark.task))];
  if (tasks.length > 1)
    throw new HumanError('bad-input', `These runs are of different benchmarks: ${tasks.join(', ')}.`, {
      todo: 'Compare runs of one benchmark. Models over several benchmarks stand in the leaderboard.',
    });
}

/** Puts a results view together; null where there is no such run. */
export function resultsView(
  runs: readonly RunFolder[],
  of: ResultsOf,
  details: { tuning(run: string): TuningRecord[]; done(run: string): number },
): ResultsView | null {
  const chosen = shownRuns(runs, of);
  const newest = [...chosen].sort((a, b) => (a.run.created < b.run.created ? 1 : -1))[0];
  if (!newest) return null;
  const { benchmark } = newest.run;
  const models = [...new Map(chosen.map(({ run }) => [run.model.folder, run.model])).values()];
  const names = [...new Set(models.map(({ name }) => name))];
  const model =
    models.length === 1
      ? newest.run.model
      : { name: names.length > 3 ? `${names.length} models` : names.join(', '), folder: '' };
  const labels = columnLabels(chosen.map(({ run }) => run));
  const byModes = chosen.every(({ run }, at) => run.mode === labels[at]);
  const failed = chosen.find(({ run }) => run.status === 'failed');
  return {
    title: `${benchmark.task} · ${byModes ? model.name : `${chosen.length} runs compared`}`,
    benchmark: { task: benchmark.task, file: benchmark.file },
    model: { name: model.name, folder: model.folder },
    columns: chosen.map(
      ({ run, summary }, at): RunColumn => ({
        run,
        label: labels[at] ?? run.id,
        summary,
        tuning: details.tuning(run.id),
        done: details.done(run.id),
        total: run.benchmark.items,
      }),
    ),
    warnings: comparisonWarnings(chosen.map(({ run, summary }) => ({ run, summary, done: details.done(run.id) }))),
    job: null,
    problem: failed?.run.message ?? null,
  };
}

/** Reads what {@link resultsView} needs from a store. */
export async function loadResults(store: DiskRunStore, of: ResultsOf): Promise<ResultsView | null> {
  const { runs } = await store.list();
  const tuning = new Map<string, TuningRecord[]>();
  const done = new Map<string, number>();
  await Promise.all(
    shownRuns(runs, of).map(async ({ run }) => {
      tuning.set(run.id, await store.readTuning(run.id));
      done.set(run.id, await store.countItems(run.id));
    }),
  );
  return resultsView(runs, of, { tuning: (run) => tuning.get(run) ?? [], done: (run) => done.get(run) ?? 0 });
}

/** The newest job with an unfinished run of this benchmark × model in one of the modes: what "resume" means. */
export function resumableGroup(
  runs: readonly RunFolder[],
  { benchmarkFile, modelFolder, modes }: { benchmarkFile: string; modelFolder: string; modes: readonly string[] },
): string | null {
  const unfinished = runs.find(
    (folder) =>
      belongs(folder, { benchmarkFile, modelFolder }) &&
      (folder.run.status === 'stopped' || folder.run.status === 'failed') &&
      modes.includes(folder.run.mode),
  );
  return unfinished?.run.group ?? null;
}
