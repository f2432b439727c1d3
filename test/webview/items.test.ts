import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { artifacts, browserPath, violations } from './browser.ts';
import { resultsData } from './data.ts';
import { scriptedHost } from './scripted-host.ts';
import { testSession } from './session.ts';

const session = testSession({ timeout: 120_000 });

const field = (page: Page) => page.locator('.filter-input');
const rows = (page: Page) => page.locator('.grid-body .grid-row');
const count = (page: Page) => page.locator('.count');
const options = (page: Page) => page.locator('#filter-options [role=option]');
const settled = { timeout: 20_000 };
const open = async (host = false, width = 1200): Promise<{ page: Page; problems: string[] }> => {
  const data = resultsData(60);
  const opened = await session.open('results', host ? { host: scriptedHost(data), width } : { data, width });
  await rows(opened.page).first().waitFor();
  return opened;
};

describe.skipIf(!browserPath)('the item table', () => {
  it('completes the filter by keyboard, says what is wrong where it stands, and is a combobox to a screen reader', async () => {
    const { page, problems } = await open();
    await page.keyboard.press('/');
    await page.keyboard.type('ca');
    await expect.poll(() => options(page).allTextContents(), settled).toEqual([expect.stringContaining('cause:')]);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => field(page).getAttribute('aria-activedescendant')).toBe('filter-option-0');
    await page.keyboard.press('Enter');
    await expect.poll(() => field(page).inputValue()).toBe('cause:');
    await page.locator('#filter-options', { hasText: 'ran on' }).waitFor();
    await expect.poll(() => options(page).filter({ hasText: 'ran on' }).textContent()).toMatch(/\d+ rows/);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.type('ran');
    await expect.poll(() => options(page).count(), settled).toBe(1);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => options(page).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Tab');
    await expect.poll(() => field(page).inputValue()).toBe('cause:"ran on" ');
    await expect.poll(() => count(page).textContent(), settled).toMatch(/^\d+ of 180 outputs$/);
    await page.keyboard.type('colour:red');
    await page.locator('.filter-errors', { hasText: 'Column 16' }).waitFor();
    await expect.poll(() => page.locator('.filter-mirror mark').textContent()).toBe('colour:red');
    await expect.poll(() => field(page).getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => field(page).getAttribute('aria-describedby')).toBe('filter-errors');
    expect(await violations(page)).toEqual([]);
    await page.screenshot({ path: `${artifacts}/results-filter.png` });
    // Escape closes what is open, and nothing else.
    await page.keyboard.press('Control+Space');
    await page.keyboard.press('Escape');
    await expect.poll(() => field(page).getAttribute('aria-expanded')).toBe('false');
    expect(problems).toEqual([]);
    await page.context().close();
  }, 120_000);

  it('shows what changed between two runs by one choice', async () => {
    const { page } = await open();
    const changes = page.locator('vscode-dropdown[aria-label="Change between runs"]');
    await changes.click();
    await changes.locator('vscode-option', { hasText: 'zero-shot → soft-prompt: wrong → right' }).click();
    await expect.poll(() => field(page).inputValue()).toBe('gained:zero-shot..soft-prompt');
    await expect.poll(() => count(page).textContent(), settled).toMatch(/^\d+ of 180 outputs$/);
    const shown = await rows(page).locator('.cell-run').allTextContents();
    expect(new Set(shown)).toEqual(new Set(['zero-shot', 'soft-prompt']));
    await page.context().close();
  });

  it('keeps filters by name and those used last, for all pages of the workspace', async () => {
    const { page } = await open(true);
    const saved = page.locator('vscode-button', { hasText: 'Saved filters' });
    await field(page).fill('format:no');
    await saved.click();
    await page.locator('.popover input').fill('Not in the format');
    await page.keyboard.press('Enter');
    await page.locator('.picks', { hasText: 'Not in the format' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.screenshot({ path: `${artifacts}/results-saved-filters.png` });
    await page.keyboard.press('Escape');
    await page.locator('vscode-button', { hasText: 'Clear' }).click();
    await expect.poll(() => count(page).textContent(), settled).toBe('180 outputs');
    await saved.click();
    await page.locator('.pick', { hasText: 'Not in the format' }).click();
    await expect.poll(() => field(page).inputValue()).toBe('format:no');
    await expect
      .poll(() => page.evaluate(() => JSON.stringify(window.scripted.state)), settled)
      .toContain('"shared":{"filters":{"saved":[{"name":"Not in the format","text":"format:no"}]');
    await saved.click();
    await page.locator('vscode-button[aria-label="Delete the filter Not in the format"]').click();
    await expect.poll(() => page.locator('.picks', { hasText: 'Not in the format' }).count()).toBe(0);
    await page.context().close();
  });

  it('shows the columns that were chosen and that fit, and sorts by any of them', async () => {
    const { page } = await open(true);
    const heads = () => page.locator('.grid-head [role=columnheader]').allTextContents();
    expect(await heads()).not.toContain('Stop');
    await page.locator('vscode-button', { hasText: 'Columns' }).click();
    await page.getByLabel('Stop', { exact: true }).check();
    await page.getByLabel('Gold', { exact: true }).uncheck();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => heads()).toEqual(expect.arrayContaining(['Item', 'Stop', 'Output']));
    expect(await heads()).not.toContain('Gold');
    await page.locator('.cell-tokens .head-button').click();
    await page.locator('.cell-tokens .head-button').click();
    await expect.poll(() => page.locator('.grid-head .cell-tokens').getAttribute('aria-sort')).toBe('descending');
    const tokens = (await rows(page).locator('.cell-tokens').allTextContents()).map((text) =>
      Number(text.replace(/\D/g, '')),
    );
    expect(tokens).toEqual([...tokens].sort((a, b) => b - a));
    await expect
      .poll(() => page.evaluate(() => JSON.stringify(window.scripted.state)), settled)
      .toContain('"sorting":{"key":"tokens","descending":true}');
    const state = await page.evaluate(() => window.scripted.state);
    const again = await session.open('results', { host: scriptedHost({ ...resultsData(60), state }) });
    await rows(again.page).first().waitFor();
    await expect.poll(() => again.page.locator('.grid-head [role=columnheader]').allTextContents()).toContain('Stop');
    await again.page.setViewportSize({ width: 520, height: 800 });
    await expect
      .poll(() => again.page.locator('.grid-head [role=columnheader]').allTextContents(), settled)
      .toEqual(['Item', 'Run', 'Verdict', 'Output']);
    await page.context().close();
    await again.page.context().close();
  });

  it('filters by a click on a cause in the bars of a run', async () => {
    const { page } = await open();
    const segment = page.locator('.cause-segment[title^="zero-shot, ran on"]');
    const said = await segment.getAttribute('title');
    await segment.click();
    await expect.poll(() => field(page).inputValue()).toBe('mode:zero-shot cause:"ran on"');
    const n = /: (\d+) of/.exec(said ?? '')?.[1];
    await expect.poll(() => count(page).textContent(), settled).toBe(`${n} of 180 outputs`);
    await page.context().close();
  });
});

describe.skipIf(!browserPath)('controls', () => {
  it('are used by keyboard: a choice opens, moves, seeks by letters, takes and closes', async () => {
    const { page } = await open();
    const mode = page.locator('vscode-dropdown[aria-label="Mode"]');
    await mode.focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => mode.getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await expect.poll(() => field(page).inputValue()).toBe('mode:soft-prompt');
    await expect.poll(() => mode.getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('f');
    await page.keyboard.press('Enter');
    await expect.poll(() => field(page).inputValue()).toBe('mode:few-shot');
    await page.keyboard.press('Home');
    await page.keyboard.press('Escape');
    await expect.poll(() => field(page).inputValue()).toBe('mode:few-shot');
    await expect.poll(() => mode.locator('.dropdown-shown').textContent()).toBe('few-shot');
    const clear = page.locator('vscode-button', { hasText: 'Clear' });
    await clear.focus();
    await page.keyboard.press('Space');
    await expect.poll(() => field(page).inputValue()).toBe('');
    await page.context().close();
  });
});
