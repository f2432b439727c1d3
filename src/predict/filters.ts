/**
 * Which records are used. Left out by default is what flatters predictors, because it can be computed from other records:
 * repeated configurations, aggregates, and metrics or subtasks that say the same as another in other numbers. The filters of Ye
 * et al. (2023), section 2, are options.
 */
import { type Column, columnOf, columnsOf, subtaskOf } from './columns.ts';
import { aggregateNames, derivedColumns, meanColumns } from './derived.ts';
import type { LeftOutCounter } from './left-out.ts';
import { type Steps, stepwise } from './turn.ts';
import type { ScoreRecord } from './types.ts';

export interface RecordFilters {
  keepAggregates?: boolean;
  /** Keep subtasks and metrics that are another one in other numbers. */
  keepDerived?: boolean;
  /** Only the metrics that the tasks' authors rank by. */
  preferredOnly?: boolean;
  /** Only these. */
  metrics?: readonly string[];
  families?: readonly string[];
  /** Leave out subtasks on which everybody scores 0 by the preferred metric. */
  dropAllZero?: boolean;
  /** Leave out scores of fewer items; where nobody says their number they stay. */
  leastItems?: number;
}

/** The filters of the study. */
export const studyFilters: RecordFilters = {
  preferredOnly: true,
  metrics: ['exact_str_match', 'multiple_choice_grade', 'rougeLsum'],
  families: ['BIG-G sparse', 'BIG-G T=0', 'BIG-G T=1', 'PaLM', 'GPT', 'Gopher'],
  dropAllZero: true,
  leastItems: 101,
};

const configurationWords = ({ model, subtask, task, shots, mode, metric }: ScoreRecord): string =>
  `${model} on ${subtask === task || subtask.startsWith(task) ? subtask : `${task} (${subtask})`}, ${mode ?? `${shots}-shot`}, ${metric}`;

/** The records that stay, in their order; in steps. Of records of one configuration the first stays. */
export function* filteredRecords(
  all: readonly ScoreRecord[],
  filters: RecordFilters,
  leftOut: LeftOutCounter,
): Steps<ScoreRecord[]> {
  let records = yield* withoutRepeated(all, leftOut);
  /** Leaves out those with a reason; null: stays. */
  function* leave(reasonOf: (record: ScoreRecord) => string | null): Steps<void> {
    const kept: ScoreRecord[] = [];
    yield* stepwise(records, (record) => {
      const reason = reasonOf(record);
      if (reason === null) kept.push(record);
      else leftOut.add(reason, configurationWords(record));
    });
    records = kept;
  }
  const { families, metrics, leastItems } = filters;
  if (families) yield* leave(({ family }) => (families.includes(family) ? null : 'families that were not asked for'));
  if (filters.dropAllZero) {
    const some = new Set(records.filter(({ preferred, score }) => preferred && score > 0).map(subtaskOf));
    const known = new Set(records.filter(({ preferred }) => preferred).map(subtaskOf));
    yield* leave((record) =>
      known.has(subtaskOf(record)) && !some.has(subtaskOf(record)) ? 'subtasks on which everybody scores 0' : null,
    );
  }
  if (filters.preferredOnly)
    yield* leave(({ preferred }) => (preferred ? null : 'metrics that are not the preferred one'));
  if (metrics) yield* leave(({ metric }) => (metrics.includes(metric) ? null : 'metrics that were not asked for'));
  if (leastItems !== undefined)
    yield* leave(({ n }) => (n === null || n >= leastItems ? null : `scores of fewer than ${leastItems} items`));
  const unwanted = yield* flattering(records, filters);
  if (unwanted.size > 0) yield* leave((record) => unwanted.get(columnOf(record)) ?? null);
  return records;
}

/** Columns that can be computed from others, and why; each step looks at what the one before has left. */
function* flattering(
  records: readonly ScoreRecord[],
  { keepAggregates, keepDerived }: RecordFilters,
): Steps<Map<string, string>> {
  const reasons = new Map<string, string>();
  if (keepAggregates && keepDerived) return reasons;
  let columns = yield* columnsOf(records);
  const drop = (some: ReadonlySet<Column>, reason: string): void => {
    for (const { key } of some) reasons.set(key, reason);
    columns = columns.filter((column) => !some.has(column));
  };
  if (!keepAggregates) {
    drop(aggregateNames(columns), 'aggregates of other records');
    drop(yield* meanColumns(columns), 'aggregates of other records: equal to their mean');
  }
  if (!keepDerived)
    drop(yield* derivedColumns(columns), 'scores that follow from another metric or subtask of the same models');
  return reasons;
}

function* withoutRepeated(records: readonly ScoreRecord[], leftOut: LeftOutCounter): Steps<ScoreRecord[]> {
  const seen = new Map<string, ScoreRecord>();
  const kept: ScoreRecord[] = [];
  yield* stepwise(records, (record) => {
    const key = `${record.model}\n${columnOf(record)}`;
    const first = seen.get(key);
    if (!first) {
      seen.set(key, record);
      kept.push(record);
      return;
    }
    const same = Math.abs(first.score - record.score) < 1e-9;
    leftOut.add(
      same ? 'records that repeat another' : 'further scores of a configuration that has one, and differ from it',
      configurationWords(record),
    );
  });
  return kept;
}
