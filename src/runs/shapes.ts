/** What is checked of a file of a run before it is trusted: the fields that others rely on, with their types. */

import { failureCauses } from '../shared/failure-causes.ts';
import { isPromptMode } from '../shared/modes.ts';
import type { ItemRecord, RunFile, RunSummary, TuningRecord } from '../shared/results.ts';

/** Says what is wrong with a value at `path`, or null. */
type Check = (value: unknown, path: string) => string | null;

const be =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (value, path) =>
    holds(value) ? null : `"${path}" should be ${what}`;

const text = be('a text', (value) => typeof value === 'string');
const number = be('a number', (value) => typeof value === 'number');
const count = be('a whole number from 0', (value) => Number.isSafeInteger(value) && (value as number) >= 0);
const yesNo = be('true or false', (value) => typeof value === 'boolean');
const oneOf = (values: readonly string[]): Check =>
  be(`one of ${values.join(', ')}`, (value) => values.includes(value as string));
const orNull =
  (check: Check): Check =>
  (value, path) =>
    value === null ? null : check(value, path);
const optional =
  (check: Check): Check =>
  (value, path) =>
    value === undefined ? null : check(value, path);
const list =
  (check: Check): Check =>
  (value, path) => {
    if (!Array.isArray(value)) return `"${path}" should be a list`;
    for (const [index, entry] of value.entries()) {
      const wrong = check(entry, `${path}[${index}]`);
      if (wrong) return wrong;
    }
    return null;
  };
const fields =
  (checks: Record<string, Check>): Check =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return path ? `"${path}" should be an object` : 'it should be an object';
    for (const [key, check] of Object.entries(checks)) {
      const wrong = check((value as Record<string, unknown>)[key], path ? `${path}.${key}` : key);
      if (wrong) return wrong;
    }
    return null;
  };

const mode = be('a prompt mode', isPromptMode);
const share = fields({ value: orNull(number), low: number, high: number, count: number, n: number });
const named = orNull(fields({ answer: text, share }));
const reading = fields({ answer: orNull(text), span: orNull(list(number)) });

const trialFields = { rate: number, steps: count, loss: orNull(number) };
const runFile = fields({
  id: text,
  softbench: text,
  onnxruntime: text,
  created: text,
  updated: text,
  status: oneOf(['running', 'stopped', 'failed', 'finished']),
  message: optional(text),
  group: text,
  mode,
  model: fields({
    name: text,
    folder: text,
    graphFile: text,
    digests: fields({ graph: text, weights: text, tokenizer: text, config: text }),
  }),
  benchmark: fields({
    task: text,
    file: text,
    digests: fields({
      config: text,
      data: text,
      training: optional(text),
      requests: optional(text),
      scoring: optional(text),
    }),
    items: count,
    split: text,
  }),
  settings: fields({
    limit: orNull(number),
    shots: count,
    fewShotSeed: number,
    batchSize: (value, path) => (value === 'auto' ? null : count(value, path)),
    batchRows: optional(fields({ outputs: optional(count), likelihoods: optional(count) })),
    generation: fields({ until: list(text), maxNewTokens: count, temperature: number, topP: number, seed: number }),
    softPrompt: orNull(fields({ vectors: count, steps: count, batchSize: count, seed: number })),
    softPromptFrom: orNull(text),
    generates: optional(yesNo),
    repeats: optional(count),
  }),
  learningRate: optional(
    fields({ value: number, by: oneOf(['setting', 'formula', 'search']), trials: list(fields(trialFields)) }),
  ),
  provider: fields({
    asked: text,
    running: text,
    reason: text,
    threads: number,
    others: optional(list(fields({ name: text, reason: text }))),
    nodes: optional(
      list(fields({ graph: text, nodes: count, cpuNodes: count, cpuOperators: fields({}), copies: count })),
    ),
  }),
  rescoredFrom: optional(text),
  predictOnly: optional(yesNo),
  notes: list(text),
  source: optional(
    fields({
      kind: oneOf(['imported']),
      tool: oneOf(['lm-eval', 'every-eval-ever']),
      version: text,
      library: optional(text),
      file: text,
      digest: text,
      evaluated: orNull(text),
      group: optional(list(text)),
    }),
  ),
});

const summary = fields({
  run: text,
  mode,
  scores: fields({
    n: count,
    F: share,
    S: share,
    K: share,
    L: share,
    LL: orNull(share),
    constant: named,
    commonest: named,
    chance: orNull(number),
    causes: fields({}),
  }),
  metrics: optional(fields({})),
  measures: optional(
    list(
      fields({
        metric: text,
        filter: text,
        value: orNull(number),
        standardError: orNull(number),
        higherIsBetter: yesNo,
        n: count,
        missing: optional(text),
      }),
    ),
  ),
  truncated: optional(count),
  seconds: number,
  tuningSeconds: number,
  promptTokens: number,
  outputTokens: number,
  peakMemoryBytes: orNull(number),
  bestStep: orNull(number),
  responses: optional(fields({ cached: count, computed: count })),
});

const stopped = fields({ reason: oneOf(['stop-string', 'eos', 'length']), marker: optional(text) });

const item = fields({
  index: count,
  prompt: fields({ hash: text, tokens: count }),
  output: text,
  outputTokens: count,
  stop: stopped,
  gold: text,
  strict: reading,
  lenient: reading,
  inFormat: yesNo,
  right: yesNo,
  lenientRight: yesNo,
  cause: orNull(oneOf(failureCauses)),
  choices: optional(
    fields({ texts: list(text), gold: number, right: yesNo, rightNormalised: yesNo, scores: optional(list(number)) }),
  ),
  scored: optional(yesNo),
  generated: optional(yesNo),
  repeats: optional(list(fields({ output: text, outputTokens: count, stop: stopped }))),
  // A sum that is not finite is null in JSON.
  likelihoods: optional(list(fields({ sum: orNull(number), tokens: count, greedy: optional(yesNo) }))),
  metrics: optional(list(fields({ filter: text, values: fields({}) }))),
  truncated: optional(count),
});

const step = fields({ kind: oneOf(['step']), step: count, gradientNorm: orNull(number), learningRate: number });
// Losses are not looked at: one that is not finite is null in JSON.
const validation = fields({
  kind: oneOf(['validation']),
  step: count,
  n: count,
  F: number,
  S: number,
  best: yesNo,
  generated: optional(yesNo),
  LL: optional(number),
});
const trial = fields({ kind: oneOf(['trial']), step: count, ...trialFields, losses: list(orNull(number)) });
/** By kind; what has another is checked as a step, and told so. */
const tuningKinds: Readonly<Record<string, Check>> = { step, validation, trial };
const tuning: Check = (value, path) =>
  (tuningKinds[String((value as { kind?: unknown } | null)?.kind)] ?? step)(value, path);

/** Parses JSON text and checks schema version and fields. Throws a plain Error that says what is wrong. */
function parser<T>(check: Check): (json: string) => T {
  return (json) => {
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      throw new SyntaxError('it is not valid JSON');
    }
    const schema = (value as { schema?: unknown } | null)?.schema;
    if (typeof schema === 'number' && schema > 1)
      throw new Error(
        `it was written by a newer Softbench (schema ${schema}; this one reads schema 1): update Softbench to read it`,
      );
    if (schema !== 1) throw new Error('"schema" should be 1');
    const wrong = check(value, '');
    if (wrong) throw new Error(wrong);
    return value as T;
  };
}

export const parseRunFile = parser<RunFile>(runFile);
export const parseSummary = parser<RunSummary>(summary);
export const parseItem = parser<ItemRecord>(item);
export const parseTuning = parser<TuningRecord>(tuning);
