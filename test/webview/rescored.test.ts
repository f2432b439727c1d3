/** Pages say of a run that it was scored again, that its outputs were not scored, and that its seconds are not the model's. */
import { describe, expect, it } from 'vitest';
import { browserPath } from './browser.ts';
import { resultsData } from './data.ts';
import { testSession } from './session.ts';

const session = testSession();

describe.skipIf(!browserPath)('the results page', () => {
  it('names the run that was re-scored, and marks times that are not what the model takes', async () => {
    const data = resultsData(40, ['zero-shot', 'few-shot']);
    const [zero, few] = data.view.columns;
    if (!zero || !few?.summary) throw new Error('The data has two modes.');
    zero.run.rescoredFrom = '20260101-120000-sums-tiny-zero-shot';
    few.summary.responses = { cached: 30, computed: 10 };
    const { page, problems } = await session.open('results', { data });
    const scores = page.locator('table.scores');
    await scores.waitFor();
    const text = await scores.textContent();
    expect(text).toContain('re-scored from 20260101-120000-sums-tiny-zero-shot');
    expect(text).toContain('of the run it was re-scored from');
    expect(text).toContain('75 % from the cache');
    await expect.poll(() => page.locator('table.settings-table').textContent()).toContain('75 % from the cache');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('shows outputs that nobody has scored as such, without figures and verdicts', async () => {
    const data = resultsData(40, ['zero-shot']);
    const [mode] = data.view.columns;
    if (!mode) throw new Error('The data has a mode.');
    mode.run.predictOnly = true;
    for (const record of data.items[mode.run.id] ?? [])
      Object.assign(record, { scored: false, inFormat: false, right: false, lenientRight: false, cause: null });
    const { page, problems } = await session.open('results', { data });
    const row = page.locator('.grid-body .grid-row').first();
    await row.waitFor();
    await expect.poll(() => page.locator('table.scores').textContent()).toContain('not scored: outputs only');
    expect(await page.locator('table.scores tbody').textContent()).not.toContain('%');
    await expect.poll(() => row.textContent()).toContain('not scored');
    await expect.poll(() => page.locator('.grid-body .verdict-icon:not(.verdict-unscored)').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
