/** Python's generator, patterns and printing, against CPython (test/benchmark/make/oracles.py). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { literalEval, PythonFloat, PythonTuple, repr } from '../../src/benchmark/python.ts';
import { PythonRandom } from '../../src/benchmark/python-random.ts';
import { compile, findAll, PatternError, substitute } from '../../src/benchmark/python-regex.ts';

interface Oracle {
  bits: number[];
  samples: { seed: number; n: number; k: number; draws: number[][] }[];
  texts: string[];
  patterns: { pattern: string; texts: (string | string[])[][] }[];
  substitutions: { pattern: string; replacement: string; text: string; count: number; result: string }[];
  refused: { pattern: string }[];
  floats: { value: string; repr: string }[];
  strings: { value: string; repr: string }[];
}
const oracle = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'fixtures', 'benchmarks', 'python.json'), 'utf8'),
) as Oracle;

describe('random.Random', () => {
  test('gives the same bits, over a refill of the state', () => {
    const random = new PythonRandom(5489);
    expect(oracle.bits.map(() => random.next32())).toEqual(oracle.bits);
  });
  test.each(oracle.samples)('sample($n, $k) from seed $seed', ({ seed, n, k, draws }) => {
    const random = new PythonRandom(seed);
    expect(draws.map(() => random.sample(n, k))).toEqual(draws);
  });
  test('a sample larger than the population is refused', () => {
    expect(() => new PythonRandom(1).sample(3, 4)).toThrow(RangeError);
  });
});

describe('re', () => {
  test.each(oracle.patterns)('findall($pattern)', ({ pattern, texts }) => {
    for (const [i, text] of oracle.texts.entries()) {
      const found = findAll(pattern, text).map(({ groups, tuple }) =>
        tuple ? groups.map((group) => group.text) : groups[0]?.text,
      );
      expect({ text, found }).toEqual({ text, found: texts[i] });
    }
  });
  test.each(oracle.patterns)('places of $pattern', ({ pattern }) => {
    for (const text of oracle.texts)
      for (const { groups } of findAll(pattern, text))
        for (const group of groups) expect(text.slice(group.start, group.start + group.text.length)).toBe(group.text);
  });
  test.each(oracle.substitutions)(
    'sub($pattern, $replacement, $text)',
    ({ pattern, replacement, text, count, result }) => {
      expect(substitute(pattern, replacement, text, count)).toBe(result);
    },
  );
  test.each(oracle.refused)('$pattern is refused', ({ pattern }) => {
    expect(() => compile(pattern)).toThrow(PatternError);
  });
  test.each(['a++', '(?>a)', '(a)?(?(1)b|c)'])('%s cannot be translated and says so', (pattern) => {
    expect(() => compile(pattern)).toThrow(/cannot translate/);
  });
});

describe('printing', () => {
  test.each(oracle.floats)('float $value', ({ value, repr: printed }) => {
    const number = Number(value);
    expect(repr(Number.isInteger(number) ? new PythonFloat(number) : number)).toBe(printed);
  });
  test.each(oracle.strings)('text $value', ({ value, repr: printed }) => {
    expect(repr(value)).toBe(printed);
  });
});

describe('ast.literal_eval', () => {
  test.each<[string, unknown]>([
    ["['a', \"b'\", 'c\\n']", ['a', "b'", 'c\n']],
    ['[1, -2.5, True, None]', [1, -2.5, true, null]],
    ["{'a': [1], 'b': ()}", { a: [1], b: PythonTuple.from([]) }],
    ["('a')", 'a'],
    ["('a',)", PythonTuple.from(['a'])],
    ["'a' 'b'", 'ab'],
    ["['\\u00e9\\x41']", ['éA']],
  ])('%s', (text, value) => {
    expect(literalEval(text)).toEqual(value);
  });
  test.each(['[1, 2', 'name', "['a' 1]", '[not a list]', '__import__("os")', '1 + x'])('%s is refused', (text) => {
    expect(() => literalEval(text)).toThrow();
  });
});
