import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { until } from '../support/wait.ts';
import { copyOf, jsonLines, must, type RunOnDisk, runsIn, temporaryFolder } from './program.ts';
import { pictureFailures, Workbench } from './workbench.ts';

interface Item {
  index: number;
  inFormat: boolean;
  right: boolean;
  lenientRight: boolean;
}

const items = 24;
/** Of the second model: its run is over fewer items, so that the two are not comparable as they stand. */
const fewerItems = 16;

/** What lm-evaluation-harness writes of a model on the example, without samples. */
const resultsOf = (model: string, score: number): string =>
  JSON.stringify({
    results: {
      stories_who: {
        'exact_match,strict-match': score / 2,
        'exact_match_stderr,strict-match': 0.02,
        'exact_match,flexible-extract': score,
        'exact_match_stderr,flexible-extract': 0.02,
      },
    },
    configs: { stories_who: { task: 'stories_who', output_type: 'generate_until' } },
    versions: { stories_who: 1 },
    'n-shot': { stories_who: 0 },
    'n-samples': { stories_who: { original: 128, effective: 128 } },
    config: { model: 'hf', model_args: `pretrained=${model}` },
    model_name: model,
    lm_eval_version: '0.4.13',
  });

/** "46 %" and what stands below it → 46 */
const percentIn = (text: string | undefined): number => Number(/^\s*([\d.]+)\s*%/.exec(text ?? '')?.[1]);

/** The lines of a CSV file as cells (RFC 4180; no line breaks in cells here). */
const csvCells = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    );

describe('results, by clicks in a VS Code window', function () {
  this.timeout(600_000);
  let workbench: Workbench;
  const outside = temporaryFolder();
  const store = (): string => workbench.store;
  const model = (name: string): string => workbench.model(name);
  const benchmark = (name: string): string => workbench.benchmark(name);
  const runOf = (mode: string, modelName: string): RunOnDisk => {
    const run = runsIn(store()).find((each) => each.mode === mode && each.folder.endsWith(`${modelName}-${mode}`));
    assert.ok(run, `a run of ${modelName}, ${mode}`);
    return run;
  };
  const itemsOf = (run: RunOnDisk): Item[] => jsonLines<Item>(join(run.folder, 'items.jsonl'));

  before(async () => {
    workbench = await Workbench.open({ name: 'results', settings: { 'softbench.limit': items } });
  });
  pictureFailures(() => workbench);
  after(async () => {
    outside.remove();
    await workbench?.close();
  });

  it('says on the predictor page what to do where there are no scores yet, and shows the example records', async () => {
    await workbench.command('Softbench: Predict Missing Scores');
    const page = await workbench.webview('h1:has-text("Predictor")');
    await page.locator('h2', { hasText: 'No records yet' }).waitFor();
    for (const action of ['Add records…', 'Import results…'])
      await page.locator('.empty-actions vscode-button', { hasText: action }).waitFor();
    await workbench.screenshotInThemes('results-1-no-records');
    await page.locator('vscode-button', { hasText: 'Try the example records' }).click();
    await page.locator('header p', { hasText: /from [\d,]+ records of \d+ models in \d+ families/ }).waitFor();
    await page.locator('#records').scrollIntoViewIfNeeded();
    await workbench.screenshotInThemes('results-2-example-records');
    await workbench.closeAllEditors();
  });

  it('lists the runs of the command line and imported results as soon as they are there', async () => {
    copyOf(model('stories260k'), model('stories260k-twin'));
    const evaluate = (name: string, ...more: string[]): Promise<void> =>
      must('evaluate', benchmark('stories-who'), '--model', model(name), '--store', store(), '--threads', '1', ...more);
    await evaluate('stories260k', '--modes', 'zero-shot,few-shot', '--limit', String(items));
    await evaluate('stories260k-twin', '--limit', String(fewerItems));
    const imported = join(outside.folder, 'imported');
    for (const [name, score] of [
      ['org/large', 0.9],
      ['org/small', 0.2],
    ] as const) {
      mkdirSync(join(imported, name), { recursive: true });
      writeFileSync(join(imported, name, 'results_2026-01-03T03-04-05.000000.json'), resultsOf(name, score));
    }
    await must('import', imported, '--store', store());
    await workbench.showSidePanel();
    // Room for the runs.
    for (const view of ['Leaderboard', 'Models', 'Benchmarks']) await workbench.foldView(view);
    for (const name of ['stories260k', 'stories260k-twin', 'org/large', 'org/small'])
      await workbench.viewRow('Runs', new RegExp(`stories_who · ${name}(?!-)`)).waitFor();
  });

  describe('marks', () => {
    let page: Frame;
    let marked: number;
    const scoresShown = async (): Promise<string[][]> =>
      Promise.all(
        (await page.locator('.marked-scores tbody tr').all()).map((row) => row.locator('td.number').allInnerTexts()),
      );

    it('finds a failure with the filter, and marks it with the keyboard', async () => {
      await workbench.viewRow('Runs', /stories_who · stories260k(?!-)/).hover();
      await workbench.rowAction('Runs', /stories_who · stories260k(?!-)/, 'Open Results').click();
      page = await workbench.webview('h1:has-text("stories_who")');
      const filter = page.locator('.filter-bar .filter-input');
      await filter.fill('mode:zero-shot lenient:wrong');
      const failures = itemsOf(runOf('zero-shot', 'stories260k')).filter(({ lenientRight }) => !lenientRight);
      assert.ok(failures.length > 0);
      await page.locator('.items-section .count', { hasText: `${failures.length} of ${2 * items}` }).waitFor();
      // Enter goes from the filter to the rows, and from a row to its details.
      await filter.press('Enter');
      await page.locator('.detail .why').waitFor();
      const heading = await page.locator('.detail h3').textContent();
      marked = Number(/\d+/.exec(heading ?? '')?.[0]);
      assert.ok(
        failures.some(({ index }) => index === marked),
        `item ${marked} is a failure`,
      );
      await page.locator('.grid[role="grid"]').press('m');
      await page.locator('.mark-form label', { hasText: 'bad gold' }).click();
      await page.locator('.mark-form textarea').fill('two people have a hat');
      await page.locator('.mark-form textarea').press('Control+Enter');
      await page.locator('.mark-banner', { hasText: 'two people have a hat' }).waitFor();
    });

    it('shows the scores with and without it, and keeps the mark beside the runs', async () => {
      await page.locator('.marked-scores tbody tr').first().waitFor();
      const rows = await scoresShown();
      assert.equal(rows.length, 4);
      const headings = await page.locator('.marked-scores thead th.number').allInnerTexts();
      const [n, lenient] = [headings.indexOf('n'), headings.indexOf('L')];
      for (const [at, mode] of ['zero-shot', 'few-shot'].entries()) {
        const all = itemsOf(runOf(mode, 'stories260k'));
        const kept = all.filter(({ index }) => index !== marked);
        for (const [row, counted] of [
          [rows[2 * at], all],
          [rows[2 * at + 1], kept],
        ] as const) {
          assert.equal(Number(row?.[n]), counted.length);
          const share = (100 * counted.filter(({ lenientRight }) => lenientRight).length) / counted.length;
          // With so few items the page shows whole per cents.
          assert.ok(Math.abs(percentIn(row?.[lenient]) - share) <= 0.5, `${mode}: ${row?.[lenient]}, not ${share} %`);
        }
      }
      // The item was wrong: without it the score is higher.
      assert.ok(percentIn(rows[1]?.[lenient]) > percentIn(rows[0]?.[lenient]));
      for (const mode of ['zero-shot', 'few-shot']) {
        const file = join(runOf(mode, 'stories260k').folder, 'marks.json');
        const { marks } = JSON.parse(readFileSync(file, 'utf8')) as { marks: Record<string, unknown>[] };
        assert.deepEqual(
          marks.map(({ index, kind, note }) => ({ index, kind, note })),
          [{ index: marked, kind: 'bad gold', note: 'two people have a hat' }],
        );
      }
      await page.locator('.marked-scores').scrollIntoViewIfNeeded();
      await workbench.screenshotInThemes('results-3-marked');
    });

    it('takes the mark back', async () => {
      await page.locator('.marked-scores [data-key="undo-mark"]').click();
      await page.locator('.marked-scores').waitFor({ state: 'hidden' });
      assert.equal(await page.locator('.mark-banner').count(), 0);
      for (const mode of ['zero-shot', 'few-shot'])
        await until('the mark to be gone', () => {
          try {
            const text = readFileSync(join(runOf(mode, 'stories260k').folder, 'marks.json'), 'utf8');
            return (JSON.parse(text) as { marks: unknown[] }).marks.length === 0;
          } catch (error) {
            return (error as NodeJS.ErrnoException).code === 'ENOENT';
          }
        });
      await workbench.closeAllEditors();
    });
  });

  describe('comparing', () => {
    it('opens one page over the runs that are selected in the tree, and says that they are over different items', async () => {
      await workbench.showSidePanel();
      const [one, two] = [/stories_who · stories260k(?!-)/, /stories_who · stories260k-twin/];
      for (const group of [one, two]) await workbench.unfold('Runs', group);
      const runs = workbench.viewRow('Runs', /^zero-shot/);
      await until('both runs', async () => (await runs.count()) >= 2);
      const [first, second] = [
        workbench.rowBelow('Runs', one, 'zero-shot'),
        workbench.rowBelow('Runs', two, 'zero-shot'),
      ];
      await (await first).click();
      await workbench.webview('h1:has-text("stories_who")');
      // The page takes the focus when it has opened; a click before that would be the tree's first one again.
      const selected = async (): Promise<boolean> =>
        (await workbench.page.locator('.monaco-list-row.selected[aria-label^="zero-shot"]').count()) === 2;
      await until('both runs to be selected', async () => {
        if (await selected()) return true;
        await (await first).click();
        await (await second).click({ modifiers: ['ControlOrMeta'] });
        return selected();
      });
      await workbench.chooseFromMenu(await second, 'Compare Runs...');
      const page = await workbench.webview('.comparability');
      const banner = page.locator('.banner.comparability', { hasText: 'items' }).first();
      await banner.locator('summary').click();
      const row = banner.locator('tbody tr', { hasText: 'Items' }).first();
      const cells = (await row.locator('td').allInnerTexts()).join(' | ');
      for (const count of [items, fewerItems]) assert.match(cells, new RegExp(`\\b${count}\\b`));
      const columns = await page.locator('table.scores').first().locator('tbody tr:not(.constant) th').allInnerTexts();
      assert.deepEqual(columns.map((text) => text.trim().split('\n')[0]).sort(), ['stories260k', 'stories260k-twin']);
      await workbench.screenshotInThemes('results-4-compared');
      await workbench.closeAllEditors();
    });
  });

  describe('the leaderboard as a tab', () => {
    let page: Frame;
    const models = (): Promise<string[]> => page.locator('.matrix-body .model-name').allInnerTexts();
    /** From the highest to the lowest, by the share of items that the readers of the file find right. */
    const byScore = ['org/large', 'stories260k', 'stories260k-twin', 'org/small'];
    const head = () => page.locator('.matrix .head-cell.task-cell', { hasText: 'stories_who' });

    it('sorts by a benchmark, highest first and then lowest first', async () => {
      await workbench.command('Softbench: Open Leaderboard');
      page = await workbench.webview('.matrix .model-name:has-text("org/large")');
      await workbench.choose(page, 'Prompt mode', 'zero-shot');
      await workbench.choose(page, 'Metric', /flexible-extract/);
      await head().click();
      await page.locator('.matrix .head-cell.task-cell[aria-sort="descending"]').waitFor();
      await until('the order of scores', async () => (await models()).join() === byScore.join());
      await head().click();
      await page.locator('.matrix .head-cell.task-cell[aria-sort="ascending"]').waitFor();
      await until('the other order', async () => (await models()).join() === [...byScore].reverse().join());
      assert.equal(await page.locator('.matrix .score-cell.imported').count(), 2);
      await workbench.screenshotInThemes('results-5-leaderboard');
    });

    it('exports what it shows as a CSV file with full precision', async () => {
      await page.locator('.export-menu summary').click();
      await page.locator('.export-menu .menu-action', { hasText: 'CSV' }).click();
      const file = await workbench.acceptSaveDialog('.csv');
      assert.ok(file.startsWith(workbench.folder), file);
      await workbench.notification(/Saved as .*\.csv/).waitFor();
      const [titles = [], ...rows] = csvCells(readFileSync(file, 'utf8'));
      const column = titles.findIndex((title) => title.startsWith('stories_who') && !/ (low|high|origin)$/.test(title));
      assert.ok(column > 0, titles.join());
      const at = titles.indexOf('model');
      assert.deepEqual(
        rows.map((row) => row[at]),
        [...byScore].reverse(),
      );
      const shareOf = (run: RunOnDisk): number => {
        const all = itemsOf(run);
        return all.filter(({ lenientRight }) => lenientRight).length / all.length;
      };
      assert.deepEqual(
        rows.map((row) => Number(row[column])),
        [0.2, shareOf(runOf('zero-shot', 'stories260k-twin')), shareOf(runOf('zero-shot', 'stories260k')), 0.9],
      );
      const origin = titles.indexOf(`${titles[column]?.split(' ')[0]} origin`);
      assert.deepEqual(
        rows.map((row) => row[origin]),
        ['imported', 'measured', 'measured', 'imported'],
      );
      await workbench.closeAllEditors();
    });
  });
});
