/**
 * Scores as a matrix, standardised column by column: models by subtasks in one setting by one metric; or, where that would be
 * very wide, models in one setting by subtasks.
 */
import { columnOf, rowOf } from '../columns.ts';
import { learnSizes } from '../features.ts';
import { inTurns, stepwise, type Turn } from '../turn.ts';
import type { Configuration, ScoreRecord } from '../types.ts';

export interface ScoreMatrix {
  rows: ReadonlyMap<string, number>;
  columns: ReadonlyMap<string, number>;
  /** A configuration of each row and of each column. */
  rowExamples: Configuration[];
  columnExamples: Configuration[];
  /** Whether a column has all settings: its example's is one of them. */
  settingsInRows: boolean;
  /** [rows, columns]: standardised scores; NaN where there is none. Several records of a cell stand as their mean. */
  values: Float64Array;
  /** Of each column, over its known scores. */
  mean: Float64Array;
  /** At least `leastDeviation`. */
  deviation: Float64Array;
  /** [columns]: variance that counting items leaves in a standardised score of it; 0 where nobody says how many there are. */
  itemNoise: Float64Array;
  /** Keys of `rows` and `columns`. */
  rowKey(configuration: Configuration): string;
  columnKey(configuration: Configuration): string;
  /** Logarithms of size and training computation, standardised: what is known of a model without scores. */
  sizes(configuration: Configuration): Float64Array;
}

/** Rows of the matrix with the sizes of their models as further columns: what distributions of rows are learned from. */
export function rowsWithSizes({ rows, columns, rowExamples, values, sizes }: ScoreMatrix): {
  /** Columns of the matrix, then sizes. */
  width: number;
  /** [rows, width] */
  whole: Float64Array;
} {
  const ofRows = rowExamples.map(sizes);
  const scores = columns.size;
  const width = scores + (ofRows[0]?.length ?? 0);
  const whole = new Float64Array(rows.size * width);
  for (const [row, size] of ofRows.entries()) {
    whole.set(values.subarray(row * scores, (row + 1) * scores), row * width);
    whole.set(size, row * width + scores);
  }
  return { width, whole };
}

/** A column whose scores are all alike predicts them, and is not scaled up. */
const leastDeviation = 1e-3;

/** More columns than these, and settings make rows. */
const mostColumns = 200;
const settingOf = ({ shots, mode }: Configuration): string => `${shots}\n${mode}`;

export async function scoreMatrix(records: readonly ScoreRecord[], turn: Turn): Promise<ScoreMatrix> {
  const [names, settings] = [new Set<string>(), new Set<string>()];
  const look = (record: ScoreRecord): void => {
    names.add(columnOf(record));
    settings.add(settingOf(record));
  };
  await inTurns(stepwise(records, look), turn);
  const isWide = names.size > mostColumns && settings.size > 1;
  const rowKey = isWide ? (one: Configuration) => `${rowOf(one)}\n${settingOf(one)}` : rowOf;
  const columnKey = isWide
    ? ({ task, subtask, metric }: Configuration) => [task, subtask, metric].join('\n')
    : columnOf;
  const rows = new Map<string, number>();
  const columns = new Map<string, number>();
  const rowExamples: Configuration[] = [];
  const columnExamples: Configuration[] = [];
  const cells: { row: number; column: number }[] = [];
  const place = (record: ScoreRecord): void => {
    const key = rowKey(record);
    const row = rows.get(key) ?? rows.size;
    if (row === rows.size) {
      rows.set(key, row);
      rowExamples.push(record);
    }
    const name = columnKey(record);
    const column = columns.get(name) ?? columns.size;
    if (column === columns.size) {
      columns.set(name, column);
      columnExamples.push(record);
    }
    cells.push({ row, column });
  };
  await inTurns(stepwise(records, place), turn);
  const width = columns.size;
  const values = new Float64Array(rows.size * width);
  const counts = new Int32Array(rows.size * width);
  const noise = new Float64Array(width);
  const known = new Int32Array(width);
  for (const [i, { row, column }] of cells.entries()) {
    const { score, n } = records[i] as ScoreRecord;
    const cell = row * width + column;
    values[cell] = (values[cell] as number) + score;
    counts[cell] = (counts[cell] as number) + 1;
    known[column] = (known[column] as number) + 1;
    if (n !== null && n > 0) noise[column] = (noise[column] as number) + (score * (1 - score)) / n;
  }
  await turn();
  const mean = new Float64Array(width);
  const deviation = new Float64Array(width);
  for (let column = 0; column < width; column++) {
    await turn();
    let n = 0;
    let sum = 0;
    let squares = 0;
    for (let row = 0; row < rows.size; row++) {
      const cell = row * width + column;
      const count = counts[cell] as number;
      values[cell] = count > 0 ? (values[cell] as number) / count : Number.NaN;
      if (count === 0) continue;
      n++;
      sum += values[cell] as number;
      squares += (values[cell] as number) ** 2;
    }
    mean[column] = sum / n;
    deviation[column] = Math.max(leastDeviation, Math.sqrt(Math.max(0, squares / n - (sum / n) ** 2)));
    noise[column] = (noise[column] as number) / (known[column] as number) / (deviation[column] as number) ** 2;
    for (let row = 0; row < rows.size; row++) {
      const cell = row * width + column;
      values[cell] = ((values[cell] as number) - (mean[column] as number)) / (deviation[column] as number);
    }
  }
  const measures = [...learnSizes(rowExamples), ...(isWide ? [({ shots }: Configuration) => Math.log1p(shots)] : [])];
  return {
    rows,
    columns,
    rowExamples,
    columnExamples,
    settingsInRows: isWide,
    values,
    mean,
    deviation,
    itemNoise: noise,
    rowKey,
    columnKey,
    sizes: (configuration) => Float64Array.from(measures, (measure) => measure(configuration)),
  };
}
