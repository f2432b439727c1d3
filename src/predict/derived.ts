/**
 * Recognises columns that can be computed from others: means over tasks by their names or their values, and columns that
 * are another one in other numbers (normalised by chance, in percents). A predictor that has seen the one gets the other for
 * nothing.
 */
import type { Column } from './columns.ts';
import type { Steps } from './turn.ts';

/** The last or only word of a name that says that it is a mean. */
const aggregateWords = new Set(['overall', 'average', 'avg', 'mean', 'aggregate', 'aggregated']);
/** Fewer common models than this prove nothing. */
const leastModels = 5;
/** Scores in tables are often rounded to four places. */
const rounding = 1e-4;

/** Columns of subtasks that are means by their names, or named as a task that has other subtasks. */
export function aggregateNames(columns: readonly Column[]): Set<Column> {
  const ofTask = new Map<string, Set<string>>();
  for (const { record } of columns) {
    const others = ofTask.get(record.task) ?? new Set();
    others.add(record.subtask);
    ofTask.set(record.task, others);
  }
  const subtasks = [...ofTask.values()].reduce((sum, { size }) => sum + size, 0);
  const named = ({ record: { task, subtask } }: Column): boolean =>
    (task === subtask && (ofTask.get(task)?.size ?? 0) > 1) ||
    (subtasks > 2 && [task, subtask].some((name) => aggregateWords.has(words(name).at(-1) ?? '')));
  return new Set(columns.filter(named));
}

const words = (name: string): string[] => name.toLowerCase().match(/\p{L}+/gu) ?? [];

/**
 * Columns whose every score is the mean of the others of its metric: those of its task, those whose names begin
 * with its own, or all.
 */
export function* meanColumns(all: readonly Column[]): Steps<Set<Column>> {
  const found = new Set<Column>();
  for (const columns of grouped(all, ({ record: { metric, mode } }) => `${metric}\n${mode}`).values()) {
    if (columns.length < 3) continue;
    const all = sums(columns);
    yield;
    const ofTask = sumsOfEach(grouped(columns, ({ record }) => record.task));
    const below = sumsOfEach(groupedBelow(columns));
    for (const column of columns) {
      yield;
      const { task, subtask } = column.record;
      if (
        isMean(column, all, true) ||
        isMean(column, ofTask.get(task), true) ||
        isMean(column, below.get(task), false) ||
        isMean(column, below.get(subtask), false)
      )
        found.add(column);
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
 * Columns that are a + b times an earlier one (preferred metrics first) for all their models. Columns of few models or few
 * different scores prove nothing.
 */
export function* derivedColumns(all: readonly Column[]): Steps<Set<Column>> {
  const rows = new Map<string, number>();
  for (const { scores } of all) for (const model of scores.keys()) if (!rows.has(model)) rows.set(model, rows.size);
  const columns = all
    .filter(({ scores }) => scores.size >= leastModels && new Set(scores.values()).size >= leastModels)
    .sort((a, b) => Number(b.record.preferred) - Number(a.record.preferred) || b.scores.size - a.scores.size);
  const found = new Set<Column>();
  const kept: { size: number; scores: Float64Array }[] = [];
  yield;
  for (const column of columns) {
    yield;
    // The lowest and the highest come first: a line through them is soon refuted by a third.
    const points = [...column.scores].map(([model, score]) => ({ row: rows.get(model) ?? 0, score }));
    points.sort((a, b) => a.score - b.score);
    const last = points.pop();
    if (last) points.splice(1, 0, last);
    const at = Int32Array.from(points, ({ row }) => row);
    const y = Float64Array.from(points, ({ score }) => score);
    if (kept.some((other) => other.size >= y.length && onLine(at, y, other.scores))) found.add(column);
    else {
      const dense = new Float64Array(rows.size).fill(Number.NaN);
      for (const { row, score } of points) dense[row] = score;
      kept.push({ size: y.length, scores: dense });
    }
  }
  return found;
}

/** Whether each y is a + b × x, b > 0, through the first two; not where an x is missing. */
function onLine(at: Int32Array, y: Float64Array, x: Float64Array): boolean {
  const [low, high] = [x[at[0] ?? 0] ?? Number.NaN, x[at[1] ?? 0] ?? Number.NaN];
  const bottom = y[0] ?? Number.NaN;
  const slope = ((y[1] ?? Number.NaN) - bottom) / (high - low);
  if (!(slope > 0 && slope < 1e6)) return false;
  for (let i = 2; i < y.length; i++) {
    // Written so that a missing x (NaN) is off the line.
    if (!(Math.abs(bottom + slope * ((x[at[i] as number] as number) - low) - (y[i] as number)) < 1e-6)) return false;
  }
  return true;
}
