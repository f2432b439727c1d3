/**
 * BIG-bench's JSON tasks (`task.json`): what the file says, checked as `bigbench.api.json_task` of BIG-bench 1.0.0 checks
 * it, with every finding at its place.
 */

import { JsonError, type JsonNode, parseJsonNodes } from './json.ts';
import { dump, fieldsOf, JsonDocument, numberOf } from './json-document.ts';
import { suggestion } from './near-miss.ts';
import { PythonError } from './python.ts';
import { compile } from './python-regex.ts';

/** One row a metric of BIG-bench: what is asked of the model for it, and the names that it reports its scores under. */
export const bigBenchMetrics: ReadonlyMap<
  string,
  { asks: 'text' | 'choice' | 'likelihood'; scores?: readonly string[] }
> = new Map([
  ['bleu', { asks: 'text', scores: ['bleu'] }],
  ['bleurt', { asks: 'text' }],
  ['exact_str_match', { asks: 'text' }],
  ['case_insensitive_str_match', { asks: 'text' }],
  ['sequence_f1', { asks: 'text', scores: ['sequence_f1'] }],
  ['numeric_match_with_0_1_relative_error', { asks: 'text' }],
  ['rouge', { asks: 'text', scores: ['rouge1', 'rouge2', 'rougeLsum'] }],
  ['log_likelihood', { asks: 'likelihood' }],
  ['multiple_choice_grade', { asks: 'choice' }],
  ['calibration_multiple_choice_brier_score', { asks: 'choice' }],
  ['expected_calibration_error', { asks: 'choice' }],
  ['weighted_log_probabilities', { asks: 'choice' }],
  ['weighted_probabilities', { asks: 'choice' }],
  ['macro_f1', { asks: 'choice' }],
]);

/** Keys of a task file, each with what it must be; others are the authors' notes. */
const keys: ReadonlyMap<string, 'text' | 'texts' | 'boolean' | 'list' | 'object'> = new Map([
  ['name', 'text'],
  ['description', 'text'],
  ['expert_description', 'text'],
  ['keywords', 'texts'],
  ['canary', 'text'],
  ['metrics', 'texts'],
  ['preferred_score', 'text'],
  ['examples', 'list'],
  ['subtasks', 'list'],
  ['task_prefix', 'text'],
  ['example_input_prefix', 'text'],
  ['example_output_prefix', 'text'],
  ['choice_prefix', 'text'],
  ['few_shot_example_separator', 'text'],
  ['append_choices_to_input', 'boolean'],
  ['absolute_normalization', 'boolean'],
  ['output_regex', 'text'],
  ['stop_string', 'text'],
  ['softbench', 'object'],
]);

const kindNames = {
  text: 'a text in double quotes',
  texts: 'a list of texts',
  boolean: '`true` or `false`',
  list: 'a list',
  object: 'an object',
};

export interface BigBenchExample {
  node: JsonNode;
  /** Position in the file's `examples`, copies counted. */
  number: number;
  input: string;
  /** Right answers as the file gives them; null where only `target_scores` are given. */
  targets: string[] | null;
  /** Choices in the order of the file. */
  scores: Map<string, number> | null;
}

export interface BigBenchTask {
  name: string;
  metrics: string[];
  preferredScore: string;
  taskPrefix: string;
  inputPrefix: string;
  outputPrefix: string;
  choicePrefix: string;
  separator: string;
  appendChoices: boolean;
  outputRegex: string | null;
  stopString: string | null;
  /** Without copies. */
  examples: BigBenchExample[];
  copies: number;
}

const isText = (node: JsonNode): node is JsonNode & { kind: 'text' } => node.kind === 'text';

function hasKind(node: JsonNode, kind: 'text' | 'texts' | 'boolean' | 'list' | 'object'): boolean {
  if (kind === 'boolean') return node.kind === 'word' && node.value !== null;
  if (kind === 'texts') return node.kind === 'list' && node.items.every(isText);
  return node.kind === kind;
}

/** The JSON of a file; where it is broken, the problem says where. */
export function parseDocument(file: string, source: string): JsonDocument {
  const text = source.replace(/^\uFEFF/, ' ');
  try {
    return new JsonDocument(file, text, parseJsonNodes(text));
  } catch (thrown) {
    if (!(thrown instanceof JsonError)) throw thrown;
    const document = new JsonDocument(file, text, null);
    const place = { from: thrown.offset, to: thrown.offset + 1 };
    document.at(place, 'error', 'broken-json', `This is not valid JSON: ${thrown.message}`);
    return document;
  }
}

/** Reads the task. Null where errors (in the document's problems) stand in the way; never for a file with subtasks. */
export function readTask(document: JsonDocument): BigBenchTask | null {
  const { root } = document;
  if (!root) return null;
  if (root.kind !== 'object') {
    document.at(
      { from: root.from, to: root.from + 1 },
      'error',
      'not-a-benchmark',
      'A BIG-bench task is a JSON object with keys such as `name`, `metrics` and `examples`.',
    );
    return null;
  }
  const fields = checkKeys(document, root);
  const start = { from: root.from, to: root.from + 1 };
  const required: Record<string, string> = {
    name: 'a name',
    metrics: 'the list of its metrics, such as `["exact_str_match"]`',
    preferred_score: 'the score that stands for it',
  };
  for (const [key, what] of Object.entries(required))
    if (!fieldsOf(root).has(key))
      document.at(start, 'error', 'missing-key', `A BIG-bench task needs \`${key}\`: ${what}.`);
  for (const key of ['canary', 'description', 'keywords'])
    if (!fieldsOf(root).has(key))
      document.at(start, 'warning', 'missing-key', `BIG-bench itself refuses a task without \`${key}\`.`);
  const text = (key: string, absent: string): string => {
    const node = fields.get(key);
    return node && isText(node) ? node.value : absent;
  };
  const optional = (key: string): string | null => {
    const node = fields.get(key);
    return node && isText(node) ? node.value : null;
  };
  const flag = fields.get('append_choices_to_input');
  const metrics = checkMetrics(document, fields);
  const { examples, copies } = readExamples(document, fields.get('examples'), metrics);
  checkPattern(document, fields.get('output_regex'));
  if (document.problems.some(({ severity }) => severity === 'error')) return null;
  return {
    name: text('name', ''),
    metrics,
    preferredScore: text('preferred_score', ''),
    taskPrefix: text('task_prefix', ''),
    inputPrefix: text('example_input_prefix', '\nQ: '),
    outputPrefix: text('example_output_prefix', '\nA: '),
    choicePrefix: text('choice_prefix', '\n  choice: '),
    separator: text('few_shot_example_separator', '\n'),
    appendChoices: flag?.kind === 'word' ? flag.value !== false : true,
    outputRegex: optional('output_regex'),
    stopString: optional('stop_string'),
    examples,
    copies,
  };
}

/** The keys with values of the right type; slips and repeated keys are reported. */
function checkKeys(document: JsonDocument, root: JsonNode & { kind: 'object' }): Map<string, JsonNode> {
  const fields = fieldsOf(root);
  const seen = new Set<string>();
  for (const entry of root.entries) {
    if (seen.has(entry.key))
      document.at(entry, 'warning', 'repeated-key', `\`${entry.key}\` is given twice; the last one counts.`);
    seen.add(entry.key);
    const kind = keys.get(entry.key);
    const near = kind ? '' : suggestion(entry.key, keys.keys());
    if (near) document.at(entry, 'warning', 'unknown-key', `Unknown key \`${entry.key}\`.${near}`);
    // `null` is what a key that is not there says for these.
    const absent = ['output_regex', 'stop_string'].includes(entry.key);
    if (!kind || hasKind(entry.value, kind) || (absent && entry.value.kind === 'word' && entry.value.value === null))
      continue;
    document.at(entry.value, 'error', 'wrong-type', `\`${entry.key}\` must be ${kindNames[kind]}.`);
    fields.delete(entry.key);
  }
  return fields;
}

function checkMetrics(document: JsonDocument, fields: ReadonlyMap<string, JsonNode>): string[] {
  const list = fields.get('metrics');
  const metrics: string[] = [];
  for (const node of list?.kind === 'list' ? list.items.filter(isText) : []) {
    if (bigBenchMetrics.has(node.value)) metrics.push(node.value);
    else
      document.at(
        node,
        'error',
        'wrong-value',
        `BIG-bench has no metric \`${node.value}\`.${suggestion(node.value, bigBenchMetrics.keys())}`,
      );
  }
  if (list?.kind === 'list' && list.items.length === 0)
    document.at(list, 'error', 'wrong-value', '`metrics` must name at least one metric.');
  const preferred = fields.get('preferred_score');
  const scores = [...bigBenchMetrics].flatMap(([name, row]) => row.scores ?? [name]);
  if (preferred && isText(preferred) && !scores.includes(preferred.value)) {
    const hint =
      preferred.value === 'rouge' ? ' Write `rouge1`, `rouge2` or `rougeLsum`.' : suggestion(preferred.value, scores);
    document.at(preferred, 'error', 'wrong-value', `\`preferred_score\` cannot be \`${preferred.value}\`.${hint}`);
  }
  return metrics;
}

function checkPattern(document: JsonDocument, node: JsonNode | undefined): void {
  if (!node || !isText(node)) return;
  try {
    const groups = (new RegExp(`${compile(node.value).source}|`, 'u').exec('')?.length ?? 1) - 1;
    if (groups > 1)
      document.at(
        node,
        'error',
        'wrong-pattern',
        '`output_regex` may have one group at most: what it matches is the answer. Write the others as `(?:…)`.',
      );
  } catch (thrown) {
    if (!(thrown instanceof PythonError)) throw thrown;
    document.at(node, 'error', 'wrong-pattern', thrown.message);
  }
}

function readExamples(
  document: JsonDocument,
  list: JsonNode | undefined,
  metrics: readonly string[],
): { examples: BigBenchExample[]; copies: number } {
  const examples: BigBenchExample[] = [];
  if (list?.kind !== 'list') return { examples, copies: 0 };
  const seen = new Set<string>();
  let copies = 0;
  for (const [number, node] of list.items.entries()) {
    const key = dump(node);
    if (seen.has(key)) {
      copies++;
      continue;
    }
    seen.add(key);
    const example = readExample(document, node, number, metrics);
    if (example) examples.push(example);
  }
  if (copies > 0)
    document.at(
      { from: list.from, to: list.from + 1 },
      'warning',
      'copies',
      `${copies} of ${list.items.length} examples ${copies === 1 ? 'is a copy of another and is' : 'are copies of others and are'} left out, as BIG-bench does.`,
    );
  if (list.items.length === 0) document.at(list, 'error', 'broken-data', '`examples` is empty.');
  return { examples, copies };
}

function readExample(
  document: JsonDocument,
  node: JsonNode,
  number: number,
  metrics: readonly string[],
): BigBenchExample | null {
  const wrong = (at: { from: number; to: number }, message: string): null => {
    document.at(at, 'error', 'broken-item', `Example ${number}: ${message}`);
    return null;
  };
  const start = { from: node.from, to: node.from + 1 };
  if (node.kind !== 'object') return wrong(node, 'it must be an object with `input` and `target` or `target_scores`.');
  const fields = fieldsOf(node);
  const [input, target, graded] = ['input', 'target', 'target_scores'].map((key) => fields.get(key));
  if (!input) return wrong(start, 'there is no `input`.');
  if (!isText(input)) return wrong(input, '`input` must be a text.');
  if (!target && !graded) return wrong(start, 'there is neither `target` nor `target_scores`.');
  const needing = (asks: readonly string[]): string | undefined =>
    metrics.find((metric) => asks.includes(bigBenchMetrics.get(metric)?.asks ?? ''));
  const forChoice = needing(['choice']);
  if (!graded && forChoice)
    return wrong(start, `there are no \`target_scores\`, which the metric \`${forChoice}\` needs.`);
  const forText = needing(['text', 'likelihood']);
  if (!target && forText) return wrong(start, `there is no \`target\`, which the metric \`${forText}\` needs.`);
  let targets: string[] | null = null;
  if (target) {
    const answers = target.kind === 'list' ? target.items : [target];
    if (answers.length === 0) return wrong(target, '`target` is an empty list.');
    const texts = answers.filter(isText);
    if (texts.length < answers.length) return wrong(target, '`target` must be a text or a list of texts.');
    targets = texts.map(({ value }) => value);
  }
  let scores: Map<string, number> | null = null;
  if (graded) {
    if (graded.kind !== 'object' || graded.entries.length === 0)
      return wrong(
        graded,
        '`target_scores` must be an object with the score of each choice, such as `{"yes": 1, "no": 0}`.',
      );
    scores = new Map();
    for (const [choice, score] of fieldsOf(graded)) {
      const value = numberOf(score);
      if (value === null || !Number.isFinite(value))
        return wrong(score, `the score of \`${choice}\` must be a number.`);
      scores.set(choice, value);
    }
    const [most, least] = [Math.max(...scores.values()), Math.min(...scores.values())];
    if (!target && (scores.size === 1 ? most === 0 : most <= least))
      return wrong(graded, 'no choice is right: one must score more than the others.');
  }
  return { node, number, input: input.value, targets, scores };
}
