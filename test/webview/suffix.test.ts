/** Pages name a soft prompt that stands behind the text. */
import { describe, expect, it } from 'vitest';
import { browserPath } from './browser.ts';
import { leaderboardView, resultsData } from './data.ts';
import { testSession } from './session.ts';

const session = testSession();

describe.skipIf(!browserPath)('position: suffix', () => {
  it('stands in the score table, in the settings and in the prompt of an item', async () => {
    const data = resultsData(40);
    for (const { run } of data.view.columns) if (run.settings.softPrompt) run.settings.softPromptPosition = 'suffix';
    const { page, problems } = await session.open('results', { data });
    const row = page.locator('.grid-body .grid-row').first();
    await row.waitFor();
    await expect
      .poll(() => page.locator('table.scores').textContent())
      .toContain('soft-promptposition: suffix, behind the text');
    await expect
      .poll(() => page.locator('table.settings-table').textContent())
      .toContain('behind the text (position: suffix)');
    await page.locator('.grid-body .grid-row', { hasText: 'soft-prompt' }).first().click();
    const order = await page
      .locator('.text.prompt')
      .first()
      .evaluate((place) => [...place.children].map(({ className }) => className.split(' ')[0]));
    expect(order.at(-1)).toBe('soft-prompt-marker');
    expect(order.filter((name) => name === 'soft-prompt-marker')).toHaveLength(1);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('stands beside the model in the leaderboard', async () => {
    const view = leaderboardView();
    const [model] = view.models;
    for (const { mode, cell, ...of } of view.cells)
      if (mode === 'soft-prompt' && of.model === model?.name) cell.softPromptPosition = 'suffix';
    const { page, problems } = await session.open('leaderboard', {
      data: { page: 'leaderboard' as const, view },
      width: 320,
    });
    await page.locator('.models').first().waitFor();
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    const text = await page.locator('.models').allTextContents();
    expect(text.join()).toMatch(/suffix/);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
