/** Results on a terminal: the metrics of the benchmark file, and runs in which nothing was generated. */
import { describe, expect, it } from 'vitest';
import { type ModeOutcome, modeJson, resultLines } from '../../src/cli/tables.ts';
import { printable, table } from '../../src/cli/terminal.ts';
import { formatFigure, headline, metricTitle } from '../../src/metrics/index.ts';
import { likelihoodsOnlyNote } from '../../src/shared/likelihood-words.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { ItemRecord, MetricScore } from '../../src/shared/results.ts';
import { sampleItem, sampleRun, sampleSummary, share } from '../runs/sample.ts';

const score = (metric: string, filter: string, value: number, standardError: number | null): MetricScore => ({
  metric,
  filter,
  value,
  standardError,
  higherIsBetter: metric !== 'perplexity',
  n: 10,
});

function outcome(mode: PromptMode, measures: MetricScore[]): ModeOutcome {
  const run = { ...sampleRun({ mode }), id: mode, created: '', updated: '', status: 'finished' as const };
  return { run, summary: { ...sampleSummary(mode, mode, { right: 4, inFormat: 8, n: 10 }), measures }, items: [] };
}

/** As if only the likelihoods of items had been measured, right where `right` says so. */
function likelihoods(mode: PromptMode, right: boolean[]): ModeOutcome {
  const { run, summary } = outcome(mode, [score('perplexity', 'none', 12.5, 0.25)]);
  const nothing = share(0, 0);
  const items = right.map(
    (greedy, index): ItemRecord => ({
      ...sampleItem(index, ''),
      lenientRight: false,
      cause: null,
      generated: false,
      likelihoods: [{ sum: -1, tokens: 1, greedy }],
    }),
  );
  const scores = {
    ...summary.scores,
    F: nothing,
    S: nothing,
    K: { ...nothing, unreliable: true },
    L: nothing,
    LL: share(right.filter(Boolean).length, right.length),
    constant: null,
    commonest: null,
    causes: {},
  };
  return {
    run: { ...run, settings: { ...run.settings, generates: false } },
    summary: { ...summary, scores },
    items,
  };
}

describe('the table of results', () => {
  it('has the metrics of the benchmark file by filter and mode, with standard errors', () => {
    const lines = resultLines([
      outcome('zero-shot', [score('exact_match', 'strict-match', 0.125, 0.0123), score('bleu', 'none', 3.5, null)]),
      outcome('few-shot', [score('exact_match', 'strict-match', 0.5, 0.05)]),
    ]);
    const at = lines.findIndex((line) => line.startsWith('metric of the file'));
    expect(lines.slice(at, at + 3).map((line) => line.split(/ {2,}/))).toEqual([
      ['metric of the file', 'zero-shot', 'few-shot'],
      ['exact_match (strict-match)', '↑', '0.1250 ± 0.0123', '0.5000 ± 0.0500'],
      ['bleu', '↑', '3.5000', '–'],
    ]);
  });

  it('has no F, S, K and L where nothing was generated, says why, and compares likelihoods', () => {
    const lines = resultLines([
      likelihoods('zero-shot', [true, false, false]),
      likelihoods('few-shot', [true, true, false]),
    ]);
    expect(lines.find((line) => line.startsWith('mode'))?.split(/ {2,}/)).toEqual(['mode', 'LL likelihood', 'time']);
    expect(lines).toContain(likelihoodsOnlyNote);
    expect(lines.at(-1)).toMatch(/^few-shot against zero-shot: LL \+33\.3 points .* only few-shot right on 1 items/);
    expect(lines.join('\n')).not.toMatch(/Format failures|NaN|null/);
  });

  it('gives programs the keys of lm-evaluation-harness', () => {
    const json = modeJson(outcome('zero-shot', [score('exact_match', 'strict-match', 0.125, null)]));
    expect(json.results).toEqual({ 'exact_match,strict-match': 0.125, 'exact_match_stderr,strict-match': 'N/A' });
  });
});

describe('figures in words', () => {
  it('one of a run: S, else LL, else the first metric', () => {
    const { summary } = outcome('zero-shot', []);
    expect(headline({ scores: { ...summary.scores, S: share(5, 10) } })).toMatch(/^50 %$/);
    const { summary: compared } = likelihoods('zero-shot', [true, false]);
    expect(headline(compared)).toMatch(/^LL 50 %$/);
    expect(headline({ ...compared, scores: { ...compared.scores, LL: null } })).toBe('perplexity 12.5000');
    expect(headline({ scores: { ...compared.scores, LL: null } })).toBe('–');
  });
  it('of any size', () => {
    expect([0.12345, 1234.56, 12_345_678.9, null].map(formatFigure)).toEqual(['0.1235', '1234.6', '1.235e+7', '–']);
    expect(metricTitle({ metric: 'acc', filter: 'none' })).toBe('acc');
  });
});

describe('text out of files of others', () => {
  it('commands no terminal: control characters are shown, line breaks only outside of cells', () => {
    expect(printable('a\u001b[2J\u0007\u009bb\r\nc\td é🎉')).toBe('a\uFFFD[2J\uFFFD\uFFFDb\uFFFD\nc\td é🎉');
    expect(
      table([
        ['model', 'n'],
        ['x\n\u001b[31my', '1'],
      ]),
    ).toEqual(['model     n', 'x\uFFFD\uFFFD[31my  1']);
  });
});
