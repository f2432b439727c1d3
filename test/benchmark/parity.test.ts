/** The same prompts, examples, filters and verdicts as lm-evaluation-harness 0.4.13 (test/benchmark/make/oracles.py). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openBenchmark } from '../../src/benchmark/index.ts';

const fixtures = join(import.meta.dirname, '..', 'fixtures', 'benchmarks');

interface HarnessTask {
  contexts: Record<string, string[]>;
  items: { target: unknown; choices: unknown[] | null }[];
  filtered:
    | { item: number; output: string; filters: Record<string, { answer: string; exact_match: number }> }[]
    | Record<string, never>;
}

const harness = JSON.parse(readFileSync(join(fixtures, 'lm-eval.json'), 'utf8')) as Record<string, HarnessTask>;

describe.each(Object.entries(harness))('%s', (name, expected) => {
  const open = () => openBenchmark(join(fixtures, `${name}.yaml`));

  test.each(Object.entries(expected.contexts))(
    'prompts with %s examples are those of the harness',
    async (shots, contexts) => {
      const benchmark = await open();
      const items = await benchmark.items('evaluation');
      expect(items.length).toBe(contexts.length);
      // From the last to the first: the examples of an item do not depend on the order in which they are asked for.
      for (const item of [...items].reverse()) {
        const prompt = await benchmark.prompt(item, Number(shots));
        expect(prompt.text).toBe(contexts[item.index]);
        expect(prompt.parts.map((part) => part.text).join('')).toBe(prompt.text);
        expect(prompt.parts.filter((part) => part.kind === 'example').length).toBe(Number(shots));
      }
    },
  );

  test('right answers and candidates are those of the harness', async () => {
    const benchmark = await open();
    for (const item of await benchmark.items('evaluation')) {
      const wanted = expected.items[item.index];
      const choices = benchmark.choices(item);
      expect(choices?.texts ?? null).toEqual(wanted?.choices ?? null);
      if (choices) expect(choices.gold).toBe(wanted?.target);
      else expect(benchmark.target(item).text).toBe(Array.isArray(wanted?.target) ? wanted.target[0] : wanted?.target);
    }
  });
});

describe('filters and exact_match', () => {
  const cases = Object.entries(harness).flatMap(([name, { filtered }]) =>
    Array.isArray(filtered) ? filtered.map((row) => ({ name, ...row })) : [],
  );
  test.each(cases)('$name takes the same answer out of $output', async ({ name, item, output, filters }) => {
    const benchmark = await openBenchmark(join(fixtures, `${name}.yaml`));
    const row = (await benchmark.items('evaluation'))[item];
    if (!row) throw new Error(`no item ${item}`);
    const judged = benchmark.judge(row, output, { reason: 'stop-string' });
    const strict = filters[benchmark.readers.strict];
    if (strict) {
      expect(judged.strict.answer ?? '[invalid]').toBe(strict.answer);
      // S is the score of the strict filter.
      expect(Number(judged.inFormat && judged.right)).toBe(strict.exact_match);
    } else expect(Number(judged.inFormat && judged.right)).toBeGreaterThanOrEqual(filters.none?.exact_match ?? 0);
    const lenient = filters[benchmark.readers.lenient];
    if (lenient) {
      expect(judged.lenient.answer ?? '[invalid]').toBe(lenient.answer);
      expect(Number(judged.lenientRight)).toBe(lenient.exact_match);
    }
    for (const { answer, span } of [judged.strict, judged.lenient])
      if (answer !== null && span !== null && name !== 'bbh')
        expect(output.slice(...span).toLowerCase()).toBe(answer.toLowerCase());
  });
});
