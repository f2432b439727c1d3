import { describe, expect, it } from 'vitest';
import type { RunFolder } from '../../src/runs/index.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { RunStatus, Share } from '../../src/shared/results.ts';
import {
  leaderboard,
  leaderboardCsv,
  leaderboardMarkdown,
  newestPerMode,
  pageHtml,
  rankedModels,
  resultsView,
  resumableGroup,
} from '../../src/study/index.ts';
import { sampleRun, sampleSummary, share } from '../runs/sample.ts';

interface Made {
  id: string;
  model?: string;
  folder?: string;
  file?: string;
  mode?: PromptMode;
  status?: RunStatus;
  group?: string;
  S?: Share | null;
}

/** A run as the store lists it; `S: null` is one without a summary. */
function made({
  id,
  model = 'm',
  folder = `/models/${model}`,
  file = '/b.yaml',
  mode = 'zero-shot',
  status = 'finished',
  group = 'g',
  S = share(5, 10),
}: Made): RunFolder {
  const run = sampleRun({ mode, group });
  const summary = sampleSummary(id, mode, { right: 0, inFormat: 0, n: 0 });
  return {
    folder: `/store/runs/${id}`,
    run: {
      ...run,
      id,
      created: `2026-01-01T00:00:${id.padStart(2, '0')}.000Z`,
      updated: '',
      status,
      model: { ...run.model, name: model, folder },
      benchmark: { ...run.benchmark, task: 'b', file },
    },
    summary: S && {
      ...summary,
      scores: { ...summary.scores, n: S.n, F: S, S, K: { ...S, unreliable: false }, L: S },
    },
  };
}

const newestFirst = (...runs: Made[]): RunFolder[] =>
  runs.map(made).sort((a, b) => (a.run.created < b.run.created ? 1 : -1));

describe('the leaderboard', () => {
  it('has the newest finished run per model × benchmark × mode', () => {
    const view = leaderboard(
      newestFirst(
        { id: '1' },
        { id: '2' },
        { id: '3', status: 'stopped' },
        { id: '4', mode: 'few-shot' },
        { id: '5', model: 'n' },
      ),
    );
    expect(view.cells.map(({ model, mode, cell }) => [model, mode, cell.run])).toEqual([
      ['m', 'zero-shot', '2'],
      ['m', 'few-shot', '4'],
      ['n', 'zero-shot', '5'],
    ]);
    expect(view.benchmarks).toEqual([{ task: 'b', file: '/b.yaml' }]);
  });

  it('keeps models and benchmarks of the same name apart', () => {
    const view = leaderboard(
      newestFirst(
        { id: '1', folder: '/a/m' },
        { id: '2', folder: '/b/m' },
        { id: '3', folder: '/a/m', file: '/other/b.yaml' },
      ),
    );
    expect(view.models.map(({ name }) => name)).toEqual(['m (a/m)', 'm (b/m)']);
    expect(view.benchmarks.map(({ task }) => task)).toEqual(['b (/b.yaml)', 'b (other/b.yaml)']);
    expect(view.cells).toHaveLength(3);
  });

  it('ranks ties as ties, with the ranks that the intervals allow', async () => {
    const of = (value: number, low: number, high: number): Share => ({ value, low, high, count: value * 100, n: 100 });
    const view = leaderboard(
      newestFirst(
        { id: '1', model: 'a', S: of(0.5, 0.4, 0.6) },
        { id: '2', model: 'b', S: of(0.9, 0.85, 0.95) },
        { id: '3', model: 'c', S: of(0.5, 0.4, 0.6) },
        { id: '4', model: 'd', S: of(0.45, 0.35, 0.55) },
        { id: '5', model: 'e', S: { ...of(0, 0, 1), value: null } },
      ),
    );
    const { models, drawn } = await rankedModels(view, { tasks: ['b'], mode: 'zero-shot', metric: 'S' }, null);
    expect(drawn).toBe('intervals');
    expect(
      models.flatMap(({ model, rank, likely }) => (rank === null ? [] : [[model, rank, likely?.low, likely?.high]])),
    ).toEqual([
      ['b', 1, 1, 1],
      ['a', 2, 2, 4],
      ['c', 2, 2, 4],
      ['d', 4, 2, 4],
    ]);
  });

  it('ranks by a metric of the benchmark file, the lowest first where lower is better', async () => {
    const measured = (id: string, model: string, value: number): RunFolder => {
      const folder = made({ id, model });
      const perplexity = { metric: 'perplexity', filter: 'none', value, standardError: 1, higherIsBetter: false, n: 9 };
      if (folder.summary) folder.summary.measures = [perplexity];
      return folder;
    };
    const view = leaderboard([
      measured('1', 'a', 20),
      measured('2', 'b', 10),
      measured('3', 'c', 11),
      made({ id: '4' }),
    ]);
    const ranked = { tasks: ['b'], mode: 'zero-shot' as const };
    for (const metric of ['perplexity', 'perplexity,none']) {
      const { models } = await rankedModels(view, { ...ranked, metric }, null);
      expect(
        models.flatMap(({ model, rank, likely }) => (rank === null ? [] : [[model, rank, likely?.low, likely?.high]])),
      ).toEqual([
        ['b', 1, 1, 2],
        ['c', 2, 1, 2],
        ['a', 3, 3, 3],
      ]);
    }
    expect(leaderboardCsv(view)).toMatch(/,LL_high,"perplexity,none","perplexity,none_stderr"\r\n.*,20,1\r\n/);
    expect(leaderboardMarkdown(view)).toMatch(/perplexity 20\.0000 ± 1\.0000 \|/);
  });

  it('is exported as CSV with every number, and as Markdown', () => {
    const view = leaderboard(
      newestFirst({ id: '1', model: 'a, "b" | c', S: { value: 0.5, low: 0.25, high: 0.75, count: 5, n: 10 } }),
    );
    expect(leaderboardCsv(view)).toBe(
      'benchmark,model,mode,run,n,F,F_low,F_high,S,S_low,S_high,K,K_low,K_high,L,L_low,L_high,LL,LL_low,LL_high\r\n' +
        'b,"a, ""b"" | c",zero-shot,1,10,0.5,0.25,0.75,0.5,0.25,0.75,0.5,0.25,0.75,0.5,0.25,0.75,,,\r\n',
    );
    expect(leaderboardMarkdown(view).split('\n')[2]).toBe(
      '| b | a, "b" \\| c | zero-shot | 10 | 50 % (25–75 %) | 50 % (25–75 %) | 50 % (25–75 %) | 50 % (25–75 %) | – |',
    );
  });
});

describe('a results page', () => {
  const of = { benchmarkFile: '/b.yaml', modelFolder: '/models/m' };

  it('shows the newest run per mode, but no empty one in place of one with results', () => {
    const runs = newestFirst(
      { id: '1' },
      { id: '2', status: 'failed', S: null },
      { id: '3', mode: 'soft-prompt' },
      { id: '4', mode: 'soft-prompt', status: 'running', S: null },
      { id: '5', mode: 'few-shot', status: 'failed', S: null },
      { id: '6', model: 'other' },
    );
    expect(newestPerMode(runs, of).map(({ run }) => run.id)).toEqual(['1', '5', '4']);
    const view = resultsView(runs, of, { tuning: () => [], done: () => 3 });
    expect(view?.title).toBe('b · m');
    expect(view?.columns.map(({ run, done, total }) => [run.mode, done, total])).toEqual([
      ['zero-shot', 3, 10],
      ['few-shot', 3, 10],
      ['soft-prompt', 3, 10],
    ]);
    expect(resultsView(runs, { group: 'none' }, { tuning: () => [], done: () => 0 })).toBeNull();
  });

  it('resumes the newest job with an unfinished run of these modes', () => {
    const runs = newestFirst(
      { id: '1', group: 'old', status: 'stopped' },
      { id: '2', group: 'new', status: 'failed' },
      { id: '3', group: 'done' },
      { id: '4', group: 'soft', mode: 'soft-prompt', status: 'stopped' },
    );
    expect(resumableGroup(runs, { ...of, modes: ['zero-shot', 'few-shot'] })).toBe('new');
    expect(resumableGroup(runs, { ...of, modes: ['few-shot'] })).toBeNull();
  });

  it('as one file keeps text that looks like markup from ending its elements', () => {
    const data = { text: '</script><script>alert(1)</script><!--' };
    const html = pageHtml({
      title: 'a < b',
      data,
      script: 'const a = "</script><!--";',
      style: 'a { content: "</style>" }',
    });
    expect(html.match(/<\/script>/g)).toHaveLength(2);
    expect(html.match(/<\/style>/g)).toHaveLength(1);
    expect(html).not.toContain('<!--');
    const embedded = /id="softbench-data">(.*?)<\/script>/.exec(html)?.[1] ?? '';
    expect(JSON.parse(embedded)).toEqual(data);
  });
});
