/** Shapes that evaluation tools are known to misread, with what our readers take. */
import { describe, expect, test } from 'vitest';
import { readers } from '../../src/benchmark/readers.ts';
import type { AnswerKind } from '../../src/benchmark/types.ts';
import { choiceOptions, choices, jsons, letterOptions, letters, texts, yesNoRows } from './adversarial-letters.ts';
import { numbers, type Row } from './adversarial-numbers.ts';

const questions: Partial<Record<AnswerKind, string>> = { text: 'Who is the author of Faust?\nAnswer:' };
const tables: [AnswerKind, Row[], string[]][] = [
  ['number', numbers, []],
  ['letter', letters, letterOptions],
  ['choice', choices, choiceOptions],
  ['yes-no', yesNoRows, []],
  ['text', texts, []],
  ['json', jsons, []],
];

describe.each(tables)('%s', (kind, rows, options) => {
  const context = { options, question: questions[kind] ?? 'Question: What is it?\nAnswer:' };
  test.each(rows)('%j', (output, strict, lenient, stop = undefined) => {
    const reader = readers[kind];
    expect(reader.strict(output, context).answer).toBe(strict);
    const { answer, span } = reader.lenient(output, { ...context, stop: stop ?? 'eos' });
    if (lenient === null || answer === null) expect(answer).toBe(lenient);
    else expect(reader.same(answer, lenient), `${answer} is ${lenient}`).toBe(true);
    if (span) expect(output.slice(...span).length).toBe(span[1] - span[0]);
  });
});

test('there are enough of them', () => {
  expect(tables.flatMap(([, rows]) => rows).length).toBeGreaterThanOrEqual(150);
});
