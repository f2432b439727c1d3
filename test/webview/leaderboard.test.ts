/** The leaderboard page: the grid, its keys, what is kept and exported, base and post-trained models, many models. */
import { describe, expect, it } from 'vitest';
import type { LeaderboardView } from '../../src/shared/protocol.ts';
import { artifacts, browserPath, type Session, themes, violations } from './browser.ts';
import { cellOf, harmonyView, largeView, mixedView } from './leaderboard-data.ts';
import { scriptedHost } from './scripted-host.ts';
import { testSession } from './session.ts';

const session = testSession({ pages: ['leaderboard'] });

const embedded = (view: LeaderboardView, state: unknown = null) => ({ page: 'leaderboard' as const, view, state });
type Page = Awaited<ReturnType<Session['open']>>['page'];

const modelsShown = (page: Page): Promise<string[]> => page.locator('.matrix-body .model-name').allTextContents();
const head = (page: Page, name: string) => page.getByRole('columnheader', { name, exact: false }).first();
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const cell = document.activeElement as HTMLElement;
    return `${cell.closest<HTMLElement>('[data-row]')?.dataset.row ?? 'head'} | ${cell.dataset.column}`;
  });

describe.skipIf(!browserPath)('the grid of the leaderboard', () => {
  for (const theme of themes)
    it(`has no accessibility violations, with its menus open: ${theme.name}`, async () => {
      const state = { besides: ['zero-shot'], groupBenchmarks: true, group: 'family', pairsOpen: true };
      const { page, problems } = await session.open('leaderboard', {
        data: embedded(mixedView(), state),
        theme,
        width: 1400,
      });
      await page.locator('.matrix .value').first().waitFor();
      expect(await violations(page)).toEqual([]);
      await page.locator('.view-menu > summary').click();
      await page.screenshot({ path: `${artifacts}/leaderboard-grid-${theme.name}.png` });
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
      await page.context().close();
    });

  it('tells measured, imported, predicted, running and missing cells apart in words and by glyphs', async () => {
    const { page, problems } = await session.open('leaderboard', { data: embedded(mixedView()), width: 1400 });
    await page.locator('.matrix .value').first().waitFor();
    const cell = (model: string, task: string) =>
      page.locator('.matrix-body .matrix-row', { hasText: model }).locator(`[data-column="task soft-prompt ${task}"]`);
    await expect.poll(() => cell('beta-2B', 'gsm8k').textContent()).toContain('imported');
    await expect.poll(() => cell('beta-2B', 'gsm8k').locator('svg').count()).toBe(1);
    await expect.poll(() => cell('beta-2B', 'gsm8k').getAttribute('title')).toContain('5 examples, measured here: 8');
    const predicted = cell('gamma-3B', 'mmlu_virology');
    await expect.poll(() => predicted.textContent()).toMatch(/^≈.*61.*predicted.*50–70/);
    await expect.poll(() => predicted.getAttribute('title')).toContain('predicted, not measured');
    await expect.poll(() => predicted.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('dashed');
    const running = cell('gamma-3B', 'gsm8k');
    await expect.poll(() => running.textContent()).toMatch(/55.*running.*40 \/ 200/);
    const measured = cell('alpha-1B-Instruct', 'gsm8k');
    expect(await measured.textContent()).not.toMatch(/imported|predicted|running/);
    // A model without all benchmarks has no rank, whatever is predicted for it.
    const row = page.locator('.matrix-body .matrix-row', { hasText: 'gamma-3B' });
    await expect.poll(() => row.locator('.rank-cell').first().textContent()).toContain('no rank');
    await expect.poll(() => row.locator('[data-column^="mean "]').textContent()).toContain('1 of 3');
    // Names are text, whatever they hold.
    await expect.poll(() => page.locator('.matrix b').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('goes by keys: arrows, Home, End, Enter sorts and opens, Delete hides; all of it is kept', async () => {
    const { page } = await session.open('leaderboard', { host: scriptedHost({ view: mixedView() }), width: 1400 });
    await page.locator('.matrix .value').first().waitFor();
    await page.locator('.matrix [tabindex="0"]').first().focus();
    await expect.poll(() => focused(page)).toBe('head | rank soft-prompt');
    await page.keyboard.press('End');
    await expect.poll(() => focused(page)).toBe('head | task soft-prompt mmlu_virology');
    await page.keyboard.press('Enter');
    await expect.poll(() => head(page, 'mmlu_virology').getAttribute('aria-sort')).toBe('descending');
    const descending = await modelsShown(page);
    await page.keyboard.press('Enter');
    await expect.poll(() => head(page, 'mmlu_virology').getAttribute('aria-sort')).toBe('ascending');
    const ascending = await modelsShown(page);
    // What is only predicted comes last either way.
    expect(descending.at(-1)).toBe('gamma-3B');
    expect(ascending).toEqual([...descending.slice(0, -1).reverse(), 'gamma-3B']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => focused(page)).toBe(`model ${ascending[0]} | task soft-prompt mmlu_law`);
    await page.keyboard.press('Enter');
    const opened = await page.evaluate(() => window.scripted.calls.filter(({ method }) => method === 'open'));
    expect(opened.map(({ argument }) => argument)).toEqual([
      { model: ascending[0], task: 'mmlu_law', mode: 'soft-prompt' },
    ]);
    await page.keyboard.press('Delete');
    await expect.poll(() => modelsShown(page)).toEqual(ascending.slice(1));
    await expect.poll(() => focused(page)).toBe(`model ${ascending[1]} | task soft-prompt mmlu_law`);
    await expect.poll(() => page.locator('.hidden-note').textContent()).toContain('1 model hidden');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Delete');
    await expect.poll(() => page.locator('.hidden-note').textContent()).toContain('1 benchmark hidden');
    // The page tells its host by a message: it may be there a moment after the key.
    await expect
      .poll(() => page.evaluate(() => window.scripted.state))
      .toEqual({
        sort: { column: 'task soft-prompt mmlu_virology', descending: false },
        hiddenModels: [ascending[0]],
        hiddenBenchmarks: ['mmlu_law'],
      });
    await page.locator('.hidden-note button').first().click();
    await expect.poll(() => modelsShown(page)).toHaveLength(5);
    // The same with the pointer.
    await page.locator('.matrix-body .matrix-row').nth(1).hover();
    await page.getByRole('button', { name: `Hide ${ascending[1]}`, exact: true }).click();
    await expect.poll(() => modelsShown(page)).toEqual(ascending.filter((_, at) => at !== 1));
    await expect.poll(() => focused(page)).toBe(`model ${ascending[2]} | model`);
    await page.context().close();
  });

  it('takes up what was kept, searches, groups, folds and shows modes side by side', async () => {
    const view = mixedView();
    const { page } = await session.open('leaderboard', {
      host: scriptedHost({
        view,
        state: { mode: 'few-shot', search: 'alpha', hiddenBenchmarks: ['gsm8k', 7], group: 9 },
      }),
      width: 1400,
    });
    await page.locator('.matrix .value').first().waitFor();
    await expect.poll(() => modelsShown(page)).toEqual(['alpha-1B-Instruct', 'alpha-1B']);
    await expect.poll(() => page.locator('.hidden-note').textContent()).toContain('3 models not found');
    await expect
      .poll(() => page.locator('.head-title').allTextContents())
      .toEqual(['Rank', 'Model', 'Mean', 'mmlu_law', 'mmlu_virology']);
    await page.locator('vscode-text-field input').fill('');
    await page.waitForFunction(() => document.querySelectorAll('.matrix-body .model-name').length === 5);
    await page.locator('.view-menu > summary').click();
    await page.getByLabel('by family').check();
    await expect.poll(() => page.locator('.model-group').allTextContents()).toHaveLength(4);
    await page.getByLabel('Group benchmarks by the first word').check();
    await page.getByRole('checkbox', { name: 'zero-shot' }).check();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('View');
    await page.getByRole('button', { name: 'mmlu' }).click();
    await expect
      .poll(() => page.locator('.head-title').allTextContents())
      .toEqual(['Rank', 'Model', 'Mean', 'Rank', 'Mean', 'mmlu (2)', 'mmlu (2)']);
    await page.locator('.model-group', { hasText: 'alpha' }).locator('[data-column]').click();
    expect(await modelsShown(page)).not.toContain('alpha-1B');
    await page.context().close();
  });

  it('shows the ranks that the host draws from items', async () => {
    const view = mixedView();
    const ranks = Object.fromEntries(view.models.map(({ name }, at) => [name, { low: at + 1, high: at + 3 }]));
    const { page } = await session.open('leaderboard', { host: scriptedHost({ view, ranks }), width: 1400 });
    await page.locator('.rank-cell .sub', { hasText: '1–3' }).waitFor();
    const [asked] = await page.evaluate(() => window.scripted.calls.filter(({ method }) => method === 'ranks'));
    expect(asked?.argument).toMatchObject({
      tasks: ['gsm8k', 'mmlu_law', 'mmlu_virology'],
      mode: 'soft-prompt',
      metric: 'S',
    });
    await expect.poll(() => page.locator('.note').first().textContent()).toContain('when the items are drawn again');
    await page.context().close();
  });

  it('is live without losing scroll, focus or order, and asks for ranks only where scores have changed', async () => {
    const view = largeView(120, 8);
    const { page } = await session.open('leaderboard', { host: scriptedHost({ view }), width: 1000, height: 600 });
    await page.locator('.matrix .value').first().waitFor();
    await page.evaluate(() => {
      const grid = document.querySelector('.matrix') as HTMLElement;
      grid.scrollTop = 1500;
      grid.scrollLeft = 200;
    });
    // Rows are drawn a frame after the scroll.
    const row = page.locator('.matrix [aria-rowindex="44"]');
    await row.locator('.score-cell').nth(4).click();
    await page.keyboard.press('ArrowDown');
    const scroll = () =>
      page.evaluate(() => {
        const grid = document.querySelector('.matrix') as HTMLElement;
        return [grid.scrollTop, grid.scrollLeft];
      });
    const scrolled = await scroll();
    expect(scrolled.every((at) => at > 0)).toBe(true);
    const before = await focused(page);
    const asked = () => page.evaluate(() => window.scripted.calls.filter(({ method }) => method === 'ranks').length);
    const times = await asked();
    const [first] = view.models;
    await page.evaluate((model) => {
      window.scripted.send('runningChanged', [
        { model, task: 'task_0', mode: 'few-shot', run: 'r', done: 3, total: 9, S: null },
      ]);
    }, first?.name);
    await page
      .locator('vscode-dropdown[aria-label="Prompt mode"] vscode-option', { hasText: 'few-shot' })
      .waitFor({ state: 'attached' });
    await expect.poll(() => asked()).toBe(times);
    await page.evaluate((data) => window.scripted.send('viewChanged', data), {
      ...view,
      models: [...view.models, { name: 'new', folder: '/new' }],
      cells: [
        ...view.cells,
        { model: 'new', task: 'task_1', mode: 'zero-shot', cell: cellOf('new', 'zero-shot', 0.9) },
      ],
    });
    await page.waitForFunction(() => document.querySelector('.matrix')?.getAttribute('aria-rowcount') === '122');
    await expect.poll(() => focused(page)).toBe(before);
    await expect.poll(() => scroll()).toEqual(scrolled);
    await page.context().close();
  });

  it('draws only the rows that are seen of 500 models × 50 benchmarks', async () => {
    const { page, problems } = await session.open('leaderboard', { data: embedded(largeView()), width: 1400 });
    await page.locator('.matrix .value').first().waitFor();
    const rows = () => page.locator('.matrix-body .matrix-row').count();
    expect(await rows()).toBeLessThan(60);
    await expect.poll(() => page.locator('.matrix').getAttribute('aria-rowcount')).toBe('501');
    await page.locator('.matrix [tabindex="0"]').first().focus();
    await page.keyboard.press('Control+End');
    await expect.poll(() => focused(page)).toMatch(/^model family.* \| task zero-shot task_49$/);
    await expect.poll(() => page.locator('.matrix [aria-rowindex="501"]').count()).toBe(1);
    expect(await rows()).toBeLessThan(60);
    // Scrolled out of sight, the focused cell is still there.
    await page.evaluate(() => {
      (document.querySelector('.matrix') as HTMLElement).scrollTop = 0;
    });
    await page.locator('.matrix [aria-rowindex="2"]').waitFor();
    await expect.poll(() => focused(page)).toMatch(/task_49$/);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

describe.skipIf(!browserPath)('exports of the leaderboard', () => {
  const saved = async (page: Page, label: string): Promise<{ format: string; name: string; content: string }> => {
    await page.locator('.export-menu > summary').click();
    await page.getByRole('button', { name: label }).click();
    await page.waitForFunction(() => window.scripted.calls.some(({ method }) => method === 'save'));
    return page.evaluate(() => {
      const { calls } = window.scripted;
      const at = calls.findIndex(({ method }) => method === 'save');
      return calls.splice(at, 1)[0]?.argument as { format: string; name: string; content: string };
    });
  };

  it('hold what is shown, in its order: CSV, Markdown, a picture, a web page in this state', async () => {
    const state = { search: 'a', hiddenModels: ['beta-2B'], sort: { column: 'model', descending: true } };
    const { page, problems } = await session.open('leaderboard', {
      host: scriptedHost({ view: mixedView(), state }),
      width: 1400,
    });
    await page.locator('.matrix .value').first().waitFor();
    const csv = await saved(page, 'CSV');
    expect(csv).toMatchObject({ format: 'csv', name: 'leaderboard-S-soft-prompt.csv' });
    const lines = csv.content.trimEnd().split('\r\n');
    expect(lines[0]).toBe(
      'Rank,Rank low,Rank high,model,Mean S,Mean low,Mean high,Mean origin,' +
        ['gsm8k', 'mmlu_law', 'mmlu_virology']
          .map((task) => `${task} S,${task} low,${task} high,${task} origin`)
          .join(','),
    );
    expect(lines.slice(1).map((line) => line.split(',')[3])).toEqual(['gamma-3B', 'alpha-1B-Instruct', 'alpha-1B']);
    expect(lines[1]).toMatch(/,0\.55,[\d.]+,[\d.]+,running,.*,measured,0\.61,0\.5,0\.7,predicted$/);
    const markdown = await saved(page, 'Markdown');
    expect(markdown.content).toContain('S · benchmark score, soft-prompt\n\n| Rank | model | Mean | gsm8k |');
    expect(markdown.content).toContain('61 % (50–70 %), predicted |');
    const picture = await saved(page, 'Picture');
    expect(Buffer.from(picture.content, 'base64').subarray(0, 8)).toEqual(
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    );
    const web = await saved(page, 'Web page');
    expect(JSON.parse(web.content)).toEqual(state);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('are downloads in a plain browser', async () => {
    const { page, problems } = await session.open('leaderboard', { data: embedded(mixedView()), width: 320 });
    await page.locator('.models').first().waitFor();
    await page.locator('.export-menu > summary').click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('leaderboard-S-soft-prompt.csv');
    await expect.poll(() => page.getByRole('button', { name: 'Web page' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

describe.skipIf(!browserPath)('base and post-trained models on the leaderboard', () => {
  it('have their rank correlations per benchmark and over all, a scatter, and the pairs as a table', async () => {
    const view = harmonyView();
    // The real scores, not those of a thousand items.
    const { page, problems } = await session.open('leaderboard', { host: scriptedHost({ view }), width: 1400 });
    const table = page.locator('table.correlations');
    await table.waitFor();
    const rowOf = (name: string) => table.locator('tr', { hasText: name }).allInnerTexts();
    const [gsm8k = ''] = await rowOf('gsm8k');
    expect(gsm8k).toMatch(/^gsm8k\s+24\s+0\.1\d \(−0\.\d\d to 0\.\d\d\).*0\.5\d \(/);
    const [averaged = ''] = await rowOf('Score averaged over 24 benchmarks');
    expect(averaged).toMatch(/24\s+0\.69 \(0\.\d\d to 0\.\d\d\).*0\.78 \(/);
    await expect.poll(() => page.locator('.scatter .marker').count()).toBe(48);
    await page.locator('.pair-table > summary').click();
    await expect.poll(() => page.locator('.pair-table tbody tr').count()).toBe(24);
    await page.locator('.pair-table vscode-button').first().click();
    const [edit] = await page.evaluate(() => window.scripted.calls.filter(({ method }) => method === 'editLink'));
    expect(edit?.argument).toEqual({ model: '01-ai/Yi-1.5-6B-Chat' });
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('are too few to say where there are three pairs, and say so; without any, how they are found', async () => {
    const view = harmonyView();
    view.links = view.links?.slice(0, 3);
    const state = { pairsOpen: true };
    const { page } = await session.open('leaderboard', { data: embedded(view, state), width: 320, height: 700 });
    await page.locator('table.correlations').waitFor();
    await expect.poll(() => page.locator('table.correlations').textContent()).toContain('too few pairs (3)');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    expect(await violations(page)).toEqual([]);
    await page.context().close();
    view.links = [];
    const none = await session.open('leaderboard', { data: embedded(view, state), width: 320, height: 700 });
    await none.page.locator('.pairs p', { hasText: 'No model here is known' }).waitFor();
    await none.page.context().close();
  });
});
