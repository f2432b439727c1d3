/** Built-in readers and failure causes, on the shapes that real outputs have. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AnswerKind,
  type Benchmark,
  causeTable,
  type Judgement,
  openBenchmark,
} from '../../src/benchmark/index.ts';
import { inferKind, readers } from '../../src/benchmark/readers.ts';
import { causeSentences, failureCauses } from '../../src/shared/failure-causes.ts';
import type { StopReason } from '../../src/shared/results.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-readings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

let opened = 0;
async function benchmarkOf(rows: Record<string, unknown>[], keys: Record<string, unknown>): Promise<Benchmark> {
  const name = `b${opened++}`;
  writeFileSync(join(folder, `${name}.jsonl`), rows.map((row) => JSON.stringify(row)).join('\n'));
  writeFileSync(
    join(folder, `${name}.yaml`),
    JSON.stringify({
      task: name,
      dataset_path: 'json',
      dataset_kwargs: { data_files: { test: `${name}.jsonl` } },
      test_split: 'test',
      doc_to_text: 'Question: {{q}}\nAnswer:',
      doc_to_target: '{{a}}',
      generation_kwargs: { until: ['\n\n'] },
      ...keys,
    }),
  );
  return openBenchmark(join(folder, `${name}.yaml`));
}

async function judge(benchmark: Benchmark, output: string, stop: StopReason = 'stop-string'): Promise<Judgement> {
  const item = (await benchmark.items('evaluation'))[0];
  if (!item) throw new Error('no item');
  return benchmark.judge(item, output, { reason: stop });
}

const eggs =
  'Janet has 16 eggs a day and sells all but 7 of them for 2 dollars each. How much does she make every day at the market?';
const number = () => benchmarkOf([{ q: eggs, a: 18 }], {});
const letter = () =>
  benchmarkOf([{ q: 'Capital of France?\nA. Rome\nB. Paris\nC. Oslo\nD. New Rome', a: 'B' }], {
    doc_to_choice: ['A', 'B', 'C', 'D'],
  });
const choice = () =>
  benchmarkOf([{ q: 'Capital of France?', a: 'Paris', c: ['Rome', 'Paris', 'New Rome'] }], {
    output_type: 'multiple_choice',
    doc_to_choice: 'c',
  });
const lettered = () =>
  benchmarkOf([{ q: 'Capital of France?\nA. Rome\nB. Paris', a: 1, c: ['Rome', 'Paris'] }], {
    output_type: 'multiple_choice',
    doc_to_choice: 'c',
    doc_to_target: 'a',
  });
const yesNo = () =>
  benchmarkOf(
    [
      { q: 'Is water wet?', a: 'true' },
      { q: 'x', a: 'false' },
    ],
    {},
  );
const json = () => benchmarkOf([{ q: 'City as JSON?', a: '{"city": "Paris", "n": 1}' }], {});
const text = () => benchmarkOf([{ q: 'Author of Faust?', a: 'Johann Wolfgang von Goethe' }], {});
const bracketed = () =>
  benchmarkOf([{ q: eggs, a: '[18]' }], {
    filter_list: [
      { name: 'strict', filter: [{ function: 'regex', regex_pattern: '\\[(\\d+)\\]' }, { function: 'take_first' }] },
    ],
    metric_list: [{ metric: 'exact_match', regexes_to_ignore: ['\\[|\\]'] }],
  });

describe('kinds', () => {
  test.each<[AnswerKind, () => Promise<Benchmark>]>([
    ['number', number],
    ['letter', letter],
    ['choice', choice],
    ['choice', lettered],
    ['yes-no', yesNo],
    ['json', json],
    ['text', text],
    ['number', bracketed],
  ])('%s', async (kind, open) => {
    expect((await open()).answerKind).toBe(kind);
  });
  test('a letter among other texts is text', () => {
    expect(inferKind(['A', 'Bern'], null)).toBe('text');
    expect(inferKind(['1', 'x'], null)).toBe('text');
    expect(inferKind([], null)).toBe('text');
  });
});

/** [output, in the format, right, lenient answer, leniently right, cause] */
type Case = [string, boolean, boolean, string | null, boolean, Judgement['cause'], StopReason?];

const tables: [string, () => Promise<Benchmark>, Case[]][] = [
  [
    'number',
    number,
    [
      [' 18', true, true, '18', true, null],
      ['18\n', true, true, '18', true, null],
      ['17', true, false, '17', false, null],
      ['1,800', true, false, '1,800', false, null],
      ['18', false, false, '18', true, 'ran on', 'length'],
      ['', false, false, null, false, 'empty output'],
      ['16 - 7 = 9, 9 * 2 = 18', false, false, '18', true, 'answer not in the required form'],
      ['The answer is 18. There are 7 days.', false, false, '18', true, 'answer not in the required form'],
      ['18\nQuestion: Tom has 3 apples. How many', false, false, '18', true, 'ran on', 'length'],
      ['$\\boxed{18}$', false, false, '18', true, 'LaTeX or Markdown wrapping'],
      ['**18**', false, false, '18', true, 'LaTeX or Markdown wrapping'],
      ['2 * 9 * 1 makes 18 in all', false, false, '18', true, 'answer not in the required form'],
      ['1.000,5', false, false, '1.000,5', false, 'foreign number format'],
      ['١٨', false, false, '١٨', true, 'foreign number format'],
      ['18 or 20', false, false, null, false, 'several candidates'],
      ["I'm sorry, I can't answer that.", false, false, null, false, 'refusal'],
      // An apology is no refusal: the answer is there, or a story goes on.
      ['Sorry to say, but she makes 18', false, false, '18', true, 'answer not in the required form'],
      ['"I\'m sorry, Lily. I did not mean to', false, false, null, false, 'stopped by length', 'length'],
      ['Sorry, but I do not know.', false, false, null, false, 'refusal'],
      [eggs, false, false, null, false, 'repeats the question'],
      ['Janet has some eggs and', false, false, null, false, 'stopped by length', 'length'],
      ['Let us think.', false, false, null, false, 'no answer found'],
      ['18.00 dollars', false, false, '18.00', true, 'answer not in the required form'],
      ['$18', false, false, '$18', true, 'answer not in the required form'],
    ],
  ],
  [
    'letter',
    letter,
    [
      [' B', true, true, 'B', true, null],
      ['(B)', true, true, 'B', true, null],
      ['C', true, false, 'C', false, null],
      ['E', false, false, null, false, 'no answer found'],
      ['B. Paris', false, false, 'B', true, 'answer not in the required form'],
      ['The answer is B. 12', false, false, 'B', true, 'answer not in the required form'],
      ['The correct answer is (B) Paris', false, false, 'B', true, 'answer not in the required form'],
      ['$B$', false, false, 'B', true, 'LaTeX or Markdown wrapping'],
      ['**(B)**', false, false, 'B', true, 'LaTeX or Markdown wrapping'],
      ['$\\boxed{\\text{B}}$', false, false, 'B', true, 'LaTeX or Markdown wrapping'],
      ['Paris', false, false, 'B', true, 'choice text instead of letter'],
      ['New Rome', false, false, 'D', false, 'choice text instead of letter'],
      ['A or B', false, false, null, false, 'several candidates'],
      ['(A), (B)', false, false, null, false, 'several candidates'],
      ['A capital city is a place', false, false, null, false, 'no answer found'],
      ['B\nQuestion: Capital of Norway?\nA. Oslo', false, false, 'B', true, 'ran on'],
    ],
  ],
  [
    'choice',
    choice,
    [
      [' Paris', true, true, 'Paris', true, null],
      ['New Rome', true, false, 'New Rome', false, null],
      ['paris', false, false, 'Paris', true, 'answer not in the required form'],
      ['Paris is the capital', false, false, 'Paris', true, 'answer not in the required form'],
      ['It is Paris, not Rome.', false, false, 'Paris', true, 'answer not in the required form'],
      ['Paris or Rome', false, false, null, false, 'several candidates'],
      ['The answer is Paris, not Rome.', false, false, 'Paris', true, 'answer not in the required form'],
      ['B', false, false, 'Paris', true, 'letter instead of choice text'],
      ['The answer is (B).', false, false, 'Paris', true, 'letter instead of choice text'],
      ['Paris', false, false, 'Paris', true, 'ran on', 'length'],
      ['Parisian', false, false, null, false, 'no answer found'],
    ],
  ],
  [
    'choices listed by letters',
    lettered,
    [
      ['B', true, true, 'Paris', true, null],
      ['B.', true, true, 'Paris', true, null],
      ['A', true, false, 'Rome', false, null],
      ['C', false, false, null, false, 'no answer found'],
    ],
  ],
  [
    'yes-no',
    yesNo,
    [
      [' true', true, true, 'true', true, null],
      ['Yes', true, true, 'Yes', true, null],
      ['false', true, false, 'false', false, null],
      ['Yes, it is.', false, false, 'yes', true, 'answer not in the required form'],
      ['true or false', false, false, null, false, 'several candidates'],
      ['untrue', false, false, null, false, 'no answer found'],
    ],
  ],
  [
    'json',
    json,
    [
      ['{"n": 1, "city": "Paris"}', true, true, '{"n": 1, "city": "Paris"}', true, null],
      ['{"city": "Rome"}', true, false, '{"city": "Rome"}', false, null],
      [
        'Here: {"city": "Paris", "n": 1}.',
        false,
        false,
        '{"city": "Paris", "n": 1}',
        true,
        'answer not in the required form',
      ],
      [
        '```json\n{"city": "Paris", "n": 1}\n```',
        false,
        false,
        '{"city": "Paris", "n": 1}',
        true,
        'LaTeX or Markdown wrapping',
      ],
      ['{"city": "Paris"', false, false, null, false, 'unparseable JSON'],
      ["{'city': 'Paris', 'n': 1,}", false, false, "{'city': 'Paris', 'n': 1,}", true, 'unparseable JSON'],
      ['Paris', false, false, null, false, 'no answer found'],
    ],
  ],
  [
    'text',
    text,
    [
      [' Johann Wolfgang von Goethe', true, true, 'Johann Wolfgang von Goethe', true, null],
      ['johann wolfgang von goethe.', true, true, 'johann wolfgang von goethe.', true, null],
      ['Schiller', true, false, 'Schiller', false, null],
      ['"Johann Wolfgang von Goethe"\nHe was born', false, false, 'Johann Wolfgang von Goethe', true, 'ran on'],
    ],
  ],
  [
    'a strict filter',
    bracketed,
    [
      ['[18]', true, true, '18', true, null],
      // The filter of the file takes its match wherever it stands, and so does the score.
      ['[18]\nQuestion: next', true, true, '18', true, null, 'length'],
      ['[17]', true, false, '17', false, null],
      ['18', false, false, '18', true, 'answer not in the required form'],
      ['$[$18', false, false, '$18', true, 'answer not in the required form'],
    ],
  ],
];

describe.each(tables)('%s', (_, open, rows) => {
  test.each(rows)('%j', async (output, inFormat, right, answer, lenientRight, cause, stop) => {
    const judged = await judge(await open(), output, stop);
    expect({
      inFormat: judged.inFormat,
      right: judged.right,
      answer: judged.lenient.answer,
      lenientRight: judged.lenientRight,
      cause: judged.cause,
    }).toEqual({ inFormat, right, answer, lenientRight, cause });
    for (const { span } of [judged.strict, judged.lenient])
      if (span) expect(span[1] <= output.length && span[0] < span[1]).toBe(true);
  });
});

describe('the table of causes', () => {
  test('has a row for each cause, with a sentence and an example of it', () => {
    expect(causeTable.map((row) => row.cause).sort()).toEqual([...failureCauses].sort());
    for (const { cause, example } of causeTable)
      expect(causeSentences[cause].endsWith('.') && example.of !== '').toBe(true);
  });
  const letterFile = letter;
  const fileFor = {
    'choice text instead of letter': letterFile,
    'several candidates': letterFile,
    'letter instead of choice text': choice,
    'unparseable JSON': json,
    'JSON against the schema': () =>
      benchmarkOf([{ q: 'City as JSON?', a: '{"city": "Paris"}' }], {
        metadata: { softbench: { schema: { properties: { city: { type: 'string' } } } } },
      }),
  } as Partial<Record<string, () => Promise<Benchmark>>>;
  test.each(causeTable.filter(({ cause }) => cause !== 'repeats the question'))(
    'the example of "$cause" has it',
    async ({ cause, example }) => {
      const benchmark = await (fileFor[cause] ?? number)();
      expect(
        (await judge(benchmark, example.output, cause === 'stopped by length' ? 'length' : 'stop-string')).cause,
      ).toBe(cause);
    },
  );
});

describe('labels', () => {
  const rows = Array.from({ length: 24 }, (_, i) => ({ q: `Argument ${i}?`, a: i % 3 ? 'valid' : 'invalid' }));
  test('a few answers that come again and again are the choices', async () => {
    const benchmark = await benchmarkOf(rows, {});
    expect(benchmark.answerKind).toBe('choice');
    expect(await judge(benchmark, ' invalid')).toMatchObject({ inFormat: true, right: true });
    expect(await judge(benchmark, 'unclear')).toMatchObject({ inFormat: false, cause: 'no answer found' });
    expect(await judge(benchmark, 'The argument is invalid.')).toMatchObject({ inFormat: false, lenientRight: true });
  });
  test('many different answers, or few items, are text', async () => {
    expect(
      (
        await benchmarkOf(
          rows.map((row, i) => ({ ...row, a: `name ${'x'.repeat(i)}` })),
          {},
        )
      ).answerKind,
    ).toBe('text');
    expect((await benchmarkOf(rows.slice(0, 8), {})).answerKind).toBe('text');
  });
});

describe('training answers', () => {
  test('end with the first stop marker, or with the end of text', async () => {
    const first = async (keys: Record<string, unknown>) => {
      const benchmark = await benchmarkOf([{ q: 'x', a: 18 }], keys);
      const item = (await benchmark.items('evaluation'))[0];
      return item && benchmark.trainingAnswer(item);
    };
    expect(await first({})).toEqual({ text: ' 18\n\n', endsWithEos: false });
    expect(await first({ generation_kwargs: { until: [] } })).toEqual({ text: ' 18', endsWithEos: true });
    expect(await first({ generation_kwargs: { until: ['</s>', '\n'] } })).toEqual({ text: ' 18', endsWithEos: true });
    expect(await first({ generation_kwargs: { until: ['<|im_end|>'] } })).toEqual({ text: ' 18', endsWithEos: true });
    expect(await first({ target_delimiter: '', generation_kwargs: { until: '\n' } })).toEqual({
      text: '18\n',
      endsWithEos: false,
    });
    expect(await first({ gen_prefix: 'It is', generation_kwargs: { until: '.' } })).toEqual({
      text: ' 18.',
      endsWithEos: false,
    });
  });
});

describe('same answers', () => {
  test.each<[AnswerKind, string, string, boolean]>([
    ['number', '1,234.50', '1234.5', true],
    ['number', '$18', '18', true],
    ['number', '1/2', '0.5', true],
    ['number', '18', '18.5', false],
    ['number', '−3', '-3', true],
    ['number', '1.000,5', '1000.5', true],
    ['number', '१२', '12', true],
    ['number', '1.000', '1000', false],
    ['letter', '(b)', 'B', true],
    ['letter', 'A', 'B', false],
    ['yes-no', 'True', 'yes', true],
    ['yes-no', 'no', 'yes', false],
    ['text', 'The  Beatles', 'beatles', true],
    ['text', 'C++', 'C', true],
    ['text', 'x', 'y', false],
    ['json', '{"a":[1,2]}', '{ "a": [1, 2] }', true],
    ['json', '[1,2]', '[2,1]', false],
  ])('%s: %s and %s: %s', (kind, a, b, same) => {
    expect(readers[kind].same(a, b)).toBe(same);
  });
});

describe('a schema for JSON answers', () => {
  const rows = [{ q: 'City as JSON?', a: '{"city": "Paris"}' }];
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { city: { type: 'string', minLength: 1 } },
    required: ['city'],
    additionalProperties: false,
  };
  const withSchema = (value: unknown) => benchmarkOf(rows, { metadata: { softbench: { schema: value } } });

  test.each<[string, boolean, string | null, Judgement['cause']]>([
    ['{"city": "Paris"}', true, '{"city": "Paris"}', null],
    ['{"city": "Rome"}', true, '{"city": "Rome"}', null],
    ['{"city": 3}', false, '{"city": 3}', 'JSON against the schema'],
    ['{"city": "Paris", "n": 1}', false, '{"city": "Paris", "n": 1}', 'JSON against the schema'],
    ['"Paris"', false, null, 'no answer found'],
    // Of several values, the one that fits.
    ['{"draft": 1}\n{"city": "Paris"}', false, '{"city": "Paris"}', 'answer not in the required form'],
    ['```json\n{"city": "Paris"}\n```', false, '{"city": "Paris"}', 'LaTeX or Markdown wrapping'],
    ['{"city": ', false, null, 'unparseable JSON'],
  ])('%j', async (output, inFormat, answer, cause) => {
    const benchmark = await withSchema(schema);
    expect(benchmark.answerKind).toBe('json');
    const judged = await judge(benchmark, output);
    expect([judged.inFormat, judged.lenient.answer, judged.cause]).toEqual([inFormat, answer, cause]);
  });

  test('may stand in a file beside the benchmark, whose content counts in the digest', async () => {
    writeFileSync(join(folder, 'city.json'), JSON.stringify(schema));
    const benchmark = await withSchema('city.json');
    expect((await judge(benchmark, '{"city": 3}')).cause).toBe('JSON against the schema');
    expect(benchmark.sources.configuration).toContain(join(folder, 'city.json'));
    writeFileSync(join(folder, 'city.json'), JSON.stringify({ ...schema, required: [] }));
    expect((await openBenchmark(benchmark.file)).configDigest).not.toBe(benchmark.configDigest);
  });

  test.each<[unknown, RegExp]>([
    ['nowhere.json', /There is no file .*nowhere\.json/],
    [[1], /`schema` must be a mapping|must be a JSON Schema/],
    [{ type: 'strng' }, /`type: strng` is no type of JSON Schema/],
    [{ $ref: '#/$defs/none' }, /cannot be used: Unresolved \$ref/],
  ])('a broken one is a problem of the file: %j', async (value, message) => {
    await expect(withSchema(value)).rejects.toThrow(message);
  });
});
