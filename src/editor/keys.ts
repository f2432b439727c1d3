/**
 * The keys of benchmark files as completion and hover need them: which stand where, and the values that a key knows.
 * Which keys there are and what they mean is the benchmark room's table; loaded with the first completion, not before.
 */
import { filterTable, refusedFilters } from '../benchmark/filters.ts';
import {
  dataKeys,
  fewShotKeys,
  generationKeys,
  type Key,
  softbenchKeys,
  softPromptKeys,
  taskKeys,
} from '../benchmark/keys.ts';
import { aggregationNames, metricTable } from '../benchmark/metric-list.ts';
import { promptModes } from '../shared/modes.ts';

export interface KeyDoc {
  key: string;
  /** What stands behind the colon: `text or list`. */
  type: string;
  meaning: string;
  /** Known, but without effect here: explained, not offered. */
  idle: boolean;
  values: readonly { value: string; meaning: string }[];
  /** Keys inside, of the mapping or of each entry of the list; null where there are none to know. */
  inside: readonly KeyDoc[] | null;
}

/** Values that a key knows, by its path, with what they mean where the name does not say it. */
export const valueMeanings: Record<string, Record<string, string>> = {
  dataset_path: {
    json: 'JSON or JSON Lines files, named in `dataset_kwargs: data_files`.',
    csv: 'CSV files, named in `dataset_kwargs: data_files`.',
  },
  output_type: {
    generate_until: 'Write an answer, up to a stop marker.',
    multiple_choice: 'Choose: the log-likelihoods of the choices are compared.',
    loglikelihood: 'Score the target behind the prompt by its likelihood.',
    loglikelihood_rolling: 'Score a whole text by its likelihood: perplexity.',
  },
  'fewshot_config.sampler': { default: 'At random, by seed.', first_n: 'The first ones of the split.' },
  'generation_kwargs.do_sample': { false: 'Always the most likely token.', true: 'Draw by probability.' },
  'filter_list.filter.function': {
    regex: 'Takes what `regex_pattern` matches: its first group, or the whole match where there is no group.',
    regex_pos: 'Takes pairs of words and tags.',
    multi_choice_regex:
      'Takes what the pattern matches, or the choice whose text is named, or a letter behind a colon.',
    take_first: 'The first of the outputs.',
    take_first_k: 'The first `k` of the outputs.',
    majority_vote: 'The commonest of the outputs.',
    remove_whitespace: 'Takes white space off both ends.',
    lowercase: 'Makes it lower case.',
    uppercase: 'Makes it upper case.',
    map: 'Looks the text up in `mapping_dict`.',
    format_span: 'Named entities as `label: text`.',
  },
  'metric_list.metric': Object.fromEntries([...metricTable].map(([name, { description }]) => [name, description])),
  'metric_list.aggregation': Object.fromEntries(
    aggregationNames.map((name) => [name, name === 'mean' ? 'The average over the items.' : '']),
  ),
  'metric_list.higher_is_better': { true: '', false: '' },
  'metric_list.ignore_case': { true: '', false: '' },
  'metric_list.ignore_punctuation': { true: '', false: '' },
  'metric_list.ignore_numbers': { true: '', false: '' },
  'metadata.softbench.answer': {
    number: 'A number.',
    letter: 'The letter of a choice.',
    choice: 'The text of a choice.',
    'yes-no': 'Yes or no, true or false.',
    text: 'Free text.',
    json: 'A JSON value.',
  },
  'metadata.softbench.modes': Object.fromEntries(promptModes.map((mode) => [mode, ''])),
  'metadata.softbench.soft_prompt.learning_rate': {
    auto: 'About three rates are tried, six steps each; the best goes on. Under 30 steps: `formula`.',
    formula: 'By the scale and the width of the token embedding, nothing tried.',
    search: 'Five to nine rates are tried, ten steps each; the best goes on.',
  },
  'metadata.softbench.soft_prompt.position': {
    prefix: 'In front of the text, as in the published method.',
    suffix: 'Between the text and the answer: the text is read without gradient, so a step costs less.',
  },
  'metadata.softbench.soft_prompt.recompute': {
    none: 'Everything that the way back reads is kept.',
    attention: 'Attention weights are made again: less memory for long texts, a few percent more time.',
    blocks: 'Only the residual stream is kept: a fourth or less of the memory, about a third more time.',
  },
  'metadata.softbench.soft_prompt.init': {
    vocabulary: 'At the embeddings of tokens drawn by seed.',
    random: 'At random numbers of the scale of the embedding.',
  },
};

type Rows = Iterable<readonly [string, Pick<Key, 'kinds' | 'description'>]>;
const row = (name: string, kind: Key['kinds'][number], description: string) =>
  [name, { kinds: [kind], description }] as const;

const filterOptions: Record<string, Pick<Key, 'kinds' | 'description'>> = {
  regex_pattern: { kinds: ['string'], description: 'Regular expression as Python writes it.' },
  group_select: { kinds: ['integer'], description: 'Which match is taken: 0 is the first, -1 the last.' },
  fallback: {
    kinds: ['string'],
    description: 'What stands for the answer where nothing matches; `[invalid]` unless given.',
  },
  ignore_case: { kinds: ['boolean'], description: 'Upper and lower case are the same.' },
  ignore_punctuation: { kinds: ['boolean'], description: 'Punctuation does not count.' },
  regexes_to_ignore: { kinds: ['list'], description: 'What these regular expressions match is taken out first.' },
  k: { kinds: ['integer'], description: 'How many outputs are taken.' },
  mapping_dict: { kinds: ['mapping'], description: 'What stands for which text.' },
  default_value: { kinds: ['string'], description: 'What stands for a text that `mapping_dict` lacks.' },
};
const filterRows: Rows = [
  row('function', 'string', 'What the filter does.'),
  ...[...new Set([...filterTable.values()].flatMap(({ options }) => [...options]))].map(
    (name) => [name, filterOptions[name] ?? { kinds: [], description: 'An option of the filter.' }] as const,
  ),
];
const metricRows: Rows = [
  row('metric', 'string', 'What is measured.'),
  row('aggregation', 'string', 'How items become one figure.'),
  row('higher_is_better', 'boolean', 'Whether more is better.'),
  row('ignore_case', 'boolean', 'Upper and lower case are the same.'),
  row('ignore_punctuation', 'boolean', 'Punctuation does not count.'),
  row('ignore_numbers', 'boolean', 'Digits do not count.'),
  row('regexes_to_ignore', 'list', 'What these match is taken out of answer and gold before the two are compared.'),
];
const splitRows: Rows = ['train', 'validation', 'test'].map((name) =>
  row(name, 'string', `Files of the split \`${name}\`, relative to this file.`),
);

/** Which keys stand where, by path; the top level is the empty path. */
const places: Record<string, Rows> = {
  '': taskKeys,
  dataset_kwargs: dataKeys,
  'dataset_kwargs.data_files': splitRows,
  generation_kwargs: generationKeys,
  fewshot_config: fewShotKeys,
  filter_list: [
    row('name', 'string', 'Name of the filter.'),
    row('filter', 'list', 'Functions, each applied to what the one before took.'),
  ],
  'filter_list.filter': filterRows,
  metric_list: metricRows,
  metadata: [
    row('version', 'number', 'Version of the benchmark: raise it with a change that changes scores.'),
    row('softbench', 'mapping', 'What Softbench needs beyond lm-evaluation-harness. Every key is optional.'),
  ],
  'metadata.softbench': softbenchKeys,
  'metadata.softbench.soft_prompt': softPromptKeys,
};

const typeNames: Record<Key['kinds'][number], string> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  mapping: 'mapping',
  list: 'list',
  null: '',
};

function build(path: string): KeyDoc[] {
  return [...(places[path] ?? [])].map(([name, { kinds, description }]) => {
    const at = path ? `${path}.${name}` : name;
    const known = Object.entries(valueMeanings[at] ?? {});
    return {
      key: name,
      type: kinds
        .map((kind) => typeNames[kind])
        .filter(Boolean)
        .join(' or '),
      meaning: description,
      idle: /\(not supported\)|^Not used here/.test(description),
      values: known
        .filter(([value]) => at !== 'filter_list.filter.function' || !refusedFilters.has(value))
        .map(([value, meaning]) => ({ value, meaning })),
      inside: at in places ? build(at) : null,
    };
  });
}

export const benchmarkKeys: readonly KeyDoc[] = build('');

/** The keys that may stand at a path such as `['metadata', 'softbench']`; null where nothing is known of the path. */
export function keysAt(path: readonly string[]): readonly KeyDoc[] | null {
  let keys: readonly KeyDoc[] | null = benchmarkKeys;
  for (const name of path) keys = keys?.find((one) => one.key === name)?.inside ?? null;
  return keys;
}

export function keyDoc(path: readonly string[]): KeyDoc | null {
  const name = path.at(-1);
  return keysAt(path.slice(0, -1))?.find((one) => one.key === name) ?? null;
}
