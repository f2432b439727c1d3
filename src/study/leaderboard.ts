/** From runs to the leaderboard: the newest finished run of each model × benchmark × mode. */
import type { RunFolder } from '../runs/index.ts';
import { importedWords, settingDifferences } from '../shared/imported.ts';
import { byMode, type PromptMode } from '../shared/modes.ts';
import type { LeaderboardView, RunningCell } from '../shared/protocol.ts';
import type { RunFile, RunSummary } from '../shared/results.ts';
import { positionOf } from '../shared/soft-prompt-words.ts';
import { linkModels, type SaidLinks } from './links.ts';

/** A run that is under way, as whoever runs it knows it. */
export interface RunningRun extends Pick<RunningCell, 'done' | 'S'> {
  run: RunFile;
  /** Items in all; null: as the run's settings say. */
  total: number | null;
}

export interface LeaderboardOptions {
  running?: readonly RunningRun[];
  /** What the user says of base and post-trained models. */
  links?: SaidLinks;
  /** Base models that model cards name, by the model's folder. */
  declaredBases?: ReadonlyMap<string, readonly string[]>;
}

/** @param runs newest first, as the store lists them */
export function leaderboard(
  runs: readonly RunFolder[],
  { running = [], links = {}, declaredBases }: LeaderboardOptions = {},
): LeaderboardView {
  const names = namesOf(runs, running);
  const { chosen, all, fileOf, models, tasks } = names;
  const shown = [...models].map(([folder, name]) => ({ name, folder })).sort((a, b) => a.name.localeCompare(b.name));
  return {
    benchmarks: [...tasks].map(([file, task]) => ({ task, file })).sort((a, b) => a.task.localeCompare(b.task)),
    models: shown,
    links: linkModels(shown, links, declaredBases),
    ...(running.length > 0 && { running: cellsOfRunning(running, names) }),
    cells: chosen
      .map(({ folder: { run }, summary }) => ({
        ...names.of(run),
        mode: run.mode as PromptMode,
        cell: {
          run: run.id,
          summary,
          status: run.status,
          ...(positionOf(run) === 'suffix' && { softPromptPosition: 'suffix' as const }),
          ...(run.source && {
            imported: { words: importedWords(run.source), differences: differences(run, all, fileOf) },
          }),
        },
      }))
      .sort((a, b) => a.task.localeCompare(b.task) || a.model.localeCompare(b.model) || byMode(a, b)),
  };
}

/** The runs under way as they stand in the {@link leaderboard} of the same runs, without the rest of it. */
export const runningCells = (runs: readonly RunFolder[], running: readonly RunningRun[]): RunningCell[] =>
  cellsOfRunning(running, namesOf(runs, running));

const cellsOfRunning = (running: readonly RunningRun[], names: Names): RunningCell[] =>
  running.map(({ run, done, total, S }) => ({
    ...names.of(run),
    mode: run.mode,
    run: run.id,
    done,
    total: total ?? Math.min(run.benchmark.items, run.settings.limit ?? run.benchmark.items),
    S,
  }));

/** The runs of a leaderboard, and what it calls their models and benchmarks. */
interface Names {
  chosen: { folder: RunFolder; summary: RunSummary }[];
  /** Those chosen, then those under way. */
  all: RunFile[];
  /** The benchmark that a run counts for. */
  fileOf(run: RunFile): string;
  /** By folder. */
  models: Map<string, string>;
  /** By file. */
  tasks: Map<string, string>;
  of(run: RunFile): { model: string; task: string };
}

function namesOf(runs: readonly RunFolder[], running: readonly RunningRun[]): Names {
  const newest = new Map<string, { folder: RunFolder; summary: RunSummary }>();
  for (const folder of runs) {
    const { run, summary } = folder;
    // Outputs that nobody has scored rank nowhere.
    if (run.status !== 'finished' || !summary || run.predictOnly) continue;
    const key = JSON.stringify([run.model.folder, run.benchmark.file, run.mode]);
    if (!newest.has(key)) newest.set(key, { folder, summary });
  }
  const chosen = [...newest.values()];
  const all = [...chosen.map(({ folder: { run } }) => run), ...running.map(({ run }) => run)];
  const fileOf = benchmarkFiles(all);
  const models = modelLabels(all);
  const tasks = labels(all.map((run) => ({ name: run.benchmark.task, path: fileOf(run) })));
  const label = (of: Map<string, string>, path: string): string => of.get(path) ?? path;
  return {
    chosen,
    all,
    fileOf,
    models,
    tasks,
    of: (run) => ({ model: label(models, run.model.folder), task: label(tasks, fileOf(run)) }),
  };
}

/**
 * The benchmark that a run counts for. An imported run names a task and no file: it stands beside the measured runs of the
 * benchmark of that name, where there is one such file and no other.
 */
function benchmarkFiles(runs: readonly RunFile[]): (run: RunFile) => string {
  const measured = new Map<string, Set<string>>();
  for (const { benchmark, source } of runs)
    if (!source) measured.set(benchmark.task, (measured.get(benchmark.task) ?? new Set()).add(benchmark.file));
  return ({ benchmark, source }) => {
    const [file, ...others] = source ? (measured.get(benchmark.task) ?? []) : [];
    return file !== undefined && others.length === 0 ? file : benchmark.file;
  };
}

/** In which settings an imported run differs from the newest measured one beside it. */
function differences(imported: RunFile, runs: readonly RunFile[], fileOf: (run: RunFile) => string): string[] {
  const measured = runs.find((run) => !run.source && run.mode === imported.mode && fileOf(run) === fileOf(imported));
  return measured ? settingDifferences(imported, measured) : [];
}

/**
 * Models by their names. An imported one is never the same as a measured one, whatever its name: nobody has compared their
 * weights.
 */
function modelLabels(runs: readonly RunFile[]): Map<string, string> {
  const imported = runs.filter(({ source }) => source).map(({ model }) => model);
  const measured = labels(
    runs.filter(({ source }) => !source).map(({ model }) => ({ name: model.name, path: model.folder })),
  );
  const taken = new Set(measured.values());
  const own = new Map(imported.map(({ folder, name }) => [folder, name]));
  const names = [...own.values()];
  for (const [folder, name] of own) {
    const twins = names.filter((other) => other === name).length > 1;
    const [, mark] = /@([0-9a-f]{8})$/.exec(folder) ?? [];
    // Two of one name are told apart by the digest of what makes them this model.
    const words = twins ? `imported ${mark ?? folder}` : 'imported';
    measured.set(folder, taken.has(name) || twins ? `${name} (${words})` : name);
  }
  return measured;
}

/** A name for each path: its own where nobody else has it, else with as much of the path in front as tells them apart. */
function labels(entries: readonly { name: string; path: string }[]): Map<string, string> {
  const names = new Map(entries.map(({ path, name }) => [path, name]));
  const users = new Map<string, string[]>();
  for (const [path, name] of names) users.set(name, [...(users.get(name) ?? []), path]);
  for (const [name, paths] of users) {
    if (paths.length < 2) continue;
    for (const path of paths) names.set(path, `${name} (${distinctPart(path, paths)})`);
  }
  return names;
}

function distinctPart(path: string, paths: readonly string[]): string {
  const parts = path.split(/[\\/]/);
  for (let length = 1; length < parts.length; length++) {
    const tail = (one: string): string => one.split(/[\\/]/).slice(-length).join('/');
    if (paths.filter((other) => tail(other) === tail(path)).length === 1) return tail(path);
  }
  return path;
}
