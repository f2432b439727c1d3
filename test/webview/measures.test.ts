/** Pages show the metrics of the benchmark file, and runs in which nothing was generated without zeros in their place. */
import { describe, expect, it } from 'vitest';
import { likelihoodsOnlyNote } from '../../src/shared/likelihood-words.ts';
import type { ItemRecord, MetricScore } from '../../src/shared/results.ts';
import { browserPath, violations } from './browser.ts';
import { leaderboardView, type ResultsData, resultsData, share } from './data.ts';
import { testSession } from './session.ts';

const session = testSession();

const exactMatch = (filter: string, value: number): MetricScore => ({
  metric: 'exact_match',
  filter,
  value,
  standardError: 0.0123,
  higherIsBetter: true,
  n: 40,
});

/** The page's runs as if only the likelihoods of two candidates had been compared; tuning by them too. */
function likelihoodsOnly(data: ResultsData): ResultsData {
  for (const { run, summary, tuning } of data.view.columns) {
    run.settings.generates = false;
    const records = (data.items[run.id] ?? []).map(
      (record): ItemRecord => ({
        ...record,
        output: '',
        outputTokens: 0,
        stop: { reason: 'eos' },
        strict: { answer: null, span: null },
        lenient: { answer: null, span: null },
        inFormat: false,
        right: false,
        lenientRight: false,
        cause: null,
        generated: false,
        choices: {
          texts: ['no', 'yes'],
          logLikelihoods: [-2, record.right ? -1 : -3],
          gold: 1,
          right: record.right,
          rightNormalised: record.right,
        },
        likelihoods: [
          { sum: -2, tokens: 1, greedy: false },
          { sum: record.right ? -1 : -3, tokens: 1, greedy: false },
        ],
        metrics: [{ filter: 'none', values: { acc: record.right ? 1 : 0 } }],
      }),
    );
    data.items[run.id] = records;
    for (const record of tuning)
      if (record.kind === 'validation') Object.assign(record, { F: 0, S: 0, K: null, generated: false, LL: 0.5 });
    if (!summary) continue;
    const nothing = share(0, 0);
    const right = records.filter(({ choices }) => choices?.right).length;
    summary.scores = {
      ...summary.scores,
      F: nothing,
      S: nothing,
      K: { ...nothing, unreliable: true },
      L: nothing,
      LL: share(right, records.length),
      constant: null,
      commonest: null,
      chance: 0.5,
      causes: {},
    };
    summary.measures = [
      { ...exactMatch('none', right / records.length), metric: 'acc' },
      { ...exactMatch('none', 3.25), metric: 'brier_score', standardError: null, higherIsBetter: false },
    ];
  }
  for (const detail of data.details)
    for (const entry of detail.records) {
      entry.record = data.items[entry.run]?.[detail.index] ?? entry.record;
    }
  return data;
}

describe.skipIf(!browserPath)('the metrics of the benchmark file', () => {
  it('stand by filter and mode, with their standard errors, and in the details of an item', async () => {
    const data = resultsData(40);
    for (const { run, summary } of data.view.columns) {
      if (summary && run.mode !== 'few-shot')
        summary.measures = [exactMatch('strict-match', 0.125), exactMatch('flexible-extract', 0.5)];
      for (const record of data.items[run.id] ?? [])
        record.metrics = [{ filter: 'strict-match', answer: '18', values: { exact_match: 1 } }];
    }
    const { page, problems } = await session.open('results', { data });
    await page.locator('.grid-body .grid-row').first().waitFor();
    const rows = await page.locator('table.measures tbody tr').allInnerTexts();
    expect(rows.map((row) => row.replace(/\s+/g, ' '))).toEqual([
      'exact_match (strict-match) ↑ higher is better 0.1250 ± 0.0123 0.1250 ± 0.0123',
      'exact_match (flexible-extract) ↑ higher is better 0.5000 ± 0.0123 0.5000 ± 0.0123',
    ]);
    await page.locator('.grid-body .grid-row').first().click();
    const detail = page.locator('.detail');
    await detail.locator('h4', { hasText: 'Metrics of the benchmark file' }).waitFor();
    await expect.poll(() => detail.textContent()).toContain('exact_match (strict-match)118');
    expect(problems).toEqual([]);
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  it('are not there in runs without them', async () => {
    const { page } = await session.open('results', { data: resultsData(40) });
    await page.locator('.grid-body .grid-row').first().waitFor();
    await expect.poll(() => page.locator('#measures-heading').isVisible()).toBe(false);
    await page.context().close();
  });
});

describe.skipIf(!browserPath)('runs of likelihoods alone', () => {
  it('have no F, S, K and L, and say why', async () => {
    const data = likelihoodsOnly(resultsData(40));
    const { page, problems } = await session.open('results', { data });
    await page.locator('.grid-body .grid-row').first().waitFor();
    const heads = await page.locator('table.scores thead th').allInnerTexts();
    expect(heads.map((head) => head.split(/\s/)[0])).toEqual(['Mode', 'LL', 'Commonest', 'Items', 'Time']);
    await expect.poll(() => page.locator('body').textContent()).toContain(likelihoodsOnlyNote);
    const verdicts = new Set(await page.locator('.grid-body .cell-verdict').allInnerTexts());
    expect([...verdicts].every((verdict) => /by likelihood/.test(verdict))).toBe(true);
    // Modes are compared by likelihoods, and the tuning curve is of them.
    await expect
      .poll(() => page.locator('[aria-labelledby="gains-heading"]').textContent())
      .toMatch(/LL\. On the 40 items/);
    await expect
      .poll(() => page.locator('[aria-labelledby="tuning-heading"]').textContent())
      .toMatch(/LL goes from 50/);
    await page.locator('.grid-body .grid-row').first().click();
    const detail = page.locator('.detail');
    await detail.locator('h4', { hasText: 'Candidates by log-likelihood' }).waitFor();
    expect(await detail.textContent()).not.toMatch(/Strict reading|\(empty\)/);
    expect(problems).toEqual([]);
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
});

describe.skipIf(!browserPath)('the leaderboard', () => {
  it('ranks by a metric of the files, the lowest first where lower is better', async () => {
    const view = leaderboardView();
    const perplexities = [12.5, 8.25, 30, 9, 10];
    for (const { model, task, mode, cell } of view.cells) {
      const at = view.models.findIndex(({ name }) => name === model);
      if (task === 'gsm8k' && mode === 'soft-prompt')
        cell.summary.measures = [
          {
            ...exactMatch('none', perplexities[at] ?? 0),
            metric: 'perplexity',
            standardError: 0.5,
            higherIsBetter: false,
          },
        ];
    }
    const { page, problems } = await session.open('leaderboard', {
      data: { page: 'leaderboard' as const, view },
      width: 320,
    });
    await page.locator('.row').first().waitFor();
    const metric = page.locator('vscode-dropdown[aria-label="Metric"]');
    await metric.click();
    await metric.locator('vscode-option', { hasText: 'perplexity' }).click();
    const rows = await page.locator('ol.models .row').allInnerTexts();
    // Half an interval is 0.98 wide: the first decimal is what is known.
    expect(rows.map((row) => /\d+\.\d+/.exec(row.replace(/^\S+\s+/, ''))?.[0])).toEqual([
      '8.3',
      '9.0',
      '10.0',
      '12.5',
      '30.0',
    ]);
    expect(rows[0]).toMatch(/7\.3–9\.2/);
    await expect.poll(() => page.locator('.note').first().textContent()).toMatch(/perplexity.*lower is better/);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
