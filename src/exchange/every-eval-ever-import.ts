/**
 * "Every Eval Ever" files (schema 0.1 to 0.3): one JSON file an evaluation, with a score for each metric, and a JSON-lines
 * file of its samples beside it.
 */
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import type { RunSource } from '../shared/results.ts';
import { sha256 } from '../system/index.ts';
import { everyEvalEverItems } from './every-eval-ever-samples.ts';
import type { ReadJson } from './find-files.ts';
import {
  type Fields,
  type ForeignMetric,
  type ForeignTask,
  fieldsOf,
  listOf,
  noGeneration,
  numberOf,
  textOf,
} from './foreign.ts';
import type { ImportOptions } from './import.ts';
import type { Foreign } from './to-run.ts';

export const isEveryEvalEver = (value: unknown): boolean => {
  const { schema_version: version, evaluation_results: results } = fieldsOf(value);
  return typeof version === 'string' && Array.isArray(results);
};

/** One run for each evaluation that the file names (`gsm8k`, `gsm8k/strict-match` are one). */
export async function everyEvalEverForeign(
  { file, value, digest }: ReadJson,
  { tasks, signal }: Pick<ImportOptions, 'tasks' | 'signal'>,
): Promise<Foreign[]> {
  const whole = fieldsOf(value);
  const version = textOf(whole.schema_version) ?? '';
  const problem = problemOf(whole);
  if (problem)
    throw new HumanError('bad-input', `The file does not follow the schema of Every Eval Ever: ${problem}.`, {
      place: { file },
    });
  const notes = [...unknownVersion(version)];
  const library = fieldsOf(whole.eval_library);
  const samples = await samplesOf(file, whole);
  const source: RunSource = {
    kind: 'imported',
    tool: 'every-eval-ever',
    version,
    ...(textOf(library.name) && { library: [library.name, library.version].filter((part) => textOf(part)).join(' ') }),
    file,
    digest,
    evaluated: timeOf(whole.evaluation_timestamp) ?? timeOf(whole.retrieved_timestamp),
  };
  const byTask = new Map<string, Fields[]>();
  for (const result of listOf(whole.evaluation_results).map(fieldsOf)) {
    const { task } = nameOf(result);
    byTask.set(task, [...(byTask.get(task) ?? []), result]);
  }
  const foreigns: Foreign[] = [];
  for (const [name, results] of byTask) {
    if (tasks && !tasks.includes(name)) continue;
    const task = taskOf(name, results, whole, source, notes);
    const items = samples ? await everyEvalEverItems(samples, name, byTask.size === 1, { signal }) : null;
    foreigns.push(
      items
        ? {
            task: {
              ...task,
              n: task.n ?? items.count,
              source: { ...source, digest: sha256(digest + items.digest) },
              notes: [...task.notes, ...items.notes],
            },
            config: {},
            items,
          }
        : { task, config: {}, items: null },
    );
  }
  return foreigns;
}

/** What the schema requires and this reader relies on; null where it is there. */
function problemOf(whole: Fields): string | null {
  const model = fieldsOf(whole.model_info);
  if (!textOf(model.id) && !textOf(model.name)) return '`model_info` has neither `id` nor `name`';
  for (const [number, result] of listOf(whole.evaluation_results).entries()) {
    const at = `\`evaluation_results[${number}]`;
    if (!textOf(fieldsOf(result).evaluation_name)) return `${at}.evaluation_name\` should be a text`;
    if (numberOf(fieldsOf(fieldsOf(result).score_details).score) === null)
      return `${at}.score_details.score\` should be a number`;
  }
  return listOf(whole.evaluation_results).length === 0 ? '`evaluation_results` is empty' : null;
}

const unknownVersion = (version: string): string[] =>
  /^0\.[1-3](?:\.|$)/.test(version)
    ? []
    : [`The file follows version ${version} of the schema; this Softbench knows 0.1 to 0.3, and read what it knows.`];

/** `task/filter` of results that keep lm-eval's filters apart. */
export function nameOf(result: Fields): { task: string; filter: string } {
  const details = fieldsOf(fieldsOf(result.metric_config).additional_details);
  const name = textOf(result.evaluation_name) ?? '';
  const filter = textOf(details.filter);
  if (filter !== null) return { task: name, filter };
  const described = /\(filter: ([^)]+)\)\s*$/.exec(
    textOf(fieldsOf(result.metric_config).evaluation_description) ?? '',
  )?.[1];
  return described && name.endsWith(`/${described}`)
    ? { task: name.slice(0, -described.length - 1), filter: described }
    : { task: name, filter: 'none' };
}

function taskOf(
  task: string,
  results: readonly Fields[],
  whole: Fields,
  source: RunSource,
  notes: string[],
): ForeignTask {
  const [first = {}] = results;
  const info = fieldsOf(whole.model_info);
  const name = textOf(info.id) ?? textOf(info.name) ?? '';
  const config = fieldsOf(first.generation_config);
  const details = fieldsOf(config.additional_details);
  const identity = JSON.stringify([name, info.inference_platform ?? '', fieldsOf(info.additional_details)]);
  const data = fieldsOf(first.source_data);
  const args = fieldsOf(config.generation_args);
  const sizes = results.map((result) => numberOf(fieldsOf(fieldsOf(result.score_details).uncertainty).num_samples));
  return {
    task,
    group: null,
    model: {
      name,
      identity: `${name}@${sha256(identity).slice(0, 8)}`,
      weights: textOf(fieldsOf(info.additional_details).sha) ?? '',
    },
    source,
    shots: numberOf(Number(textOf(details.num_fewshot) ?? textOf(details.shots) ?? 0)) ?? 0,
    fewShotSeed: 0,
    limit: null,
    n: largest(sizes) ?? numberOf(data.samples_number),
    split: textOf(data.hf_split) ?? '',
    outputType: null,
    taskVersion: '',
    generation: {
      ...noGeneration,
      maxNewTokens: numberOf(args.max_tokens) ?? 0,
      temperature: numberOf(args.temperature) ?? 0,
      topP: numberOf(args.top_p) ?? 1,
    },
    chat: null,
    metrics: results.flatMap(metricOf),
    notes,
  };
}

function metricOf(result: Fields): ForeignMetric[] {
  const config = fieldsOf(result.metric_config);
  const details = fieldsOf(result.score_details);
  const value = numberOf(details.score);
  if (value === null) return [];
  const { filter } = nameOf(result);
  const described = textOf(config.evaluation_description)?.replace(/\s*\(filter: [^)]+\)\s*$/, '');
  const metric = textOf(config.metric_id) ?? textOf(config.metric_name) ?? described ?? 'score';
  // Percent, or a scale from 0 to 100: shares here are from 0 to 1.
  const scale = config.metric_unit === 'percent' || (config.min_score === 0 && config.max_score === 100) ? 100 : 1;
  const size = numberOf(fieldsOf(details.uncertainty).num_samples);
  const error = numberOf(fieldsOf(fieldsOf(details.uncertainty).standard_error).value);
  return [
    {
      metric,
      filter,
      value: value / scale,
      standardError: error === null ? null : error / scale,
      higherIsBetter: config.lower_is_better !== true,
      ...(size !== null && { n: size }),
    },
  ];
}

/** Seconds since 1970 as text, or ISO 8601. */
function timeOf(value: unknown): string | null {
  const text = textOf(value) ?? (typeof value === 'number' ? String(value) : null);
  if (text === null) return null;
  const time = new Date(/^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : text);
  return Number.isNaN(time.valueOf()) ? null : time.toISOString();
}

/** The samples beside the file: the name that it gives, without its path in the project's own repository. */
async function samplesOf(file: string, whole: Fields): Promise<string | null> {
  const named = textOf(fieldsOf(whole.detailed_evaluation_results).file_path);
  const names = [
    ...(named ? [basename(named)] : []),
    `${basename(file, '.json')}_samples.jsonl`,
    `${basename(file, '.json')}.jsonl`,
  ];
  for (const name of names) {
    const path = join(dirname(file), name);
    if ((await stat(path).catch(() => null))?.isFile()) return path;
  }
  return null;
}

/** The largest of the sizes: a score of a part of the items has a smaller one. */
function largest(sizes: readonly (number | null)[]): number | null {
  const known = sizes.filter((size) => size !== null);
  return known.length > 0 ? Math.max(...known) : null;
}
