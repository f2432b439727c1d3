/** BIG-bench's JSON tasks: prompts, draws and readings as its own code makes them (test/benchmark/make/big_bench.py). */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkBenchmark, openBenchmark, openGroup } from '../../src/benchmark/index.ts';
import { NumpyRandom } from '../../src/benchmark/numpy-random.ts';
import type { Benchmark, Item } from '../../src/benchmark/types.ts';
import { bigBenchScores } from '../../src/metrics/index.ts';

const fixtures = join(import.meta.dirname, '..', 'fixtures', 'big-bench');
const fileOf = (name: string): string => join(fixtures, name, 'task.json');

interface Oracle {
  tasks: Record<
    string,
    {
      name: string;
      prompts: Record<string, string[] | { error: string }>;
      targets: string[][];
      choices: (string[] | null)[];
      scores: (number[] | null)[];
    }
  >;
  readings: Record<string, { output: string; answer: string; right: number[] }[]>;
  choices: Record<string, { log_probs: number[][]; scores: Record<string, number | null> }>;
  numpy: {
    seed: number;
    permutations: number[][];
    choices: [number, number, number[]][];
    ones: [number, number][];
    after: number[];
  }[];
}
const oracle = JSON.parse(readFileSync(join(fixtures, 'oracle.json'), 'utf8')) as Oracle;

/** The file with settings of ours in place of those it has; all examples are evaluated. */
async function open(name: string, softbench: Record<string, unknown> = { training_share: 0 }): Promise<Benchmark> {
  // As text: a JavaScript object would lose repeated keys and the order of whole-number keys.
  const source = readFileSync(fileOf(name), 'utf8').replace(/,\s*"softbench": \{[^}]*\}/, '');
  const text = source.replace(/\}\s*$/, `,"softbench": ${JSON.stringify(softbench)}}`);
  const { benchmark, problems } = await checkBenchmark(fileOf(name), text);
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  if (!benchmark) throw new Error(`${name} does not open`);
  return benchmark;
}

describe('numpy', () => {
  test.each(oracle.numpy.map((row) => [row.seed, row] as const))('the stream of RandomState(%i)', (seed, row) => {
    const random = new NumpyRandom(seed);
    for (const wanted of row.permutations) expect([...random.permutation(wanted.length)]).toEqual(wanted);
    for (const [n, count, wanted] of row.choices) expect(random.choose(n, count)).toEqual(wanted);
    for (const [n, wanted] of row.ones) expect(random.chooseOne(n)).toBe(wanted);
    expect([...random.permutation(10)]).toEqual(row.after);
    expect(() => random.choose(2, 3)).toThrow(RangeError);
  });

  test.each([-1, 1.5, 4294967296])('%d is no seed', (seed) => {
    expect(() => new NumpyRandom(seed)).toThrow(RangeError);
  });
});

describe.each(Object.entries(oracle.tasks))('%s', (name, expected) => {
  test.each(Object.entries(expected.prompts))('prompts with shots/seed %s', async (key, wanted) => {
    const [shots, seed] = key.split('/').map(Number);
    const benchmark = await open(name, { training_share: 0, few_shot_seed: seed });
    const items = await benchmark.items('evaluation');
    expect(items.length).toBe(expected.targets.length);
    if (!Array.isArray(wanted)) throw new Error(wanted.error);
    // From the last to the first: the examples of an item do not depend on the order in which they are asked for.
    for (const item of [...items].reverse()) {
      const prompt = await benchmark.prompt(item, shots ?? 0);
      expect(prompt.text).toBe(wanted[item.index]);
      expect(prompt.parts.map(({ text }) => text).join('')).toBe(prompt.text);
      expect(prompt.parts.filter(({ kind }) => kind === 'example').length).toBe(shots);
    }
  });

  test('right answers and choices', async () => {
    const benchmark = await open(name);
    expect(benchmark.task).toBe(expected.name);
    for (const item of await benchmark.items('evaluation')) {
      expect(benchmark.target(item).text).toBe(expected.targets[item.index]?.[0]);
      const choices = benchmark.choices(item);
      expect(choices?.texts ?? null).toEqual(expected.choices[item.index]);
      expect(choices?.scores ?? null).toEqual(expected.scores[item.index]);
      if (choices?.scores) expect(choices.scores[choices.gold]).toBe(Math.max(...choices.scores));
    }
  });
});

describe.each(Object.entries(oracle.readings))('readings of %s', (name, readings) => {
  test.each(readings.map((row) => [JSON.stringify(row.output), row] as const))('%s', async (_, row) => {
    const benchmark = await open(name);
    // The engine cuts the output before the stop text.
    const marker = name === 'stop_text' ? '.' : undefined;
    const at = marker === undefined ? -1 : row.output.indexOf(marker);
    if (at === 0) return; // BIG-bench goes on behind a stop text at the very beginning; generation has ended there
    const output = at < 0 ? row.output : row.output.slice(0, at);
    const stop = at < 0 ? ({ reason: 'eos' } as const) : { reason: 'stop-string' as const, marker: '.' };
    for (const item of await benchmark.items('evaluation')) {
      const judged = benchmark.judge(item, output, stop);
      if (judged.inFormat) expect(judged.strict.answer).toBe(row.answer);
      expect(judged.right).toBe(row.right[item.index] === 1);
      if (judged.right) expect([judged.inFormat, judged.lenientRight, judged.cause]).toEqual([true, true, null]);
      else if (!judged.inFormat) expect(judged.cause).not.toBeNull();
    }
  });
});

describe('examples held out for tuning', () => {
  test('are never evaluated, the same at each opening, and another draw with another seed', async () => {
    const ids = (items: readonly Item[]): unknown[] => items.map(({ fields }) => JSON.stringify(fields));
    const halves = { training_share: 0.5 };
    const [a, again, other] = await Promise.all([
      open('sums', halves),
      open('sums', halves),
      open('sums', { ...halves, split_seed: 1 }),
    ]);
    const training = ids(await a.items('training'));
    const evaluated = ids(await a.items('evaluation'));
    expect(training.length + evaluated.length).toBe(16);
    expect(training.length).toBeGreaterThanOrEqual(2);
    expect(training.length).toBeLessThanOrEqual(8);
    // By question: "What is 2 plus 3?" stands there several times.
    const questions = new Set((await a.items('training')).map(({ fields }) => fields.input));
    for (const { fields } of await a.items('evaluation')) expect(questions).not.toContain(fields.input);
    expect(ids(await again.items('training'))).toEqual(training);
    expect(ids(await other.items('training'))).not.toEqual(training);
    expect(await again.dataDigest('evaluation')).toBe(await a.dataDigest('evaluation'));
    expect(await other.dataDigest('evaluation')).not.toBe(await a.dataDigest('evaluation'));
    expect(a.modes).toEqual(['zero-shot', 'few-shot', 'soft-prompt']);
    expect(a.notes.join(' ')).toMatch(/no training split: \d of 16 examples, drawn with seed 42/);
  });

  test('do not change the prompts of the others', async () => {
    const [all, part] = [await open('sums'), await open('sums', { training_share: 0.5 })];
    const byFields = new Map<string, string>();
    for (const item of await all.items('evaluation'))
      byFields.set(`${item.place.line}`, (await all.prompt(item, 2)).text);
    for (const split of ['evaluation', 'training'] as const)
      for (const item of await part.items(split))
        expect((await part.prompt(item, 2)).text).toBe(byFields.get(`${item.place.line}`));
  });

  test('are none where soft prompts are not asked for', async () => {
    const benchmark = await open('sums', { modes: ['zero-shot', 'few-shot'] });
    expect(benchmark.trainingSplit).toBeNull();
    expect((await benchmark.items('evaluation')).length).toBe(16);
  });

  test('tuning teaches to end as BIG-bench stops', async () => {
    const [sums, stop, choices] = [await open('sums'), await open('stop_text'), await open('all_fields')];
    const first = async (benchmark: Benchmark): Promise<unknown> => {
      const item = (await benchmark.items('evaluation'))[0];
      return item && benchmark.trainingAnswer(item);
    };
    expect(await first(sums)).toEqual({ text: '2\n\nQ:', endsWithEos: false });
    expect(await first(stop)).toEqual({ text: 'France.', endsWithEos: false });
    expect(await first(choices)).toEqual({ text: 'red\n', endsWithEos: false });
  });
});

describe('graded choices', () => {
  test.each(Object.entries(oracle.choices))('the scores of %s are BIG-bench’s', async (name, { log_probs, scores }) => {
    const benchmark = await open(name);
    const rows = (await benchmark.items('evaluation')).map((item) => {
      const choices = benchmark.choices(item);
      if (!choices) throw new Error('There are no choices.');
      const logLikelihoods = log_probs[item.index] ?? [];
      return {
        record: {
          strict: { answer: null, span: null },
          right: false,
          choices: { ...choices, logLikelihoods, right: false, rightNormalised: false },
        },
        references: [],
      };
    });
    for (const [metric, wanted] of Object.entries(scores)) {
      const found = bigBenchScores.get(metric)?.(rows);
      if (wanted === null) expect(found, metric).toBeNull();
      else expect(found, metric).toBeCloseTo(wanted, 12);
      expect(bigBenchScores.get(metric)?.([]), metric).toBeNull();
    }
  });

  test('scores that are reported', async () => {
    const calibration = ['calibration_multiple_choice_brier_score', 'expected_calibration_error'];
    expect((await open('sums')).metrics).toEqual(['exact_str_match', 'rouge1', 'rouge2', 'rougeLsum']);
    expect((await open('all_fields')).metrics).toEqual(['multiple_choice_grade', ...calibration]);
    expect((await open('both_kinds')).metrics).toEqual(['exact_str_match', 'multiple_choice_grade', ...calibration]);
    expect((await open('stop_text')).metrics).toEqual(['case_insensitive_str_match']);
    for (const name of [...calibration, 'exact_str_match', 'rougeLsum']) expect(bigBenchScores.has(name)).toBe(true);
  });

  test('every best choice is a right answer', async () => {
    const benchmark = await openBenchmark(fileOf('all_fields'));
    expect(benchmark.shots).toBe(3);
    const all = [...(await benchmark.items('evaluation')), ...(await benchmark.items('training'))];
    const colour = all.find(({ fields }) => fields.input === 'Which is a colour?');
    if (!colour) throw new Error('The item is missing.');
    for (const [answer, right] of [
      ['red', true],
      [' blue', true],
      ['Tuesday', false],
    ] as const) {
      const judged = benchmark.judge(colour, answer, { reason: 'stop-string', marker: '\n' });
      expect([judged.inFormat, judged.right]).toEqual([true, right]);
    }
    expect(benchmark.judge(colour, 'It is red, I think', { reason: 'eos' })).toMatchObject({
      inFormat: false,
      lenientRight: true,
    });
    expect(benchmark.choices(colour)).toMatchObject({ gold: 0, scores: [1, 1, 0, 0] });
  });
});

describe('what is wrong in a file', () => {
  const good = {
    canary: '',
    name: 'made up',
    description: '',
    keywords: [],
    metrics: ['exact_str_match'],
    preferred_score: 'exact_str_match',
  };
  const example = { input: 'a', target: 'b' };
  const check = async (text: string): Promise<string[]> => {
    const { benchmark, problems } = await checkBenchmark(join(fixtures, 'sums', 'none.json'), text);
    expect(benchmark === null).toBe(problems.some(({ severity }) => severity === 'error'));
    for (const { place } of problems) expect(place.file).toBe(join(fixtures, 'sums', 'none.json'));
    return problems.map(({ place, code, message }) => `${place.line}:${place.column} ${code} ${message}`);
  };
  const lines = (value: unknown): string => JSON.stringify(value, null, 1);

  test.each<[string, unknown, RegExp[]]>([
    ['no list of examples', { ...good, examples: {} }, [/^10:14 wrong-type `examples` must be a list/]],
    ['an empty list', { ...good, examples: [] }, [/^10:14 broken-data/]],
    [
      'no input',
      { ...good, examples: [example, { target: 'b' }] },
      [/^15:3 broken-item Example 1: there is no `input`/],
    ],
    ['no answer', { ...good, examples: [{ input: 'b' }] }, [/^11:3 broken-item .*neither `target` nor/]],
    [
      'a number as answer',
      { ...good, examples: [{ input: 'b', target: 3 }] },
      [/^13:14 broken-item .*`target` must be a text/],
    ],
    ['no example', { ...good, examples: ['a'] }, [/^11:3 broken-item .*must be an object/]],
    [
      'no such metric',
      { ...good, metrics: ['exact_string_match'], examples: [example] },
      [/^\d+:\d+ wrong-value .*Did you mean `exact_str_match`/],
    ],
    [
      'the metric that is three',
      { ...good, preferred_score: 'rouge', examples: [example] },
      [/wrong-value .*`rouge1`, `rouge2` or `rougeLsum`/],
    ],
    [
      'a prefix of another type',
      { ...good, task_prefix: 3, examples: [example] },
      [/wrong-type `task_prefix` must be a text/],
    ],
    [
      'a slip in a key',
      { ...good, example_inputprefix: '', examples: [example] },
      [/unknown-key .*Did you mean `example_input_prefix`/],
    ],
    ['a broken pattern', { ...good, output_regex: '(', examples: [example] }, [/wrong-pattern/]],
    ['two groups', { ...good, output_regex: '(a)(b)', examples: [example] }, [/wrong-pattern .*one group at most/]],
    [
      'a pattern that refuses the answers',
      { ...good, output_regex: '[0-9]+', examples: [example] },
      [/^10:18 gold-not-in-format .*every one of 1/],
    ],
    [
      'an unknown setting of ours',
      { ...good, examples: [example], softbench: { shot: 3 } },
      [/^17:3 unknown-key Unknown key `shot`.*Did you mean `shots`/],
    ],
    [
      'a wrong setting of ours',
      { ...good, examples: [example], softbench: { training_share: 2 } },
      [/^17:21 wrong-value `training_share` must be from 0/],
    ],
  ])('%s', async (_, value, expected) => {
    const found = await check(lines(value));
    expect(found.length).toBe(expected.length);
    for (const [at, pattern] of expected.entries()) expect(found[at]).toMatch(pattern);
  });

  test.each<[string, object, RegExp]>([
    ['no choices', { input: 'a', target: 'b' }, /no `target_scores`, which the metric `multiple_choice_grade` needs/],
    ['none is right', { input: 'a', target_scores: { x: 0, y: 0 } }, /no choice is right/],
    ['all are worth the same', { input: 'a', target_scores: { x: 1, y: 1 } }, /no choice is right/],
    ['no number', { input: 'a', target_scores: { x: '1' } }, /the score of `x` must be a number/],
    ['an empty object', { input: 'a', target_scores: {} }, /`target_scores` must be an object/],
  ])('choices: %s', async (_, one, pattern) => {
    const metrics = { metrics: ['multiple_choice_grade'], preferred_score: 'multiple_choice_grade' };
    expect((await check(lines({ ...good, ...metrics, examples: [one] }))).join('\n')).toMatch(pattern);
  });

  test('missing keys', async () => {
    const found = await check(lines({ examples: [example] }));
    for (const key of ['name', 'metrics', 'preferred_score'])
      expect(found).toContainEqual(
        expect.stringMatching(new RegExp(`^1:1 missing-key A BIG-bench task needs \`${key}\``)),
      );
    expect(await check('{"name": "x"}')).toEqual([expect.stringMatching(/^1:1 missing-key .*needs `examples`/)]);
  });

  test.each([
    ['{\n "name": "x",\n "metrics": ["a" "b"]\n}', /^3:18 broken-json .*Expected "," or "\]"/],
    ['{\n "name": "x",\n}', /^3:1 broken-json .*a key in double quotes/],
    ['{"name": "x"} {}', /^1:15 broken-json .*the end of the file/],
    ['', /^1:1 broken-json/],
    ['[]', /^1:1 not-a-benchmark/],
  ])('broken JSON %j', async (text, pattern) => {
    const found = await check(text);
    expect(found.length).toBe(1);
    expect(found[0]).toMatch(pattern);
  });

  test('settings may be written as floats', async () => {
    const text = lines({ ...good, examples: [example], softbench: { training_share: 7 } }).replace(': 7', ': 0.0');
    expect(await check(text)).toEqual([]);
  });

  test('copies are named', async () => {
    expect(await check(lines({ ...good, examples: [example, example] }))).toEqual([
      expect.stringMatching(/^10:14 copies 1 of 2 examples is a copy/),
    ]);
  });

  test('subtasks are named, and open', async () => {
    const { problems } = await checkBenchmark(fileOf('subtasks'));
    expect(problems).toMatchObject([{ code: 'group-file', place: { line: 1, column: 1 } }]);
    expect(problems[0]?.message).toContain('first/task.json, second/task.json');
    await expect(openBenchmark(fileOf('subtasks'))).rejects.toThrow(/2 subtasks/);
    expect((await openBenchmark(fileOf('subtasks/second'))).task).toBe('second');
    // On the command line all of them are one group, whose score is the mean of theirs.
    const group = await openGroup(fileOf('subtasks'));
    expect(group?.members.map(({ name }) => name)).toEqual(['first', 'second']);
    expect(group?.aggregates.length).toBeGreaterThan(0);
    expect(new Set(group?.aggregates.map(({ weightBySize }) => weightBySize))).toEqual(new Set([false]));
    expect(await openGroup(fileOf('sums'))).toBeNull();
  });

  test('subtasks of one name are refused: their runs could not be told apart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'softbench-subtasks-'));
    try {
      cpSync(join(fixtures, 'subtasks'), folder, { recursive: true });
      cpSync(join(folder, 'first'), join(folder, 'third'), { recursive: true });
      await expect(openGroup(join(folder, 'task.json'))).rejects.toThrow(/third.task\.json are both called "first"/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('too few examples for the shots', async () => {
    const benchmark = await openBenchmark(fileOf('subtasks/first'));
    expect(benchmark.shots).toBe(2);
    const item = (await benchmark.items('evaluation'))[0];
    if (!item) throw new Error('The item is missing.');
    await expect(benchmark.prompt(item, 3)).rejects.toThrow(/only 3 examples: too few to draw 3/);
    expect((await benchmark.prompt(item, 2)).parts.length).toBe(3);
  });

  test('a file that is not there', async () => {
    await expect(openBenchmark(join(fixtures, 'sums', 'none.json'))).rejects.toMatchObject({ kind: 'missing' });
  });
});
