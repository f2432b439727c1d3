/** The filters, item by item, against lm-evaluation-harness (make/filters.py). */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FilterPipeline, filterTable, noFilter } from '../../src/benchmark/filters.ts';
import { PythonError } from '../../src/benchmark/python.ts';

interface Row {
  name: string;
  filter: { function: string; [option: string]: unknown }[];
  cases: [outputs: string[], choices: string[], left: unknown][];
}
const rows = JSON.parse(readFileSync(new URL('filters.json', import.meta.url), 'utf8')) as Row[];

const pipelineOf = ({ name, filter }: Row): FilterPipeline =>
  new FilterPipeline(
    name,
    filter.map(({ function: kind, ...options }) => {
      const row = filterTable.get(kind);
      if (!row) throw new Error(`There is no filter ${kind}.`);
      return row.build(options);
    }),
    false,
  );

describe('what filters leave of outputs is what lm-evaluation-harness hands to its metrics', () => {
  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
    const pipeline = pipelineOf(row);
    for (const [outputs, choices, left] of row.cases) expect(pipeline.apply(outputs, { choices })).toEqual(left);
  });
  test('every filter of the table is there', () => {
    const used = new Set(rows.flatMap(({ filter }) => filter.map(({ function: kind }) => kind)));
    expect([...filterTable.keys()].filter((kind) => !used.has(kind))).toEqual([]);
  });
  test('without a list of filters the first output is taken', () => {
    expect(noFilter.apply([' a ', 'b'], { choices: null })).toBe(' a ');
  });
  test('a number of outputs to take must be one', () => {
    expect(() => filterTable.get('take_first_k')?.build({ k: 0 })).toThrow(PythonError);
    expect(() => filterTable.get('take_first_k')?.build({})).toThrow(/`k` must be a whole number/);
  });
});
