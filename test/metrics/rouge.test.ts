import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type CorpusMetric, corpusScore, rouge1, rouge2, rougeLsum } from '../../src/metrics/translation/index.ts';

/** Figures of rouge_score (make/rouge.py). */
const oracle: ({ output: string; references: string[] } & Record<string, number>)[] = JSON.parse(
  readFileSync(new URL('rouge.json', import.meta.url), 'utf8'),
);

describe('ROUGE is that of rouge_score', () => {
  const metrics: Record<string, CorpusMetric> = { rouge1, rouge2, rougeLsum };
  for (const [name, metric] of Object.entries(metrics)) {
    it(`${name} of ${oracle.length} outputs`, () => {
      for (const row of oracle)
        expect(corpusScore(metric, [row]), JSON.stringify(row)).toBeCloseTo(row[name] ?? Number.NaN, 9);
    });
    it(`${name} of all is the mean`, () => {
      const mean = oracle.reduce((sum, row) => sum + (row[name] ?? Number.NaN), 0) / oracle.length;
      expect(corpusScore(metric, oracle)).toBeCloseTo(mean, 9);
      expect(corpusScore(metric, [])).toBeNaN();
    });
  }
});
