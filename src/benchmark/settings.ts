/** From the keys of a benchmark file to typed settings, with every finding reported at its place. */
import type { GenerationOptions } from '../shared/results.ts';
import type { Configuration, Path } from './configuration.ts';
import { type DataOptions, splitsOf } from './data.ts';
import type { DataFormat } from './dataset-folder.ts';
import type { DatasetRequest } from './dataset-source.ts';
import type { ExactMatchOptions } from './exact-match.ts';
import { plainMatch } from './exact-match.ts';
import { buildFilters } from './filter-list.ts';
import type { FilterPipeline } from './filters.ts';
import { checkKeys, dataKeys, fewShotKeys, generationKeys, taskKeys } from './keys.ts';
import { suggestion } from './near-miss.ts';
import { PythonError } from './python.ts';
import { compile } from './python-regex.ts';
import { readSoftbench, type SoftbenchSettings } from './softbench-settings.ts';
import type { OutputType } from './types.ts';
import { mapping, number, text, texts } from './values.ts';

/** How a question and its answer are written: of the item itself, or of few-shot examples. */
export interface TurnTemplates {
  text: string | number | null;
  target: string | number | unknown[] | null;
  choice: string | unknown[] | Record<string, unknown> | null;
  generationPrefix: string | null;
  targetDelimiter: string;
  fewShotDelimiter: string;
}

export interface Settings {
  task: string;
  outputType: OutputType;
  data: {
    /** Null: each file's name says it. */
    format: DataFormat | null;
    /** Where the data is a data set of the Hugging Face hub or a folder like one. */
    dataset: DatasetRequest | null;
    splits: Map<string, string[]>;
    options: DataOptions;
  };
  splits: { training: string | null; validation: string | null; test: string | null; fewShot: string | null };
  description: string;
  turn: TurnTemplates;
  example: TurnTemplates;
  sampler: 'default' | 'first_n';
  samples: Record<string, unknown>[] | null;
  shots: number | null;
  metric: ExactMatchOptions;
  filters: FilterPipeline[];
  /** `until` as written; null where the file gives no `generation_kwargs`. */
  until: string[] | null;
  generation: Omit<GenerationOptions, 'until' | 'maxNewTokens'> & { maxNewTokens: number | null };
  softbench: SoftbenchSettings;
  notes: string[];
}

/** Keys of a whole feature that Softbench has not: an error where they are used. */
const unsupported: Record<string, string> = {
  use_prompt: 'PromptSource prompts are not supported. Write the prompt as `doc_to_text` and `doc_to_target`.',
  doc_to_image: 'Benchmarks with images are not supported.',
  doc_to_audio: 'Benchmarks with audio are not supported.',
};

/** Reads the settings; what cannot be used is reported in `configuration.problems` and left at its default. */
export function readSettings(configuration: Configuration): Settings {
  const values = configuration.values;
  checkKeys(configuration, values, taskKeys, [], 'warning');
  for (const [key, message] of Object.entries(unsupported))
    if (values[key] !== undefined && values[key] !== null)
      configuration.add('error', 'unsupported', message, [key], { key: true });
  if (values.unsafe_code === true)
    configuration.add('error', 'unsupported', 'Softbench does not run code that a model wrote.', ['unsafe_code']);
  const notes: string[] = [];
  if (typeof values.repeats === 'number' && values.repeats > 1) {
    const message = 'Softbench generates one output for each item; votes over `repeats` do not change a greedy answer.';
    configuration.add('information', 'repeats', message, ['repeats']);
    notes.push(message);
  }
  const outputType = (text(values.output_type) ?? 'generate_until') as OutputType;
  if (outputType === 'loglikelihood') {
    const message =
      'Answers are generated and judged here; lm-evaluation-harness scores the given ones of `output_type: loglikelihood` by their log-likelihood.';
    configuration.add('warning', 'output-type', message, ['output_type']);
    notes.push(message);
  }
  if (outputType === 'loglikelihood_rolling')
    configuration.add('error', 'unsupported', 'Softbench does not measure the perplexity of whole texts.', [
      'output_type',
    ]);
  const generation = readGeneration(configuration, notes);
  const turn: TurnTemplates = {
    text: (values.doc_to_text ?? null) as TurnTemplates['text'],
    target: (values.doc_to_target ?? null) as TurnTemplates['target'],
    choice: (values.doc_to_choice ?? null) as TurnTemplates['choice'],
    generationPrefix: text(values.gen_prefix),
    targetDelimiter: text(values.target_delimiter) ?? ' ',
    fewShotDelimiter: text(values.fewshot_delimiter) ?? '\n\n',
  };
  const fewShot = mapping(values.fewshot_config);
  checkKeys(configuration, fewShot, fewShotKeys, ['fewshot_config']);
  if (Array.isArray(fewShot.fewshot_indices)) {
    const message =
      'lm-evaluation-harness 0.4.13 reads `fewshot_indices` but draws from all rows; Softbench does the same.';
    configuration.add('warning', 'ignored-key', message, ['fewshot_config', 'fewshot_indices'], { key: true });
  }
  const pick = <Value>(key: string, fallback: Value): Value =>
    key in fewShot ? ((fewShot[key] ?? null) as Value) : fallback;
  checkRequired(configuration, outputType);
  return {
    task: text(values.task) ?? baseName(configuration.file),
    outputType,
    data: readData(configuration),
    splits: {
      training: text(values.training_split),
      validation: text(values.validation_split),
      test: text(values.test_split),
      fewShot: text(pick('split', values.fewshot_split)),
    },
    description: text(values.description) ?? '',
    turn,
    example: {
      text: pick('doc_to_text', turn.text) ?? turn.text,
      target: pick('doc_to_target', turn.target) ?? turn.target,
      choice: pick('doc_to_choice', turn.choice),
      generationPrefix: pick('gen_prefix', turn.generationPrefix),
      targetDelimiter: pick<string | null>('target_delimiter', turn.targetDelimiter) ?? ' ',
      fewShotDelimiter: pick<string | null>('fewshot_delimiter', turn.fewShotDelimiter) ?? '\n\n',
    },
    sampler: fewShot.sampler === 'first_n' ? 'first_n' : 'default',
    samples: Array.isArray(fewShot.samples) ? fewShot.samples.map(mapping) : null,
    shots: number(values.num_fewshot),
    metric: readMetric(configuration, outputType, notes),
    filters: buildFilters(configuration),
    ...generation,
    softbench: readSoftbench(configuration),
    notes,
  };
}

const baseName = (file: string): string => (file.split(/[\\/]/).at(-1) ?? file).replace(/\.ya?ml$/i, '');

function checkRequired(configuration: Configuration, outputType: OutputType): void {
  const { values } = configuration;
  const has = (key: string): boolean => values[key] !== undefined && values[key] !== null;
  // A key whose value was refused has its own message.
  const need = (key: string, why: string): void => {
    const reported = configuration.problems.some(({ message }) => message.startsWith(`\`${key}\``));
    if (!has(key) && !reported) configuration.add('error', 'missing-key', `\`${key}\` is missing: ${why}`, []);
  };
  if (Array.isArray(values.task) || (has('group') && !has('doc_to_text'))) {
    configuration.add(
      'error',
      'group-file',
      'This file names a group of benchmarks. Open one of the benchmarks in it.',
      [has('group') ? 'group' : 'task'],
      { key: true },
    );
    return;
  }
  need(
    'dataset_path',
    'give `json`, `csv` or `parquet` with `dataset_kwargs: { data_files: … }`, or the id of a data set on the Hugging Face hub.',
  );
  if (outputType !== 'loglikelihood_rolling') need('doc_to_text', 'a template for the prompt, such as "{{question}}".');
  need('doc_to_target', 'a template for the right answer, such as "{{answer}}".');
  if (outputType === 'multiple_choice') need('doc_to_choice', 'the candidates of a multiple-choice benchmark.');
  if (!has('test_split') && !has('validation_split'))
    configuration.add(
      'error',
      'missing-key',
      '`test_split` (or `validation_split`) is missing: the split to evaluate.',
      [],
    );
}

function readData(configuration: Configuration): Settings['data'] {
  const { values } = configuration;
  const options = mapping(values.dataset_kwargs);
  const path = text(values.dataset_path);
  const format = path === 'json' || path === 'csv' || path === 'parquet' ? path : null;
  if (format) checkKeys(configuration, options, dataKeys, ['dataset_kwargs'], 'warning');
  if (path !== null && ['text', 'arrow', 'pandas', 'xml', 'imagefolder', 'audiofolder', 'webdataset'].includes(path))
    configuration.add(
      'error',
      'unsupported',
      `Softbench does not read \`${path}\` data. Convert it to .jsonl, .csv or .parquet and use \`dataset_path: json\`, \`csv\` or \`parquet\`.`,
      ['dataset_path'],
    );
  else if (format && options.data_files === undefined)
    configuration.add(
      'error',
      'missing-key',
      `\`dataset_kwargs.data_files\` is missing: the ${format} files of the benchmark.`,
      ['dataset_path'],
    );
  const dataset: DatasetRequest | null =
    path === null || format
      ? null
      : {
          path,
          name: text(values.dataset_name),
          revision: text(options.revision) ?? text(values.dataset_revision),
          dataDir: text(options.data_dir),
          dataFiles: options.data_files,
        };
  const folder = text(options.data_dir);
  // Those of a data set are found by `locateDataset`.
  const splits = dataset ? new Map<string, string[]>() : splitsOf(options.data_files);
  if (folder !== null)
    for (const [split, files] of splits)
      splits.set(
        split,
        files.map((file) => `${folder}/${file}`),
      );
  const encoding = text(options.encoding);
  return {
    format,
    dataset,
    splits,
    options: {
      field: text(options.field),
      separator: text(options.sep) ?? text(options.delimiter),
      columnNames: Array.isArray(options.column_names) ? options.column_names.map(String) : null,
      encoding: encoding === 'latin-1' ? 'latin1' : encoding === 'utf-16-le' ? 'utf16le' : 'utf-8',
    },
  };
}

const exactMatchKeys = new Set([
  'metric',
  'aggregation',
  'higher_is_better',
  'hf_evaluate',
  'regexes_to_ignore',
  'ignore_case',
  'ignore_punctuation',
  'ignore_numbers',
]);

/** The options of `exact_match`; other metrics do not decide what is right here. */
function readMetric(configuration: Configuration, outputType: OutputType, notes: string[]): ExactMatchOptions {
  const list = configuration.values.metric_list;
  if (!Array.isArray(list)) return plainMatch;
  const names = list.map((entry) => text(mapping(entry).metric));
  names.forEach((name, i) => {
    if (name === null && !configuration.problems.some(({ code }) => code === 'python-function'))
      configuration.add('error', 'missing-key', 'An entry of `metric_list` needs `metric`, such as `exact_match`.', [
        'metric_list',
        i,
      ]);
  });
  const at = names.indexOf('exact_match');
  if (at < 0) {
    if (outputType === 'generate_until' && names.length > 0) {
      const message = `Softbench scores generated answers by exact match; ${names.map((name) => `\`${name}\``).join(', ')} is not computed.`;
      configuration.add('warning', 'metric', message, ['metric_list']);
      notes.push(message);
    }
    return plainMatch;
  }
  const options = mapping(list[at]);
  for (const key of Object.keys(options))
    if (!exactMatchKeys.has(key))
      configuration.add(
        'warning',
        'unknown-key',
        `\`exact_match\` has no option \`${key}\`.${suggestion(key, exactMatchKeys)}`,
        ['metric_list', at, key],
        { key: true },
      );
  const patterns =
    options.regexes_to_ignore === undefined || options.regexes_to_ignore === null
      ? []
      : texts(options.regexes_to_ignore);
  const usable = patterns.filter((pattern, i) =>
    checkPattern(configuration, pattern, ['metric_list', at, 'regexes_to_ignore', i]),
  );
  return {
    regexesToIgnore: usable,
    ignoreCase: options.ignore_case === true,
    ignorePunctuation: options.ignore_punctuation === true,
    ignoreNumbers: options.ignore_numbers === true,
  };
}

function checkPattern(configuration: Configuration, pattern: string, path: Path): boolean {
  try {
    compile(pattern);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof PythonError)) throw thrown;
    configuration.add('error', 'wrong-pattern', thrown.message, path);
    return false;
  }
}

function readGeneration(configuration: Configuration, notes: string[]): Pick<Settings, 'until' | 'generation'> {
  const given = configuration.values.generation_kwargs;
  const options = mapping(given);
  const path = ['generation_kwargs'];
  checkKeys(configuration, options, generationKeys, path, 'warning');
  const isList = Array.isArray(options.until);
  const until = options.until === undefined || options.until === null ? null : texts(options.until);
  for (const [i, marker] of (Array.isArray(options.until) ? options.until : []).entries())
    if (typeof marker !== 'string')
      configuration.add('error', 'wrong-type', 'A stop text in `until` must be a text: put it in quotes.', [
        ...path,
        'until',
        i,
      ]);
  for (const [i, marker] of (until ?? []).entries()) {
    const at: Path = [...path, 'until', ...(isList ? [i] : [])];
    if (marker === '')
      configuration.add('error', 'wrong-value', 'An empty text in `until` stops every output at once.', at);
    else if (/\\[nrt]/.test(marker) && configuration.scalarStyle(at) !== 'QUOTE_DOUBLE')
      configuration.add(
        'warning',
        'literal-backslash',
        `This stops at a backslash followed by a letter (${JSON.stringify(marker)}), not at a line break. Use double quotes: "${marker}".`,
        at,
      );
  }
  const temperature = Number(options.temperature ?? 0);
  if (!Number.isFinite(temperature) || temperature < 0)
    configuration.add('error', 'wrong-value', '`temperature` must be a number from 0 on.', [...path, 'temperature']);
  const sampled = options.do_sample === true || (options.do_sample === undefined && temperature > 0);
  if (options.do_sample === true && options.temperature === undefined)
    notes.push('`do_sample` without `temperature`: sampled at temperature 1.');
  return {
    until: until?.filter((marker) => marker !== '') ?? null,
    generation: {
      maxNewTokens: number(options.max_gen_toks) ?? number(options.max_new_tokens) ?? number(options.max_tokens),
      temperature: sampled ? (options.temperature === undefined ? 1 : temperature || 0) : 0,
      topP: number(options.top_p) ?? 1,
      seed: number(options.seed) ?? 0,
    },
  };
}
