/** What the additive baseline, with the sizes of models, leaves, as a table of models × columns (a subtask in one setting by one metric). */
import { fitAdditiveBySize } from './additive.ts';
import { columnOf, rowOf } from './columns.ts';
import { inTurns, predictInTurns, stepwise, type Turn } from './turn.ts';
import type { Configuration, FittedPredictor, ScoreRecord } from './types.ts';

export interface ResidualTable {
  additive: FittedPredictor;
  /** Positions by `rowOf` and `columnOf`. */
  rows: ReadonlyMap<string, number>;
  columns: ReadonlyMap<string, number>;
  /** A configuration of each row and each column. */
  rowExamples: Configuration[];
  columnExamples: Configuration[];
  /** Known cells, row by row. */
  ofRow: Cell[][];
  /** Known cells, column by column: `at` is the row. */
  ofColumn: Cell[][];
}

export interface Cell {
  /** Position in the other direction. */
  at: number;
  /** Score less what the baseline says of it. */
  value: number;
}

export async function residualTable(records: readonly ScoreRecord[], turn: Turn): Promise<ResidualTable> {
  const additive = await fitAdditiveBySize(records, turn);
  const expected = await predictInTurns(additive, records, turn);
  const rows = new Map<string, number>();
  const columns = new Map<string, number>();
  const table: ResidualTable = {
    additive,
    rows,
    columns,
    rowExamples: [],
    columnExamples: [],
    ofRow: [],
    ofColumn: [],
  };
  const add = (record: ScoreRecord, i: number): void => {
    const row = numbered(rows, rowOf(record), () => {
      table.rowExamples.push(record);
      table.ofRow.push([]);
    });
    const column = numbered(columns, columnOf(record), () => {
      table.columnExamples.push(record);
      table.ofColumn.push([]);
    });
    const value = record.score - (expected[i] ?? 0);
    table.ofRow[row]?.push({ at: column, value });
    table.ofColumn[column]?.push({ at: row, value });
  };
  await inTurns(stepwise(records, add), turn);
  return table;
}

function numbered(known: Map<string, number>, key: string, added: () => void): number {
  const at = known.get(key);
  if (at !== undefined) return at;
  known.set(key, known.size);
  added();
  return known.size - 1;
}

/**
 * The baseline's score plus a correction, for cells whose column is known.
 * @param correction row null: the model is unknown
 */
export const corrected = (
  { additive, rows, columns }: ResidualTable,
  correction: (row: number | null, column: number, configuration: Configuration) => number,
): FittedPredictor => ({
  predict(configurations) {
    const scores = additive.predict(configurations);
    for (const [i, configuration] of configurations.entries()) {
      const column = columns.get(columnOf(configuration));
      if (column === undefined) continue;
      const change = correction(rows.get(rowOf(configuration)) ?? null, column, configuration);
      scores[i] = Math.min(1, Math.max(0, (scores[i] ?? 0) + change));
    }
    return scores;
  },
});
