import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { pageHtml as exportedPage } from '../../src/study/report.ts';
import { artifacts, browserPath, themes, violations } from './browser.ts';
import { emptyPredictorView, partialSmallBench, predictorView } from './predictor-data.ts';
import { calls, scriptedHost } from './scripted-host.ts';
import { testSession } from './session.ts';

const session = testSession({ pages: ['predictor'] });

const ready = (page: Page) => page.locator('.fit-table tbody tr').first().waitFor();
const openLive = async (view = predictorView(), state: unknown = null) => {
  const opened = await session.open('predictor', { host: scriptedHost({ view, state, items: {}, details: [] }) });
  return opened;
};
const settled = (page: Page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(null))));

describe.skipIf(!browserPath)('predictor page', () => {
  for (const theme of themes)
    it(`has no accessibility violations and no errors: ${theme.name}`, async () => {
      const view = predictorView();
      // Rows of a table are alike: a few of them tell axe as much as hundreds.
      for (const split of view.fit?.splits ?? []) split.points.splice(40);
      const { page, problems } = await session.open('predictor', {
        host: scriptedHost({ view, items: {}, details: [] }),
        theme,
      });
      await ready(page);
      await settled(page);
      await page.screenshot({ path: `${artifacts}/predictor-${theme.name}.png`, fullPage: true });
      await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true;
      });
      await page.locator('#map table').waitFor();
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
      await page.context().close();
    });

  it('stays within a narrow tab', async () => {
    const { page, problems } = await session.open('predictor', {
      host: scriptedHost({ view: predictorView(), items: {}, details: [] }),
      width: 420,
    });
    await ready(page);
    await page.screenshot({ path: `${artifacts}/predictor-narrow.png`, fullPage: true });
    // Charts take their width a moment after they are drawn.
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth))
      .toBeLessThanOrEqual(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('shows the predictor beside the baseline, with deviations, ceiling, coverage, and says where neither helps', async () => {
    const { page } = await openLive();
    await ready(page);
    const cells = (row: number) => page.locator('.fit-table tbody tr').nth(row).locator('th, td').allTextContents();
    await expect
      .poll(() => cells(0))
      .toEqual([
        'L1random',
        'best combination',
        '0.940 ± 0.004',
        '2.50 ± 0.30',
        '0.955',
        '90.5\u202f% in ±\u202f9.6',
        '10',
      ]);
    expect((await cells(1)).slice(1, 4)).toEqual(['model + task', '0.868 ± 0.007', '3.75 ± 0.33']);
    await expect.poll(() => page.locator('.fit-table').textContent()).toContain('It needs at least two groups');
    const warnings = await page.locator('#fit .warnings').textContent();
    expect(warnings).toContain('family (leave one family out): the model + task baseline does as well');
    expect(warnings).toContain('the 90 % intervals hold 71\u202f% of 576 scores. They are too narrow here');
    expect(warnings).toContain('There are 8 groups only');
    await page.context().close();
  });

  for (const width of [1000, 1200])
    it(`shows all columns of its tables without scrolling: ${width} pixels`, async () => {
      const { page } = await session.open('predictor', {
        host: scriptedHost({ view: predictorView(), items: {}, details: [] }),
        width,
      });
      await ready(page);
      await settled(page);
      const hidden = await page
        .locator('#fit .scroll-x, #small-bench .scroll-x')
        .evaluateAll((all) => all.map((each) => each.scrollWidth - each.clientWidth));
      expect(hidden.length).toBe(2);
      expect(Math.max(...hidden)).toBeLessThanOrEqual(0);
      await page.context().close();
    });

  it('does not judge intervals by a handful of scores', async () => {
    const view = predictorView();
    for (const { fits } of view.fit?.splits ?? [])
      for (const fit of fits) fit.coverage = { share: 1, n: 12, reach: 0.2 };
    const { page } = await openLive(view);
    await ready(page);
    await expect.poll(() => page.locator('#fit .fit-table').textContent()).toContain('100.0\u202f%');
    expect(await page.locator('#fit .warnings').textContent()).not.toContain('intervals');
    await page.context().close();
  });

  it('says how many records are used, from where, and what was left out for which reason', async () => {
    const { page } = await openLive();
    await ready(page);
    await expect
      .poll(() => page.locator('header').textContent())
      .toContain('576 records of 32 models in 8 families on 18 tasks.');
    const records = await page.locator('#records').textContent();
    expect(records).toContain('35 records left out:');
    expect(records).toContain('aggregates of other records32bbh, …');
    expect(records).toContain('There is no column "score".');
    await page.locator('#records vscode-button[aria-label="Remove old.csv"]').click();
    await expect.poll(() => calls(page, 'removeFile')).toEqual([{ path: '/home/somebody/records/old.csv' }]);
    await page.context().close();
  });

  it('shows what is hostile as text', async () => {
    const { page, problems } = await openLive();
    await ready(page);
    await page.locator('vscode-button', { hasText: 'Show all 18 tasks' }).click();
    await expect.poll(() => page.locator('#hardest').textContent()).toContain('onerror');
    await expect
      .poll(() => page.locator('.subtasks').textContent())
      .toContain('<img src=x onerror="window.hacked=1">⟨U+202E⟩');
    await expect.poll(() => page.locator('main img').count()).toBe(0);
    expect(await page.evaluate(() => window.hacked)).toBeUndefined();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('marks points by model, family or task, and has them in a table, furthest off first', async () => {
    const { page } = await openLive();
    await ready(page);
    await page.locator('#scatter vscode-text-field input').fill('pythia');
    await expect.poll(() => page.locator('#scatter .note').textContent()).toContain('72 records marked by triangles.');
    await page.locator('#scatter summary').click();
    const models = await page.locator('#scatter tbody th').allTextContents();
    expect(models.length).toBe(72);
    expect(models.every((name) => name.startsWith('Pythia'))).toBe(true);
    const differences = (await page.locator('#scatter tbody td:last-child').allTextContents()).map((text) =>
      Math.abs(Number(text.replace('−', '-'))),
    );
    expect(differences).toEqual([...differences].sort((a, b) => b - a));
    // The table stays open when the split changes.
    await page.locator('#scatter vscode-dropdown').click();
    await page.locator('#scatter vscode-option', { hasText: 'L4' }).click();
    await expect
      .poll(() => page.locator('#scatter details').evaluate((each) => (each as HTMLDetailsElement).open))
      .toBe(true);
    await expect
      .poll(() => page.evaluate(() => window.scripted.state))
      .toMatchObject({
        scatter: { split: 'L4', search: 'pythia' },
      });
    await page.context().close();
  });

  it('names a point where the pointer is', async () => {
    const { page } = await openLive();
    await ready(page);
    await settled(page);
    const canvas = page.locator('#scatter canvas');
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    if (!box) throw new Error('no chart');
    const picture = () => canvas.evaluate((each) => (each as HTMLCanvasElement).toDataURL());
    const before = await picture();
    let changed = false;
    // Points crowd along the diagonal.
    for (let part = 0.3; part < 0.9 && !changed; part += 0.01) {
      await page.mouse.move(box.x + part * box.width, box.y + (0.95 - part) * box.height);
      changed = (await picture()) !== before;
    }
    await settled(page);
    await page.screenshot({ path: `${artifacts}/predictor-tooltip.png` });
    expect(changed).toBe(true);
    await page.context().close();
  });

  it('exports the list that is chosen, copies it, and keeps the choice', async () => {
    const { page } = await openLive();
    await ready(page);
    await expect.poll(() => page.locator('.subtasks li').count()).toBe(12);
    await page.locator('.list-button', { hasText: 'show' }).nth(1).click();
    await expect.poll(() => page.locator('.chosen-list h3').textContent()).toBe('The small bench of 4 tasks');
    await expect.poll(() => page.locator('.subtasks li').count()).toBe(4);
    // The button that was pressed keeps the focus, though the table was drawn again.
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-key'))).toBe('list 4');
    await page.locator('vscode-button', { hasText: 'Export as group file' }).click();
    await expect.poll(() => calls(page, 'exportSmallBench')).toEqual([{ budget: 4 }]);
    await page.locator('vscode-button', { hasText: 'Copy the list' }).click();
    await expect
      .poll(() => calls(page, 'copy'))
      .toEqual([{ text: `${predictorView().smallBench?.curve[1]?.subtasks.join('\n')}\n` }]);
    await expect.poll(() => page.evaluate(() => window.scripted.state)).toMatchObject({ smallBench: { budget: 4 } });
    await page.context().close();
  });

  it('starts, shows progress and the best so far, stops; a hidden and reloaded page is as it was', async () => {
    const view = { ...predictorView(), smallBench: null };
    const { page } = await openLive(view, { scatter: { split: 'L4', search: 'opt' }, smallBench: { budget: 2 } });
    await ready(page);
    await expect.poll(() => page.locator('#scatter vscode-text-field input').inputValue()).toBe('opt');
    await page.locator('#small-bench vscode-button', { hasText: 'Search a small bench' }).click();
    await expect.poll(() => calls(page, 'start')).toEqual([{ task: 'smallBench' }]);
    await page.evaluate(
      (best) =>
        window.scripted.send('workChanged', {
          task: 'smallBench',
          message: 'greedy: 3 of 12 tasks',
          fraction: 0.25,
          smallBench: best,
        }),
      partialSmallBench(),
    );
    await page.locator('.job', { hasText: 'greedy: 3 of 12 tasks' }).waitFor();
    await expect.poll(() => page.locator('.progress').getAttribute('aria-valuenow')).toBe('25');
    await expect.poll(() => page.locator('.chosen-list h3').textContent()).toBe('The small bench of 2 tasks');
    await page.locator('#small-bench vscode-button', { hasText: 'Stop' }).click();
    await expect.poll(() => calls(page, 'stop')).toHaveLength(1);
    await page.evaluate(() => window.scripted.send('workChanged', null));
    await expect.poll(() => page.locator('.job').isVisible()).toBe(false);
    await page.context().close();
  });

  it('refuses budgets and times that are none, in place', async () => {
    const { page } = await openLive();
    await ready(page);
    const [budgets, seconds] = [0, 1].map((at) => page.locator('#small-bench vscode-text-field input').nth(at));
    await budgets?.fill('4, eight');
    await expect.poll(() => page.locator('#small-bench-wrong').textContent()).toContain('Budgets are numbers above 0');
    await expect.poll(() => budgets?.getAttribute('aria-invalid')).toBe('true');
    await budgets?.fill('16 4 8');
    await expect.poll(() => page.locator('#small-bench-wrong').textContent()).toBe('');
    await seconds?.fill('0');
    await expect.poll(() => page.locator('#small-bench-wrong').textContent()).toContain('number of seconds');
    await seconds?.fill('300');
    await expect.poll(() => calls(page, 'set')).toEqual([{ budgets: [4, 8, 16] }, { seconds: 300 }]);
    await page.context().close();
  });

  it('says when figures are of other records than those here now', async () => {
    const view = predictorView();
    if (view.records) view.records.digest = 'b2';
    const { page } = await openLive(view);
    await ready(page);
    await expect
      .poll(() => page.locator('.old-note').allTextContents())
      .toEqual(Array.from({ length: 4 }, () => 'The records have changed since this was computed.'));
    await page.context().close();
  });

  it('says what to do where there are no records, by buttons, without violations', async () => {
    const { page } = await openLive(emptyPredictorView());
    await page.locator('h2', { hasText: 'No records yet' }).waitFor();
    await page.screenshot({ path: `${artifacts}/predictor-empty.png` });
    for (const name of ['Try the example records', 'Add records', 'Import results'])
      await page.locator('.empty-actions vscode-button', { hasText: name }).click();
    await expect
      .poll(() => calls(page, 'runCommand'))
      .toEqual([{ command: 'openExample' }, { command: 'addRecords' }, { command: 'importResults' }]);
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  it('says why records cannot be read, and tries again', async () => {
    const host = `${scriptedHost({ view: predictorView(), items: {}, details: [] })}
      window.scripted.fail.view = 'bbh.csv:3: The score is no number.';`;
    const { page } = await session.open('predictor', { host });
    await page.locator('[role=alert]', { hasText: 'bbh.csv:3' }).waitFor();
    await page.evaluate(() => {
      window.scripted.fail = {};
    });
    await page.locator('vscode-button', { hasText: 'Try again' }).click();
    await ready(page);
    await page.context().close();
  });

  it('opens from one file, without what needs the editor', async () => {
    const html = exportedPage({
      title: 'Predictor',
      data: { page: 'predictor', view: predictorView() },
      script: session.bundles.scripts.predictor.text,
      style: session.bundles.styles.predictor,
    });
    const { page, problems } = await session.openFile('shared-predictor.html', html);
    await ready(page);
    const buttons = (await page.locator('vscode-button').allTextContents()).map((text) => text.trim());
    expect(buttons).toEqual(['Show all 18 tasks', 'Copy the list']);
    await expect.poll(() => page.locator('vscode-button[aria-label^=Remove]').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
