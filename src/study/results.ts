/** From runs to the results page of one benchmark × one model. */
import type { DiskRunStore, RunFolder } from '../runs/index.ts';
import { byMode } from '../shared/modes.ts';
import type { ResultsView, RunColumn } from '../shared/protocol.ts';
import type { TuningRecord } from '../shared/results.ts';
import { columnLabels } from './columns.ts';

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

/** Puts a results view together; null where there is no such run. */
export function resultsView(
  runs: readonly RunFolder[],
  of: ResultsOf,
  details: { tuning(run: string): TuningRecord[]; done(run: string): number },
): ResultsView | null {
  const chosen = newestPerMode(runs, of);
  const newest = [...chosen].sort((a, b) => (a.run.created < b.run.created ? 1 : -1))[0];
  if (!newest) return null;
  const { benchmark, model } = newest.run;
  const labels = columnLabels(chosen.map(({ run }) => run));
  const failed = chosen.find(({ run }) => run.status === 'failed');
  return {
    title: `${benchmark.task} · ${model.name}`,
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
    warnings: [],
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
    newestPerMode(runs, of).map(async ({ run }) => {
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
