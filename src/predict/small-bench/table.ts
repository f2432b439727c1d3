/** Records as a table of models × subtasks, which small benches are looked for in. */
import { HumanError } from '../../shared/errors.ts';
import type { PromptMode } from '../../shared/modes.ts';
import { LeftOutCounter } from '../left-out.ts';
import { atOnce, type Steps, stepwise } from '../turn.ts';
import type { LeftOut, ParameterCounts, ScoreRecord } from '../types.ts';

/** A row: a model, in one setting where the records have several settings of one subtask. */
export interface TableRow {
  family: string;
  model: string;
  parameters: ParameterCounts;
  trainingFlops: number | null;
  /** Null where each subtask has a setting of its own. */
  shots: number | null;
  mode: PromptMode | null;
}

/** A column. */
export interface TableSubtask {
  /** The subtask's name; `task:subtask` where several tasks have one of that name. */
  name: string;
  task: string;
  subtask: string;
  metric: string;
  /** Mean number of items behind its scores; null where nobody says. */
  items: number | null;
}

export interface ScoreTable {
  rows: TableRow[];
  subtasks: TableSubtask[];
  /** [rows, subtasks], row by row; NaN where there is no score. */
  scores: Float64Array;
  /** The record behind each score, by position; -1 where there is none. */
  records: Int32Array;
  /** [rows, subtasks]: variance of binomial noise, s (1 − s) / n; NaN where there is no score, or n is not known. */
  noise: Float64Array;
  leftOut: LeftOut[];
}

export interface TableOptions {
  /** Least share of a row's and of a column's cells that have a score. Default: 0.5. */
  coverage?: number;
}

/** Fewer than these, and nothing can be held out. */
const least = { families: 2, subtasks: 4, rows: 6 };

/**
 * The table of the records: one metric a subtask (the preferred one, else the one with most records), columns that do not
 * vary left out (as in the study, which drops what is 0 for everybody), and sparse rows and columns left out.
 * @throws HumanError where too little is left to hold a family out
 */
export const scoreTable = (records: readonly ScoreRecord[], options: TableOptions = {}): ScoreTable =>
  atOnce(scoreTableSteps(records, options));

/** The same in steps. */
export function* scoreTableSteps(
  records: readonly ScoreRecord[],
  { coverage = 0.5 }: TableOptions = {},
): Steps<ScoreTable> {
  const leftOut = new LeftOutCounter();
  const used = yield* ofOneMetric(records, leftOut);
  const by = yield* varyingSettings(records, used);
  const rows = new Map<string, { row: TableRow; at: number }>();
  const columns = new Map<string, { members: number[]; at: number }>();
  const cells: { row: number; column: number; record: number }[] = [];
  yield* stepwise(used, (record) => {
    const of = records[record] as ScoreRecord;
    const rowKey = JSON.stringify([of.family, of.model, by.shots ? of.shots : null, by.mode ? of.mode : null]);
    const columnKey = subtaskKey(of);
    const row = rows.get(rowKey) ?? {
      at: rows.size,
      row: {
        family: of.family,
        model: of.model,
        parameters: of.parameters,
        trainingFlops: of.trainingFlops,
        shots: by.shots ? of.shots : null,
        mode: by.mode ? of.mode : null,
      },
    };
    const column = columns.get(columnKey) ?? { at: columns.size, members: [] };
    rows.set(rowKey, row);
    columns.set(columnKey, column);
    column.members.push(record);
    cells.push({ row: row.at, column: column.at, record });
  });
  const width = columns.size;
  const scores = new Float64Array(rows.size * width).fill(Number.NaN);
  const behind = new Int32Array(rows.size * width).fill(-1);
  yield* stepwise(cells, ({ row, column, record }) => {
    const cell = row * width + column;
    if (!Number.isNaN(scores[cell])) {
      leftOut.add('further scores of the same model, subtask and setting', nameOf(records[record]));
      return;
    }
    scores[cell] = records[record]?.score ?? Number.NaN;
    behind[cell] = record;
  });
  const names = columnNames([...columns.values()].map(({ members }) => records[members[0] ?? 0] as ScoreRecord));
  const whole: ScoreTable = {
    rows: [...rows.values()].map(({ row }) => row),
    subtasks: [...columns.values()].map(({ members }, at) => {
      const of = records[members[0] ?? 0] as ScoreRecord;
      const counts = members.flatMap((member) => records[member]?.n ?? []);
      return {
        name: names[at] ?? of.subtask,
        task: of.task,
        subtask: of.subtask,
        metric: of.metric,
        items: counts.length > 0 ? counts.reduce((sum, n) => sum + n, 0) / counts.length : null,
      };
    }),
    scores,
    records: behind,
    noise: Float64Array.from(behind, (record) => noiseOf(records[record])),
    leftOut: [],
  };
  yield;
  const table = { ...(yield* dense(whole, coverage, leftOut)), leftOut: leftOut.list() };
  const families = new Set(table.rows.map(({ family }) => family)).size;
  if (table.subtasks.length < least.subtasks || families < least.families || table.rows.length < least.rows)
    throw new HumanError(
      'bad-input',
      `Of ${records.length} records a table of ${table.rows.length} models (${families} families) × ${table.subtasks.length} subtasks is left: too little to hold a family out and see how well a few subtasks foretell the rest.`,
      {
        todo: `It takes at least ${least.families} families, ${least.rows} models and ${least.subtasks} subtasks that most of the models have scores of.`,
      },
    );
  return table;
}

const subtaskKey = ({ task, subtask }: ScoreRecord): string => JSON.stringify([task, subtask]);
const nameOf = (record: ScoreRecord | undefined): string => (record ? `${record.model} on ${record.subtask}` : '');

/** Positions of the records of one metric for each subtask. */
function* ofOneMetric(records: readonly ScoreRecord[], leftOut: LeftOutCounter): Steps<number[]> {
  const counts = new Map<string, Map<string, number>>();
  yield* stepwise(records, (record) => {
    const metrics = counts.get(subtaskKey(record)) ?? new Map<string, number>();
    counts.set(subtaskKey(record), metrics);
    // A preferred metric before any that is not.
    metrics.set(record.metric, (metrics.get(record.metric) ?? 0) + 1 + (record.preferred ? records.length : 0));
  });
  const chosen = new Map(
    [...counts].map(([key, metrics]) => [
      key,
      [...metrics].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]?.[0],
    ]),
  );
  const used: number[] = [];
  yield* stepwise(records, (record, at) => {
    if (chosen.get(subtaskKey(record)) === record.metric) used.push(at);
    else leftOut.add('further metrics of a subtask', `${record.metric} of ${record.subtask}`);
  });
  return used;
}

/** In what a model's scores of one subtask differ: each mode, and in one mode each number of shots, is then a row of its own. */
function* varyingSettings(
  records: readonly ScoreRecord[],
  used: readonly number[],
): Steps<{ shots: boolean; mode: boolean }> {
  function* varies(
    keyOf: (record: ScoreRecord) => unknown[],
    settingOf: (record: ScoreRecord) => unknown,
  ): Steps<boolean> {
    const seen = new Map<string, unknown>();
    let found = false;
    yield* stepwise(used, (at) => {
      if (found) return;
      const record = records[at] as ScoreRecord;
      const key = JSON.stringify([record.family, record.model, record.task, record.subtask, ...keyOf(record)]);
      if (!seen.has(key)) seen.set(key, settingOf(record));
      found = seen.get(key) !== settingOf(record);
    });
    return found;
  }
  return {
    mode: yield* varies(
      () => [],
      ({ mode }) => mode,
    ),
    shots: yield* varies(
      ({ mode }) => [mode],
      ({ shots }) => shots,
    ),
  };
}

function columnNames(of: readonly ScoreRecord[]): string[] {
  const times = new Map<string, number>();
  for (const { subtask } of of) times.set(subtask, (times.get(subtask) ?? 0) + 1);
  return of.map(({ task, subtask }) => ((times.get(subtask) ?? 0) > 1 ? `${task}:${subtask}` : subtask));
}

const noiseOf = (record: ScoreRecord | undefined): number =>
  record?.n ? (record.score * (1 - record.score)) / record.n : Number.NaN;

/** Without columns that do not vary, then without columns and rows with few scores. */
function* dense(table: ScoreTable, coverage: number, leftOut: LeftOutCounter): Steps<ScoreTable> {
  const { rows, subtasks, scores } = table;
  const width = subtasks.length;
  const keptColumns: number[] = [];
  for (let column = 0; column < width; column++) {
    if (column % 32 === 0) yield;
    let [count, low, high] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let row = 0; row < rows.length; row++) {
      const score = scores[row * width + column] ?? Number.NaN;
      if (Number.isNaN(score)) continue;
      count++;
      low = Math.min(low, score);
      high = Math.max(high, score);
    }
    const name = subtasks[column]?.name ?? '';
    if (high - low < 1e-9) leftOut.add('scores of subtasks with the same score for every model', name, count);
    else if (count < coverage * rows.length)
      leftOut.add('scores of subtasks that few of the models have scores of', name, count);
    else keptColumns.push(column);
  }
  const keptRows: number[] = [];
  for (const [row, { model }] of rows.entries()) {
    if (row % 32 === 0) yield;
    const count = keptColumns.filter((column) => !Number.isNaN(scores[row * width + column])).length;
    if (count >= coverage * keptColumns.length && count > 0) keptRows.push(row);
    // Whose scores are all of other columns that are left out, they are counted there.
    else if (count > 0) leftOut.add('scores of models that have scores of few subtasks', model, count);
  }
  yield;
  const cells = keptRows.flatMap((row) => keptColumns.map((column) => row * width + column));
  return {
    rows: keptRows.map((row) => rows[row] as TableRow),
    subtasks: keptColumns.map((column) => subtasks[column] as TableSubtask),
    scores: Float64Array.from(cells, (cell) => scores[cell] ?? Number.NaN),
    records: Int32Array.from(cells, (cell) => table.records[cell] ?? -1),
    noise: Float64Array.from(cells, (cell) => table.noise[cell] ?? Number.NaN),
    leftOut: [],
  };
}
