/** `metric_list` of a benchmark file: which metrics are computed, how they are aggregated, and what is wrong in the list. */
import type { Configuration, Path } from './configuration.ts';
import { type ExactMatchOptions, plainMatch } from './exact-match.ts';
import { suggestion } from './near-miss.ts';
import { PythonError } from './python.ts';
import { compile } from './python-regex.ts';
import type { MetricSetting, OutputType } from './types.ts';
import { mapping, text, texts } from './values.ts';

/**
 * What a metric adds for each item: a number; numbers of right and chosen candidate; log-likelihood and length; right
 * answer and output; right candidate and the probabilities of all.
 */
type Added = 'number' | 'classes' | 'weighted' | 'texts' | 'probabilities';

interface MetricRow {
  aggregation: string;
  adds: Added;
  higherIsBetter: boolean;
  /** Output types whose results it is computed from. */
  of: readonly OutputType[];
  /** For the editor. */
  description: string;
}

const candidates: readonly OutputType[] = ['multiple_choice'];
const outputs: readonly OutputType[] = ['generate_until'];
const wholeTexts: readonly OutputType[] = ['loglikelihood_rolling'];

/** Metrics of lm-evaluation-harness 0.4.13 (api/metrics.py, ConfigurableTask.process_results). One row a metric. */
export const metricTable: ReadonlyMap<string, MetricRow> = new Map<string, MetricRow>([
  [
    'acc',
    {
      aggregation: 'mean',
      adds: 'number',
      higherIsBetter: true,
      of: ['multiple_choice', 'loglikelihood'],
      description:
        'The right candidate is the likeliest; without candidates: the target is what the model would write.',
    },
  ],
  [
    'acc_norm',
    {
      aggregation: 'mean',
      adds: 'number',
      higherIsBetter: true,
      of: candidates,
      description: 'The same by likelihood per character.',
    },
  ],
  [
    'acc_bytes',
    {
      aggregation: 'mean',
      adds: 'number',
      higherIsBetter: true,
      of: candidates,
      description: 'The same by likelihood per byte.',
    },
  ],
  [
    'acc_mutual_info',
    {
      aggregation: 'mean',
      adds: 'number',
      higherIsBetter: true,
      of: candidates,
      description: 'The same by likelihood less that without the question, which is computed too.',
    },
  ],
  [
    'exact_match',
    {
      aggregation: 'mean',
      adds: 'number',
      higherIsBetter: true,
      of: ['generate_until', 'multiple_choice'],
      description: 'The answer equals the right one; of candidates: the right one is what the model would write.',
    },
  ],
  [
    'bleu',
    { aggregation: 'bleu', adds: 'texts', higherIsBetter: true, of: outputs, description: 'BLEU of the whole set.' },
  ],
  [
    'chrf',
    { aggregation: 'chrf', adds: 'texts', higherIsBetter: true, of: outputs, description: 'chrF of the whole set.' },
  ],
  [
    'chrf++',
    {
      aggregation: 'chrf++',
      adds: 'texts',
      higherIsBetter: true,
      of: outputs,
      description: 'chrF++ of the whole set.',
    },
  ],
  [
    'ter',
    { aggregation: 'ter', adds: 'texts', higherIsBetter: false, of: outputs, description: 'Translation error rate.' },
  ],
  [
    'f1',
    {
      aggregation: 'f1',
      adds: 'classes',
      higherIsBetter: true,
      of: candidates,
      description: 'F1 of the second of two candidates.',
    },
  ],
  [
    'mcc',
    {
      aggregation: 'matthews_corrcoef',
      adds: 'classes',
      higherIsBetter: true,
      of: candidates,
      description: "Matthews' correlation of right and likeliest candidate.",
    },
  ],
  [
    'brier_score',
    {
      aggregation: 'brier_score',
      adds: 'probabilities',
      higherIsBetter: false,
      of: candidates,
      description: "Brier's score of the probabilities among the candidates.",
    },
  ],
  [
    'perplexity',
    {
      aggregation: 'perplexity',
      adds: 'number',
      higherIsBetter: false,
      of: ['loglikelihood'],
      description: 'Perplexity of the target.',
    },
  ],
  [
    'word_perplexity',
    {
      aggregation: 'weighted_perplexity',
      adds: 'weighted',
      higherIsBetter: false,
      of: wholeTexts,
      description: 'Perplexity by word.',
    },
  ],
  [
    'byte_perplexity',
    {
      aggregation: 'weighted_perplexity',
      adds: 'weighted',
      higherIsBetter: false,
      of: wholeTexts,
      description: 'Perplexity by byte.',
    },
  ],
  [
    'bits_per_byte',
    {
      aggregation: 'bits_per_byte',
      adds: 'weighted',
      higherIsBetter: false,
      of: wholeTexts,
      description: 'Bits by byte of text.',
    },
  ],
  [
    'bypass',
    { aggregation: 'bypass', adds: 'texts', higherIsBetter: true, of: outputs, description: 'Nothing is measured.' },
  ],
]);

/** Names of lm-evaluation-harness that give no figure without a Python function. */
const withoutFigure: ReadonlyMap<string, string> = new Map([
  ['likelihood', 'its values are lists, which no aggregation of the harness takes'],
  ['acc_all', 'it needs `process_results`, a Python function'],
]);

/** What is computed where the file has no `metric_list` (the harness's DEFAULT_METRIC_REGISTRY). */
const defaults: Record<OutputType, readonly string[]> = {
  loglikelihood: ['perplexity', 'acc'],
  loglikelihood_rolling: ['word_perplexity', 'byte_perplexity', 'bits_per_byte'],
  multiple_choice: ['acc', 'acc_norm'],
  generate_until: ['exact_match'],
};

const anything: readonly Added[] = ['number', 'classes', 'weighted', 'texts', 'probabilities'];

/** Aggregations that a file may name (those of src/metrics/metric-scores.ts), and what they are computed of. */
const aggregationTable: ReadonlyMap<string, readonly Added[]> = new Map<string, readonly Added[]>([
  ['mean', ['number']],
  ['nanmean', ['number']],
  ['median', ['number']],
  ['perplexity', ['number']],
  // Of any two numbers: a ratio of sums.
  ['weighted_perplexity', ['weighted', 'classes']],
  ['bits_per_byte', ['weighted', 'classes']],
  ['f1', ['classes']],
  ['matthews_corrcoef', ['classes']],
  ['brier_score', ['probabilities']],
  ['bleu', ['texts']],
  ['chrf', ['texts']],
  ['chrf++', ['texts']],
  ['ter', ['texts']],
  ['bypass', anything],
]);
export const aggregationNames: readonly string[] = [...aggregationTable.keys()];

const addedWords: Record<Added, string> = {
  number: 'a number',
  classes: 'the numbers of the right and the chosen candidate',
  weighted: 'a log-likelihood and a length',
  texts: 'the right answer and the output',
  probabilities: 'the probabilities of the candidates',
};

const exactMatchKeys = [
  'metric',
  'aggregation',
  'higher_is_better',
  'hf_evaluate',
  'regexes_to_ignore',
  'ignore_case',
  'ignore_punctuation',
  'ignore_numbers',
];

export interface MetricList {
  metrics: MetricSetting[];
  /** Options of `exact_match`, which decide what is right in F, S and L too; plain where the list has none. */
  exactMatch: ExactMatchOptions;
}

/** Reads the list. What cannot be computed is a warning and a note: F, S, K and L are measured all the same. */
export function readMetricList(configuration: Configuration, outputType: OutputType, notes: string[]): MetricList {
  const list = configuration.values.metric_list;
  if (!Array.isArray(list))
    return { metrics: defaults[outputType].flatMap((metric) => settingOf(metric)), exactMatch: plainMatch };
  const metrics: MetricSetting[] = [];
  let exactMatch = plainMatch;
  for (const [i, entry] of list.entries()) {
    const path: Path = ['metric_list', i];
    const options = mapping(entry);
    const name = text(options.metric);
    if (name === null) {
      if (!configuration.problems.some(({ code }) => code === 'python-function'))
        configuration.add(
          'error',
          'missing-key',
          'An entry of `metric_list` needs `metric`, such as `exact_match`.',
          path,
        );
      continue;
    }
    if (name === 'exact_match') exactMatch = readExactMatch(configuration, options, path);
    const missing = whyNot(name, options.hf_evaluate === true, outputType);
    if (missing !== null) {
      configuration.add('warning', 'metric', missing, [...path, 'metric']);
      notes.push(missing);
      continue;
    }
    const [setting] = settingOf(name);
    if (!setting) continue;
    const aggregation = text(options.aggregation);
    if (aggregation !== null && !aggregationNames.includes(aggregation)) {
      configuration.add(
        'error',
        'wrong-value',
        `There is no aggregation \`${aggregation}\`; there are ${aggregationNames.map((known) => `\`${known}\``).join(', ')}.${suggestion(aggregation, aggregationNames)}`,
        [...path, 'aggregation'],
      );
      continue;
    }
    const misfit = aggregation === null ? null : whyNotAggregated(name, aggregation);
    if (misfit !== null) {
      configuration.add('warning', 'metric', misfit, [...path, 'aggregation']);
      notes.push(misfit);
      continue;
    }
    metrics.push({
      ...setting,
      ...(aggregation !== null && { aggregation }),
      ...(typeof options.higher_is_better === 'boolean' && { higherIsBetter: options.higher_is_better }),
    });
  }
  return { metrics, exactMatch };
}

function settingOf(metric: string): MetricSetting[] {
  const row = metricTable.get(metric);
  return row ? [{ metric, aggregation: row.aggregation, higherIsBetter: row.higherIsBetter }] : [];
}

/** Why a metric is not computed; null where it is. */
function whyNot(name: string, fromPackage: boolean, outputType: OutputType): string | null {
  const row = metricTable.get(name);
  if (row?.of.includes(outputType) && !(fromPackage && name !== 'exact_match')) return null;
  const reason = withoutFigure.get(name);
  if (reason) return `\`${name}\` is not computed: ${reason}.`;
  if (row && !fromPackage)
    return `\`${name}\` is not computed for \`output_type: ${outputType}\`; it is a metric of ${row.of.map((type) => `\`${type}\``).join(' and ')}.`;
  const known = [...metricTable].filter(([, { of }]) => of.includes(outputType)).map(([metric]) => metric);
  return `\`${name}\` is not computed: it is unknown here, and metrics of Hugging Face's package \`evaluate\` need Python. Metrics of \`${outputType}\` are ${known.map((metric) => `\`${metric}\``).join(', ')}.${fromPackage ? '' : suggestion(name, metricTable.keys())}`;
}

/** Why a metric has no figure with an aggregation; null where it has. */
function whyNotAggregated(name: string, aggregation: string): string | null {
  const row = metricTable.get(name);
  if (!row || aggregationTable.get(aggregation)?.includes(row.adds)) return null;
  return `\`${name}\` is not computed: each item adds ${addedWords[row.adds]}, of which there is no \`aggregation: ${aggregation}\` (lm-evaluation-harness ends with an error or a figure without meaning there). Use \`aggregation: ${row.aggregation}\`, or leave it out.`;
}

function readExactMatch(configuration: Configuration, options: Record<string, unknown>, path: Path): ExactMatchOptions {
  for (const key of Object.keys(options))
    if (!exactMatchKeys.includes(key))
      configuration.add(
        'warning',
        'unknown-key',
        `\`exact_match\` has no option \`${key}\`.${suggestion(key, exactMatchKeys)}`,
        [...path, key],
        { key: true },
      );
  const given = options.regexes_to_ignore;
  const patterns = given === undefined || given === null ? [] : texts(given);
  return {
    regexesToIgnore: patterns.filter((pattern, i) =>
      checkPattern(configuration, pattern, [...path, 'regexes_to_ignore', i]),
    ),
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
