/** Every cause of a missed form: outputs that have it, and outputs that nearly do and have another one (or none). */
import { describe, expect, test } from 'vitest';
import { causeOf } from '../../src/benchmark/causes.ts';
import { readers } from '../../src/benchmark/readers.ts';
import type { AnswerKind } from '../../src/benchmark/types.ts';
import { type FailureCause, failureCauses } from '../../src/shared/failure-causes.ts';
import type { StopReason } from '../../src/shared/results.ts';

const eggs =
  'Question: Janet has 16 eggs a day and sells all but 7 of them for 2 dollars each. How much does she make every day at the market?\nAnswer:';
const capital = 'Question: Capital of France?\nA. Rome\nB. Paris\nC. Oslo\nD. New Rome\nAnswer:';
const cities = ['Rome', 'Paris', 'Oslo', 'New Rome'];
const author = 'Question: Who wrote Faust?\nAnswer:';

const fits = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'city' in value && typeof value.city === 'string';

/** The cause that an output has where this kind of answer was asked for; null where it is in the form. */
function causeFor(kind: AnswerKind, output: string, stop: StopReason): FailureCause | null {
  const reader = readers[kind];
  const question = { letter: capital, choice: capital, text: author }[kind as string] ?? eggs;
  const options = kind === 'letter' || kind === 'choice' ? cities : [];
  const context = { question, options, stop, ...(kind === 'json' && { fits }) };
  const accepts = (text: string): boolean => reader.strict(text, context).answer !== null;
  if (stop !== 'length' && accepts(output)) return null;
  return causeOf({ ...context, output, kind, lenient: reader.lenient(output, context), accepts });
}

type Example = [kind: AnswerKind, output: string, stop?: StopReason];
type NearMiss = [kind: AnswerKind, output: string, cause: FailureCause | null, stop?: StopReason];

const table: Record<FailureCause, { has: Example[]; nearly: NearMiss[] }> = {
  'empty output': {
    has: [
      ['number', ''],
      ['letter', ' \n\n'],
      ['json', '\t'],
    ],
    nearly: [
      ['number', '.', 'no answer found'],
      ['letter', '-', 'no answer found'],
      ['number', '0', null],
    ],
  },
  refusal: {
    has: [
      ['number', "I'm sorry, but I can't answer that."],
      ['letter', 'As an AI language model, I do not have opinions on capitals.'],
      ['number', 'Unfortunately, I am not able to help with this question.'],
      ['number', 'I do not have enough information to say.'],
    ],
    nearly: [
      ['number', 'Sorry for the detour: she makes 18', 'answer not in the required form'],
      ['number', '"I\'m sorry, Lily. I did not mean to', 'stopped by length', 'length'],
      ['number', 'She cannot sell 7 of them. So she makes 18', 'answer not in the required form'],
      ['letter', 'Unfortunately it is Paris', 'choice text instead of letter'],
    ],
  },
  'unparseable JSON': {
    has: [
      ['json', '{"city": "Paris"'],
      ['json', "{'city': 'Paris'}"],
      ['json', '{"city": "Paris",}'],
      ['json', 'Here it is: {city: Paris}'],
    ],
    nearly: [
      ['json', '{"city": "Paris"}', null],
      ['json', 'It is {"city": "Paris"}', 'answer not in the required form'],
      ['json', 'Paris', 'no answer found'],
      ['text', '{"city": "Paris"\n', null],
    ],
  },
  'JSON against the schema': {
    has: [
      ['json', '{"city": 3}'],
      ['json', '{"town": "Paris"}'],
      ['json', '["Paris"]'],
      ['json', '```json\n{"City": "Paris"}\n```'],
    ],
    nearly: [
      ['json', '{"city": "Rome"}', null],
      ['json', '{"town": 1} {"city": "Paris"}', 'answer not in the required form'],
      ['json', '{"city": 3', 'unparseable JSON'],
    ],
  },
  'foreign number format': {
    has: [
      ['number', '1.000,5'],
      ['number', '3,5'],
      ['number', '١٨'],
      ['number', '१८ रुपये'],
      ['number', "1'000"],
      ['number', 'Total: 12\u00a0500'],
    ],
    nearly: [
      ['number', '1,000.5', null],
      ['number', '1,000', null],
      ['number', 'From 3,5 and 7 she gets 18', 'answer not in the required form'],
      ['letter', '١٨', 'no answer found'],
    ],
  },
  'LaTeX or Markdown wrapping': {
    has: [
      ['number', '\\boxed{18}'],
      ['number', '$18$'],
      ['number', '**18**'],
      ['letter', '$B$'],
      ['letter', '**(C)**'],
      ['letter', '\\(\\boxed{\\text{B}}\\)'],
      ['choice', '*Paris*'],
      ['json', '```json\n{"city": "Paris"}\n```'],
      ['number', 'She makes **18** dollars'],
    ],
    nearly: [
      ['number', '$18', 'answer not in the required form'],
      ['number', '9 * 2 * 1 = 18', 'answer not in the required form'],
      ['letter', '(B)', null],
      ['number', '**Note** she makes 18 dollars', 'answer not in the required form'],
    ],
  },
  'repeats the question': {
    has: [
      ['number', eggs],
      ['number', 'How much does she make every day at the market?'],
      ['number', 'Janet has 16 eggs a day and sells all but 7 of them for 2 dollars each. How'],
      ['letter', 'Capital of France?\nA. Rome\nB. Paris\nC. Oslo\nD. New Rome'],
    ],
    nearly: [
      [
        'number',
        'Janet has 16 eggs a day and sells 9, so 9 * 2 = 18 dollars are what she makes a day',
        'answer not in the required form',
      ],
      ['number', 'How much?', 'no answer found'],
      ['number', 'She makes 18 dollars every day at the market.', 'answer not in the required form'],
    ],
  },
  'letter instead of choice text': {
    has: [
      ['choice', 'B'],
      ['choice', '(B)'],
      ['choice', 'The answer is B.'],
      ['choice', 'b)'],
    ],
    nearly: [
      ['choice', 'B. Paris', 'answer not in the required form'],
      ['choice', 'E', 'no answer found'],
      ['letter', 'B', null],
      ['choice', 'Paris', null],
    ],
  },
  'several candidates': {
    has: [
      ['letter', 'A or B'],
      ['letter', '(A), (B)'],
      ['choice', 'Rome or Paris'],
      ['choice', 'Some say Rome, others say Paris.'],
      ['yes-no', 'yes or no'],
      ['number', '18 or 20'],
    ],
    nearly: [
      ['choice', 'It is Paris, not Rome.', 'answer not in the required form'],
      ['letter', 'The answer is B, and A is wrong.', 'answer not in the required form'],
      ['number', '9 or so, but the answer is 18', 'answer not in the required form'],
      ['letter', 'Let us see. Rome is in Italy, Oslo is in', 'stopped by length', 'length'],
    ],
  },
  'choice text instead of letter': {
    has: [
      ['letter', 'Paris'],
      ['letter', 'It is New Rome.'],
      ['letter', 'The answer is Oslo'],
    ],
    nearly: [
      ['letter', 'B. Paris', 'answer not in the required form'],
      ['letter', 'Bern', 'no answer found'],
      ['letter', 'Rome or Paris', 'several candidates'],
      ['choice', 'Paris', null],
    ],
  },
  'ran on': {
    has: [
      ['number', '18\n\nQuestion: Tom has 3 apples. How many'],
      ['number', '18\nShe keeps 7 eggs.'],
      ['number', '18', 'length'],
      ['letter', 'B. Paris\n\nQ: And of Norway?\nA: C'],
      ['number', '18 dollars\nExplanation: she sells 9 eggs', 'length'],
      ['choice', 'Paris<|im_end|>\n<|im_start|>user'],
    ],
    nearly: [
      ['number', '18', null],
      ['number', '16 - 7 = 9\n9 * 2 = 18', 'answer not in the required form'],
      ['number', 'Let us see.\n\nQuestion: Tom has 3 apples.', 'no answer found'],
      ['number', 'She has 16 eggs. She sells 9 and', 'stopped by length', 'length'],
    ],
  },
  'stopped by length': {
    has: [
      ['number', 'Janet has 16 eggs and she eats', 'length'],
      ['letter', 'To find the capital, we look at', 'length'],
      ['json', 'The city that we look for', 'length'],
    ],
    nearly: [
      ['number', 'Janet has some eggs and she eats', 'no answer found'],
      ['number', '18\n', 'ran on', 'length'],
      ['letter', 'Paris', 'choice text instead of letter', 'length'],
      ['json', '{"city": "Par', 'unparseable JSON', 'length'],
    ],
  },
  'answer not in the required form': {
    has: [
      ['number', 'She makes 18 dollars.'],
      ['letter', 'The answer is B.'],
      ['choice', 'paris'],
      ['yes-no', 'Yes, it is.'],
      ['json', 'Sure: {"city": "Paris"}'],
    ],
    nearly: [
      ['number', 'She makes money.', 'no answer found'],
      ['number', '18', null],
      ['yes-no', 'Yes', null],
      ['choice', 'Paris', null],
    ],
  },
  'no answer found': {
    has: [
      ['number', 'Let us think about it.'],
      ['letter', 'A capital is where a government sits.'],
      ['yes-no', 'There is no way to tell.'],
      ['choice', 'Berlin'],
    ],
    nearly: [
      ['number', 'Let us think: 18', 'answer not in the required form'],
      ['number', 'Let us think about it.', 'stopped by length', 'length'],
      ['number', '', 'empty output'],
    ],
  },
};

test('every cause has its examples', () => {
  expect(Object.keys(table).sort()).toEqual([...failureCauses].sort());
  for (const { has, nearly } of Object.values(table)) {
    expect(has.length).toBeGreaterThanOrEqual(3);
    expect(nearly.length).toBeGreaterThanOrEqual(3);
  }
});

describe.each(Object.entries(table))('%s', (cause, { has, nearly }) => {
  test.each(has)('has it: %s %j', (kind, output, stop = undefined) => {
    expect(causeFor(kind, output, stop ?? 'eos')).toBe(cause);
  });
  test.each(nearly)('nearly: %s %j', (kind, output, other, stop = undefined) => {
    expect(other).not.toBe(cause);
    expect(causeFor(kind, output, stop ?? 'eos')).toBe(other);
  });
});
