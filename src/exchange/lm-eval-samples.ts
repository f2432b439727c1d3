/**
 * Rows of lm-evaluation-harness's samples files, one a document and filter. Versions differ: before 0.4.9 a row does not
 * name its filter (the rows of the second follow those of the first), before 0.4.3 arguments are lists, and whole files
 * may be one list.
 */
import { literalEval, PythonTuple } from '../benchmark/python.ts';
import { HumanError } from '../shared/errors.ts';
import type { MetricPart, MetricValue } from '../shared/results.ts';
import { type Fields, fieldsOf, listOf, numberOf, textOf, textsOf } from './foreign.ts';
import type { Row } from './rows.ts';

export interface LmEvalSample {
  docId: number;
  /** Null where the version does not write it. */
  filter: string | null;
  doc: Fields;
  /** Contexts and continuations (none where text is generated) of the requests. */
  requests: { context: string; continuation: string | null }[];
  /** The right answers as texts; numbers of candidates as their digits. */
  targets: string[];
  /** One list a request: an output, or log-likelihood and greedy flag, for each repeat. */
  responses: Response[][];
  /** What the filter left, where it is one value for each request. */
  filtered: MetricValue;
  values: Record<string, MetricValue>;
  /** Candidates that the row lists. */
  choices?: string[];
  /** SHA-256 of the first request's context, where the file has it. */
  promptHash: string | null;
  line: number;
  /** What the format has beside it. */
  extra?: Fields;
}

export type Response = { text: string } | { sum: number; greedy?: boolean };

/** Keys of a row that are no metric. */
const ownKeys = new Set([
  'doc_id',
  'doc',
  'target',
  'arguments',
  'resps',
  'filtered_resps',
  'filter',
  'metrics',
  'doc_hash',
  'prompt_hash',
  'target_hash',
]);

/** @throws HumanError with the line where a field that counts is missing */
export function readSample(file: string, { fields, line }: Row): LmEvalSample {
  const fail = (message: string): HumanError =>
    new HumanError('bad-input', message, {
      place: { file, line },
      todo: 'Is it a samples file that lm-evaluation-harness wrote with --log_samples?',
    });
  const docId = numberOf(fields.doc_id);
  if (docId === null || !Number.isSafeInteger(docId) || docId < 0)
    throw fail('The row has no `doc_id` that is a whole number.');
  if (!Array.isArray(fields.resps)) throw fail('The row has no list `resps`.');
  const named = textsOf(fields.metrics);
  const keys = named.length > 0 ? named : Object.keys(fields).filter((key) => !ownKeys.has(key));
  const values: Record<string, MetricValue> = {};
  for (const key of keys) {
    const value = metricValue(fields[key]);
    if (value !== undefined) values[key] = value;
  }
  const requests = requestsOf(fields.arguments);
  const responses = fields.resps.map((entry) => responsesOf(entry));
  if (responses.length === 0 || responses.some((entry) => entry.length === 0))
    throw fail('The row has a request without a response in `resps`.');
  const filtered = listOf(fields.filtered_resps);
  return {
    docId,
    filter: textOf(fields.filter),
    doc: fieldsOf(fields.doc),
    requests,
    targets: targetsOf(fields.target),
    responses,
    filtered: (filtered.length === 1 ? metricValue(filtered[0]) : metricValue(filtered)) ?? '',
    values,
    promptHash: textOf(fields.prompt_hash),
    line,
  };
}

function requestsOf(value: unknown): LmEvalSample['requests'] {
  const entries = Array.isArray(value) ? value : Object.values(fieldsOf(value));
  // A single request of old versions stands there without its list.
  const lists = entries.some((entry) => typeof entry === 'string') ? [entries] : entries;
  return lists.map((entry) => {
    const [context, continuation] = Array.isArray(entry) ? entry : [fieldsOf(entry).arg_0, fieldsOf(entry).arg_1];
    return { context: textOf(context) ?? '', continuation: typeof continuation === 'string' ? continuation : null };
  });
}

/** A request's responses: one a repeat; `["-4.2", "False"]` is a log-likelihood, as texts since 0.4.0. */
function responsesOf(value: unknown): Response[] {
  const list = Array.isArray(value) ? value : [value];
  return isLikelihood(list) ? [responseOf(list)] : list.map(responseOf);
}

const flags: Readonly<Record<string, boolean>> = { True: true, true: true, False: false, false: false };
const isNumberText = (value: unknown): boolean =>
  typeof value === 'number' ||
  (typeof value === 'string' && /^-?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|inf)$|^nan$/i.test(value));
const isLikelihood = (value: unknown): value is [unknown, unknown] =>
  Array.isArray(value) && value.length === 2 && isNumberText(value[0]) && String(value[1]) in flags;
const sumOf = (value: unknown): number =>
  typeof value === 'string' ? Number(value.replace(/^(-?)inf$/i, '$1Infinity')) : Number(value);

function responseOf(value: unknown): Response {
  if (isLikelihood(value)) return { sum: sumOf(value[0]), greedy: flags[String(value[1])] };
  if (typeof value === 'number') return { sum: value };
  if (Array.isArray(value) && value.length === 1) return responseOf(value[0]);
  return { text: typeof value === 'string' ? value : (JSON.stringify(value) ?? '') };
}

/** Log-likelihoods of whole texts come as one number each: `"-123.4"`, which an output could be, too. */
export const asSum = (response: Response): number | null =>
  'sum' in response ? response.sum : isNumberText(response.text) ? sumOf(response.text) : null;

/** `str(target)`: a text, a number, or the printed form of a list. */
function targetsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  const text = typeof value === 'string' ? value : value === null || value === undefined ? '' : String(value);
  if (!/^\[.*\]$/s.test(text)) return [text];
  try {
    const list = literalEval(text);
    return Array.isArray(list) && list.length > 0 && list.every((entry) => typeof entry !== 'object')
      ? list.map(String)
      : [text];
  } catch {
    return [text];
  }
}

const isPlain = (value: unknown): boolean =>
  value === null || typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean';

/** What fits a {@link MetricValue}: plain values and lists of them, two deep. */
function metricValue(value: unknown, depth = 0): MetricValue | undefined {
  if (isPlain(value)) return value as MetricPart;
  if (Array.isArray(value) && depth < 2) {
    const parts = value.map((entry) => metricValue(entry, depth + 1));
    return parts.some((part) => part === undefined) ? undefined : (Array.from(parts) as MetricValue);
  }
  const number = value instanceof PythonTuple ? null : numberOf(value);
  return number === null ? undefined : number;
}
