import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { largestPage, pageSizes } from '../../scripts/sizes.mjs';
import { pageHtml as exportedPage } from '../../src/study/report.ts';
import { artifacts, browserPath, themes, violations } from './browser.ts';
import { leaderboardView, modeResult, resultsData } from './data.ts';
import { scriptedHost } from './scripted-host.ts';
import { testSession } from './session.ts';

const session = testSession();

const rows = (page: Page) => page.locator('.grid-body .grid-row');
const ready = (page: Page) => rows(page).first().waitFor();
const filter = (page: Page) => page.locator('.filter-input');
const countText = (page: Page) => page.locator('.count').textContent();
const type = async (page: Page, text: string): Promise<void> => {
  await filter(page).fill(text);
  await page.waitForTimeout(150);
};

describe('bundles', () => {
  it('stay small: each page under 450 KB minified, script and style together', async () => {
    const sizes = await pageSizes();
    expect(sizes.map(({ page }) => page)).toEqual(expect.arrayContaining(['results', 'leaderboard']));
    for (const { page, bytes, parts } of sizes) {
      expect(bytes, page).toBeLessThan(largestPage);
      // The list of what is in it accounts for nearly all of it.
      expect(parts.reduce((sum, part) => sum + part.bytes, 0)).toBeGreaterThan(0.95 * bytes);
    }
    expect(session.bundles.scripts.leaderboard.bytes).toBeLessThan(session.bundles.scripts.results.bytes);
  });
});

describe.skipIf(!browserPath)('results page', () => {
  for (const theme of themes)
    it(`has no accessibility violations and no errors: ${theme.name}`, async () => {
      const { page, problems } = await session.open('results', { data: resultsData(120), theme });
      await ready(page);
      await page.screenshot({ path: `${artifacts}/results-${theme.name}.png`, fullPage: true });
      await rows(page).nth(1).click();
      await page.locator('.part-question').waitFor();
      await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true;
      });
      await page.screenshot({ path: `${artifacts}/results-detail-${theme.name}.png`, fullPage: true });
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
      await page.context().close();
    });

  it('shows the figures of the summaries', async () => {
    const data = resultsData(120);
    const { page } = await session.open('results', { data });
    await ready(page);
    const table = await page.locator('table.scores').textContent();
    // No decimals: the intervals are ten points wide.
    for (const { summary } of data.view.columns) {
      const { F, S } = summary?.scores ?? {};
      for (const share of [F, S]) expect(table).toContain(`${Math.round(100 * (share?.value ?? 0))}\u202f%`);
    }
    expect(table).toContain('always “18”');
    await expect.poll(() => page.locator('#gains-heading').isVisible()).toBe(true);
    // How the learning rate came about stands below the curve, and the number in the settings.
    const tuning = await page.locator('section:has(#tuning-heading)').textContent();
    expect(tuning).toContain('Learning rate 0.03, chosen by the held-out loss after 6 steps: 0.01 → 2.02');
    expect(tuning).toContain('0.09 → diverged');
    await expect.poll(() => page.locator('details.settings').textContent()).toContain('learning rate 0.03,');
    await page.context().close();
  });

  it('shows hostile text as text: nothing runs, nothing is hidden, 1 MB stays usable', async () => {
    const { page, problems } = await session.open('results', { data: resultsData(20) });
    await ready(page);
    for (const index of [3, 4, 5, 6]) {
      await type(page, `mode:zero-shot item:${index}`);
      await rows(page).first().click();
      await page.locator(`.detail h3:has-text("Item ${index}")`).waitFor();
      const shown = await page.locator('pre.output').textContent();
      if (index === 3) expect(shown).toContain('<script>window.hacked=1</script>␛[31mred␛[0m␀');
      if (index === 4) expect(shown).toContain('⟨U+202E⟩evil⟨U+202C⟩');
      if (index === 5) expect(shown).toMatch(/more characters/);
      if (index === 6) expect(shown).toContain('שלום עולם');
    }
    await expect.poll(() => page.locator('main img, main script').count()).toBe(0);
    expect(await page.evaluate(() => window.hacked)).toBeUndefined();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('filters by text, by dropdown and by the breakdown, with one truth', async () => {
    const { page } = await session.open('results', { data: resultsData(120) });
    await ready(page);
    await expect.poll(() => countText(page)).toBe('360 outputs');
    await type(page, 'mode:zero-shot');
    await expect.poll(() => countText(page)).toBe('120 of 360 outputs');
    await page.locator('vscode-dropdown[aria-label="Cause"]').click();
    await page.locator('vscode-dropdown[aria-label="Cause"] vscode-option', { hasText: 'ran on' }).click();
    await expect.poll(() => filter(page).inputValue()).toBe('cause:"ran on" mode:zero-shot');
    const { records } = modeResult('zero-shot', 120);
    const ranOn = records.filter(({ cause }) => cause === 'ran on').length;
    await expect.poll(() => countText(page)).toBe(`${ranOn} of 360 outputs`);
    await page.locator('vscode-button', { hasText: 'Clear' }).click();
    await expect.poll(() => countText(page)).toBe('360 outputs');
    await page.locator('.cell-button', { hasText: 'zero-shot, ran on' }).click();
    await expect.poll(() => countText(page)).toBe(`${ranOn} of 360 outputs`);
    await expect
      .poll(() =>
        page.locator('vscode-dropdown[aria-label="Mode"]').evaluate((each) => (each as HTMLSelectElement).value),
      )
      .toBe('zero-shot');
    await type(page, 'mode:zero');
    await expect.poll(() => page.locator('#filter-errors').textContent()).toContain('“zero” is not a value of “mode”');
    await page.context().close();
  });

  it('shows a prompt by its parts: one marker for the soft prompt, notes apart', async () => {
    const { page } = await session.open('results', { data: resultsData(20) });
    await ready(page);
    await type(page, 'mode:soft-prompt item:2');
    await rows(page).first().click();
    await page.locator('.part-question').waitFor();
    await expect
      .poll(() => page.locator('.soft-prompt-marker').allTextContents())
      .toEqual(['soft prompt: 10 learned vectors']);
    await expect
      .poll(() => page.locator('.prompt-note').textContent())
      .toBe('The benchmark file has changed since this run.');
    await expect.poll(() => page.locator('.prompt .part').count()).toBe(1);
    await page.context().close();
  });

  it('works by keyboard alone', async () => {
    const { page } = await session.open('results', { data: resultsData(120) });
    await ready(page);
    await page.keyboard.press('/');
    await page.keyboard.type('mode:zero-shot cause:"ran on"');
    await page.waitForTimeout(150);
    await page.keyboard.press('Enter');
    const heading = page.locator('.detail h3');
    const first = await heading.textContent();
    await page.keyboard.press('j');
    await expect.poll(() => heading.textContent()).not.toBe(first);
    await page.keyboard.press('k');
    await expect.poll(() => heading.textContent()).toBe(first);
    await expect.poll(() => page.locator('[role=grid]').getAttribute('aria-activedescendant')).toBe('row-0');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('detail');
    await page.keyboard.press('j');
    await expect.poll(() => heading.textContent()).not.toBe(first);
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('detail');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.detail-place').isVisible()).toBe(false);
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('grid');
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    await page.context().close();
  });

  it('goes from one difference between the modes to the next', async () => {
    const data = resultsData(60);
    const { page } = await session.open('results', { data });
    await ready(page);
    const verdictOf = ({ inFormat, right, lenientRight }: (typeof data.items)[string][number]): string =>
      [inFormat, right, lenientRight].join();
    const differing = Array.from({ length: 60 }, (_, index) => index).filter(
      (index) => new Set(Object.values(data.items).map((records) => verdictOf(records[index] as never))).size > 1,
    );
    const shown = async (): Promise<number> =>
      Number(/\d+/.exec((await page.locator('.detail h3').textContent()) ?? '')?.[0]);
    await page.locator('[role=grid]').focus();
    for (const expected of differing.slice(0, 4)) {
      await page.keyboard.press('n');
      await expect.poll(shown).toBe(expected);
    }
    await page.keyboard.press('p');
    await expect.poll(shown).toBe(differing[2]);
    await page.context().close();
  });

  it('draws only what is seen of a long table', async () => {
    const data = resultsData(4000);
    data.details = [];
    const { page } = await session.open('results', { data });
    await ready(page);
    await expect.poll(() => countText(page)).toBe('12,000 outputs');
    expect(await rows(page).count()).toBeLessThan(80);
    await page.locator('.grid').evaluate((grid) => {
      grid.scrollTop = grid.scrollHeight;
    });
    await expect.poll(() => rows(page).last().locator('.cell-item').textContent()).toBe('3999');
    await page.context().close();
  });

  it('draws its charts again when the theme changes', async () => {
    const { page } = await session.open('results', { data: resultsData(60) });
    await ready(page);
    const picture = () =>
      page
        .locator('canvas')
        .first()
        .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    const light = await picture();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(picture).not.toBe(light);
    const dark = await picture();
    // the editor changes its variables on <html style> without any media query
    await page.evaluate(() => document.documentElement.style.setProperty('--vscode-charts-blue', 'rgb(255, 0, 255)'));
    await expect.poll(picture).not.toBe(dark);
    await page.context().close();
  });

  it('takes live updates without losing scroll, selection or filter', async () => {
    const full = modeResult('zero-shot', 300);
    const started = modeResult('zero-shot', 300, 150);
    const data = { ...resultsData(300, []), items: { [full.result.run.id]: started.records } };
    data.view.columns = [started.result];
    data.view.job = { phase: 'evaluating', message: 'Evaluating zero-shot', fraction: 0.5, secondsLeft: 70 };
    const { page, problems } = await session.open('results', { host: scriptedHost(data) });
    await ready(page);
    await expect
      .poll(() => page.locator('.job').textContent())
      .toMatch(/Evaluating zero-shot\s*50\u202f% · about 1 min left/);
    await type(page, 'format:no');
    const before = await countText(page);
    await rows(page).nth(8).click();
    await page.locator('.grid').evaluate((grid) => {
      grid.scrollTop = 500;
    });
    await page.waitForTimeout(100);
    const top = () => page.evaluate(() => document.querySelector('.grid')?.scrollTop);
    const itemsAt = () => page.locator('.items-section').evaluate((section) => section.getBoundingClientRect().top);
    await page.locator('.items-section h2').evaluate((heading) => heading.scrollIntoView());
    expect(await page.evaluate(() => window.scrollY)).toBeGreaterThan(0);
    const at = await itemsAt();
    // Another column, another line in each table above.
    await page.evaluate((view) => window.scripted.send('viewChanged', view), {
      ...data.view,
      columns: [started.result, ...resultsData(10).view.columns.slice(1)],
    });
    await expect.poll(() => page.locator('table.scores tbody tr').count()).toBeGreaterThan(1);
    await page.waitForTimeout(500);
    expect(Math.abs((await itemsAt()) - at)).toBeLessThan(1);
    await page.evaluate((view) => window.scripted.send('viewChanged', view), data.view);
    await expect.poll(() => page.locator('table.scores tbody tr').count()).toBe(1);
    const heading = await page.locator('.detail h3').textContent();
    await page.evaluate(({ run, items }) => window.scripted.send('itemsAdded', { run, from: 140, items }), {
      run: full.result.run.id,
      items: full.records.slice(140, 200),
    });
    await expect.poll(() => countText(page)).not.toBe(before);
    await expect.poll(() => top()).toBe(500);
    await expect.poll(() => page.locator('.detail h3').textContent()).toBe(heading);
    await expect.poll(() => filter(page).inputValue()).toBe('format:no');
    await type(page, '');
    await expect.poll(() => countText(page)).toBe('200 outputs');
    // the end: the page asks for what it has not been told
    await page.evaluate(
      ({ view, run, items }) => {
        window.scripted.data.items[run] = items;
        window.scripted.send('viewChanged', view);
      },
      { view: { ...data.view, job: null, columns: [full.result] }, run: full.result.run.id, items: full.records },
    );
    await expect.poll(() => countText(page), { timeout: 10_000 }).toBe('300 outputs');
    await expect.poll(() => page.locator('.job').isVisible()).toBe(false);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('asks the editor to stop, to resume, to open a source line, to copy and to keep its state', async () => {
    const data = resultsData(40);
    data.view.job = { phase: 'tuning', message: 'Tuning: step 3 of 80', fraction: null, secondsLeft: null };
    const { page } = await session.open('results', { host: scriptedHost(data) });
    await ready(page);
    await page.locator('vscode-button', { hasText: 'Stop' }).click();
    await page.evaluate((view) => window.scripted.send('viewChanged', view), {
      ...data.view,
      job: null,
      problem: 'The worker ended without an answer.',
    });
    await page.locator('.banner', { hasText: 'The worker ended' }).waitFor();
    await page.locator('vscode-button', { hasText: 'Resume' }).click();
    await rows(page).nth(2).click();
    await page.locator('vscode-button[aria-label^="Open the line"]').click();
    await page.locator('vscode-button[aria-label="Copy as Markdown"]').click();
    await page.locator('.toast', { hasText: 'Copied' }).waitFor();
    // the state follows a moment after the selection
    await expect.poll(() => page.evaluate(() => JSON.stringify(window.scripted.state))).toContain('"selected":"0');
    const calls = await page.evaluate(() => window.scripted.calls);
    const called = (method: string) => calls.find((call) => call.method === method)?.argument;
    expect(calls.map(({ method }) => method)).toEqual(expect.arrayContaining(['stop', 'resume']));
    expect(called('openSource')).toEqual({ file: '/benchmarks/data/test.jsonl', line: 1 });
    expect((called('copy') as { text: string }).text).toContain('### gsm8k, item 0');
    const state = await page.evaluate(() => window.scripted.state);
    // shown again with that state, the same item is open
    const again = await session.open('results', { host: scriptedHost({ ...data, state }) });
    await again.page.locator('.detail h3', { hasText: 'Item 0' }).waitFor();
    await page.context().close();
    await again.page.context().close();
  });

  it('says what is wrong when the results cannot be read, and tries again', async () => {
    const data = resultsData(20);
    const host = `${scriptedHost(data)}window.scripted.fail.view = 'The run folder is gone.';`;
    const { page } = await session.open('results', { host });
    await page.locator('.banner.error', { hasText: 'The run folder is gone.' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.evaluate(() => {
      window.scripted.fail = {};
    });
    await page.locator('vscode-button', { hasText: 'Try again' }).click();
    await ready(page);
    await page.context().close();
  });

  it('opens from the one file that an export writes, under its policy of hashes', async () => {
    const html = exportedPage({
      title: 'gsm8k',
      data: resultsData(30),
      script: session.bundles.scripts.results.text,
      style: session.bundles.styles.results,
    });
    const { page, problems } = await session.openFile('exported.html', html);
    await ready(page);
    await expect.poll(() => countText(page)).toBe('90 outputs');
    await rows(page).first().click();
    await page.locator('.part-question').waitFor();
    // nothing of it needs the editor
    await expect.poll(() => page.locator('vscode-button', { hasText: /Stop|Resume/ }).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('says what is wrong with a file whose data is damaged', async () => {
    const parts = { title: 'x', script: session.bundles.scripts.results.text, style: session.bundles.styles.results };
    const { page } = await session.openFile(
      'damaged.html',
      exportedPage({ ...parts, data: { page: 'leaderboard', view: {} } }),
    );
    await page.locator('[role=alert]', { hasText: 'is for the page “leaderboard”' }).waitFor();
    await page.context().close();
  });

  it('says what to do where there is nothing yet', async () => {
    const { page } = await session.open('results', { data: resultsData(0, []) });
    await page.locator('text=No results yet').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
});

describe.skipIf(!browserPath)('leaderboard page', () => {
  const data = { page: 'leaderboard' as const, view: leaderboardView() };
  for (const theme of themes)
    it(`has no accessibility violations in a narrow panel: ${theme.name}`, async () => {
      const { page, problems } = await session.open('leaderboard', { data, theme, width: 320, height: 640 });
      await page.locator('.row').first().click();
      await page.screenshot({ path: `${artifacts}/leaderboard-${theme.name}.png` });
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
      expect(problems).toEqual([]);
      await page.context().close();
    });

  it('ranks by benchmark, mode and metric, keeps the choice, and opens results', async () => {
    const { page } = await session.open('leaderboard', { host: scriptedHost(data), width: 320, height: 640 });
    await page.locator('.row').first().waitFor();
    await page.locator('vscode-dropdown[aria-label="Benchmark"]').click();
    await page.locator('vscode-dropdown[aria-label="Benchmark"] vscode-option', { hasText: 'gsm8k' }).click();
    await page.locator('button.row').first().click();
    const calls = await page.evaluate(() => window.scripted.calls);
    expect(calls.find(({ method }) => method === 'open')?.argument).toEqual({
      model: 'SmolLM2-135M-Instruct',
      task: 'gsm8k',
      mode: 'soft-prompt',
    });
    await expect.poll(() => page.evaluate(() => window.scripted.state)).toEqual({ task: 'gsm8k' });
    await page.context().close();
  });

  it('says what to do where nothing has been run, by buttons', async () => {
    const view = { benchmarks: [], models: [], cells: [] };
    const { page } = await session.open('leaderboard', { host: scriptedHost({ view }), width: 320, height: 640 });
    await page.locator('vscode-button', { hasText: 'Open the examples' }).click();
    await page.screenshot({ path: `${artifacts}/leaderboard-empty.png` });
    const calls = await page.evaluate(() => window.scripted.calls);
    expect(calls.find(({ method }) => method === 'runCommand')?.argument).toEqual({ command: 'openExamples' });
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
});
