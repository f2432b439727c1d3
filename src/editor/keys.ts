/**
 * Every key of a benchmark file with what it means: completion and hover read this one table. Meanings follow
 * lm-evaluation-harness's task guide; what stands under `metadata: softbench:` is ours.
 */
import { promptModes } from '../shared/modes.ts';

export interface KeyDoc {
  key: string;
  /** What stands behind the colon, in a word or two. */
  type: string;
  meaning: string;
  values?: readonly { value: string; meaning: string }[];
  /** Keys inside, of the mapping or of each entry of the list. */
  inside?: readonly KeyDoc[];
}

const key = (name: string, type: string, meaning: string, more: Pick<KeyDoc, 'values' | 'inside'> = {}): KeyDoc => ({
  key: name,
  type,
  meaning,
  ...more,
});
const values = (table: Record<string, string>): { value: string; meaning: string }[] =>
  Object.entries(table).map(([value, meaning]) => ({ value, meaning }));

const booleans = values({ true: '', false: '' });

const filterFunctions = values({
  regex: 'Takes what `regex_pattern` matches; its group, where it has one.',
  take_first: 'The first of the outputs.',
  remove_whitespace: 'Takes white space off the front.',
  lowercase: 'Makes it lower case.',
});

const filterKeys: KeyDoc[] = [
  key('function', 'name', 'What the filter does.', { values: filterFunctions }),
  key(
    'regex_pattern',
    'regular expression',
    'Pattern as Python writes it. The first group is the answer, or the whole match where there is no group.',
  ),
  key('group_select', 'number', 'Which match is taken: 0 is the first, -1 the last.'),
  key('fallback', 'text', 'What stands for the answer where nothing matches; `[invalid]` unless given.'),
];

const softPromptKeys: KeyDoc[] = [
  key('vectors', 'number', 'Learned vectors in front of the prompt.'),
  key('steps', 'number', 'Optimiser updates.'),
  key('batch_size', 'number', 'Training items in each update.'),
  key(
    'learning_rate',
    'number or `auto`',
    'Step size of the optimiser. `auto` follows the scale of the token embedding.',
    {
      values: values({ auto: 'Follows the scale of the token embedding.' }),
    },
  ),
  key('init', 'name', 'Where the vectors start.', {
    values: values({
      vocabulary: 'At the embeddings of tokens drawn by seed.',
      random: 'At random numbers of the scale of the embedding.',
    }),
  }),
  key('seed', 'number', 'Seed of start vectors and batches.'),
  key('validate_every', 'number', 'Steps between two looks at the held-out slice.'),
  key('validation_items', 'number', 'Items of the held-out slice.'),
];

const softbenchKeys: KeyDoc[] = [
  key(
    'strict',
    'filter name',
    'Filter that is the required answer form: what it takes counts for F and S. Unless given: the first filter with a regex.',
  ),
  key(
    'lenient',
    'filter name',
    'Filter that finds the answer in other forms too: what it takes counts for L. Unless given: a filter with `flex` in its name, else the built-in reader for the kind of answer.',
  ),
  key('answer', 'name', 'Kind of answer.', {
    values: values({
      number: 'A number.',
      letter: 'The letter of a choice.',
      choice: 'The text of a choice.',
      'yes-no': 'Yes or no, true or false.',
      text: 'Free text.',
      json: 'A JSON value.',
    }),
  }),
  key('modes', 'list', 'Prompt modes that are compared.', {
    values: promptModes.map((mode) => ({ value: mode, meaning: '' })),
  }),
  key('soft_prompt', 'mapping', 'How the soft prompt is tuned.', { inside: softPromptKeys }),
  key('limit', 'number', 'Evaluate the first so many items only.'),
];

const generationKeys: KeyDoc[] = [
  key(
    'until',
    'list of texts',
    'Stop markers: generation ends where one appears. Write line breaks in double quotes, `"\\n"`.',
  ),
  key('max_gen_toks', 'number', 'Most tokens that are generated for an item.'),
  key('do_sample', 'true or false', 'Sample in place of taking the most likely token.', { values: booleans }),
  key('temperature', 'number', '0 is greedy; higher is more varied.'),
  key('top_p', 'number', 'Sample from the most likely tokens that have this much probability together.'),
];

const metricNames = values({
  exact_match: 'The answer equals the gold one.',
  acc: 'The gold choice is the most likely one.',
  acc_norm: 'The same, with log-likelihoods divided by the length of the choice.',
});

const metricKeys: KeyDoc[] = [
  key('metric', 'name', 'What is measured.', { values: metricNames }),
  key('aggregation', 'name', 'How items become one figure.', { values: values({ mean: 'The average.' }) }),
  key('higher_is_better', 'true or false', 'Whether more is better.', { values: booleans }),
  key('ignore_case', 'true or false', 'Upper and lower case are the same.', { values: booleans }),
  key('ignore_punctuation', 'true or false', 'Punctuation does not count.', { values: booleans }),
  key('ignore_numbers', 'true or false', 'Digits do not count.', { values: booleans }),
  key(
    'regexes_to_ignore',
    'list of regular expressions',
    'What they match is taken out of answer and gold before the two are compared.',
  ),
];

const splitKey = (name: string, use: string): KeyDoc => key(name, 'split name', use);
const templateKey = (name: string, use: string): KeyDoc =>
  key(name, 'Jinja template', `${use} The fields of the item are its variables.`);

export const benchmarkKeys: readonly KeyDoc[] = [
  key('task', 'name', 'Name of the benchmark.'),
  key('tag', 'name or list', 'Names under which several tasks are run together.'),
  key('task_alias', 'name', 'Name shown in tables.'),
  key('include', 'file', 'Another task file whose keys are taken over; keys that stand here win.'),
  key('dataset_path', 'name', 'Where the data comes from.', {
    values: values({
      json: 'JSON or JSON Lines files, named in `dataset_kwargs: data_files`.',
      csv: 'CSV files, named in `dataset_kwargs: data_files`.',
    }),
  }),
  key('dataset_name', 'name', 'Configuration of the dataset.'),
  key('dataset_kwargs', 'mapping', 'Arguments for loading the data.', {
    inside: [
      key('data_files', 'mapping', 'Files of each split, relative to this file.', {
        inside: [
          key('train', 'file or list', 'Files of the split `train`.'),
          key('validation', 'file or list', 'Files of the split `validation`.'),
          key('test', 'file or list', 'Files of the split `test`.'),
        ],
      }),
    ],
  }),
  splitKey('training_split', 'Split that soft prompts are tuned on, and that few-shot examples come from.'),
  splitKey('validation_split', 'Split that is evaluated where there is no test split.'),
  splitKey('test_split', 'Split that is evaluated.'),
  splitKey('fewshot_split', 'Split that few-shot examples come from, where it is not the training split.'),
  key('output_type', 'name', 'What is asked of the model.', {
    values: values({
      generate_until: 'Write an answer, up to a stop marker.',
      multiple_choice: 'Choose: the log-likelihoods of the choices are compared.',
      loglikelihood: 'Score a given continuation.',
      loglikelihood_rolling: 'Score a whole text.',
    }),
  }),
  templateKey('doc_to_text', 'The prompt of an item.'),
  templateKey('doc_to_target', 'The gold answer of an item, or the index of the right choice.'),
  templateKey('doc_to_choice', 'The choices of an item: a list, or a template that gives one.'),
  key('target_delimiter', 'text', 'What stands between prompt and answer; one space unless given.'),
  key('fewshot_delimiter', 'text', 'What stands between few-shot examples; an empty line unless given.'),
  templateKey('description', 'Text in front of everything.'),
  templateKey('gen_prefix', 'Text that every answer begins with.'),
  key('num_fewshot', 'number', 'Few-shot examples.'),
  key('fewshot_config', 'mapping', 'Where few-shot examples come from.', {
    inside: [
      key('sampler', 'name', 'How they are drawn.', {
        values: values({ default: 'At random by seed.', first_n: 'The first ones of the split.' }),
      }),
      key('samples', 'list', 'The examples themselves.'),
      splitKey('split', 'Split that they come from.'),
    ],
  }),
  key('generation_kwargs', 'mapping', 'How answers are generated.', { inside: generationKeys }),
  key('repeats', 'number', 'Outputs for each item.'),
  key(
    'filter_list',
    'list',
    'Filters that take the answer out of an output. Each is a name and a chain of functions.',
    {
      inside: [
        key('name', 'name', 'Name of the filter.'),
        key('filter', 'list', 'Functions, each applied to what the one before took.', { inside: filterKeys }),
      ],
    },
  ),
  key('metric_list', 'list', 'What is measured.', { inside: metricKeys }),
  key('should_decontaminate', 'true or false', 'Used by lm-evaluation-harness only.', { values: booleans }),
  templateKey('doc_to_decontamination_query', 'Used by lm-evaluation-harness only.'),
  key('metadata', 'mapping', 'About the file; lm-evaluation-harness ignores what it does not know here.', {
    inside: [
      key('version', 'number', 'Version of the benchmark: higher after a change that changes scores.'),
      key('softbench', 'mapping', 'What Softbench needs beyond lm-evaluation-harness. Every key is optional.', {
        inside: softbenchKeys,
      }),
    ],
  }),
];

/** The keys that may stand at a path such as `['metadata', 'softbench']`; null where nothing is known of the path. */
export function keysAt(path: readonly string[]): readonly KeyDoc[] | null {
  let keys: readonly KeyDoc[] | undefined = benchmarkKeys;
  for (const name of path) keys = keys?.find((one) => one.key === name)?.inside;
  return keys ?? null;
}

export function keyDoc(path: readonly string[]): KeyDoc | null {
  const name = path.at(-1);
  return keysAt(path.slice(0, -1))?.find((one) => one.key === name) ?? null;
}
