import { describe, expect, it } from 'vitest';
import { findTask } from '../../src/editor/detect.ts';

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
