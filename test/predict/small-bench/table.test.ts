import { describe, expect, it } from 'vitest';
import { subtaskCosts } from '../../../src/predict/small-bench/cost.ts';
import { fixedLists, knownOf } from '../../../src/predict/small-bench/fixed-lists.ts';
import { scoreTable } from '../../../src/predict/small-bench/table.ts';
import { syntheticRecords } from '../../../src/predict/synthetic.ts';
import type { ScoreRecord } from '../../../src/predict/types.ts';
import type { RunFolder } from '../../../src/runs/index.ts';
import { randomTable } from './tables.ts';

const { records } = syntheticRecords({ seed: 3, subtasks: 10, missing: 0 });
const change = (of: (record: ScoreRecord) => Partial<ScoreRecord> | null): ScoreRecord[] =>
  records.flatMap((record) => {
    const changed = of(record);
    return changed === null ? [] : [{ ...record, ...changed }];
  });

describe('the table of records', () => {
  it('has a row for each model and number of shots, a column for each subtask, and the record behind each score', () => {
    const table = scoreTable(records);
    expect([table.rows.length, table.subtasks.length]).toEqual([205, 10]);
    for (const [cell, at] of table.records.entries()) {
      const [record, row] = [records[at], table.rows[Math.floor(cell / 10)]];
      expect(table.scores[cell]).toBe(record?.score);
      expect([row?.model, row?.shots]).toEqual([record?.model, record?.shots]);
      expect(table.subtasks[cell % 10]?.name).toBe(record?.subtask);
    }
  });

  it('has a row for each model where a subtask is always asked with the same shots', () => {
    const table = scoreTable(change((record) => (record.shots === 0 ? { shots: record.subtask.length } : null)));
    expect(table.rows).toHaveLength(52);
    expect(table.rows[0]?.shots).toBeNull();
  });

  it('has a row for each prompt mode, whatever shots a benchmark has in it', () => {
    const table = scoreTable(
      change((record) =>
        record.shots === 0
          ? { mode: 'zero-shot' }
          : record.shots === 1
            ? { mode: 'few-shot', shots: 1 + (record.subtask.length % 3) }
            : null,
      ),
    );
    expect(table.rows).toHaveLength(104);
    expect(new Set(table.rows.map(({ mode }) => mode))).toEqual(new Set(['zero-shot', 'few-shot']));
    expect(table.scores.every((score) => !Number.isNaN(score))).toBe(true);
  });

  it('takes the preferred metric of a subtask, and says what it leaves out', () => {
    const other = change((record) => ({ metric: 'other', preferred: false, score: 1 - record.score }));
    const table = scoreTable([...other, ...records]);
    expect(table.subtasks.every(({ metric }) => metric !== 'other')).toBe(true);
    expect(table.leftOut).toEqual([
      { reason: 'further metrics of a subtask', count: other.length, examples: expect.any(Array) },
    ]);
  });

  it('leaves out what does not vary, what few have, and who has few, and says so', () => {
    const [first, second] = [...new Set(records.map(({ subtask }) => subtask))];
    const table = scoreTable(
      change((record) => {
        if (record.subtask === first) return { score: 0 };
        if (record.subtask === second && record.family !== 'PaLM') return null;
        if (record.model === 'GPT 1' && record.subtask < 'task_006') return null;
        return {};
      }),
    );
    expect(table.subtasks).toHaveLength(8);
    expect(table.rows.some(({ model }) => model === 'GPT 1')).toBe(false);
    const reasons = table.leftOut.map(({ reason }) => reason);
    expect(reasons).toContain('scores of subtasks with the same score for every model');
    expect(reasons).toContain('scores of subtasks that few of the models have scores of');
    expect(reasons).toContain('scores of models that have scores of few subtasks');
  });

  it('is refused where there is too little', () => {
    expect(() => scoreTable(records.filter(({ family }) => family === 'GPT'))).toThrow(
      'too little to hold a family out',
    );
    expect(() => scoreTable([])).toThrow('Of 0 records');
  });
});

describe('lists of others', () => {
  it("are BIG-bench Lite's 42 and BIG-bench Hard's 24 subtasks", () => {
    expect(fixedLists.map(({ name, subtasks }) => [name, new Set(subtasks).size])).toEqual([
      ['bblite', 42],
      ['bbhard', 24],
      ['smallbench24', 24],
    ]);
  });

  it('are found under the names that others give the same subtasks', () => {
    const named = (names: { task: string; subtask: string }[]) => ({
      subtasks: names.map((one) => ({ ...one, name: one.subtask, metric: 'acc', items: null })),
    });
    const hard = fixedLists[1] ?? expect.fail();
    expect(
      knownOf(
        named([
          { task: 'logical_deduction', subtask: 'five_objects' },
          { task: 'bbh', subtask: 'bbh_cot_fewshot_causal_judgement' },
          { task: 'bbh', subtask: 'leaderboard_bbh_navigate' },
          { task: 'word_sorting', subtask: 'word_sorting' },
          { task: 'web_of_lies', subtask: 'web_of_lies' },
        ]),
        hard,
      ),
    ).toEqual([0, 1, 2, 3]);
  });
});

describe('what subtasks cost', () => {
  const table = randomTable(3, 10);
  const runOf = (task: string, seconds: number, n: number, more = {}) =>
    ({
      run: { status: 'finished', benchmark: { task } },
      summary: { seconds, scores: { n }, ...more },
    }) as unknown as RunFolder;
  const [first, second] = table.subtasks.map(({ name }) => name) as [string, string];

  it('is their items where nothing was run', () => {
    const { costs, unit, measured } = subtaskCosts(table);
    expect([unit, measured]).toEqual(['items', 0]);
    expect([...costs]).toEqual(table.subtasks.map(({ items }) => items));
  });

  it('is the mean time of their runs, and at the usual time an item where there are none', () => {
    const { costs, unit, measured } = subtaskCosts(table, [
      runOf(first, 100, 50),
      runOf(first, 300, 50),
      runOf(second, 400, 100),
    ]);
    expect([unit, measured]).toEqual(['seconds', 2]);
    expect([costs[0], costs[1]]).toEqual([200, 400]);
    expect(costs[2]).toBeCloseTo(4 * (table.subtasks[2]?.items ?? 0), 9);
  });

  it('is not what a run took whose responses came from the cache', () => {
    const cached = runOf(first, 1, 50, { responses: { cached: 50, computed: 0 } });
    expect(subtaskCosts(table, [cached]).measured).toBe(0);
  });
});
