/**
 * Records of a result file of BIG-bench (`bigbench/benchmark_tasks/TASK/results/scores_MODEL.json`; written by
 * bigbench/api/results.py): one model on one task, with all subtasks, numbers of examples and metrics.
 */
import { HumanError } from '../shared/errors.ts';
import { LeftOutCounter } from './left-out.ts';
import type { MetricRange } from './metric-ranges.ts';
import { rangeOf } from './metric-ranges.ts';
import { scaledRecords, type UnscaledRecord } from './scores.ts';
import type { RecordTable } from './types.ts';

interface ResultFile {
  model: Record<string, unknown>;
  task?: unknown;
  scores: unknown[];
}

/** Scores of tasks as a whole: the mean over subtasks of preferred scores, between their low and high scores. */
const aggregateMetric = 'normalized_aggregate_score';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isBigBenchResult = (value: unknown): value is ResultFile =>
  isObject(value) &&
  isObject(value.model) &&
  Array.isArray(value.scores) &&
  value.scores.some((entry) => isObject(entry) && isObject(entry.score_dict));

/**
 * @param file as messages name it
 * @throws HumanError where model or task have no name
 */
export function bigBenchRecords({ model, task, scores }: ResultFile, file: string): RecordTable {
  const leftOut = new LeftOutCounter();
  const text = (value: unknown, what: string): string => {
    if (typeof value === 'string' && value !== '') return value;
    throw new HumanError('bad-input', `The BIG-bench result has no ${what}.`, { place: { file } });
  };
  const parameters = {
    total: positive(model.total_params),
    nonEmbedding: positive(model.non_embedding_params),
    flopMatched: positive(model.flop_matched_non_embedding_params),
  };
  const [family, name] = [text(model.model_family, 'model.model_family'), text(model.model_name, 'model.model_name')];
  const about = isObject(task) ? task : {};
  const taskName = text(about.task_name ?? about.name ?? taskOfPath(file), 'name of the task');
  const unscaled: UnscaledRecord[] = [];
  for (const [at, entry] of scores.entries()) {
    const place = `${file} (scores[${at}])`;
    if (!isObject(entry) || !isObject(entry.score_dict)) {
      leftOut.add('entries of BIG-bench results without a score_dict', place);
      continue;
    }
    const preferred = typeof entry.preferred_score === 'string' ? entry.preferred_score : null;
    const shots = Number(entry.number_of_shots ?? 0);
    if (!Number.isInteger(shots) || shots < 0) {
      leftOut.add('rows whose number of examples is no whole number', place);
      continue;
    }
    for (const [metric, score] of Object.entries(entry.score_dict)) {
      if (metric === aggregateMetric) leftOut.add('aggregates of other records', place);
      else if (typeof score !== 'number' || !Number.isFinite(score)) leftOut.add('scores that are no numbers', place);
      else
        unscaled.push({
          record: {
            // The name of a size alone (`128b`) is that of several families' models.
            family,
            model: `${family} ${name}`,
            parameters,
            trainingFlops: null,
            task: taskName,
            subtask: typeof entry.subtask_description === 'string' ? entry.subtask_description : taskName,
            shots,
            mode: null,
            metric,
            preferred: metric === preferred,
            score,
            n: null,
            source: 'big-bench',
          },
          range: rangeOf(metric) ?? (metric === preferred ? rangeOfEntry(entry) : null),
          line: 0,
        });
    }
  }
  return { records: scaledRecords(unscaled, file, leftOut), leftOut: leftOut.list() };
}

/** Results stand in `TASK/results/scores_MODEL.json`. */
function taskOfPath(file: string): string | undefined {
  const parts = file.split(/[\\/]/);
  const results = parts.lastIndexOf('results');
  return results > 0 ? parts[results - 1] : undefined;
}

/**
 * Of metrics of programmatic tasks, whose range nobody else says. `low_score` is what chance reaches and `high_score` what the
 * best reaches: scores of models may lie below it, and are left out then.
 */
function rangeOfEntry({ low_score: low, high_score: high }: Record<string, unknown>): MetricRange | null {
  return typeof low === 'number' && typeof high === 'number' && low !== high
    ? { low: Math.min(low, high), high: Math.max(low, high), ...(low > high && { lowerIsBetter: true as const }) }
    : null;
}

const positive = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null);
