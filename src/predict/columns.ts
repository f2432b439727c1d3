/** Records as a table: a row a model, a column a subtask in one setting by one metric. */
import { type Steps, stepwise } from './turn.ts';
import type { Configuration, ScoreRecord } from './types.ts';

export const rowOf = ({ family, model }: Configuration): string => `${family}\n${model}`;

export const columnOf = ({ task, subtask, shots, mode, metric }: Configuration): string =>
  [task, subtask, shots, mode, metric].join('\n');

export const subtaskOf = ({ task, subtask }: Configuration): string => [task, subtask].join('\n');

export interface Column {
  key: string;
  /** One of its records: task, subtask, setting and metric are those of all. */
  record: ScoreRecord;
  /** By model. */
  scores: Map<string, number>;
}

/** In the order of their first records; in steps. */
export function* columnsOf(records: readonly ScoreRecord[]): Steps<Column[]> {
  const columns = new Map<string, Column>();
  yield* stepwise(records, (record) => {
    const key = columnOf(record);
    let column = columns.get(key);
    if (!column) {
      column = { key, record, scores: new Map() };
      columns.set(key, column);
    }
    column.scores.set(record.model, record.score);
  });
  return [...columns.values()];
}
