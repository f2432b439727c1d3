/** Group files on the command line: their benchmarks take their place, and their scores stand below those. */
import { resolve } from 'node:path';
import type { Group } from '../benchmark/index.ts';
import { openRunStore } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import { type GroupScores, groupTable, scoresOfGroups } from '../study/index.ts';
import { type Terminal, table } from './terminal.ts';

/** The benchmarks of files and groups, and the groups. @throws HumanError where a group names what is not there */
export async function expandGroups(files: readonly string[]): Promise<{ files: string[]; groups: Group[] }> {
  const { openGroup, tasksOf } = await import('../benchmark/index.ts');
  const found: string[] = [];
  const groups: Group[] = [];
  for (const file of files) {
    const group = await openGroup(resolve(file));
    if (group) groups.push(group);
    if (group && tasksOf(group).length === 0)
      throw new HumanError('bad-input', 'This group holds no benchmark.', {
        place: { file: resolve(file) },
        todo: 'List benchmarks, tags or other groups under `task`.',
      });
    found.push(...(group ? tasksOf(group).map(({ address }) => address) : [file]));
  }
  return { files: found, groups };
}

/** The scores of groups from the runs named: those that a command made, and those that it found finished. */
export async function groupScoresOf(
  groups: readonly Group[],
  ids: ReadonlySet<string>,
  store: string,
): Promise<GroupScores[]> {
  if (groups.length === 0) return [];
  const { groupsOf, leavesOf } = await import('../benchmark/index.ts');
  const { runs } = await openRunStore(store).list();
  const scored = groups
    .flatMap(groupsOf)
    .map((group) => ({ ...group, leaves: leavesOf(group).map(({ name }) => name) }));
  return scoresOfGroups(
    scored,
    runs.filter(({ run }) => ids.has(run.id)),
  );
}

/** Prints them as a table, one line a group, mode and metric. */
export function printGroups(terminal: Terminal, scores: readonly GroupScores[]): void {
  if (scores.length === 0) return;
  terminal.print('Groups:');
  for (const line of table(groupTable(scores))) terminal.print(line);
  for (const { group, mode, missing } of scores)
    if (missing.length > 0)
      terminal.note(`Note: ${group}, ${mode}: without ${missing.join(', ')}, which have no finished run.`);
}
