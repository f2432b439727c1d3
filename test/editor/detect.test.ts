import { describe, expect, it } from 'vitest';
import { findTask, mayBeBenchmark } from '../../src/editor/detect.ts';

describe('telling a benchmark file', () => {
  it('needs a task and one of its companions at the top level', () => {
    expect(findTask('# about\ntask: gsm8k\ndoc_to_text: "{{question}}"\n')).toEqual({
      line: 1,
      start: 0,
      end: 11,
      task: 'gsm8k',
    });
    expect(findTask('include: base.yaml\ntask: "boolq"  # quoted\n')?.task).toBe('boolq');
    expect(findTask("output_type: generate_until\r\n'task': 'a b'\r\n")).toMatchObject({ line: 1, task: 'a b' });
  });

  it.each([
    ['another YAML file', 'version: 3\nservices:\n  task: x\n'],
    ['a task without companions', 'task: gsm8k\n'],
    ['a group of tasks', 'group: many\ntask:\n  - a\n  - b\ninclude: x.yaml\n'],
    ['a group in flow style', 'group: many\ntask: [a, b]\ndataset_path: json\n'],
    ['keys further in', 'x:\n  task: gsm8k\n  dataset_path: json\n'],
    ['a name that only begins so', 'tasks: gsm8k\ndataset_path: json\n'],
    ['nothing', ''],
  ])('is not fooled by %s', (_, text) => {
    expect(findTask(text)).toBeNull();
  });

  it('leaves a comment out of the name', () => {
    expect(findTask('task: arc#1 # the easy one\ndataset_path: json')?.task).toBe('arc#1');
  });
});

describe('telling a BIG-bench task', () => {
  const score = '"preferred_score": "bleu"';

  it('needs a name and what only BIG-bench has', () => {
    expect(findTask(`{\n  "examples": [{"name": "no"}],\n  "name": "cities \\u00fc",\n  ${score}\n}`)).toEqual({
      line: 2,
      start: 2,
      end: 26,
      task: 'cities ü',
    });
    expect(findTask(`{"a": 1, "name": "x", ${score}}`)).toMatchObject({ line: 0, start: 9, task: 'x' });
    expect(findTask('{"name": "parent", "keywords": [], "canary": "c"}')?.task).toBe('parent');
    // While it is written it is not valid.
    expect(findTask(`{ ${score},\n"name": "x", "examples": [{]`)?.task).toBe('x');
  });

  it.each([
    ['a package', '{"name": "x", "description": "", "keywords": [], "version": "1"}'],
    ['a list', `[{"name": "x", ${score}}]`],
    ['keys further in', `{"a": {"name": "x", ${score}}}`],
    ['values', `{"a": "name", "b": "preferred_score", "name": "x"}`],
    ['a name that is none', `{"name": {}, ${score}}`],
    ['quotes in texts', '{"name": "x", "a": "\\"preferred_score\\": 1"}'],
    ['nothing else', '{'],
  ])('is not fooled by %s', (_, text) => {
    expect(findTask(text)).toBeNull();
  });

  it.each([
    ['yaml', '/a/b.yaml', true],
    ['yaml', '/a/task.txt', true],
    ['json', '/a/task.json', true],
    ['jsonc', 'C:\\a\\task.json', true],
    ['json', '/a/mytask.json', false],
    ['json', '/a/package.json', false],
    ['markdown', '/a/task.json', false],
  ])('%s %s', (languageId, fileName, expected) => {
    expect(mayBeBenchmark({ languageId, fileName })).toBe(expected);
  });
});
