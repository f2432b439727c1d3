/** A configuration's digest in two parts: what decides the requests to a model, and what only scores its responses. */

import { sha256 } from '../system/index.ts';
import { isBigBenchFile } from './big-bench-open.ts';
import { readConfiguration, sortKeys } from './configuration.ts';
import { mapping } from './values.ts';

export interface ConfigurationDigests {
  /** SHA-256 of the keys that decide what is asked of a model. */
  requests: string;
  /** SHA-256 of those that decide how responses are read and scored. */
  scoring: string;
}

/** Keys that change nothing but the scores of responses. */
const scoringKeys = ['metric_list', 'filter_list'];
/** Names and notes; aggregation over groups. */
const namingKeys = [
  'task',
  'task_alias',
  'tag',
  'group',
  'group_alias',
  'aggregate_metric_list',
  'should_decontaminate',
  'doc_to_decontamination_query',
];
/** Keys under `metadata.softbench` that a run writes down as its settings, or that choose what is run. */
const settingKeys = ['modes', 'soft_prompt', 'limit', 'shots', 'few_shot_seed', 'generate', 'chat_template'];

const without = (values: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)));

const digest = (value: unknown): string => sha256(JSON.stringify(sortKeys(value)));

/** @param values the file's keys after its includes */
export function configurationDigests(values: Readonly<Record<string, unknown>>): ConfigurationDigests {
  // The right answer is a part of the request where its likelihood is what is asked for. (In examples it is one too; that
  // shows in the prompts, which re-scoring compares one by one.)
  const asksForTarget = String(values.output_type).startsWith('loglikelihood');
  const { metadata, ...rest } = values;
  const scoring = {
    ...Object.fromEntries(scoringKeys.map((key) => [key, values[key]])),
    target: values.doc_to_target,
    softbench: without(mapping(mapping(metadata).softbench), settingKeys),
  };
  const target = asksForTarget ? [] : ['doc_to_target'];
  return { requests: digest(without(rest, [...scoringKeys, ...namingKeys, ...target])), scoring: digest(scoring) };
}

/**
 * Digests of a benchmark file as it is now, without reading its data; null where it is no task file of
 * lm-evaluation-harness or cannot be read.
 */
export async function digestsOfFile(file: string): Promise<ConfigurationDigests | null> {
  if (isBigBenchFile(file)) return null;
  const { values, problems } = await readConfiguration(file);
  return problems.some(({ code }) => ['broken-yaml', 'not-utf-8', 'missing-file', 'not-a-benchmark'].includes(code))
    ? null
    : configurationDigests(values);
}
