/** From runs to the leaderboard: the newest finished run of each model × benchmark × mode. */
import type { RunFolder } from '../runs/index.ts';
import type { PromptMode } from '../shared/modes.ts';
import type { LeaderboardView } from '../shared/protocol.ts';
import type { RunSummary } from '../shared/results.ts';
import { positionOf } from '../shared/soft-prompt-words.ts';
import { byMode } from './ranking.ts';

/** @param runs newest first, as the store lists them */
export function leaderboard(runs: readonly RunFolder[]): LeaderboardView {
  const newest = new Map<string, { folder: RunFolder; summary: RunSummary }>();
  for (const folder of runs) {
    const { run, summary } = folder;
    if (run.status !== 'finished' || !summary) continue;
    const key = JSON.stringify([run.model.folder, run.benchmark.file, run.mode]);
    if (!newest.has(key)) newest.set(key, { folder, summary });
  }
  const chosen = [...newest.values()];
  const models = labels(chosen.map(({ folder: { run } }) => ({ name: run.model.name, path: run.model.folder })));
  const tasks = labels(chosen.map(({ folder: { run } }) => ({ name: run.benchmark.task, path: run.benchmark.file })));
  const label = (of: Map<string, string>, path: string): string => of.get(path) ?? path;
  return {
    benchmarks: [...tasks].map(([file, task]) => ({ task, file })).sort((a, b) => a.task.localeCompare(b.task)),
    models: [...models].map(([folder, name]) => ({ name, folder })).sort((a, b) => a.name.localeCompare(b.name)),
    cells: chosen
      .map(({ folder: { run }, summary }) => ({
        model: label(models, run.model.folder),
        task: label(tasks, run.benchmark.file),
        mode: run.mode as PromptMode,
        cell: {
          run: run.id,
          summary,
          status: run.status,
          ...(positionOf(run) === 'suffix' && { softPromptPosition: 'suffix' as const }),
        },
      }))
      .sort((a, b) => a.task.localeCompare(b.task) || a.model.localeCompare(b.model) || byMode(a, b)),
  };
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
