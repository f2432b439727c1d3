/** Imported results on the pages: an icon and a word, where they come from, and no way to a file that is not there. */
import { describe, expect, it } from 'vitest';
import type { RunSource } from '../../src/shared/results.ts';
import { browserPath } from './browser.ts';
import { leaderboardView, resultsData } from './data.ts';
import { testSession } from './session.ts';

const session = testSession();

const source: RunSource = {
  kind: 'imported',
  tool: 'lm-eval',
  version: '0.4.13',
  file: '/data/results_2026.json',
  digest: 'd',
  evaluated: '2026-01-02T03:04:05.000Z',
};

describe.skipIf(!browserPath)('imported results', () => {
  it('are marked in the head of their page, which has no benchmark file to open', async () => {
    const data = resultsData(40, ['zero-shot', 'few-shot']);
    data.view.benchmark.file = 'imported:gsm8k';
    for (const { run } of data.view.columns) {
      run.source = source;
      run.provider = { asked: '', running: '', reason: '', threads: 0 };
      run.benchmark.file = 'imported:gsm8k';
    }
    const { page, problems } = await session.open('results', { data });
    await page.locator('.grid-body .grid-row').first().waitFor();
    const mark = page.locator('header .imported-mark');
    await expect.poll(() => mark.textContent()).toBe('imported');
    await expect.poll(() => mark.locator('svg').count()).toBe(1);
    await expect.poll(() => page.getByRole('button', { name: 'Open the benchmark file' }).count()).toBe(0);
    await expect
      .poll(() => page.locator('details.settings summary').textContent())
      .toContain('imported from lm-evaluation-harness 0.4.13');
    await expect.poll(() => page.locator('table.settings-table').textContent()).toContain('/data/results_2026.json');
    expect(await page.locator('table.settings-table').textContent()).not.toContain('Asked for');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('are marked in the leaderboard, by icon and word, with what was different', async () => {
    const view = leaderboardView();
    const [model] = view.models;
    for (const { cell, ...of } of view.cells)
      if (of.model === model?.name)
        cell.imported = {
          words: 'imported from lm-evaluation-harness 0.4.13',
          differences: ['5 examples, measured here: 8 examples'],
        };
    view.benchmarks = view.benchmarks.slice(0, 1);
    view.cells = view.cells.filter(({ task }) => task === view.benchmarks[0]?.task);
    const { page, problems } = await session.open('leaderboard', {
      data: { page: 'leaderboard' as const, view },
      width: 320,
    });
    await page.locator('.models').first().waitFor();
    const marks = page.locator('.imported-mark');
    await expect.poll(() => marks.count()).toBe(1);
    await expect.poll(() => marks.first().textContent()).toBe('imported');
    await expect.poll(() => marks.first().locator('svg').count()).toBe(1);
    const text = (await page.locator('.models').allTextContents()).join();
    expect(text).toContain('run otherwise: 5 examples, measured here: 8 examples');
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
