import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tokens13a } from '../../src/metrics/translation/bleu.ts';
import { bleu, type CorpusMetric, chrf, chrfPlusPlus, corpusScore, ter } from '../../src/metrics/translation/index.ts';
import { translationEdits } from '../../src/metrics/translation/ter.ts';

/** Figures of sacrebleu (make/translation.py). */
const oracle: {
  corpora: (Record<string, number> & { outputs: never; references: never })[];
  edits: [string[], string[], number][];
  tokens: [string, string[]][];
} = JSON.parse(readFileSync(new URL('translation.json', import.meta.url), 'utf8'));

describe('translation metrics are those of sacrebleu', () => {
  const metrics: Record<string, CorpusMetric> = { bleu, chrf, 'chrf++': chrfPlusPlus, ter };
  for (const [name, metric] of Object.entries(metrics))
    it(`${name} on ${oracle.corpora.length} corpora`, () => {
      for (const corpus of oracle.corpora) {
        const { outputs, references } = corpus as unknown as { outputs: string[]; references: string[][] };
        const pairs = outputs.map((output, at) => ({ output, references: references[at] ?? [] }));
        expect(corpusScore(metric, pairs), JSON.stringify(outputs).slice(0, 100)).toBeCloseTo(
          corpus[name] ?? Number.NaN,
          9,
        );
      }
    });
  it('13a tokens', () => {
    for (const [line, tokens] of oracle.tokens) expect(tokens13a(line), line).toEqual(tokens);
  });
  it('edits with moves, against Tercom’s rules', () => {
    for (const [output, reference, edits] of oracle.edits)
      expect(translationEdits(output, reference), `${output.join(' ')} | ${reference.join(' ')}`).toBe(edits);
  });
  it('has no score without outputs', () => {
    expect(corpusScore(bleu, [])).toBeNaN();
  });
});
