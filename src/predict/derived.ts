/**
 * Recognises columns that can be computed from others: means over tasks by their names or their values, and columns that
 * are another one in other numbers (normalised by chance, in percents). A predictor that has seen the one gets the other for
 * nothing.
 */
import { type Column, columnsOf, subtaskOf } from './columns.ts';
import type { ScoreRecord } from './types.ts';

/** The last or only word of a name that says that it is a mean. */
const aggregateWords = new Set(['overall', 'average', 'avg', 'mean', 'aggregate', 'aggregated']);
/** Fewer common models than this prove nothing. */
const leastModels = 5;
/** Scores in tables are often rounded to four places. */
const rounding = 1e-4;

/** Subtasks (as `subtaskOf`) that are means by their names, or named as a task that has other subtasks. */
export function aggregateNames(records: readonly ScoreRecord[]): Set<string> {
  const subtasks = new Map<string, ScoreRecord>();
  const ofTask = new Map<string, Set<string>>();
  for (const record of records) {
    subtasks.set(subtaskOf(record), record);
    const others = ofTask.get(record.task) ?? new Set();
    others.add(record.subtask);
    ofTask.set(record.task, others);
  }
  const named = ({ task, subtask }: ScoreRecord): boolean =>
    (task === subtask && (ofTask.get(task)?.size ?? 0) > 1) ||
    (subtasks.size > 2 && [task, subtask].some((name) => aggregateWords.has(words(name).at(-1) ?? '')));
  return new Set([...subtasks].filter(([, record]) => named(record)).map(([key]) => key));
}

const words = (name: string): string[] => name.toLowerCase().match(/\p{L}+/gu) ?? [];

/**
 * Columns (as `columnOf`) whose every score is the mean of the others of its metric: those of its task, those whose names begin
 * with its own, or all.
 */
export function meanColumns(records: readonly ScoreRecord[]): Set<string> {
  const found = new Set<string>();
  for (const columns of grouped(columnsOf(records), ({ record: { metric, mode } }) => `${metric}\n${mode}`).values()) {
    if (columns.length < 3) continue;
    const all = sums(columns);
    const ofTask = sumsOfEach(grouped(columns, ({ record }) => record.task));
    const below = sumsOfEach(groupedBelow(columns));
    for (const column of columns) {
      const { task, subtask } = column.record;
      if (
        isMean(column, all, true) ||
        isMean(column, ofTask.get(task), true) ||
        isMean(column, below.get(task), false) ||
        isMean(column, below.get(subtask), false)
      )
        found.add(column.key);
    }
  }
  return found;
}

function grouped(columns: readonly Column[], key: (column: Column) => string): Map<string, Column[]> {
  const groups = new Map<string, Column[]>();
  for (const column of columns) {
    const group = groups.get(key(column));
    if (group) group.push(column);
    else groups.set(key(column), [column]);
  }
  return groups;
}

/** By each name that a task's name begins with: `mmlu` has `mmlu_anatomy`. */
function groupedBelow(columns: readonly Column[]): Map<string, Column[]> {
  const groups = new Map<string, Column[]>();
  for (const column of columns)
    for (const { index } of column.record.task.matchAll(/_/g)) {
      const name = column.record.task.slice(0, index);
      const group = groups.get(name);
      if (group) group.push(column);
      else groups.set(name, [column]);
    }
  return groups;
}

/** Sum and number of a model's scores. */
type Sums = ReadonlyMap<string, { sum: number; n: number }>;

/** A mean of two says little: half of all pairs of columns would have to be left out. */
const sumsOfEach = (groups: ReadonlyMap<string, Column[]>): Map<string, Sums> =>
  new Map([...groups].filter(([, columns]) => columns.length > 2).map(([name, columns]) => [name, sums(columns)]));

function sums(columns: readonly Column[]): Sums {
  const all = new Map<string, { sum: number; n: number }>();
  for (const { scores } of columns)
    for (const [model, score] of scores) {
      const one = all.get(model);
      if (one) {
        one.sum += score;
        one.n++;
      } else all.set(model, { sum: score, n: 1 });
    }
  return all;
}

/** @param included whether the column is among those of the sums */
function isMean({ scores }: Column, whole: Sums | undefined, included: boolean): boolean {
  if (!whole || scores.size < leastModels || new Set(scores.values()).size < 3) return false;
  for (const [model, score] of scores) {
    const { sum, n } = whole.get(model) ?? { sum: 0, n: 0 };
    const others = included ? n - 1 : n;
    if (others < 2 || Math.abs((included ? sum - score : sum) / others - score) > rounding) return false;
  }
  return true;
}

/**
 * Columns (as `columnOf`) that are a + b times an earlier one (preferred metrics first) for all their models. Columns of few
 * models or few different scores prove nothing.
 */
export function derivedColumns(records: readonly ScoreRecord[]): Set<string> {
  const rows = new Map([...new Set(records.map(({ model }) => model))].map((model, row) => [model, row]));
  const columns = columnsOf(records)
    .filter(({ scores }) => scores.size >= leastModels && new Set(scores.values()).size >= leastModels)
    .sort((a, b) => Number(b.record.preferred) - Number(a.record.preferred) || b.scores.size - a.scores.size);
  const found = new Set<string>();
  const kept: { size: number; scores: Float64Array }[] = [];
  for (const { key, scores } of columns) {
    // The lowest and the highest come first: a line through them is soon refuted by a third.
    const points = [...scores].map(([model, score]) => ({ row: rows.get(model) ?? 0, score }));
    points.sort((a, b) => a.score - b.score);
    const last = points.pop();
    if (last) points.splice(1, 0, last);
    if (kept.some((other) => other.size >= points.length && onLine(points, other.scores))) found.add(key);
    else {
      const dense = new Float64Array(rows.size).fill(Number.NaN);
      for (const { row, score } of points) dense[row] = score;
      kept.push({ size: points.length, scores: dense });
    }
  }
  return found;
}

/** Whether each point is a + b × x, b > 0; not where an x is missing. */
function onLine(points: readonly { row: number; score: number }[], x: Float64Array): boolean {
  const [low, high] = points;
  if (!low || !high) return false;
  const from = x[low.row] ?? Number.NaN;
  const slope = (high.score - low.score) / ((x[high.row] ?? Number.NaN) - from);
  if (!(slope > 0 && slope < 1e6)) return false;
  return points.every(({ row, score }) => Math.abs(low.score + slope * ((x[row] ?? Number.NaN) - from) - score) < 1e-6);
}
