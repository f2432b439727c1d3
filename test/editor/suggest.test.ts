import { describe, expect, it } from 'vitest';
import { benchmarkKeys, type KeyDoc } from '../../src/editor/keys.ts';
import { hoverAt, suggestionsAt } from '../../src/editor/suggest.ts';
import { cursorAt } from '../../src/editor/yaml-cursor.ts';

/** The text without its `|`, and where that stood. */
function place(marked: string): [string, number, number] {
  const before = marked.slice(0, marked.indexOf('|')).split('\n');
  return [marked.replace('|', ''), before.length - 1, before.at(-1)?.length ?? 0];
}
const labels = (marked: string): string[] => suggestionsAt(...place(marked)).map(({ label }) => label);

describe('where the cursor stands', () => {
  it.each([
    ['task: x\ndoc_|', [], null],
    ['task: x\nmetadata:\n  softbench:\n    |', ['metadata', 'softbench'], null],
    ['metadata:\n  softbench:\n    soft_prompt: { vec|', ['metadata', 'softbench', 'soft_prompt'], null],
    ['metadata: { softbench: { answer: |', ['metadata', 'softbench'], 'answer'],
    ['filter_list:\n  - name: a\n    filter:\n      - function: |', ['filter_list', 'filter'], 'function'],
    ['filter_list:\n- name: a\n  filter:\n  - function: regex\n    |', ['filter_list', 'filter'], null],
    ['filter_list:\n  - { name: a, filter: [ { function: re|', ['filter_list', 'filter'], 'function'],
    ['generation_kwargs:\n  until: ["a: {"]\n  |', ['generation_kwargs'], null],
    ['dataset_kwargs:\n  data_files:\n    train: a\ntest_split: |', [], 'test_split'],
  ])('%j', (marked, path, key) => {
    expect(cursorAt(...place(marked))).toMatchObject({ path, valueKey: key });
  });
});

describe('completion', () => {
  it('offers the keys of the top level that are not there yet', () => {
    const offered = labels('task: x\ndoc_to_text: y\n|\ndoc_to_target: z\n');
    expect(offered).toContain('output_type');
    expect(offered).not.toContain('task');
    expect(offered).not.toContain('doc_to_target');
  });

  it('offers what belongs to the mapping at hand', () => {
    expect(labels('task: x\nmetadata:\n  softbench:\n    soft_prompt:\n      |')).toContain('learning_rate');
    expect(labels('task: x\ngeneration_kwargs:\n  until: ["\\n"]\n  |')).toContain('max_gen_toks');
    expect(labels('task: x\ngeneration_kwargs:\n  until: ["\\n"]\n  |')).not.toContain('until');
  });

  it('offers values where there is a set of them', () => {
    expect(labels('task: x\noutput_type: |')).toEqual([
      'generate_until',
      'multiple_choice',
      'loglikelihood',
      'loglikelihood_rolling',
    ]);
    expect(labels('filter_list:\n  - name: a\n    filter:\n      - function: |')).toContain('take_first');
    expect(labels('metadata:\n  softbench:\n    modes: [zero-shot, |')).toContain('soft-prompt');
    expect(labels('metadata:\n  softbench:\n    modes:\n      - |')).toContain('few-shot');
  });

  it("offers the file's own filters as readings", () => {
    const text =
      'filter_list:\n  - { name: strict-match, filter: [] }\n  - name: "flexible"\n    filter: []\nmetadata:\n';
    expect(labels(`${text}  softbench:\n    strict: |`)).toEqual(['strict-match', 'flexible']);
  });

  it('says nothing where anything may stand', () => {
    expect(labels('task: x\ndoc_to_text: |')).toEqual([]);
    expect(labels('unheard_of:\n  |')).toEqual([]);
  });
});

describe('hover', () => {
  const hover = (marked: string) => hoverAt(...place(marked))?.markdown ?? null;
  it('explains a key wherever it stands', () => {
    expect(hover('metadata:\n  softbench:\n    lea|n: 1\n')).toBeNull();
    expect(hover('metadata:\n  softbench:\n    leni|ent: flex\n')).toContain('**lenient**');
    expect(hover('metric_list: [ { ignore_|case: true } ]')).toContain('Upper and lower case');
  });
  it('explains a value that it knows', () => {
    expect(hover('output_type: multiple_|choice')).toContain('log-likelihoods of the choices');
  });
  it('leaves text alone', () => {
    expect(hover('doc_to_text: "task|: x"')).toBeNull();
    expect(hover('# ta|sk')).toBeNull();
  });
});

describe('the table of keys', () => {
  const all = (keys: readonly KeyDoc[]): KeyDoc[] => keys.flatMap((one) => [one, ...all(one.inside ?? [])]);
  it('says something of every key, and names none twice', () => {
    for (const { key, meaning, inside } of all(benchmarkKeys)) {
      expect(meaning, key).toMatch(/\.$/);
      const names = (inside ?? []).map((one) => one.key);
      expect(new Set(names).size, key).toBe(names.length);
    }
    expect(new Set(benchmarkKeys.map(({ key }) => key)).size).toBe(benchmarkKeys.length);
  });
});
