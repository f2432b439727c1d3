/** What small benches hold out together. */
import { HumanError } from '../../shared/errors.ts';
import type { ScoreTable } from './table.ts';

/** Fewer groups than this leave nothing to learn from when one is searched with and one measured with. */
const fewestGroups = 3;

/** Rows that are held out together: families, put together to a few parts of about as many rows; models where families are few. */
export function foldGroups(
  table: ScoreTable,
  parts: number,
): { groups: number[][]; names: string[][]; heldOut: 'families' | 'models' } {
  const families = new Set(table.rows.map(({ family }) => family));
  const heldOut = families.size >= fewestGroups ? 'families' : 'models';
  const members = new Map<string, number[]>();
  for (const [at, { family, model }] of table.rows.entries()) {
    const key = heldOut === 'families' ? family : model;
    members.set(key, [...(members.get(key) ?? []), at]);
  }
  if (members.size < fewestGroups)
    throw new HumanError(
      'bad-input',
      `The table has ${members.size} models: a small bench is measured with at least ${fewestGroups} models or families held out in turn.`,
      {
        todo: 'Add records of more models.',
      },
    );
  const groups = Array.from({ length: Math.min(parts, members.size) }, () => ({
    rows: [] as number[],
    names: [] as string[],
  }));
  for (const [name, rows] of [...members].sort((a, b) => b[1].length - a[1].length)) {
    const smallest = groups.reduce((a, b) => (b.rows.length < a.rows.length ? b : a));
    smallest.rows.push(...rows);
    smallest.names.push(name);
  }
  return { groups: groups.map(({ rows }) => rows), names: groups.map(({ names }) => names), heldOut };
}
