/**
 * `!function` in benchmark files: Python that Softbench cannot run. What such functions make can be given as data in their
 * place, under `metadata.softbench`: rows that `process_docs` has gone over, and fields that hold what `doc_to_*` gave.
 */
import type { Configuration, PythonFunction } from './configuration.ts';
import { mapping, text } from './values.ts';

/** What each key of `metadata.softbench` stands in for. */
const processedKeys = new Set(['process_docs', 'custom_dataset', 'fewshot_config.process_docs']);
const scoringKeys = new Set(['process_results', 'metric_list']);

/** Keys whose functions decide nothing here. */
const unusedKeys = new Set(['doc_to_decontamination_query']);

/**
 * Reports the functions that count (a key of an included file that this file gives anew does not), and puts in place what
 * the file offers for them.
 */
export function settleFunctions(configuration: Configuration, functions: readonly PythonFunction[]): void {
  const { values } = configuration;
  const softbench = mapping(mapping(values.metadata).softbench);
  const fields = mapping(softbench.function_fields);
  const ownScoring = softbench.own_scoring === true;
  for (const found of functions) {
    const path = found.keys.join('.');
    const top = found.keys[0] ?? '';
    if (!configuration.holds(top, found)) continue;
    if (unusedKeys.has(top)) values[top] = null;
    else if (processedKeys.has(path) && softbench.processed_docs !== undefined) remove(values, found.keys);
    else if (path === 'fewshot_config.samples' && softbench.fewshot_samples !== undefined) remove(values, found.keys);
    else if (text(fields[path]) !== null) replace(values, found.keys, fields[path]);
    else if (scoringKeys.has(top) && ownScoring) values[top] = withoutFunctions(values[top], found);
    else configuration.problems.push({ ...found.problem, message: `${found.problem.message} ${adviceFor(path)}` });
  }
}

function parentOf(values: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return keys.slice(0, -1).reduce((at, key) => mapping(at[key]), values);
}

function remove(values: Record<string, unknown>, keys: readonly string[]): void {
  delete parentOf(values, keys)[keys.at(-1) ?? ''];
}

function replace(values: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  parentOf(values, keys)[keys.at(-1) ?? ''] = value;
}

/** A list of metrics without those that a function computes; nothing where none is left. */
function withoutFunctions(list: unknown, { source }: PythonFunction): unknown {
  if (!Array.isArray(list)) return null;
  const left = list.filter((entry) => !Object.values(mapping(entry)).some((value) => value === source));
  return left.length > 0 ? left : null;
}

/** What to do in place of a Python function, by the key that has it. */
function adviceFor(path: string): string {
  if (processedKeys.has(path))
    return 'Give the rows that it makes as files: `metadata: { softbench: { processed_docs: { SPLIT: FILE.jsonl } } }`.';
  if (path === 'class') return 'Write the benchmark as templates, over rows that the Python task makes.';
  if (path === 'fewshot_config.samples')
    return 'Give the examples that it makes as a file: `metadata: { softbench: { fewshot_samples: FILE.jsonl } }`.';
  if (/(?:^|\.)doc_to_(?:text|target|choice)$/.test(path))
    return `Write it as a template, or store what it gives as a field of the rows and name that: \`metadata: { softbench: { function_fields: { ${path}: FIELD } } }\`.`;
  if (path.startsWith('filter_list')) return 'Use a `regex` filter.';
  if (scoringKeys.has(path.split('.')[0] ?? ''))
    return 'Use `filter_list` and the metric `exact_match`; or let Softbench judge without it: `metadata: { softbench: { own_scoring: true } }`.';
  return 'Give a value in its place.';
}
