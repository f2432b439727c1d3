import { describe, expect, it } from 'vitest';
import { gainInWords, pairedInWords, share } from '../../src/metrics/index.ts';
import type { TuningRecord } from '../../src/shared/results.ts';
import { bounds, percent, shareInWords } from '../../webview/format.ts';
import { codeBlock } from '../../webview/results/markdown.ts';
import { tuningInWords } from '../../webview/results/tuning-words.ts';
import { unfinishedInWords } from '../../webview/results/unfinished-words.ts';
import { sampleRun } from '../runs/sample.ts';

describe('figures', () => {
  it('has the digits that the interval supports, and a space that does not break', () => {
    expect(percent(share(61, 100))).toBe('61\u202f%');
    expect(bounds(share(61, 100))).toBe('51–70\u202f%');
    expect(percent(share(61_234, 100_000))).toBe('61.2\u202f%');
    expect(percent(share(0, 0))).toBe('–');
    expect(shareInWords(share(61, 100))).toBe('61 of 100 = 61\u202f%, 95 % interval 51–70\u202f%');
  });
});

describe('gains in words', () => {
  it('says where the knowledge of a mode is unknown', () => {
    const gain = { total: 0.15, format: 0.15, knowledge: 0, knowledgeMeasured: false };
    expect(gainInWords('zero-shot', 'soft-prompt', gain)).toBe(
      'soft-prompt scores 15.0 points more than zero-shot. One of the two has nothing in the required format, so its knowledge given format is unknown; all of the difference is counted as format.',
    );
  });

  it('names the larger part first', () => {
    expect(
      gainInWords('zero-shot', 'soft-prompt', {
        total: 0.575,
        format: 0.552,
        knowledge: 0.023,
        knowledgeMeasured: true,
      }),
    ).toBe('soft-prompt scores 57.5 points more than zero-shot: +55.2 from format, +2.3 from knowledge.');
    expect(
      gainInWords('zero-shot', 'few-shot', { total: -0.1, format: 0.02, knowledge: -0.12, knowledgeMeasured: true }),
    ).toContain('10.0 points less than zero-shot: −12.0 from knowledge, +2.0 from format');
  });
  it('says what the paired test says', () => {
    const paired = { n: 200, onlyA: 12, onlyB: 54, difference: 0.21, low: 0.135, high: 0.285, pValue: 1e-7 };
    expect(pairedInWords('few-shot', 'soft-prompt', paired)).toContain(
      '+21.0 points (95 % interval +13.5 to +28.5). 54 only soft-prompt has right, 12 only few-shot: a real difference',
    );
    // 66 of 200 differ: Connor's formula gives 11.3 points.
    expect(pairedInWords('few-shot', 'soft-prompt', { ...paired, pValue: 0.4 })).toContain(
      'no clear difference (exact McNemar test, p = 0.400). So many items show a difference of 11.3 points or more reliably',
    );
    expect(pairedInWords('few-shot', 'soft-prompt', paired, { comparisons: 2, corrected: 0.08 })).toContain(
      'no clear difference (exact McNemar test, p = 0.080, corrected for 2 comparisons (Holm)).',
    );
  });
});

describe('a tuning curve in words', () => {
  const validation = (step: number, F: number, K: number | null, best: boolean): TuningRecord => ({
    schema: 1,
    kind: 'validation',
    step,
    n: 100,
    F,
    S: F * (K ?? 0),
    K,
    loss: 1,
    best,
  });
  it('tells format that saturates from knowledge that stays', () => {
    const words = tuningInWords([
      validation(0, 0.1, 0.5, true),
      validation(10, 0.92, 0.52, true),
      validation(20, 0.97, 0.53, true),
    ]);
    expect(words).toContain('F goes from 10\u202f% to 97\u202f% by step 20');
    expect(words).toContain('passes 90 % at step 10');
    expect(words).toContain('K stays about the same');
  });
  it('does not call a real change of knowledge flat', () => {
    expect(tuningInWords([validation(0, 0.5, 0.2, true), validation(10, 0.99, 0.9, true)])).toContain(
      'K changes by +70',
    );
  });
  it('says nothing of K where too few outputs were in the format to measure it', () => {
    expect(tuningInWords([validation(0, 0, null, true), validation(10, 0.9, 0.5, true)])).not.toContain('K');
  });
  it('says when tuning did not help, and when there is nothing yet', () => {
    expect(tuningInWords([validation(0, 0.9, 0.5, true), validation(10, 0.1, 0.5, false)])).toContain(
      'No step did better',
    );
    expect(tuningInWords([])).toBe('No validation yet.');
  });
});

describe('Markdown', () => {
  it('fences a text by more backticks than it holds', () => {
    expect(codeBlock('a ```` b')).toBe('`````text\na ```` b\n`````');
  });
});

describe('unfinished runs in words', () => {
  const words = (status: 'stopped' | 'failed', message: string | null, done: number, step: number): string => {
    const file = { ...structuredClone(sampleRun()), id: 'r', created: '', updated: '', status };
    file.settings.softPrompt = {
      vectors: 10,
      steps: 80,
      batchSize: 8,
      learningRate: 0.03,
      init: 'vocabulary',
      seed: 0,
      validateEvery: 10,
      validationItems: 32,
    };
    const run = message === null ? file : { ...file, message };
    const tuning = (step === 0 ? [] : [{ kind: 'step', step }]) as TuningRecord[];
    return unfinishedInWords({ run, label: 'soft-prompt', done, total: 24, tuning });
  };

  it('say how far the tuning came, or how many items are done', () => {
    expect(words('stopped', 'Stopped. Finished items and steps are kept; run it again to resume.', 0, 10)).toBe(
      'soft-prompt was stopped while its soft prompt was tuned, after step 10 of 80. Finished items and steps are kept; run it again to resume.',
    );
    expect(words('stopped', 'Stopped.', 7, 80)).toBe(
      'soft-prompt was stopped after 7 of 24 items. Finished items are kept.',
    );
    expect(words('stopped', null, 0, 80)).toBe('soft-prompt was stopped after 0 of 24 items. Finished items are kept.');
  });

  it('keep what a failure says', () => {
    expect(words('failed', 'The disk is full.', 0, 0)).toBe(
      'soft-prompt failed after 0 of 24 items. The disk is full.',
    );
  });
});
