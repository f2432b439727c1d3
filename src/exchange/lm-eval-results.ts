/**
 * Results files of lm-evaluation-harness, all versions: 0.3 (`"acc": 0.5`), 0.4.0 to 0.4.13 (`"acc,none": 0.5`). What a
 * version does not write is left empty.
 */
import { basename, dirname } from 'node:path';
import { repr } from '../benchmark/python.ts';
import { HumanError } from '../shared/errors.ts';
import { sha256 } from '../system/index.ts';
import {
  type Fields,
  type ForeignMetric,
  type ForeignModel,
  type ForeignTask,
  fieldsOf,
  noGeneration,
  numberOf,
  textOf,
  textsOf,
} from './foreign.ts';

export interface LmEvalResults {
  file: string;
  tasks: LmEvalTask[];
}

export type LmEvalTask = ForeignTask & {
  /** TaskConfig, as the file has it; empty in files of 0.3. */
  config: Fields;
};

/** Keys of a task's results that are no metric. */
const noMetrics = new Set(['alias', 'name', 'sample_len', 'sample_count', 'samples', ' ', '']);

export const isLmEvalResults = (value: unknown): boolean => {
  const { results, versions, config, configs } = fieldsOf(value);
  return (
    typeof results === 'object' && results !== null && !Array.isArray(results) && !!(versions ?? config ?? configs)
  );
};

/** @param digest SHA-256 of the file */
export function readLmEvalResults(file: string, value: unknown, digest: string): LmEvalResults {
  const whole = fieldsOf(value);
  const results = fieldsOf(whole.results);
  const config = fieldsOf(whole.config);
  const model = modelOf(whole, config, basename(dirname(file)));
  const groups = fieldsOf(whole.group_subtasks);
  const { version, note } = versionOf(whole, results);
  const tasks = Object.entries(results).flatMap(([task, entry]): LmEvalTask[] => {
    const metrics = metricsOf(fieldsOf(entry), fieldsOf(fieldsOf(whole.higher_is_better)[task]));
    const taskConfig = fieldsOf(fieldsOf(whole.configs)[task]);
    const members = textsOf(groups[task]).filter((member) => member !== task);
    // A task without a metric (--predict_only) may have samples all the same; a group never has.
    const isTask = members.length === 0 && fieldsOf(whole.configs)[task] !== undefined;
    if (metrics.length === 0 && !isTask) return [];
    const counts = fieldsOf(fieldsOf(whole['n-samples'])[task]);
    const shots =
      numberOf(fieldsOf(whole['n-shot'])[task]) ?? numberOf(taskConfig.num_fewshot) ?? numberOf(config.num_fewshot);
    return [
      {
        task,
        config: taskConfig,
        group: members.length > 0 ? members : null,
        model,
        source: {
          kind: 'imported',
          tool: 'lm-eval',
          version,
          file,
          digest,
          evaluated: dateOf(whole, file),
          ...(members.length > 0 && { group: members }),
        },
        shots: shots ?? (members.length > 0 ? shotsOfMembers(members, fieldsOf(whole['n-shot'])) : 0),
        fewShotSeed: numberOf(config.fewshot_seed) ?? 1234,
        limit: numberOf(config.limit),
        n:
          numberOf(counts.effective) ??
          numberOf(fieldsOf(entry).sample_len) ??
          numberOf(fieldsOf(entry).sample_count) ??
          numberOf(fieldsOf(entry).samples) ??
          sizeOfMembers(members, fieldsOf(whole['n-samples'])),
        split: textOf(taskConfig.test_split) ?? textOf(taskConfig.validation_split) ?? '',
        outputType: textOf(taskConfig.output_type),
        taskVersion: versionText(fieldsOf(whole.versions)[task] ?? fieldsOf(taskConfig.metadata).version),
        generation: generationOf(taskConfig, fieldsOf(config.gen_kwargs)),
        chat: chatOf(whole),
        metrics,
        notes: note ? [note] : [],
      },
    ];
  });
  if (tasks.length === 0) throw withoutMetric(file);
  return { file, tasks };
}

/** Of a results file whose tasks have neither a metric nor samples. */
export const withoutMetric = (file: string): HumanError =>
  new HumanError('bad-input', 'The results file has no task with a metric.', { place: { file } });

function metricsOf(entry: Fields, higherIsBetter: Fields): ForeignMetric[] {
  return Object.entries(entry).flatMap(([key, value]) => {
    const comma = key.indexOf(',');
    const metric = comma < 0 ? key : key.slice(0, comma);
    const filter = comma < 0 ? 'none' : key.slice(comma + 1);
    if (noMetrics.has(key) || metric.endsWith('_stderr')) return [];
    const number = numberOf(value);
    // "N/A" of a group, NaN of a metric that is not defined for these items; texts and lists are no scores.
    if (number === null && value !== 'N/A' && !(typeof value === 'number')) return [];
    const error = entry[comma < 0 ? `${metric}_stderr` : `${metric}_stderr,${filter}`];
    return [
      {
        metric,
        filter,
        value: number,
        standardError: numberOf(error),
        higherIsBetter: higherIsBetter[metric] !== false && !lowerIsBetter.has(metric),
      },
    ];
  });
}

/** Metrics of lm-evaluation-harness where less is more, for versions that do not say it in the file. */
const lowerIsBetter = new Set([
  'perplexity',
  'word_perplexity',
  'byte_perplexity',
  'bits_per_byte',
  'brier_score',
  'ter',
]);

function versionOf(whole: Fields, results: Fields): { version: string; note: string | null } {
  const said = textOf(whole.lm_eval_version);
  if (said) return { version: said, note: null };
  const keys = Object.values(results).flatMap((entry) => Object.keys(fieldsOf(entry)));
  // The filter behind a comma came with 0.4.0; the version itself is in the file from 0.4.4 on.
  const version = keys.some((key) => key.includes(',')) ? '0.4' : '0.3';
  return { version, note: `The file does not name its version of lm-eval; by its form it is ${version}.` };
}

/** Arguments that say how a model was run, not which: two runs that differ in nothing else are of one model. */
const runningOnly =
  /^(?:batch_size|max_batch_size|device|device_map.*|parallelize|max_memory.*|offload_folder|tensor_parallel_size|pipeline_parallel_size|data_parallel_size|gpu_memory_utilization|num_concurrent|max_retries|timeout|base_url|logits_cache|trust_remote_code|use_fast_tokenizer|swap_space|seed)$/;

/** `a=1,b=2` or a mapping, as a mapping of texts. */
function argumentsOf(value: unknown): Record<string, string> {
  if (typeof value === 'string')
    return Object.fromEntries(
      value
        .split(',')
        .map((part) => part.split(/=(.*)/s))
        .flatMap(([key = '', rest]) => (key.trim() ? [[key.trim(), (rest ?? '').trim()]] : [])),
    );
  return Object.fromEntries(
    Object.entries(fieldsOf(value)).map(([key, entry]) => [key, typeof entry === 'string' ? entry : repr(entry)]),
  );
}

/** The first of these arguments names the model: an adapter stands before what it sits on (the order of lm-eval). */
const naming = ['peft', 'delta', 'pretrained', 'model', 'path', 'engine'];

/** @param folder the name of a file that names no model */
function modelOf(whole: Fields, config: Fields, folder: string): ForeignModel {
  const given = argumentsOf(config.model_args);
  const named = naming.map((key) => given[key]).find((entry) => entry !== undefined && entry !== '');
  const name = textOf(whole.model_name) ?? named ?? textOf(config.model) ?? folder;
  const source = textOf(whole.model_source) ?? textOf(config.model) ?? '';
  const weights = textOf(config.model_sha) ?? '';
  const telling = Object.entries(given)
    .filter(([key]) => !runningOnly.test(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const revision = textOf(config.model_revision) ?? '';
  const parts = JSON.stringify([source, name, telling, weights, revision, textOf(config.model_dtype) ?? '']);
  const short = sha256(parts).slice(0, 8);
  return { name, identity: `${source ? `${source}/` : ''}${name}@${short}`, weights };
}

function generationOf(taskConfig: Fields, overrides: Fields): ForeignTask['generation'] {
  const given = { ...fieldsOf(taskConfig.generation_kwargs), ...overrides };
  if (Object.keys(given).length === 0) return noGeneration;
  const until = typeof given.until === 'string' ? [given.until] : textsOf(given.until);
  const sampled = given.do_sample === true || (given.do_sample === undefined && (numberOf(given.temperature) ?? 0) > 0);
  return {
    until,
    maxNewTokens: numberOf(given.max_gen_toks) ?? numberOf(given.max_new_tokens) ?? 256,
    temperature: sampled ? (numberOf(given.temperature) ?? 1) : 0,
    topP: sampled ? (numberOf(given.top_p) ?? 1) : 1,
  };
}

function chatOf(whole: Fields): ForeignTask['chat'] {
  const template = textOf(whole.chat_template);
  const systemInstruction = textOf(whole.system_instruction);
  if (template === null && systemInstruction === null) return null;
  return {
    // Special tokens are not in the file: the template is kept to be seen and compared, not to be rendered.
    template: template === null ? null : { name: '', source: template, digest: sha256(template), specialTokens: {} },
    systemInstruction,
    fewshotAsMultiturn: whole.fewshot_as_multiturn === true,
  };
}

/** `date` (seconds), else the time in the file's name. */
function dateOf(whole: Fields, file: string): string | null {
  const seconds = numberOf(whole.date);
  if (seconds !== null && seconds > 0) return new Date(seconds * 1000).toISOString();
  const named = /(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)/.exec(file.split(/[\\/]/).at(-1) ?? '');
  if (!named) return null;
  const time = new Date(`${named[1]}T${named[2]}:${named[3]}:${named[4]}Z`);
  return Number.isNaN(time.valueOf()) ? null : time.toISOString();
}

const versionText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'object' ? valueText(value) : '';
const valueText = (value: unknown): string => (numberOf(value) === null ? '' : String(numberOf(value)));

/** Of a group: that of its tasks, where they agree. */
function shotsOfMembers(members: readonly string[], shots: Fields): number {
  const known = new Set(members.map((member) => numberOf(shots[member])));
  const [only] = known;
  return known.size === 1 ? (only ?? 0) : 0;
}

function sizeOfMembers(members: readonly string[], sizes: Fields): number | null {
  const known = members.map((member) => numberOf(fieldsOf(sizes[member]).effective));
  return members.length > 0 && known.every((size) => size !== null)
    ? known.reduce<number>((sum, size) => sum + (size ?? 0), 0)
    : null;
}
