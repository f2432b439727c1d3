/** What is wrong with a benchmark file is said at the right place, with what to do. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { checkBenchmark, openBenchmark, type Problem } from '../../src/benchmark/index.ts';
import { HumanError } from '../../src/shared/errors.ts';

let folder = '';
const file = (name: string): string => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-problems-'));
  // What this machine happens to have in its cache must not matter.
  vi.stubEnv('HF_HUB_CACHE', file('hub'));
  writeFileSync(
    file('test.jsonl'),
    '{"question": "1 + 1?", "answer": "#### 2"}\n{"question": "2 + 2?", "answer": "#### 4"}\n',
  );
  writeFileSync(file('train.jsonl'), '{"question": "0 + 1?", "answer": "#### 1"}\n');
  writeFileSync(file('broken.jsonl'), '{"question": "1", "answer": "1"}\n{"question": \n');
  writeFileSync(
    file('wrapped.json'),
    '{"examples": [{"question": "1", "answer": "1"}, {"question": "2", "answer": "2"}]}',
  );
  writeFileSync(file('broken.csv'), 'question,answer\n1,2\n"3,4\n');
  writeFileSync(file('latin1.jsonl'), Buffer.from('{"question": "1"}\n{"question": "caf\xe9"}\n', 'latin1'));
  mkdirSync(file('data.jsonl'));
  writeFileSync(file('choices.jsonl'), '{"question": "?", "options": ["x", "y"], "answer": 2}\n');
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const base = `task: sums
dataset_path: json
dataset_kwargs: { data_files: { train: train.jsonl, test: test.jsonl } }
training_split: train
test_split: test
doc_to_text: "Q: {{question}}\\nA:"
doc_to_target: "{{answer}}"
generation_kwargs: { until: ["\\n"] }
filter_list:
  - name: strict
    filter: [ { function: regex, regex_pattern: "#### (\\\\d+)" }, { function: take_first } ]
metric_list: [ { metric: exact_match, regexes_to_ignore: ["#### "] } ]
`;

/** `base` with a line replaced or, where nothing starts with `from`, appended. */
const change = (from: string, to: string): string => {
  const lines = base.split('\n');
  const at = lines.findIndex((line) => line.startsWith(from));
  if (at < 0) return `${base}${to}\n`;
  lines[at] = to;
  return lines.join('\n');
};

/** The part of the text that a problem marks. */
function marked(text: string, { place, end }: Problem): string {
  const offset = (line: number, column: number): number =>
    text
      .split('\n')
      .slice(0, line - 1)
      .reduce((sum, row) => sum + row.length + 1, 0) +
    column -
    1;
  return text.slice(offset(place.line ?? 1, place.column ?? 1), end ? offset(end.line, end.column) : undefined);
}

const check = async (text: string): Promise<Problem[]> => (await checkBenchmark(file('sums.yaml'), text)).problems;

test('a good file has no problems', async () => {
  const { benchmark, problems } = await checkBenchmark(file('sums.yaml'), base);
  expect(problems).toEqual([]);
  expect(benchmark?.readers).toEqual({ strict: 'strict', lenient: 'built-in' });
});

const cases: {
  name: string;
  text: string;
  code: string;
  at: string;
  line?: number;
  says: RegExp;
  severity?: Problem['severity'];
}[] = [
  {
    name: 'unknown key',
    text: change('test_split', 'test_spilt: test'),
    code: 'unknown-key',
    at: 'test_spilt',
    line: 5,
    says: /Did you mean `test_split`\?/,
    severity: 'warning',
  },
  {
    name: 'unknown key of ours',
    text: change('metadata', 'metadata: { softbench: { stict: strict } }'),
    code: 'unknown-key',
    at: 'stict',
    says: /Did you mean `strict`\?/,
  },
  {
    name: 'unknown key of the soft prompt',
    text: change('metadata', 'metadata:\n  softbench:\n    soft_prompt: { vecors: 10 }'),
    code: 'unknown-key',
    at: 'vecors',
    line: 15,
    says: /in `metadata.softbench.soft_prompt`.*`vectors`/,
  },
  {
    name: 'wrong type',
    text: change('num_fewshot', 'num_fewshot: five'),
    code: 'wrong-type',
    at: 'five',
    says: /`num_fewshot` must be a whole number, not a text/,
  },
  {
    name: 'a fraction in place of a whole number',
    text: change('metadata', 'metadata: { softbench: { limit: 2.5 } }'),
    code: 'wrong-type',
    at: '2.5',
    says: /`limit` must be .*, not 2\.5\.$/,
  },
  {
    name: 'a word in place of a learning rate',
    text: change('metadata', 'metadata: { softbench: { soft_prompt: { learning_rate: fast } } }'),
    code: 'wrong-value',
    at: 'fast',
    says: /`learning_rate` must be a number or one of `auto`, `formula`, `search`, not `fast`/,
  },
  {
    name: 'number out of range',
    text: change('metadata', 'metadata: { softbench: { limit: 0 } }'),
    code: 'wrong-value',
    at: '0',
    says: /`limit` must be at least 1/,
  },
  {
    name: 'wrong output type',
    text: change('output_type', 'output_type: generate_untill'),
    code: 'wrong-value',
    at: 'generate_untill',
    says: /Did you mean `generate_until`/,
  },
  {
    name: 'wrong mode',
    text: change('metadata', 'metadata: { softbench: { modes: [zero-shot, softprompt] } }'),
    code: 'wrong-value',
    at: 'softprompt',
    says: /Did you mean `soft-prompt`/,
  },
  {
    name: 'unknown strict filter',
    text: change('metadata', 'metadata: { softbench: { strict: strickt } }'),
    code: 'unknown-filter',
    at: 'strickt',
    says: /There is no filter named `strickt`; `filter_list` has `strict`/,
  },
  {
    name: 'unknown filter function',
    text: base.replace('function: take_first', 'function: take_frist'),
    code: 'unknown-filter',
    at: 'take_frist',
    line: 11,
    says: /Did you mean `take_first`/,
  },
  {
    name: 'broken pattern',
    text: base.replace('(\\\\d+)', '(\\\\d+'),
    code: 'wrong-pattern',
    at: '"#### (\\\\d+"',
    line: 11,
    says: /has a "\(" without its "\)"/,
  },
  {
    name: 'undefined name',
    text: change('doc_to_text', 'doc_to_text: "Q: {{qestion}}\\nA:"'),
    code: 'undefined-name',
    at: 'qestion',
    line: 6,
    says: /`qestion` is not a field.*Did you mean `question`/,
  },
  {
    name: 'broken template',
    text: change('doc_to_text', 'doc_to_text: "Q: {{question"'),
    code: 'broken-template',
    at: '"Q: {{question"',
    line: 6,
    says: /cannot be read/,
  },
  {
    name: 'unknown template filter',
    text: change('doc_to_text', 'doc_to_text: "{{question | trimm}}"'),
    code: 'broken-template',
    at: 'trimm',
    says: /no template filter `trimm`.*`trim`/,
  },
  {
    name: 'data that are not UTF-8',
    text: change('dataset_kwargs', 'dataset_kwargs: { data_files: { train: train.jsonl, test: latin1.jsonl } }'),
    code: 'broken-data',
    at: 'latin1.jsonl',
    says: /not UTF-8.*latin1\.jsonl:2/,
  },
  {
    name: 'folder in place of a data file',
    text: change('dataset_kwargs', 'dataset_kwargs: { data_files: { train: train.jsonl, test: data.jsonl } }'),
    code: 'missing-data',
    at: 'data.jsonl',
    says: /data\.jsonl is a folder/,
  },
  {
    name: 'alias without its anchor',
    text: change('task', 'task: *sums'),
    code: 'broken-yaml',
    at: '*sums',
    line: 1,
    says: /no `&sums` before/,
  },
  {
    name: 'alias of what it stands in',
    text: change('metadata', 'metadata: &all { more: *all }'),
    code: 'broken-yaml',
    at: '*all',
    says: /within what it repeats/,
  },
  {
    name: 'metrics of generated answers where likelihoods are asked for',
    text: change('output_type', 'output_type: loglikelihood'),
    code: 'metric',
    at: 'exact_match',
    says: /not computed for `output_type: loglikelihood`; it is a metric of `generate_until`/,
    severity: 'warning',
  },
  {
    name: 'more outputs than there are',
    text: base.replace('{ function: take_first }', '{ function: take_first_k, k: 4 }').concat('repeats: 2\n'),
    code: 'wrong-value',
    at: '4',
    says: /asks for 4 outputs of each item, and there are 2/,
  },
  {
    name: 'aliases of aliases without end',
    text: change(
      'metadata',
      [
        'metadata:',
        '  a0: &a0 [0, 0, 0, 0, 0, 0, 0, 0, 0]',
        ...[1, 2, 3, 4, 5, 6, 7, 8].map(
          (n) => `  a${n}: &a${n} [${Array.from({ length: 9 }, () => `*a${n - 1}`).join(', ')}]`,
        ),
      ].join('\n'),
    ),
    code: 'broken-yaml',
    at: 't',
    line: 1,
    says: /repeat each other too often/,
  },
  {
    name: 'second document in the file',
    text: change('metadata', '---\ntask: other'),
    code: 'broken-yaml',
    at: '---\ntask: other',
    says: /one YAML document/,
  },
  {
    name: 'number without an end',
    text: change('metadata', 'metadata: { softbench: { soft_prompt: { learning_rate: .inf } } }'),
    code: 'wrong-value',
    at: '.inf',
    says: /`learning_rate` must be a finite number/,
  },
  {
    name: 'number that a double does not hold',
    text: change('metadata', 'metadata: { softbench: { soft_prompt: { steps: 1.0e+99 } } }'),
    code: 'wrong-value',
    at: '1.0e+99',
    says: /`steps` is too large/,
  },
  {
    name: 'negative seed',
    text: change('metadata', 'metadata: { softbench: { soft_prompt: { seed: -1 } } }'),
    code: 'wrong-value',
    at: '-1',
    says: /`seed` must be at least 0/,
  },
  {
    name: 'probability above 1',
    text: change('generation_kwargs', 'generation_kwargs: { until: ["\\n"], do_sample: true, top_p: 3 }'),
    code: 'wrong-value',
    at: '3',
    says: /`top_p` must be above 0 and at most 1/,
  },
  {
    name: 'stop text that is a number',
    text: change('generation_kwargs', 'generation_kwargs: { until: [5] }'),
    code: 'wrong-type',
    at: '5',
    says: /must be a text: put it in quotes/,
  },
  {
    name: 'missing data file',
    text: change('dataset_kwargs', 'dataset_kwargs: { data_files: { train: train.jsonl, test: nowhere.jsonl } }'),
    code: 'missing-data',
    at: 'nowhere.jsonl',
    line: 3,
    says: /There is no data file .*nowhere\.jsonl.*relative to the benchmark file/,
  },
  {
    name: 'missing split',
    text: change('test_split', 'test_split: tests'),
    code: 'unknown-split',
    at: 'tests',
    says: /no split `tests`.*`train`, `test`.*Did you mean `test`/,
  },
  {
    name: 'broken data',
    text: change('dataset_kwargs', 'dataset_kwargs: { data_files: { train: train.jsonl, test: broken.jsonl } }'),
    code: 'broken-data',
    at: 'broken.jsonl',
    says: /broken\.jsonl:2/,
  },
  {
    name: 'rows under a key',
    text: change('dataset_kwargs', 'dataset_kwargs: { data_files: { train: train.jsonl, test: wrapped.json } }'),
    code: 'broken-data',
    at: 'wrapped.json',
    says: /Add `field: examples`/,
  },
  {
    name: 'backslash n in single quotes',
    text: change('generation_kwargs', "generation_kwargs: { until: ['\\n'] }"),
    code: 'literal-backslash',
    at: "'\\n'",
    line: 8,
    says: /Use double quotes: "\\n"/,
    severity: 'warning',
  },
  {
    name: 'Python function',
    text: change('process_docs', 'process_docs: !function utils.process'),
    code: 'python-function',
    at: '!function utils.process',
    line: 13,
    says: /`process_docs` is the Python function `utils\.process`.*\.jsonl/,
  },
  {
    name: 'Python function in a list',
    text: change('metric_list', 'metric_list: [ { metric: !function utils.f1 } ]'),
    code: 'python-function',
    at: '!function utils.f1',
    line: 12,
    says: /`metric_list\.metric`.*exact_match/,
  },
  {
    name: 'broken YAML',
    text: change('doc_to_target', 'doc_to_target: "{{answer}}'),
    code: 'broken-yaml',
    at: '',
    says: /not valid YAML/,
  },
  {
    name: 'gold answers that the strict filter rejects',
    text: change('doc_to_target', `doc_to_target: "{{answer.split(' ')[1]}}"`),
    code: 'gold-not-in-format',
    at: 'strict',
    line: 10,
    says: /`strict` does not accept.*every one of 2 checked, such as item 0 \("2"\)/,
    severity: 'warning',
  },
  {
    name: 'data set of the hub',
    text: change('dataset_path', 'dataset_path: openai/gsm8k'),
    code: 'missing-dataset',
    at: 'openai/gsm8k',
    line: 2,
    says: /Hugging Face Hub is not on this machine.*softbench datasets download openai\/gsm8k/,
  },
  {
    name: 'benchmark that a group names and nobody has',
    text: 'group: all\ntask: [surely_no_benchmark, b]\n',
    code: 'missing-task',
    at: 'surely_no_benchmark',
    line: 2,
    says: /no benchmark, group or tag `surely_no_benchmark`/,
  },
  {
    name: 'missing key',
    text: base.replace(/^doc_to_target.*\n/m, ''),
    code: 'missing-key',
    at: '',
    says: /`doc_to_target` is missing/,
  },
  { name: 'no mapping', text: '- a\n- b\n', code: 'not-a-benchmark', at: '-', line: 1, says: /YAML mapping/ },
  {
    name: 'repeated key',
    text: change('zzz', 'task: again'),
    code: 'repeated-key',
    at: 'task',
    line: 13,
    says: /given twice/,
    severity: 'warning',
  },
  {
    name: 'other metric',
    text: change('metric_list', 'metric_list: [ { metric: bertscore } ]'),
    code: 'metric',
    at: 'bertscore',
    says: /need Python. Metrics of `generate_until` are `exact_match`, `bleu`/,
    severity: 'warning',
  },
  {
    name: 'take_first too early',
    text: base.replace('[ { function: regex,', '[ { function: take_first }, { function: regex,'),
    code: 'filter-order',
    at: 'take_first',
    says: /Put `take_first` last/,
    severity: 'warning',
  },
  {
    name: 'right answer that is no candidate',
    text: change('dataset_kwargs', 'dataset_kwargs: { data_files: { train: train.jsonl, test: choices.jsonl } }')
      .concat('output_type: multiple_choice\ndoc_to_choice: options\n')
      .replace('"{{answer}}"', 'answer'),
    code: 'no-candidate',
    at: 'answer',
    says: /right answer "2" of item 0 is not among its candidates.*counts as wrong/,
    severity: 'warning',
  },
];

describe('problems', () => {
  test.each(cases)('$name', async ({ text, code, at, line, says, severity }) => {
    const problems = await check(text);
    const found = problems.find((problem) => problem.code === code);
    if (!found) throw new Error(`not found among ${JSON.stringify(problems, null, 1)}`);
    expect(found.message).toMatch(says);
    expect(found.severity).toBe(severity ?? 'error');
    if (at !== '') expect(marked(text, found)).toBe(at);
    if (line) expect(found.place.line).toBe(line);
    expect(found.place.file).toBe(file('sums.yaml'));
  });

  test('several at once, in the order of the file', async () => {
    const text = change('doc_to_text', 'doc_to_text: "{{qestion}}"')
      .replace('task: sums', 'tsk: sums')
      .concat('num_fewshot: -1\n');
    expect((await check(text)).map(({ code }) => code)).toEqual(['unknown-key', 'undefined-name', 'wrong-value']);
  });

  test('a name inside of a block is found on its own line', async () => {
    const text = change('doc_to_text', 'doc_to_text: |\n  First line\n  {{ question }} and {{ qestion }}\n  A:');
    const problem = (await check(text)).find(({ code }) => code === 'undefined-name');
    expect(problem?.place).toMatchObject({ line: 8, column: 25 });
  });
});

test('a quoted text may go on at the left margin, as PyYAML allows', async () => {
  const text = change('doc_to_text', 'doc_to_text: "Q:\n{{question}} \\\\n\nA:"').concat('num_fewshot: many\n');
  const { problems } = await checkBenchmark(file('sums.yaml'), text);
  expect(problems.map(({ code, place }) => [code, place.line])).toEqual([['wrong-type', 15]]);
  const { benchmark } = await checkBenchmark(
    file('sums.yaml'),
    change('doc_to_text', 'doc_to_text: "Q:\n{{question}}"'),
  );
  const item = (await benchmark?.items('evaluation'))?.[0];
  expect(item && (await benchmark?.prompt(item, 0))?.text).toBe('Q: 1 + 1?');
});

describe('one problem, one message', () => {
  test('a Python function where a list belongs is not a wrong type as well', async () => {
    const text = change('fewshot_config', 'fewshot_config: { samples: !function utils.samples }');
    expect((await check(text)).map(({ code }) => code)).toEqual(['python-function']);
  });
  test('multi_choice_regex says which field it needs', async () => {
    const text = base.replace('function: regex, regex_pattern', 'function: multi_choice_regex, regex_pattern');
    expect((await check(text))[0]).toMatchObject({
      code: 'broken-item',
      message: expect.stringMatching(/needs a field "choices"/),
    });
  });
});

describe('include', () => {
  test('the including file wins key by key; chains; problems are placed in the file that has them', async () => {
    writeFileSync(file('grandparent.yaml'), base);
    writeFileSync(file('parent.yaml'), 'include: grandparent.yaml\ntask: parent\ntarget_delimiter: "::"\n');
    writeFileSync(file('child.yaml'), 'include: parent.yaml\ntask: child\n');
    const benchmark = await openBenchmark(file('child.yaml'));
    const item = (await benchmark.items('evaluation'))[0];
    expect(benchmark.task).toBe('child');
    expect(item && benchmark.target(item)).toEqual({ delimiter: '::', text: '#### 2' });
    expect(benchmark.sources.configuration).toEqual(['child.yaml', 'parent.yaml', 'grandparent.yaml'].map(file));
    writeFileSync(file('parent.yaml'), 'include: grandparent.yaml\n\nrepeats: none at all\n');
    const { problems } = await checkBenchmark(file('child.yaml'));
    expect(problems).toMatchObject([{ code: 'wrong-type', place: { file: file('parent.yaml'), line: 3, column: 10 } }]);
  });

  test('a cycle is named, also through a link', async () => {
    writeFileSync(file('one.yaml'), 'include: two.yaml\n');
    symlinkSync(file('one.yaml'), file('link.yaml'));
    writeFileSync(file('two.yaml'), 'task: two\ninclude: link.yaml\n');
    const { problems } = await checkBenchmark(file('one.yaml'));
    expect(problems.find(({ code }) => code === 'include-cycle')).toMatchObject({
      place: { file: file('two.yaml'), line: 2, column: 10 },
    });
  });

  test('a missing included file is marked where it is named', async () => {
    const { problems } = await checkBenchmark(file('x.yaml'), 'task: x\ninclude: [nowhere.yaml]\n');
    expect(problems.find(({ code }) => code === 'missing-include')).toMatchObject({ place: { line: 2, column: 11 } });
  });

  test('keys that the missing file would give are not missed', async () => {
    const { problems } = await checkBenchmark(file('x.yaml'), 'task: x\ninclude: nowhere.yaml\n');
    expect(problems.map(({ code }) => code)).toEqual(['missing-include']);
  });
});

describe('openBenchmark', () => {
  test('of a data set that is not here says first what is wrong besides: fetching it would not help', async () => {
    const lines = [
      'task: x',
      'dataset_path: nobody/nothing-of-the-kind',
      'test_split: test',
      'output_type: generate_until',
    ];
    writeFileSync(
      file('far.yaml'),
      [...lines, 'doc_to_text: !function utils.text', 'doc_to_target: "{{a}}"', ''].join('\n'),
    );
    await expect(openBenchmark(file('far.yaml'))).rejects.toThrow(/`doc_to_text` is the Python function `utils\.text`/);
  });

  test('throws the first error with its place', async () => {
    writeFileSync(file('bad.yaml'), change('num_fewshot', 'num_fewshot: many').concat('repeats: 0\n'));
    const error = await openBenchmark(file('bad.yaml')).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HumanError);
    expect((error as HumanError).sentence).toBe(
      `${file('bad.yaml')}:13:14: \`num_fewshot\` must be a whole number, not a text. (1 more error in this file.)`,
    );
  });
  test('a file that is not there', async () => {
    await expect(openBenchmark(file('none.yaml'))).rejects.toMatchObject({ kind: 'missing' });
  });
  test('broken CSV names its line', async () => {
    const text = change(
      'dataset_kwargs',
      'dataset_kwargs: { data_files: { train: broken.csv, test: broken.csv } }',
    ).replace('dataset_path: json', 'dataset_path: csv');
    expect((await check(text))[0]?.message).toMatch(/not valid CSV.*broken\.csv/);
  });
});
