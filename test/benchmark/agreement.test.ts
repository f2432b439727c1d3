/** The built-in readers take what a person takes out of real outputs. The labels: test/fixtures/labelled-outputs. */
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { agreement, compare, isHeldOut, labelledOutputs } from './agreement.ts';

const all = labelledOutputs(join(import.meta.dirname, '..', 'fixtures', 'labelled-outputs'));
const comparisons = all.flatMap((entry) => compare(entry) ?? []);
const held = comparisons.filter(({ entry }) => isHeldOut(entry));

const share = (part: typeof comparisons): number =>
  part.filter(({ lenient }) => lenient === 'agrees').length / part.length;

test('there are labels of all kinds, a quarter of them held out', () => {
  expect(all.every(({ label }) => label)).toBe(true);
  expect(all.length).toBeGreaterThanOrEqual(400);
  expect(held.length / all.length).toBeGreaterThan(0.18);
  expect(new Set(all.map(({ kind }) => kind))).toEqual(
    new Set(['number', 'letter', 'choice', 'yes-no', 'text', 'json']),
  );
});

test('the lenient readers agree with 97 % of the labels, and with 97 % of those held out', () => {
  for (const [kind, { n, lenient }] of agreement(comparisons))
    console.info(`${kind}: ${((100 * lenient.agrees) / n).toFixed(1)} % of ${n}`, lenient);
  expect(share(comparisons)).toBeGreaterThanOrEqual(0.97);
  expect(share(held)).toBeGreaterThanOrEqual(0.97);
});

test('the strict readers call nothing in the form that a person does not', () => {
  expect(comparisons.filter(({ strict }) => strict === 'too lenient').map(({ entry }) => entry.id)).toEqual([]);
});
