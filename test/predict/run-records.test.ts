import { describe, expect, it } from 'vitest';
import { readRecords } from '../../src/predict/index.ts';
import type { RunFolder } from '../../src/runs/index.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { RunFile, RunSummary } from '../../src/shared/results.ts';
import { type NewRun, sampleRun, sampleSummary, share } from '../runs/sample.ts';

function folder(
  id: string,
  model: string,
  mode: PromptMode,
  { run: change = {}, summary: more = {} }: { run?: Partial<RunFile>; summary?: Partial<RunSummary> } = {},
): RunFolder {
  const base = sampleRun({ mode } as Partial<NewRun>);
  return {
    folder: `/store/${id}`,
    run: {
      ...base,
      model: { ...base.model, name: model, folder: `/models/${model}` },
      id,
      created: '',
      updated: '',
      status: 'finished',
      ...change,
    },
    summary: { ...sampleSummary(id, mode, { right: 4, inFormat: 8, n: 10 }), ...more },
  };
}

describe('records of runs', () => {
  it('are F, S, K, L and the metrics of the benchmark file, each with the items behind it', async () => {
    const run = folder('1', 'SmolLM2-135M', 'zero-shot', {
      summary: {
        measures: [
          { metric: 'exact_match', filter: 'strict', value: 0.3, standardError: 0.1, higherIsBetter: true, n: 10 },
          { metric: 'perplexity', filter: 'none', value: 12, standardError: null, higherIsBetter: false, n: 10 },
        ],
      },
    });
    const { records, leftOut } = await readRecords({ runs: [run] }, { keepDerived: true });
    const { summary } = run;
    expect(records.map(({ metric, score, n, preferred }) => [metric, score, n, preferred])).toEqual([
      ['F', 0.8, 10, false],
      ['S', 0.4, 10, true],
      ['K', 0.5, 8, false],
      ['L', summary?.scores.L.value, summary?.scores.L.n, false],
      ['exact_match,strict', 0.3, 10, false],
    ]);
    expect(records[0]).toMatchObject({
      family: 'SmolLM2',
      model: 'SmolLM2-135M',
      parameters: { total: 135e6, nonEmbedding: null, flopMatched: null },
      task: run.run.benchmark.task,
      shots: run.run.settings.shots,
      mode: 'zero-shot',
      source: 'run',
    });
    expect(leftOut.map(({ reason }) => reason)).toEqual([
      'scores of "perplexity,none", a metric whose range is not known (a mapping file can say it)',
    ]);
  });

  it('have the newest run of a configuration, and say how many others there are', async () => {
    const newest = folder('2', 'SmolLM2-135M', 'zero-shot');
    const older = folder('1', 'SmolLM2-135M', 'zero-shot', {
      summary: sampleSummary('1', 'zero-shot', { right: 1, inFormat: 8, n: 10 }),
    });
    const { records, leftOut } = await readRecords({ runs: [newest, older] });
    expect(records.find(({ metric }) => metric === 'S')?.score).toBe(0.4);
    expect(leftOut.reduce((sum, { count }) => sum + count, 0)).toBe(records.length);
  });

  it('tell modes apart, and models of one name by their folders', async () => {
    const twin = folder('3', 'SmolLM2-135M', 'zero-shot');
    twin.run.model.folder = '/other/SmolLM2-135M';
    const runs = [folder('1', 'SmolLM2-135M', 'zero-shot'), folder('2', 'SmolLM2-135M', 'soft-prompt'), twin];
    const { records } = await readRecords({ runs });
    const ofS = records.filter(({ metric }) => metric === 'S');
    expect(ofS.map(({ mode }) => mode)).toEqual(['zero-shot', 'soft-prompt', 'zero-shot']);
    expect(new Set(ofS.map(({ model }) => model)).size).toBe(2);
    expect(new Set(ofS.map(({ family }) => family))).toEqual(new Set(['SmolLM2']));
  });

  it('are of what was scored: others are counted', async () => {
    const nothing = { ...share(0, 0) };
    const likelihoods = folder('5', 'SmolLM2-135M', 'zero-shot', {
      summary: {
        scores: {
          ...sampleSummary('5', 'zero-shot', { right: 4, inFormat: 8, n: 10 }).scores,
          F: nothing,
          S: nothing,
          K: { ...nothing, unreliable: true },
          L: nothing,
          LL: share(7, 10),
        },
      },
    });
    likelihoods.run.settings.generates = false;
    const group: RunFile['source'] = {
      kind: 'imported',
      tool: 'lm-eval',
      version: '0.4.13',
      file: '/results.json',
      digest: '',
      evaluated: null,
      group: ['a', 'b'],
    };
    const { records, leftOut } = await readRecords({
      runs: [
        folder('1', 'a', 'zero-shot', { run: { status: 'running' } }),
        folder('2', 'b', 'zero-shot', { run: { predictOnly: true } }),
        folder('3', 'c', 'zero-shot', { run: { source: group } }),
        likelihoods,
      ],
    });
    expect(records.map(({ metric, score, preferred }) => [metric, score, preferred])).toEqual([['LL', 0.7, true]]);
    expect(Object.fromEntries(leftOut.map(({ reason, count }) => [reason, count]))).toEqual({
      'runs that are not finished': 1,
      'runs whose outputs nobody has scored': 1,
      'aggregates of other records': 1,
    });
  });
});
