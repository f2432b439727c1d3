/** From the keys of a benchmark file to typed settings, with every finding reported at its place. */
import { isAbsolute } from 'node:path';
import type { GenerationOptions } from '../shared/results.ts';
import type { Configuration, Path } from './configuration.ts';
import { splitsOf } from './data.ts';
import { type DataOptions, readDataOptions } from './data-options.ts';
import type { DataFormat } from './dataset-folder.ts';
import type { DatasetRequest } from './dataset-source.ts';
import type { ExactMatchOptions } from './exact-match.ts';
import { buildFilters } from './filter-list.ts';
import type { FilterPipeline } from './filters.ts';
import { checkKeys, dataKeys, fewShotKeys, generationKeys, taskKeys } from './keys.ts';
import { readMetricList } from './metric-list.ts';
import { readSoftbench, type SoftbenchSettings } from './softbench-settings.ts';
import type { MetricSetting, OutputType } from './types.ts';
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
    /** The files are those of `metadata.softbench.processed_docs`. */
    processed?: boolean;
  };
  splits: { training: string | null; validation: string | null; test: string | null; fewShot: string | null };
  description: string;
  turn: TurnTemplates;
  example: TurnTemplates;
  sampler: 'default' | 'first_n';
  samples: Record<string, unknown>[] | null;
  /** File with the few-shot examples, where it stands in for a function. */
  samplesFile: string | null;
  shots: number | null;
  /** Options of `exact_match`: what counts as right. */
  metric: ExactMatchOptions;
  metrics: MetricSetting[];
  /** Outputs an item. */
  repeats: number;
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
  const outputType = (text(values.output_type) ?? 'generate_until') as OutputType;
  const generation = readGeneration(configuration, notes);
  const repeats = readRepeats(configuration, generation.generation.temperature, outputType, notes);
  const { metrics, exactMatch } = readMetricList(configuration, outputType, notes);
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
    samplesFile: text(softbenchOf(configuration).fewshot_samples),
    shots: number(values.num_fewshot),
    metric: exactMatch,
    metrics,
    repeats,
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
  // A task that is written in Python has its own message.
  if (configuration.functions.some(({ keys }) => keys[0] === 'class')) return;
  const need = (key: string, why: string): void => {
    const reported = configuration.problems.some(({ message }) => message.startsWith(`\`${key}\``));
    if (!has(key) && !reported) configuration.add('error', 'missing-key', `\`${key}\` is missing: ${why}`, []);
  };
  const makesData = configuration.functions.some(({ keys }) => keys[0] === 'custom_dataset');
  if (softbenchOf(configuration).processed_docs === undefined && !makesData)
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

const softbenchOf = ({ values }: Configuration): Record<string, unknown> => mapping(mapping(values.metadata).softbench);

/** Rows that the user has processed, in place of `process_docs`. */
function processedData(configuration: Configuration, files: Record<string, unknown>): Settings['data'] {
  const path = ['metadata', 'softbench', 'processed_docs'];
  for (const [split, value] of Object.entries(files))
    if (typeof value !== 'string' && !Array.isArray(value))
      configuration.add('error', 'wrong-type', `\`${split}\` must be a file or a list of files.`, [...path, split]);
  return {
    format: null,
    dataset: null,
    processed: true,
    splits: splitsOf(files),
    options: { field: null, separator: null, columnNames: null, encoding: 'utf-8' },
  };
}

/** The data set of the Hub whose files are all those named: `dataset_path: json` with `hf://datasets/ID/path`. */
function repositoryOf(
  splits: ReadonlyMap<string, readonly string[]>,
): { path: string; revision: string | null } | null {
  const found = new Map<string, { path: string; revision: string | null }>();
  for (const file of [...splits.values()].flat()) {
    const parts = /^hf:\/\/datasets\/([^/@]+\/[^/@]+)(?:@([^/]+))?\//.exec(file);
    if (!parts) return null;
    found.set(parts[0], { path: parts[1] ?? '', revision: parts[2] ?? null });
  }
  return found.size === 1 ? ([...found.values()][0] ?? null) : null;
}

function readData(configuration: Configuration): Settings['data'] {
  const { values } = configuration;
  const options = mapping(values.dataset_kwargs);
  const processed = softbenchOf(configuration).processed_docs;
  if (typeof processed === 'object' && processed !== null) return processedData(configuration, mapping(processed));
  const made = configuration.functions.some(({ keys }) => keys[0] === 'custom_dataset');
  // Made by a Python function: what `dataset_path` says is for that.
  const path = made ? null : text(values.dataset_path);
  const format = path === 'json' || path === 'csv' || path === 'parquet' || path === 'arrow' ? path : null;
  const folder = text(options.data_dir);
  if (format) checkKeys(configuration, options, dataKeys, ['dataset_kwargs'], 'warning');
  if (path !== null && ['text', 'pandas', 'xml', 'imagefolder', 'audiofolder', 'webdataset'].includes(path))
    configuration.add(
      'error',
      'unsupported',
      `Softbench does not read \`${path}\` data. Convert it to .jsonl, .csv or .parquet and use \`dataset_path: json\`, \`csv\` or \`parquet\`.`,
      ['dataset_path'],
    );
  else if (format && options.data_files === undefined && folder === null)
    configuration.add(
      'error',
      'missing-key',
      `\`dataset_kwargs.data_files\` is missing: the ${format} files of the benchmark.`,
      ['dataset_path'],
    );
  const repository = format ? repositoryOf(splitsOf(options.data_files)) : null;
  const dataset: DatasetRequest | null = repository
    ? { ...repository, name: null, dataDir: null, dataFiles: options.data_files }
    : path === null || format
      ? format && options.data_files === undefined && folder !== null
        ? // A folder of files: splits by their names, as `datasets` finds them.
          {
            path: `${isAbsolute(folder) ? '' : './'}${folder}`,
            name: null,
            revision: null,
            dataDir: null,
            dataFiles: null,
          }
        : null
      : {
          path,
          name: text(values.dataset_name),
          revision: text(options.revision) ?? text(values.dataset_revision),
          dataDir: text(options.data_dir),
          dataFiles: options.data_files,
        };
  // Those of a data set are found by `locateDataset`.
  const splits = dataset ? new Map<string, string[]>() : splitsOf(options.data_files);
  if (folder !== null)
    for (const [split, files] of splits)
      splits.set(
        split,
        files.map((file) => `${folder}/${file}`),
      );
  return {
    format,
    dataset,
    splits,
    options: readDataOptions(options),
  };
}

/** Outputs an item; likelihoods do not differ from one time to the next. */
function readRepeats(
  configuration: Configuration,
  temperature: number,
  outputType: OutputType,
  notes: string[],
): number {
  const repeats = Math.max(1, number(configuration.values.repeats) ?? 1);
  if (repeats === 1 || outputType !== 'generate_until') return 1;
  if (temperature === 0) {
    const message = `\`repeats: ${repeats}\` without sampling: greedy outputs are equal, so each is generated once and copied. Set \`generation_kwargs: { do_sample: true, temperature: … }\` for outputs that differ.`;
    configuration.add('information', 'repeats', message, ['repeats']);
    notes.push(message);
  }
  return repeats;
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
