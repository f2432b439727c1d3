import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type BigBenchRow, bigBenchMeasures } from '../../src/metrics/index.ts';

/** Figures as BIG-bench computes them (make/big_bench_texts.py). */
const oracle: { targets: string[][]; responses: string[]; bleu: number; sequence_f1: number }[] = JSON.parse(
  readFileSync(new URL('big-bench-texts.json', import.meta.url), 'utf8'),
);

test.each(oracle)('corpus of $responses.length outputs: $bleu, $sequence_f1', ({ targets, responses, ...expected }) => {
  const rows = responses.map((answer, at): BigBenchRow => {
    const strict = { answer: answer === '' ? null : answer, span: null };
    return { record: { strict, right: false }, references: targets[at] ?? [] };
  });
  const [bleu, sequence] = bigBenchMeasures(['bleu', 'sequence_f1'], rows);
  expect(bleu?.value).toBeCloseTo(expected.bleu, 9);
  expect(sequence?.value).toBeCloseTo(expected.sequence_f1, 9);
  // BLEU is of the whole set: BIG-bench gives no error of it.
  expect(bleu?.standardError).toBeNull();
});
