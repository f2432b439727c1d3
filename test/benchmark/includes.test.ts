/** What PyYAML and lm-evaluation-harness 0.4.13 make of includes, quoted lines and splits, where it is easily missed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBenchmark, openBenchmark } from '../../src/benchmark/index.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-includes-'));
  writeFileSync(join(folder, 'test.jsonl'), '{"q": "a", "n": "1"}\n{"q": "b", "n": "2"}');
  writeFileSync(join(folder, 'dev.jsonl'), '{"q": "c", "n": "3"}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const task = `dataset_path: json
dataset_kwargs: { data_files: { test: test.jsonl, dev: dev.jsonl } }
test_split: test
doc_to_text: "{{q}}"
doc_to_target: "{{n}}"
`;

test('a Python function is no error where the including file gives another value', async () => {
  write('base.yaml', `${task}process_docs: !function utils.process\nprocess_results: !function utils.judge\n`);
  const file = write('own.yaml', 'include: base.yaml\nprocess_docs: null\n');
  const { problems } = await checkBenchmark(file);
  const functions = problems.filter(({ code }) => code === 'python-function').map(({ message }) => message);
  expect(functions).toHaveLength(1);
  expect(functions[0]).toContain('process_results');
});

test('of a key given twice the last value counts, also where the first is a Python function', async () => {
  const { problems } = await checkBenchmark(write('twice.yaml', `doc_to_target: !function utils.target\n${task}`));
  expect(problems.map(({ code }) => code)).toEqual(['repeated-key']);
});

test('a right answer that is no candidate is a warning, and every choice is wrong', async () => {
  const file = write(
    'stranger.yaml',
    `${task}output_type: multiple_choice\ndoc_to_choice: ["1", "3"]\nmetric_list: [ { metric: acc } ]\n`,
  );
  const { benchmark, problems } = await checkBenchmark(file);
  expect(problems.filter(({ code }) => code === 'no-candidate').map(({ severity }) => severity)).toEqual(['warning']);
  const item = (await benchmark?.items('evaluation'))?.[1];
  if (!benchmark || !item) throw new Error('no item');
  const likelihood = (sum: number) => ({ kind: 'loglikelihood' as const, sum, greedy: true });
  expect(benchmark.measure?.(item, [likelihood(-1), likelihood(-2)])[0]?.values.acc).toBe(0);
  expect(benchmark.measure?.(item, [likelihood(-2), likelihood(-1)])[0]?.values.acc).toBe(0);
});

test('a choice among no candidates is refused', async () => {
  const file = write('nothing.yaml', `${task}output_type: multiple_choice\ndoc_to_choice: []\n`);
  const { problems } = await checkBenchmark(file);
  expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject([
    { message: expect.stringContaining('`doc_to_choice` gives no candidates') },
  ]);
  expect(problems[0]?.place.line).toBe(`${task}output_type: multiple_choice\ndoc_to_choice`.split('\n').length);
  const absent = write('absent.yaml', `${task}output_type: multiple_choice\ndoc_to_choice: "{{nowhere}}"\n`);
  const [first] = (await checkBenchmark(absent)).problems;
  expect(first?.message).toContain('"nowhere" is undefined');
  expect(first?.place.line).toBe(`${task}output_type: multiple_choice\ndoc_to_choice`.split('\n').length);
});

test('lines of a quoted text may begin further left than its key, as PyYAML reads them', async () => {
  const file = write(
    'quoted.yaml',
    `${task}fewshot_config:\n    samples:\n    - q: 'one\n  two'\n      n: "three\n four"\n`,
  );
  const benchmark = await openBenchmark(file);
  const [item] = await benchmark.items('evaluation');
  if (!item) throw new Error('no item');
  expect((await benchmark.prompt(item, 1)).text).toBe('one two three four\n\na');
  const braces = await openBenchmark(
    write('braces.yaml', `${task}fewshot_config:\n    samples:\n    - q: "{\n        x\n  }"\n      n: "1"\n`),
  );
  const [other] = await braces.items('evaluation');
  if (!other) throw new Error('no item');
  expect((await braces.prompt(other, 1)).text).toBe('{ x } 1\n\na');
});

test('examples come from the validation split where there is no training split', async () => {
  const file = write('validation.yaml', `${task}validation_split: dev\n`);
  const benchmark = await openBenchmark(file);
  const [item] = await benchmark.items('evaluation');
  if (!item) throw new Error('no item');
  expect((await benchmark.prompt(item, 1)).text).toBe('c 3\n\na');
});
