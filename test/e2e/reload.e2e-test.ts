// The window loaded anew while a run is under way: nothing that was shown or computed is lost.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { until } from '../support/wait.ts';
import { computed, jsonLines, must, type RunOnDisk, runsIn, stepsOf, temporaryFolder } from './program.ts';
import { pictureFailures, Workbench } from './workbench.ts';

const items = 24;
const task = 'stories_who_short';
/** Long enough that the window is loaded anew before they are done. */
const steps = 80;
const filter = 'mode:zero-shot lenient:wrong';

/** What of a page a person would miss if it were not there again. */
interface Place {
  filter: string;
  item: string | null;
  /** Pixels that the rows are scrolled by, and where in the page's window they begin. */
  rows: number;
  page: number;
}

const placeOf = async (page: Frame): Promise<Place> => ({
  filter: await page.locator('.filter-bar .filter-input').inputValue(),
  item: await page.locator('.detail h3').textContent(),
  rows: await page.locator('.grid[role="grid"]').evaluate((grid) => Math.round(grid.scrollTop)),
  page: await page.locator('.items-section').evaluate((section) => Math.round(section.getBoundingClientRect().top)),
});

describe('the window loaded anew in the middle of a run', function () {
  this.timeout(600_000);
  let workbench: Workbench;
  let page: Frame;
  const outside = temporaryFolder();
  const store = (): string => workbench.store;
  const model = (): string => workbench.model('stories260k');
  const benchmark = (name: string): string => workbench.benchmark(name);
  const runOf = (mode: string, folder = store()): RunOnDisk => {
    const [run, ...others] = runsIn(folder).filter((each) => each.mode === mode);
    assert.ok(run && others.length === 0, `one run in the mode ${mode}, not ${others.length + (run ? 1 : 0)}`);
    return run;
  };
  const fileOf = (run: RunOnDisk, name: string): string => readFileSync(join(run.folder, name), 'utf8');
  const title = `h1:has-text("${task}")`;

  before(async () => {
    workbench = await Workbench.open({ name: 'reload', settings: { 'softbench.limit': items } });
  });
  pictureFailures(() => workbench);
  after(async () => {
    outside.remove();
    await workbench?.close();
  });

  it('has a page of results that was filtered, scrolled and gone into before the run begins', async () => {
    const yaml = readFileSync(benchmark('stories-who'), 'utf8');
    writeFileSync(
      benchmark('stories-who-short'),
      yaml
        .replace('task: stories_who', `task: ${task}`)
        // Without the search for one.
        .replace('steps: 80', `steps: ${steps}\n      learning_rate: 1`),
    );
    await must(
      'evaluate',
      benchmark('stories-who-short'),
      ...['--model', model(), '--store', store(), '--limit', String(items)],
    );
    await workbench.openFile('stories-who-short.yaml');
    await workbench.command('Softbench: Open Results');
    page = await workbench.webview(title);
    await page.locator('.filter-bar .filter-input').fill(filter);
    const failures = jsonLines<{ lenientRight: boolean }>(join(runOf('zero-shot').folder, 'items.jsonl')).filter(
      ({ lenientRight }) => !lenientRight,
    ).length;
    assert.ok(failures > 8 && failures < items, `${failures} failures`);
    await page.locator('.items-section .count', { hasText: `${failures} of ${items}` }).waitFor();
    await page.locator('.grid-body .grid-row').nth(6).click();
    await page.locator('.detail .why').waitFor();
    await until('the page to be scrolled to the item', () => page.evaluate(() => window.scrollY > 0));
  });

  it('comes back with the page as it was left', async () => {
    await workbench.openFile('stories-who-short.yaml');
    await workbench.codeLens('Tune soft prompt').click();
    // The same model comes with the extension too: the one of the folder is meant.
    await workbench.pick(/scratch\/examples\/models\/stories260k/);
    let left: Place | undefined;
    await workbench.reload(async () => {
      await until('some steps on disk', () => stepsOf(store()) >= 3, 240);
      left ??= await placeOf(page);
    });
    assert.ok(left);
    const { filter: text, item, rows, page: scroll } = left;
    page = await workbench.webview(title);
    await page.locator('vscode-button', { hasText: 'Resume' }).waitFor();
    await until('the page as it was', async () => {
      const now = await placeOf(page);
      // What stands above the items is not as high as it was: a banner in place of the job.
      const moved = Math.abs(now.rows - rows) + Math.abs(now.page - scroll);
      return now.filter === text && now.item === item && moved < 3;
    }).catch(async (error: Error) => assert.fail(`${error.message} ${JSON.stringify(await placeOf(page))}`));
    await workbench.screenshot('results-6-as-it-was-left');
    await page.locator('vscode-button', { hasText: 'Resume' }).scrollIntoViewIfNeeded();
    await workbench.screenshotInThemes('results-6-resumable');
  });

  it('goes on with the run at a click, to the numbers of an unbroken run, and computes nothing twice', async () => {
    const unfinished = runOf('soft-prompt');
    assert.equal(unfinished.status, 'stopped');
    const begun = {
      tuning: fileOf(unfinished, 'tuning.jsonl'),
      fewShot: fileOf(runOf('few-shot'), 'items.jsonl'),
      zeroShot: fileOf(runOf('zero-shot'), 'items.jsonl'),
    };
    await page.locator('vscode-button', { hasText: 'Resume' }).click();
    await page.locator('.job-text', { hasText: /step \d+ of \d+/ }).waitFor({ timeout: 120_000 });
    await workbench.screenshot('results-7-going-on');
    const run = await until(
      'the run to finish',
      () => {
        const now = runOf('soft-prompt');
        return now.status === 'finished' ? now : null;
      },
      240,
    );
    assert.equal(run.id, unfinished.id);
    assert.equal(fileOf(runOf('zero-shot'), 'items.jsonl'), begun.zeroShot);
    assert.equal(fileOf(runOf('few-shot'), 'items.jsonl'), begun.fewShot);
    // Records hold the times that they took: these were not made again.
    assert.ok(fileOf(run, 'tuning.jsonl').startsWith(begun.tuning), 'steps of before were taken again');
    assert.deepEqual(
      jsonLines<{ index: number }>(join(run.folder, 'items.jsonl'))
        .map(({ index }) => index)
        .sort((a, b) => a - b),
      Array.from({ length: items }, (_, index) => index),
    );
    const whole = join(outside.folder, 'whole');
    await must(
      'tune',
      benchmark('stories-who-short'),
      ...['--model', model(), '--store', whole, '--limit', String(items)],
    );
    const unbroken = runOf('soft-prompt', whole);
    assert.deepEqual(computed(run), computed(unbroken));
    const scoresOf = (of: RunOnDisk): unknown => (JSON.parse(fileOf(of, 'summary.json')) as { scores: unknown }).scores;
    assert.deepEqual(scoresOf(run), scoresOf(unbroken));
    await page.locator('table.scores tbody tr', { hasText: 'soft-prompt' }).first().waitFor();
    await page.locator('vscode-button', { hasText: 'Resume' }).waitFor({ state: 'hidden' });
    assert.equal((await placeOf(page)).filter, filter);
    await workbench.screenshot('results-8-resumed');
  });

  it('brings back a tab whose page had not come yet', async () => {
    await workbench.closeAllEditors();
    const letCome = await workbench.holdPagesUp();
    await workbench.openFile('stories-who-short.yaml');
    await workbench.command('Softbench: Open Results');
    const tab = workbench.page.locator('.tab', { hasText: `${task} · stories260k` });
    await tab.waitFor();
    await letCome();
    await workbench.reload();
    await tab.waitFor();
    page = await workbench.webview(title);
    // The page asks for what it showed once it is there.
    const shown = page.locator('.filter-bar .filter-input');
    await until('the filter as it was', async () => (await shown.inputValue()) === filter);
    await page.locator('.grid-body .grid-row').first().waitFor();
  });
});
