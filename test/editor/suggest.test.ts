import { describe, expect, it } from 'vitest';
import { filterTable, refusedFilters } from '../../src/benchmark/filters.ts';
import { fewShotKeys, type Key, softbenchKeys, softPromptKeys, taskKeys } from '../../src/benchmark/keys.ts';
import { benchmarkKeys, type KeyDoc, valueMeanings } from '../../src/editor/keys.ts';
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
  const all = (keys: readonly KeyDoc[], path: string[] = []): { path: string; doc: KeyDoc }[] =>
    keys.flatMap((doc) => [{ path: [...path, doc.key].join('.'), doc }, ...all(doc.inside ?? [], [...path, doc.key])]);
  const known = all(benchmarkKeys);

  it('says something of every key', () => {
    for (const { path, doc } of known) expect(doc.meaning, path).toMatch(/\.$/);
  });

  it('knows values of keys that exist only', () => {
    expect(Object.keys(valueMeanings).filter((path) => !known.some((one) => one.path === path))).toEqual([]);
  });

  it('offers exactly the filters that the benchmark room can run', () => {
    const offered = known
      .find(({ path }) => path === 'filter_list.filter.function')
      ?.doc.values.map(({ value }) => value);
    expect(offered?.sort()).toEqual([...filterTable.keys()].filter((name) => !refusedFilters.has(name)).sort());
  });

  it('offers only values that the benchmark room accepts', () => {
    const tables: [string, ReadonlyMap<string, Key>][] = [
      ['', taskKeys],
      ['fewshot_config.', fewShotKeys],
      ['metadata.softbench.', softbenchKeys],
      ['metadata.softbench.soft_prompt.', softPromptKeys],
    ];
    for (const [prefix, table] of tables)
      for (const [name, key] of table)
        for (const value of Object.keys(valueMeanings[`${prefix}${name}`] ?? {}))
          expect(key.check?.(value) ?? null, `${prefix}${name}: ${value}`).toBeNull();
  });

  it('does not offer what has no effect, but explains it', () => {
    expect(labels('task: x\n|')).not.toContain('process_docs');
    expect(hoverAt('process_docs: x', 0, 3)?.markdown).toContain('not supported');
  });
});
