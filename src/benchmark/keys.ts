/** The keys of benchmark files (lm-evaluation-harness 0.4.13's TaskConfig, and ours under `metadata.softbench`) and their types. One row a key. */
import { softPromptPositions } from '../shared/modes.ts';
import { learningRateWords, recomputations } from '../shared/results.ts';
import type { Configuration, Path } from './configuration.ts';
import { suggestion } from './near-miss.ts';

type Kind = 'string' | 'integer' | 'number' | 'boolean' | 'mapping' | 'list' | 'null';

export interface Key {
  kinds: readonly Kind[];
  /** For the editor's completion and hover. */
  description: string;
  /** What else a value must be. */
  check?(value: unknown): string | null;
}

const text: readonly Kind[] = ['string', 'null'];
const oneOf =
  (...values: readonly string[]) =>
  (value: unknown): string | null =>
    typeof value === 'string' && !values.includes(value)
      ? `must be one of ${values.map((entry) => `\`${entry}\``).join(', ')}, not \`${value}\`.${suggestion(value, values)}`
      : null;
const atLeast =
  (least: number) =>
  (value: unknown): string | null =>
    typeof value === 'number' && value < least ? `must be at least ${least}, not ${value}.` : null;

const probability = (value: unknown): string | null =>
  typeof value === 'number' && !(value > 0 && value <= 1) ? `must be above 0 and at most 1, not ${value}.` : null;

const seed32 = (value: unknown): string | null =>
  typeof value === 'number' && !(value >= 0 && value <= 0xffffffff) ? 'must be from 0 to 4294967295.' : null;

export const taskKeys: ReadonlyMap<string, Key> = new Map(
  Object.entries<Key>({
    task: { kinds: ['string', 'list', 'null'], description: 'Name of the benchmark.' },
    task_alias: { kinds: text, description: 'Name to show in place of `task`.' },
    tag: { kinds: ['string', 'list', 'null'], description: 'Tags by which a group of benchmarks is named.' },
    group: { kinds: ['string', 'list', 'null'], description: 'Name of a group of benchmarks.' },
    group_alias: { kinds: text, description: 'Name to show in place of `group`.' },
    include: {
      kinds: ['string', 'list', 'null'],
      description: 'A YAML file whose keys this file takes over; its own keys win.',
    },
    class: { kinds: text, description: 'A task that is written in Python (not supported).' },
    custom_dataset: { kinds: text, description: 'A Python function that makes the data (not supported).' },
    dataset_path: {
      kinds: text,
      description:
        '`json`, `csv` or `parquet` with `dataset_kwargs.data_files`, the id of a Hugging Face data set, or its folder.',
    },
    dataset_name: { kinds: text, description: 'Configuration of the Hugging Face dataset.' },
    dataset_kwargs: {
      kinds: ['mapping', 'null'],
      description: 'Arguments for loading the data: `data_files`, `field`, `data_dir`.',
    },
    training_split: { kinds: text, description: 'Split that soft prompts are tuned on.' },
    validation_split: { kinds: text, description: 'Split that is evaluated where there is no test split.' },
    test_split: { kinds: text, description: 'Split that is evaluated.' },
    fewshot_split: { kinds: text, description: 'Split that few-shot examples are drawn from.' },
    process_docs: { kinds: text, description: 'A Python function over the data (not supported).' },
    doc_to_text: {
      kinds: ['string', 'integer', 'null'],
      description: 'Template of the prompt, or the name of a field.',
    },
    doc_to_target: {
      kinds: ['string', 'integer', 'list', 'null'],
      description: 'Template of the right answer, the name of a field, or the number of a choice.',
    },
    doc_to_choice: {
      kinds: ['string', 'list', 'mapping', 'null'],
      description: 'The candidate answers: a list, a field, or a template that gives a list.',
    },
    doc_to_image: { kinds: ['string', 'list', 'null'], description: 'Images (not supported).' },
    doc_to_audio: { kinds: ['string', 'list', 'null'], description: 'Audio (not supported).' },
    unsafe_code: { kinds: ['boolean', 'null'], description: 'The benchmark runs generated code (not supported).' },
    process_results: { kinds: text, description: 'A Python function over the results (not supported).' },
    use_prompt: { kinds: text, description: 'A PromptSource prompt (not supported).' },
    description: { kinds: text, description: 'Text at the beginning of every prompt.' },
    target_delimiter: { kinds: ['string'], description: 'Text between the prompt and the answer; default one space.' },
    fewshot_delimiter: { kinds: ['string'], description: 'Text between few-shot examples; default an empty line.' },
    fewshot_config: { kinds: ['mapping', 'null'], description: 'How few-shot examples are chosen and written.' },
    num_fewshot: { kinds: ['integer', 'null'], description: 'Number of few-shot examples.', check: atLeast(0) },
    metric_list: {
      kinds: ['list', 'null'],
      description: 'Metrics; the options of `exact_match` also decide what is right in F, S and L.',
    },
    output_type: {
      kinds: ['string'],
      description: 'What is asked of the model.',
      check: oneOf('generate_until', 'multiple_choice', 'loglikelihood', 'loglikelihood_rolling'),
    },
    generation_kwargs: {
      kinds: ['mapping', 'null'],
      description: 'How answers are generated: `until`, `max_gen_toks`, `temperature`.',
    },
    repeats: {
      kinds: ['integer', 'null'],
      description: 'Outputs per item, for `take_first_k` and `majority_vote`.',
      check: atLeast(1),
    },
    filter_list: { kinds: ['list', 'null'], description: 'Filters that take the answer out of an output.' },
    should_decontaminate: { kinds: ['boolean', 'null'], description: 'Not used here.' },
    doc_to_decontamination_query: { kinds: text, description: 'Not used here.' },
    gen_prefix: { kinds: text, description: 'Beginning of the answer that is given to the model.' },
    metadata: {
      kinds: ['mapping', 'null'],
      description: '`version`, and the settings of Softbench under `softbench`.',
    },
    dataset_revision: { kinds: text, description: 'Revision of the Hugging Face dataset.' },
    aggregate_metric_list: { kinds: ['list', 'mapping', 'null'], description: 'Metrics of a group.' },
  }),
);

export const dataKeys: ReadonlyMap<string, Key> = new Map(
  Object.entries<Key>({
    data_files: {
      kinds: ['string', 'list', 'mapping'],
      description: 'Files of the data, relative to this file: one, a list, or by split.',
    },
    data_dir: { kinds: text, description: 'Folder that `data_files` are in.' },
    field: { kinds: text, description: 'Key of the rows in a JSON file such as {"examples": […]}.' },
    sep: { kinds: text, description: 'Separator of a CSV file.' },
    delimiter: { kinds: text, description: 'Separator of a CSV file.' },
    column_names: { kinds: ['list', 'null'], description: 'Names of the columns of a CSV file without a header line.' },
    names: { kinds: ['list', 'null'], description: 'The same as `column_names`.' },
    header: {
      kinds: ['integer', 'string', 'null'],
      description: 'Line of a CSV file with the names, from 0; null: none.',
    },
    skiprows: { kinds: ['integer', 'null'], description: 'Lines at the beginning of a CSV file to leave out.' },
    quotechar: { kinds: text, description: 'Quotation mark of a CSV file.' },
    quoting: { kinds: ['integer'], description: '3: quotation marks of a CSV file mean nothing.' },
    keep_default_na: { kinds: ['boolean'], description: 'False: texts such as NA in a CSV file stay texts.' },
    na_filter: { kinds: ['boolean'], description: 'False: texts such as NA in a CSV file stay texts.' },
    encoding: {
      kinds: text,
      description: 'Encoding of the files.',
      check: oneOf('utf-8', 'utf8', 'UTF-8', 'utf-8-sig', 'latin-1', 'latin1', 'iso-8859-1', 'utf-16-le'),
    },
  }),
);

export const generationKeys: ReadonlyMap<string, Key> = new Map(
  Object.entries<Key>({
    until: { kinds: ['string', 'list', 'null'], description: 'Texts at which generation stops.' },
    max_gen_toks: { kinds: ['integer', 'null'], description: 'Longest output in tokens.', check: atLeast(1) },
    max_new_tokens: { kinds: ['integer', 'null'], description: 'Longest output in tokens.', check: atLeast(1) },
    max_tokens: { kinds: ['integer', 'null'], description: 'Longest output in tokens.', check: atLeast(1) },
    max_length: { kinds: ['integer', 'null'], description: 'Not used here.' },
    temperature: { kinds: ['number', 'integer', 'string', 'null'], description: '0 is greedy.' },
    top_p: { kinds: ['number', 'integer', 'null'], description: 'Nucleus sampling.', check: probability },
    top_k: { kinds: ['integer', 'null'], description: 'Not used here.' },
    do_sample: { kinds: ['boolean', 'null'], description: 'False is greedy.' },
    seed: { kinds: ['integer', 'null'], description: 'Seed of sampling.' },
  }),
);

export const fewShotKeys: ReadonlyMap<string, Key> = new Map(
  Object.entries<Key>({
    sampler: { kinds: ['string'], description: 'How examples are drawn.', check: oneOf('default', 'first_n') },
    split: { kinds: text, description: 'Split that examples are drawn from.' },
    process_docs: { kinds: text, description: 'A Python function (not supported).' },
    fewshot_indices: { kinds: ['list', 'null'], description: 'Rows to draw from.' },
    samples: { kinds: ['list', 'null'], description: 'The examples themselves.' },
    doc_to_text: { kinds: text, description: "Template of an example's question." },
    doc_to_choice: { kinds: ['string', 'list', 'mapping', 'null'], description: "An example's candidates." },
    doc_to_target: { kinds: ['string', 'integer', 'list', 'null'], description: "Template of an example's answer." },
    gen_prefix: { kinds: text, description: "Beginning of an example's answer." },
    fewshot_delimiter: { kinds: text, description: 'Text behind an example.' },
    target_delimiter: { kinds: text, description: 'Text between question and answer of an example.' },
  }),
);

const positive = (value: unknown): string | null =>
  typeof value === 'number' && value <= 0 ? `must be greater than 0, not ${value}.` : null;

export const softbenchKeys: ReadonlyMap<string, Key> = new Map(
  Object.entries<Key>({
    strict: {
      kinds: ['string'],
      description: 'Filter that is the required format. Default: the first filter with a regex.',
    },
    lenient: {
      kinds: ['string'],
      description: 'Filter of the lenient reading. Default: a filter named *flex*, else the built-in reader.',
    },
    answer: {
      kinds: ['string'],
      description: 'Kind of the answers.',
      check: oneOf('number', 'letter', 'choice', 'yes-no', 'text', 'json'),
    },
    schema: {
      kinds: ['mapping', 'string', 'null'],
      description: 'JSON Schema that answers of the kind `json` must fit, or the path of a file with one.',
    },
    modes: { kinds: ['list'], description: 'Prompt modes that "Compare prompt modes" runs.' },
    soft_prompt: { kinds: ['mapping'], description: 'How the soft prompt is tuned.' },
    limit: { kinds: ['integer', 'null'], description: 'Evaluate the first so many items only.', check: atLeast(1) },
    shots: {
      kinds: ['integer'],
      description: 'Examples in few-shot mode, where `num_fewshot` gives none. Default: 5.',
      check: atLeast(1),
    },
    few_shot_seed: { kinds: ['integer'], description: 'Seed of the few-shot draw. Default: 1234.' },
    processed_docs: {
      kinds: ['mapping'],
      description:
        'Files with the rows that the Python function `process_docs` (or `custom_dataset`) makes, by split; relative to this file.',
    },
    fewshot_samples: {
      kinds: ['string'],
      description: 'File with the examples that a Python function at `fewshot_config.samples` makes.',
    },
    function_fields: {
      kinds: ['mapping'],
      description:
        'Fields of the rows that hold what Python functions give, by their keys: `doc_to_text`, `doc_to_target`, `doc_to_choice`, `fewshot_config.doc_to_text` ….',
    },
    own_scoring: {
      kinds: ['boolean'],
      description:
        'true: Python functions at `process_results` and in `metric_list` are left out, and answers are judged by Softbench. Default: false.',
    },
    chat_template: {
      kinds: ['boolean', 'string'],
      description:
        "true: prompts are written with the model's chat template, as `--apply_chat_template` of lm-evaluation-harness; a text: with the template of that name. Default: false.",
    },
    system_instruction: {
      kinds: ['string'],
      description:
        'System message in front of every prompt, before `description`; as `--system_instruction` of lm-evaluation-harness.',
    },
    fewshot_as_multiturn: {
      kinds: ['boolean'],
      description:
        'Few-shot examples as turns of their own, in place of one message with all of them. Default: true with a chat template.',
    },
    generate: {
      kinds: ['boolean'],
      description:
        'False: compare the likelihoods of the candidates only, as lm-evaluation-harness, without generating answers. Default: true.',
    },
  }),
);

/** What only task files of lm-evaluation-harness have: filters and Python functions. */
const taskFileKeys = new Set([
  'strict',
  'lenient',
  'processed_docs',
  'fewshot_samples',
  'function_fields',
  'own_scoring',
]);

/** Keys of `softbench` in a BIG-bench task: its required form is its own, and its training items are examples held out. */
export const bigBenchSoftbenchKeys: ReadonlyMap<string, Key> = new Map([
  ...[...softbenchKeys].filter(([name]) => !taskFileKeys.has(name)),
  ...Object.entries<Key>({
    few_shot_seed: {
      kinds: ['integer'],
      description: "Seed of the few-shot draw. Default: 42, BIG-bench's.",
      check: seed32,
    },
    training_share: {
      kinds: ['number', 'integer'],
      description: 'Share of the examples that is held out for tuning and not evaluated. Default: 0.3; 0 for none.',
      check: (value) => (typeof value === 'number' && !(value >= 0 && value < 1) ? 'must be from 0 to below 1.' : null),
    },
    split_seed: { kinds: ['integer'], description: 'Seed of the held-out examples. Default: 42.', check: seed32 },
    max_gen_toks: {
      kinds: ['integer'],
      description: 'Most tokens of an output. Default: by the longest answer.',
      check: atLeast(1),
    },
  }),
]);

export const softPromptKeys: ReadonlyMap<string, Key> = new Map(
  Object.entries<Key>({
    vectors: { kinds: ['integer'], description: 'Number of learned vectors. Default: 10.', check: atLeast(1) },
    steps: { kinds: ['integer'], description: 'Optimiser steps. Default: 80.', check: atLeast(1) },
    batch_size: { kinds: ['integer'], description: 'Items per step. Default: 8.', check: atLeast(1) },
    learning_rate: {
      kinds: ['number', 'integer', 'string'],
      description:
        'Learning rate before its cosine decay. Default: `auto`, which tries a few steps at rates around what the embedding suggests.',
      check: (value) =>
        typeof value !== 'string'
          ? positive(value)
          : (oneOf(...learningRateWords)(value)?.replace('must be', 'must be a number or') ?? null),
    },
    init: { kinds: ['string'], description: 'Where the vectors start.', check: oneOf('vocabulary', 'random') },
    seed: { kinds: ['integer'], description: 'Seed of start and batches. Default: 0.', check: atLeast(0) },
    position: {
      kinds: ['string'],
      description:
        'Where the vectors stand: `prefix`, in front of the text as in the published method, or `suffix`, between the text and the answer, which makes steps cheaper. Default: prefix.',
      check: oneOf(...softPromptPositions),
    },
    recompute: {
      kinds: ['string'],
      description:
        'What a step computes again to take less memory: `none`, `attention` (attention weights) or `blocks` (everything between the residual streams). Gradients stay the same. Default: none.',
      check: oneOf(...recomputations),
    },
    micro_batch_size: {
      kinds: ['integer'],
      description:
        'Items of a step that are computed at a time; their gradients are accumulated. Default: as many as memory holds.',
      check: atLeast(1),
    },
    validate_every: { kinds: ['integer'], description: 'Steps between validations. Default: 10.', check: atLeast(1) },
    validation_items: {
      kinds: ['integer'],
      description: 'Held-out items per validation. Default: 32.',
      check: atLeast(1),
    },
  }),
);

function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value as Kind;
  return 'mapping';
}

/** Numbers that YAML can write and no setting can be: `.inf`, `.nan`, and whole ones that a double does not hold. */
const unusableNumber = (value: unknown): string | null =>
  typeof value !== 'number' || Number.isSafeInteger(value) || !(Number.isInteger(value) || !Number.isFinite(value))
    ? null
    : Number.isInteger(value)
      ? `is too large: ${value}.`
      : 'must be a finite number.';

const kindNames: Record<Kind, string> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  mapping: 'a mapping',
  list: 'a list',
  null: 'nothing',
};

/**
 * Checks the keys of a mapping against a table. A value of a wrong type is removed from the mapping, so that what
 * reads it later finds what it expects.
 */
export function checkKeys(
  configuration: Configuration,
  mapping: Record<string, unknown>,
  table: ReadonlyMap<string, Key>,
  path: Path,
  unknown: 'error' | 'warning' = 'error',
): void {
  for (const [name, value] of Object.entries(mapping)) {
    const at = [...path, name];
    const key = table.get(name);
    if (!key) {
      const where = path.length > 0 ? ` in \`${path.join('.')}\`` : '';
      configuration.add(
        unknown,
        'unknown-key',
        `Unknown key \`${name}\`${where}.${suggestion(name, table.keys())}`,
        at,
        { key: true },
      );
      continue;
    }
    const kind = kindOf(value);
    if (!key.kinds.includes(kind)) {
      const wanted = key.kinds.filter((entry) => entry !== 'null').map((entry) => kindNames[entry]);
      configuration.add(
        'error',
        'wrong-type',
        `\`${name}\` must be ${wanted.join(' or ')}, not ${typeof value === 'number' ? value : kindNames[kind]}.`,
        at,
      );
      delete mapping[name];
      continue;
    }
    const wrong = unusableNumber(value) ?? key.check?.(value);
    if (wrong) {
      configuration.add('error', 'wrong-value', `\`${name}\` ${wrong}`, at);
      delete mapping[name];
    }
  }
}
