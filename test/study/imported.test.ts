/** Imported runs on the leaderboard: beside measured ones, marked, and never as the same model. */
import { describe, expect, it } from 'vitest';
import { rankModels } from '../../src/metrics/index.ts';
import type { RunFolder } from '../../src/runs/index.ts';
import type { RunFile } from '../../src/shared/results.ts';
import { leaderboard, leaderboardCsv, leaderboardMarkdown } from '../../src/study/index.ts';
import { sampleRun, sampleSummary } from '../runs/sample.ts';

function folder(id: string, change: Partial<RunFile>): RunFolder {
  const run: RunFile = {
    ...sampleRun(),
    ...change,
    id,
    created: `2026-01-01T00:00:${id.padStart(2, '0')}.000Z`,
    updated: '',
    status: 'finished',
  };
  const summary = sampleSummary(id, run.mode, { right: 5, inFormat: 8, n: 10 });
  return { folder: `/store/runs/${id}`, run, summary };
}

const measured = (id: string, name: string, file = '/bench/who.yaml'): RunFolder =>
  folder(id, {
    model: { ...sampleRun().model, name, folder: `/models/${name}` },
    benchmark: { ...sampleRun().benchmark, task: 'who', file },
  });

const imported = (id: string, name: string, mark: string, settings: Partial<RunFile['settings']> = {}): RunFolder =>
  folder(id, {
    model: { ...sampleRun().model, name, folder: `imported:lm-eval/hf/${name}@${mark}` },
    benchmark: { ...sampleRun().benchmark, task: 'who', file: 'imported:who' },
    settings: { ...sampleRun().settings, ...settings },
    source: { kind: 'imported', tool: 'lm-eval', version: '0.4.13', file: '/r.json', digest: id, evaluated: null },
  });

describe('an imported run', () => {
  it('stands beside measured runs of the one benchmark of its name, as another model', () => {
    const view = leaderboard([
      measured('3', 'org/m'),
      imported('2', 'org/m', '0badcafe'),
      imported('1', 'x', '12345678'),
    ]);
    expect(view.benchmarks).toEqual([{ task: 'who', file: '/bench/who.yaml' }]);
    expect(view.models.map(({ name }) => name)).toEqual(['org/m', 'org/m (imported)', 'x']);
    expect(view.cells.map(({ model, task, cell }) => [model, task, cell.imported?.words])).toEqual([
      ['org/m', 'who', undefined],
      ['org/m (imported)', 'who', 'imported from lm-evaluation-harness 0.4.13'],
      ['x', 'who', 'imported from lm-evaluation-harness 0.4.13'],
    ]);
    expect(rankModels(view, { tasks: ['who'], mode: 'zero-shot', metric: 'S' })).toHaveLength(3);
  });

  it('stands alone where two benchmark files have its task name', () => {
    const view = leaderboard([
      measured('3', 'a', '/a/who.yaml'),
      measured('2', 'a', '/b/who.yaml'),
      imported('1', 'x', '1'),
    ]);
    expect(view.benchmarks.map(({ file }) => file).sort()).toEqual(['/a/who.yaml', '/b/who.yaml', 'imported:who']);
  });

  it('is told apart from another one of the same name', () => {
    const view = leaderboard([imported('2', 'x', '0badcafe'), imported('1', 'x', '12345678')]);
    expect(view.models.map(({ name }) => name)).toEqual(['x (imported 0badcafe)', 'x (imported 12345678)']);
  });

  it('says in which settings it differs from what was measured', () => {
    const other = imported('1', 'x', '1', {
      generation: { ...sampleRun().settings.generation, maxNewTokens: 256, temperature: 1 },
      chat: {
        template: { name: '', source: 's', digest: 'd', specialTokens: {} },
        systemInstruction: null,
        fewshotAsMultiturn: false,
      },
      limit: 4,
    });
    const view = leaderboard([measured('3', 'm'), other]);
    expect(view.cells.find(({ model }) => model === 'x')?.cell.imported?.differences).toEqual([
      '4 items, measured here: 10 items',
      'a chat template, measured here: plain prompts',
      'sampled outputs, measured here: greedy outputs',
      'at most 256 new tokens, measured here: at most 16 new tokens',
    ]);
    expect(leaderboard([measured('3', 'm'), imported('1', 'x', '1')]).cells[1]?.cell.imported?.differences).toEqual([]);
  });

  it('is marked in tables', () => {
    const view = leaderboard([measured('3', 'm'), imported('1', 'x', '1')]);
    expect(leaderboardMarkdown(view)).toContain('| x (imported from lm-evaluation-harness 0.4.13) |');
    const [head = '', first = '', second = ''] = leaderboardCsv(view).split('\r\n');
    expect(head.endsWith(',origin')).toBe(true);
    expect(first.endsWith(',measured')).toBe(true);
    expect(second.endsWith(',imported from lm-evaluation-harness 0.4.13')).toBe(true);
    // Where nothing was imported the table is what it was.
    expect(leaderboardCsv(leaderboard([measured('3', 'm')]))).not.toContain('origin');
  });
});
