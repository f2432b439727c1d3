/** Which scores are asked for: of one model, on one task, in the settings and metrics that records have. */
import { HumanError } from '../shared/errors.ts';
import { familyOf, sizeInName } from '../shared/model-names.ts';
import type { PromptMode } from '../shared/modes.ts';
import { columnOf } from './columns.ts';
import type { Configuration, ScoreRecord } from './types.ts';

export interface CellRequest {
  /** Name of a model of the records, or of another; absent: all models of the records. */
  model?: string;
  /** Name of a task or subtask; absent: all. */
  task?: string;
  metrics?: readonly string[];
  shots?: number;
  mode?: PromptMode;
  /** Of a model without records. */
  family?: string;
  totalParameters?: number;
  trainingFlops?: number;
}

export interface WantedCell {
  configuration: Configuration;
  /** The score, where it was measured. */
  measured: ScoreRecord | null;
}

/**
 * @throws HumanError where nothing of the records is of that task, metric or mode
 */
export function wantedCells(records: readonly ScoreRecord[], request: CellRequest): WantedCell[] {
  const models = modelsOf(records, request);
  const columns = columnsFor(records, request);
  const measured = new Map(records.map((record) => [`${record.model}\n${columnOf(record)}`, record]));
  return models.flatMap((model) =>
    columns.map((column) => {
      const configuration = { ...column, ...model };
      return {
        configuration,
        measured: measured.get(`${configuration.model}\n${columnOf(configuration)}`) ?? null,
      };
    }),
  );
}

type Model = Pick<Configuration, 'family' | 'model' | 'parameters' | 'trainingFlops'>;
type Column = Pick<Configuration, 'task' | 'subtask' | 'shots' | 'mode' | 'metric'>;

function modelsOf(records: readonly ScoreRecord[], request: CellRequest): Model[] {
  const known = new Map(
    records.map(({ family, model, parameters, trainingFlops }): [string, Model] => [
      model,
      { family, model, parameters, trainingFlops },
    ]),
  );
  if (request.model === undefined) return [...known.values()];
  const found = known.get(request.model) ?? alike(known, request.model);
  const named = found ?? {
    family: familyOf(request.model),
    model: request.model,
    parameters: { total: sizeInName(request.model), nonEmbedding: null, flopMatched: null },
    trainingFlops: null,
  };
  return [
    {
      family: request.family ?? named.family,
      model: named.model,
      parameters: {
        ...named.parameters,
        ...(request.totalParameters !== undefined && { total: request.totalParameters }),
      },
      trainingFlops: request.trainingFlops ?? named.trainingFlops,
    },
  ];
}

/** The one model that is named so without its owner, in any case. */
function alike(known: ReadonlyMap<string, Model>, name: string): Model | undefined {
  const plain = (one: string): string => (one.split('/').at(-1) ?? one).toLowerCase();
  const [found, ...others] = [...known].filter(([one]) => plain(one) === plain(name));
  return others.length === 0 ? found?.[1] : undefined;
}

function columnsFor(records: readonly ScoreRecord[], { task, metrics, shots, mode }: CellRequest): Column[] {
  const names = (of: (record: ScoreRecord) => string): string => [...new Set(records.map(of))].slice(0, 20).join(', ');
  let some = records;
  const only = (holds: (record: ScoreRecord) => boolean, message: string, there: string): void => {
    some = some.filter(holds);
    if (some.length === 0) throw new HumanError('bad-input', message, { todo: `There are: ${there}.` });
  };
  if (task !== undefined)
    only(
      (record) => record.task === task || record.subtask === task,
      `No record is of the task "${task}".`,
      names((record) => record.task),
    );
  if (metrics && metrics.length > 0) {
    const there = [...new Set(some.map(({ metric }) => metric))].join(', ');
    only(({ metric }) => metrics.includes(metric), `No record there is of the metric "${metrics.join(', ')}".`, there);
  }
  if (mode !== undefined) {
    const there = [...new Set(some.map((one) => one.mode ?? 'none'))].join(', ');
    only((record) => record.mode === mode, `No record there is of the mode ${mode}.`, there);
  }
  // A number of examples that nobody has tried can still be asked for.
  const atShots = shots === undefined || some.some((record) => record.shots === shots);
  const columns = new Map<string, Column>();
  for (const { task: of, subtask, shots: own, mode: how, metric } of some) {
    if (shots !== undefined && atShots && own !== shots) continue;
    const column = { task: of, subtask, shots: shots ?? own, mode: how, metric };
    columns.set(JSON.stringify(column), column);
  }
  return [...columns.values()];
}
