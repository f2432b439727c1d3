/** Samples of "Every Eval Ever": one row a sample and result, brought into the form of lm-evaluation-harness's samples. */
import { HumanError } from '../shared/errors.ts';
import { failureCauses } from '../shared/failure-causes.ts';
import type { ItemRecord, MetricValue, StopReason } from '../shared/results.ts';
import { likelihoodFilter } from './every-eval-ever-export.ts';
import { type Fields, fieldsOf, listOf, numberOf, textOf, textsOf } from './foreign.ts';
import type { LmEvalSample } from './lm-eval-samples.ts';
import type { ReadOptions, Row } from './rows.ts';
import { nothingGenerated } from './sample-judge.ts';
import { openSamples, type SamplesFile } from './samples-file.ts';

/** @param only the file has no other task: rows need not name it */
export async function everyEvalEverItems(
  file: string,
  task: string,
  only: boolean,
  options: ReadOptions,
): Promise<SamplesFile | null> {
  const numbers = new Map<string, number>();
  /** A number for each sample: its own where it is one. */
  const numberFor = (id: string): number => {
    if (/^\d{1,9}$/.test(id)) return Number(id);
    const known = numbers.get(id) ?? numbers.size;
    numbers.set(id, known);
    return known;
  };
  return openSamples(
    file,
    {
      parse: (path, row) => instanceOf(path, row, { task, only, numberFor }),
      order: ['none'],
      config: {},
      likelihoodFilter,
      amend,
    },
    options,
  );
}

interface Expected {
  task: string;
  only: boolean;
  numberFor(id: string): number;
}

function instanceOf(file: string, { fields, line }: Row, { task, only, numberFor }: Expected): LmEvalSample | null {
  const fail = (message: string): HumanError =>
    new HumanError('bad-input', `The row does not follow the schema of Every Eval Ever: ${message}.`, {
      place: { file, line },
    });
  const id = textOf(fields.sample_id);
  const evaluation = fieldsOf(fields.evaluation);
  const input = fieldsOf(fields.input);
  if (id === null) throw fail('`sample_id` should be a text');
  const name = textOf(fields.evaluation_name);
  if (name === null) throw fail('`evaluation_name` should be a text');
  const score = numberOf(evaluation.score);
  if (score === null) throw fail('`evaluation.score` should be a number');
  const metadata = fieldsOf(fields.metadata);
  const named = textOf(metadata.filter);
  const filter = named ?? 'none';
  if (!only && name !== task && name !== `${task}/${filter}`) return null;
  const raw = textsOf(fieldsOf(fields.output).raw);
  const last = listOf(fields.messages).map(fieldsOf).at(-1);
  const outputs = raw.length > 0 ? raw : [textOf(last?.content) ?? ''];
  const taken = listOf(fields.answer_attribution)
    .map(fieldsOf)
    .filter((entry) => entry.is_terminal !== false)
    .at(-1);
  const values: Record<string, MetricValue> = { ...metricsOf(metadata), score };
  const choices = textsOf(input.choices);
  return {
    docId: numberFor(id),
    filter,
    doc: {},
    requests: [{ context: textOf(input.formatted) ?? textOf(input.raw) ?? '', continuation: null }],
    targets: textsOf(input.reference),
    responses: [outputs.map((text) => ({ text }))],
    filtered: taken ? (textOf(taken.extracted_value) ?? '') : missed(evaluation, outputs),
    values:
      typeof evaluation.is_correct === 'boolean' ? { is_correct: evaluation.is_correct ? 1 : 0, ...values } : values,
    ...(choices.length > 0 && { choices }),
    promptHash: textOf(metadata.prompt_hash),
    line,
    extra: metadata,
  };
}

/** Without an extracted answer: none was found, unless the whole output is what was judged. */
const missed = (evaluation: Fields, outputs: readonly string[]): string =>
  evaluation.is_correct === true ? (outputs[0] ?? '') : '[invalid]';

/** Metrics that the converter of lm-eval's files puts into the metadata. */
function metricsOf(metadata: Fields): Record<string, MetricValue> {
  try {
    const values = fieldsOf(JSON.parse(textOf(metadata.lm_eval_metrics) ?? '{}'));
    return Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'number')) as Record<
      string,
      MetricValue
    >;
  } catch {
    return {};
  }
}

const stopReasons: readonly StopReason[] = ['stop-string', 'eos', 'length'];

/** What a file that Softbench wrote says of an item, beyond the schema. */
function amend(record: ItemRecord, { extra, filter }: LmEvalSample): ItemRecord {
  const metadata = extra ?? {};
  const choices = parsed<ItemRecord['choices']>(metadata.choices);
  const likelihoods = parsed<ItemRecord['likelihoods']>(metadata.likelihoods);
  const reason = stopReasons.find((each) => each === metadata.stop_reason);
  const marker = textOf(metadata.stop_marker);
  return {
    ...record,
    prompt: { ...record.prompt, tokens: wholeNumber(metadata.prompt_tokens) },
    outputTokens: wholeNumber(metadata.output_tokens),
    ...(reason && {
      stop: { reason, ...(marker !== null && { marker }) },
      cause: failureCauses.find((cause) => cause === metadata.cause) ?? null,
    }),
    ...(choices && { choices }),
    ...(likelihoods && { likelihoods }),
    ...(filter === likelihoodFilter && nothingGenerated),
  };
}

const wholeNumber = (value: unknown): number => Math.max(0, Math.trunc(Number(textOf(value) ?? 0)) || 0);

/** JSON in a text of the metadata; what is none, or of another form, counts as missing: the store checks what it reads. */
function parsed<Value>(value: unknown): Value | undefined {
  const text = textOf(value);
  if (text === null) return undefined;
  try {
    const found: unknown = JSON.parse(text);
    return isChoices(found) || (Array.isArray(found) && found.every(isLikelihood)) ? (found as Value) : undefined;
  } catch {
    return undefined;
  }
}

const isChoices = (value: unknown): boolean => {
  const { texts, logLikelihoods, gold, right, rightNormalised } = fieldsOf(value);
  return (
    textsOf(texts).length === listOf(texts).length &&
    listOf(texts).length > 0 &&
    listOf(logLikelihoods).length === listOf(texts).length &&
    typeof gold === 'number' &&
    typeof right === 'boolean' &&
    typeof rightNormalised === 'boolean'
  );
};

const isLikelihood = (value: unknown): boolean => {
  const { sum, tokens } = fieldsOf(value);
  return (sum === null || typeof sum === 'number') && typeof tokens === 'number';
};
