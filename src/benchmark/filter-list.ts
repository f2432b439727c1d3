/** Builds the pipelines of `filter_list` and reports what is wrong in it. */
import type { Configuration, Path } from './configuration.ts';
import { FilterPipeline, filterTable, refusedFilters, type Stage } from './filters.ts';
import { suggestion } from './near-miss.ts';
import { PythonError } from './python.ts';

/** The pipelines that can be built, in the file's order. */
export function buildFilters(configuration: Configuration): FilterPipeline[] {
  const list = configuration.values.filter_list;
  if (!Array.isArray(list)) return [];
  const pipelines: FilterPipeline[] = [];
  for (const [i, entry] of list.entries()) {
    const path: Path = ['filter_list', i];
    const { name, filter } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>;
    if (typeof name !== 'string') {
      configuration.add('error', 'missing-key', 'A filter needs a `name`.', path);
      continue;
    }
    if (!Array.isArray(filter)) {
      configuration.add(
        'error',
        'missing-key',
        `The filter \`${name}\` needs \`filter\`: a list of steps such as \`{ function: regex, regex_pattern: "…" }\`.`,
        path,
      );
      continue;
    }
    if (pipelines.some((pipeline) => pipeline.name === name))
      configuration.add('warning', 'repeated-name', `There are two filters named \`${name}\`.`, [...path, 'name']);
    const pipeline = build(configuration, name, filter, [...path, 'filter']);
    if (pipeline) pipelines.push(pipeline);
  }
  return pipelines;
}

function build(configuration: Configuration, name: string, filter: unknown[], path: Path): FilterPipeline | null {
  const stages: Stage[] = [];
  let hasPattern = false;
  let whole = true;
  for (const [i, step] of filter.entries()) {
    const at = [...path, i];
    const { function: kind, ...options } = (typeof step === 'object' && step !== null ? step : {}) as Record<
      string,
      unknown
    >;
    const row = typeof kind === 'string' ? filterTable.get(kind) : undefined;
    if (!row) {
      const refused = typeof kind === 'string' ? refusedFilters.get(kind) : undefined;
      const message = refused
        ? `Softbench cannot run the filter \`${kind}\`: ${refused}.`
        : kind === undefined
          ? 'A step of a filter needs `function`, such as `regex`.'
          : `There is no filter function \`${kind}\`.${suggestion(String(kind), filterTable.keys())}`;
      configuration.add('error', 'unknown-filter', message, kind === undefined ? at : [...at, 'function']);
      whole = false;
      continue;
    }
    for (const key of Object.keys(options))
      if (!row.options.includes(key)) {
        configuration.add(
          'error',
          'unknown-key',
          `The filter \`${kind}\` has no option \`${key}\`.${suggestion(key, row.options)}`,
          [...at, key],
          { key: true },
        );
      }
    if (
      kind === 'take_first' &&
      filter.slice(i + 1).some((later) => (later as Record<string, unknown>)?.function !== 'take_first')
    )
      configuration.add(
        'warning',
        'filter-order',
        'lm-evaluation-harness applies what follows `take_first` to each single letter. Put `take_first` last.',
        [...at, 'function'],
      );
    const repeats = Number(configuration.values.repeats ?? 1);
    if (kind === 'take_first_k' && typeof options.k === 'number' && options.k > repeats)
      configuration.add(
        'error',
        'wrong-value',
        `\`take_first_k\` asks for ${options.k} outputs of each item, and there ${repeats === 1 ? 'is one' : `are ${repeats}`}. Raise \`repeats\`.`,
        [...at, 'k'],
      );
    try {
      stages.push(row.build(options));
      hasPattern ||= row.pattern ?? false;
    } catch (thrown) {
      if (!(thrown instanceof PythonError)) throw thrown;
      configuration.add(
        'error',
        'wrong-pattern',
        thrown.message,
        'regex_pattern' in options ? [...at, 'regex_pattern'] : at,
      );
      whole = false;
    }
  }
  const needsChoices = filter.some((step) => (step as Record<string, unknown>)?.function === 'multi_choice_regex');
  return whole ? new FilterPipeline(name, stages, hasPattern, needsChoices) : null;
}
