/** Runs of several models on one page: their names, what makes them incomparable, and the figures of the comparison. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ComparisonWarning } from '../../src/shared/protocol.ts';
import { artifacts, browserPath, themes, violations } from './browser.ts';
import { modeResult, type ResultsData } from './data.ts';
import { scriptedHost } from './scripted-host.ts';
import { testSession } from './session.ts';

const session = testSession({ timeout: 60_000 });

/** Three runs in one mode: of two models, one of them with fewer items. */
function compared(): ResultsData {
  const runs = [
    { id: 'a', label: 'SmolLM2 · 2026-05-01', n: 120 },
    { id: 'b', label: 'SmolLM2 · 2026-05-03', n: 120 },
    { id: 'c', label: 'stories260k <b>', n: 80 },
  ].map(({ id, label, n }, at) => {
    const { result, records } = modeResult(at === 0 ? 'zero-shot' : 'few-shot', n);
    const run = { ...result.run, id, mode: 'zero-shot' as const };
    return { column: { ...result, run, label, total: n, done: n }, records };
  });
  const values = (...each: string[]) => each.map((value, at) => ({ run: runs[at]?.column.run.id ?? '', value }));
  const warnings: ComparisonWarning[] = [
    {
      severity: 'incomparable',
      what: 'Prompts',
      sentence: 'The benchmark file has changed in what is asked of the model.',
      values: values('prompts 1', 'prompts 1', 'prompts <i>2</i>'),
    },
    {
      severity: 'care',
      what: 'Items',
      sentence: 'Paired figures use the items that both have.',
      values: values('120 items', '120 items', '80 items'),
    },
    {
      severity: 'care',
      what: 'Version',
      sentence: 'The runs were made by different versions.',
      values: values('0.1', '0.1', '0.2'),
    },
  ];
  return {
    page: 'results',
    view: {
      title: 'gsm8k · 3 runs compared',
      benchmark: { task: 'gsm8k', file: '/benchmarks/gsm8k.yaml' },
      model: { name: 'SmolLM2, stories260k', folder: '' },
      columns: runs.map(({ column }) => column),
      warnings,
      job: null,
      problem: null,
    },
    items: Object.fromEntries(runs.map(({ column, records }) => [column.run.id, records])),
    details: [],
  };
}

describe.skipIf(!browserPath)('runs compared on a page', { timeout: 60_000 }, () => {
  it('are named by what tells them apart; what makes them incomparable stands first', async () => {
    const { page, problems } = await session.open('results', { data: compared() });
    await page.locator('.grid-body .grid-row').first().waitFor();
    await expect.poll(() => page.locator('h2').first().textContent()).toBe('Runs compared');
    const [alert, note] = await page.locator('.comparability').all();
    await expect.poll(() => alert?.getAttribute('role')).toBe('alert');
    await expect.poll(() => alert?.locator('p').textContent()).toBe('These runs are not comparable: prompts.');
    await expect.poll(() => note?.locator('p').textContent()).toBe('Compare these runs with care: items, version.');
    await alert?.locator('summary').click();
    await expect
      .poll(() => alert?.locator('tbody td').allTextContents())
      .toEqual([
        'prompts 1',
        'prompts 1',
        'prompts <i>2</i>',
        'The benchmark file has changed in what is asked of the model.',
      ]);
    // Two of one mode do not look alike.
    const swatches = await page
      .locator('table.scores tbody .swatch')
      .evaluateAll((all) => all.map((each) => each.className));
    expect(new Set(swatches.slice(0, 3)).size).toBe(3);
    const heads = await page.locator('table.scores thead th').allTextContents();
    expect(heads[0]).toBe('Run');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('are filtered by name, and compared on the items that both have, with all figures', async () => {
    const { page } = await session.open('results', { data: compared() });
    await page.locator('.grid-body .grid-row').first().waitFor();
    await page.locator('.filter-bar input').fill('run:"stories260k <b>"');
    await expect.poll(() => page.locator('.count').first().textContent()).toBe('80 of 320 outputs');
    const sentences = await page.locator('ul.sentences li').allTextContents();
    expect(sentences).toHaveLength(2);
    expect(sentences[0]).toContain('On the 120 items of both');
    expect(sentences[1]).toContain('On the 80 items of both');
    expect(sentences[1]).toContain('corrected for 2 comparisons (Holm)');
    await page.locator('summary', { hasText: 'Figures of the paired comparison' }).click();
    await expect
      .poll(() => page.locator('table.comparison thead th').allTextContents())
      .toEqual(['against SmolLM2 · 2026-05-01', 'SmolLM2 · 2026-05-03', 'stories260k <b>']);
    const figures = await page
      .locator('table.comparison tbody th')
      .evaluateAll((all) => all.map((each) => each.firstChild?.textContent));
    expect(figures).toEqual([
      'Items',
      'Only base',
      'Only this',
      'Difference',
      '95 % interval',
      'Paired bootstrap',
      'McNemar p',
      'Holm p',
      'Detectable',
    ]);
    await expect
      .poll(() => page.locator('table.comparison tbody tr').first().locator('td').allTextContents())
      .toEqual(['120', '80']);
    await expect
      .poll(() => page.locator('table.costs thead th').allTextContents())
      .toEqual(['Run', 'Evaluation', 'Items/s', 'Tokens in', 'Tokens out', 'Peak memory']);
    await page.context().close();
  });

  it.each(themes)('has no accessibility violations: $name', async (theme) => {
    const { page, problems } = await session.open('results', { data: compared(), theme });
    await page.locator('.grid-body .grid-row').first().waitFor();
    for (const summary of await page.locator('.comparability summary, section summary').all()) await summary.click();
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.screenshot({ path: join(artifacts, `compared-${theme.name}.png`), fullPage: true });
    await page.context().close();
  });

  it('asks the editor to save the page, and comes back to the base and the place where it was left', async () => {
    const data = compared();
    const { page } = await session.open('results', { host: scriptedHost(data) });
    await page.locator('.grid-body .grid-row').first().waitFor();
    await page.locator('vscode-button[aria-label="Save as HTML page"]').click();
    await expect.poll(() => page.evaluate(() => window.scripted.calls.map(({ method }) => method))).toContain('share');
    const choice = page.locator('vscode-dropdown[aria-label="Run to compare with"]');
    await choice.click();
    await choice.locator('vscode-option', { hasText: 'stories260k' }).click();
    await page.evaluate(() => window.scrollTo(0, 300));
    await expect
      .poll(() => page.evaluate(() => window.scripted.state as { base?: string; scroll?: number } | null))
      .toMatchObject({ base: 'stories260k <b>', scroll: 300 });
    const state = await page.evaluate(() => window.scripted.state);
    const again = await session.open('results', { host: scriptedHost({ ...data, state }) });
    await again.page.locator('ul.sentences', { hasText: 'stories260k <b>' }).waitFor();
    await expect.poll(() => again.page.evaluate(() => window.scrollY)).toBe(300);
    await page.context().close();
    await again.page.context().close();
  });
});
