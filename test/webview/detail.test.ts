/** The details of an item in a browser: prompt, output, tokens, other runs, marks. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { ItemTokens } from '../../src/shared/item-tokens.ts';
import { artifacts, browserPath, type Session, themes, violations } from './browser.ts';
import { type ResultsData, resultsData } from './data.ts';
import { calls, scriptedHost } from './scripted-host.ts';
import { testSession } from './session.ts';

const session = testSession({ pages: ['results'], timeout: 60_000 });

const body = (page: Page) => page.locator('.detail-body');

/** Opens the page with the details of one item in one mode. */
async function open(
  data: ResultsData & { tokens?: Record<string, ItemTokens> },
  at: { index: number; mode: string },
  options: Partial<Parameters<Session['open']>[1]> = {},
): Promise<{ page: Page; problems: string[] }> {
  const opened = await session.open('results', { host: scriptedHost(data), height: 1400, ...options });
  const { page } = opened;
  await page.locator('.grid-body .grid-row').first().waitFor();
  await page.locator('.filter-input').fill(`mode:${at.mode} item:${at.index}`);
  await page.waitForTimeout(150);
  await page.locator('.grid-body .grid-row').first().click();
  await page.locator('.part-question').waitFor();
  return opened;
}

const tokens: ItemTokens = {
  texts: [
    {
      of: 'output',
      number: 0,
      text: 'So 12.',
      stopTokens: 1,
      tokens: [
        ['So', -0.01, 1],
        [' 1', -0.5, 1],
        ['2', -1.5, 2],
        ['', -3, 1],
        ['é', -6, 40],
        ['\n', -0.02, 1],
      ].map(([text, logProbability, rank], id) => ({
        id,
        text: String(text),
        logProbability: Number(logProbability),
        rank: Number(rank),
        best: [
          { id: rank === 1 ? id : 99, text: rank === 1 ? String(text) : '<b>3</b>', logProbability: -0.4 },
          { id: 98, text: 'x', logProbability: -2.5 },
        ],
      })),
    },
  ],
  notes: ['The text is split into tokens anew.'],
};

/** Data with long examples in few-shot and an output with readings, and the same in all modes. */
function data(): ResultsData & { tokens: Record<string, ItemTokens> } {
  const found = resultsData(40);
  const detail = found.details.find(({ index }) => index === 3);
  const few = found.view.columns.find(({ run }) => run.mode === 'few-shot')?.run.id;
  for (const prompt of detail?.prompts ?? [])
    if (prompt.run === few)
      prompt.parts = [
        { kind: 'description', text: 'Solve the problems.\n\n' },
        ...[1, 2, 3].map((number) => ({ kind: 'example', text: `Question ${number}: ${'long '.repeat(150)}\n\n` })),
        { kind: 'question', text: 'Question: شاحنة واحدة و ٣ سيارات؟ 東京\nAnswer:' },
      ];
  for (const { run } of found.view.columns) {
    const record = found.items[run.id]?.find(({ index }) => index === 3);
    if (!record) continue;
    record.output = `In ${run.mode} the answer is #### 12, I think.`;
    const start = record.output.indexOf('#### 12');
    record.strict = { answer: '12', span: [start, start + 7] };
    record.lenient = { answer: '12', span: [start + 5, start + 7] };
  }
  const [first] = found.view.columns;
  return { ...found, tokens: first ? { [first.run.id]: tokens } : {} };
}

describe.skipIf(!browserPath)('details of an item', () => {
  for (const theme of themes)
    it(`have no accessibility violations with everything open: ${theme.name}`, async () => {
      const { page, problems } = await open(data(), { index: 3, mode: 'zero-shot' }, { theme, width: 1500 });
      await page.locator('[data-key="ask-tokens"]').click();
      await page.locator('.token').first().waitFor();
      await page.locator('[data-key="differences"]').click();
      await page.locator('[data-key="mark"]').click();
      await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true;
      });
      await page.waitForTimeout(50);
      expect(await violations(page)).toEqual([]);
      await page.locator('.mark-form vscode-button', { hasText: 'Save' }).click();
      await page.locator('.mark-banner').waitFor();
      await page.locator('[data-key="widen"]').click();
      const items = page.locator('.items');
      await items.screenshot({ path: `${artifacts}/item-${theme.name}-1.png` });
      await body(page).evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await items.screenshot({ path: `${artifacts}/item-${theme.name}-2.png` });
      await page.locator('.marked-scores').screenshot({ path: `${artifacts}/item-${theme.name}-3.png` });
      expect(problems).toEqual([]);
      await page.context().close();
    }, 90_000);

  it('show the prompt by its segments; many examples are folded', async () => {
    const { page } = await open(data(), { index: 3, mode: 'few-shot' });
    const names = () => page.locator('.prompt .part-name').allTextContents();
    await expect.poll(() => names()).toEqual(['Description', 'Question']);
    await page.locator('.part-fold summary').click();
    await page.locator('.part-example').first().waitFor();
    await expect
      .poll(() => names())
      .toEqual(['Description', 'Example 1 of 3', 'Example 2 of 3', 'Example 3 of 3', 'Question']);
    // Each segment takes its direction from its own text.
    await expect.poll(() => page.locator('.part-question pre').getAttribute('dir')).toBe('auto');
    await page.locator('[data-key="copy-Prompt"]').click();
    const [{ text }] = (await calls(page, 'copy')) as [{ text: string }];
    expect(text.startsWith('Solve the problems.\n\nQuestion 1:')).toBe(true);
    expect(text.endsWith('東京\nAnswer:')).toBe(true);
    await page.context().close();
  });

  it('mark what both readings took, name them in a legend, and say how the output ended', async () => {
    const { page } = await open(data(), { index: 3, mode: 'zero-shot' });
    const marks = await page
      .locator('.detail-body > .output mark')
      .evaluateAll((found) => found.map((mark) => [mark.className, mark.textContent]));
    expect(marks).toEqual([
      ['strict', '#### '],
      ['strict lenient', '12'],
    ]);
    await expect.poll(() => page.locator('.marks-legend').textContent()).toContain('strict reading');
    await expect.poll(() => page.locator('.detail-body > .output .stop-mark').count()).toBe(1);
    await page.context().close();
  });

  it('show a line of a megabyte cut, with what was read at its end, and whole on request', async () => {
    const all = data();
    const [{ run } = { run: { id: '' } }] = all.view.columns;
    const record = all.items[run.id]?.find(({ index }) => index === 3);
    if (record) {
      record.output = `${'x'.repeat(1_000_000)}#### 12`;
      record.strict = { answer: '12', span: [1_000_000, 1_000_007] };
      record.lenient = { answer: '12', span: [1_000_005, 1_000_007] };
    }
    const { page } = await open(all, { index: 3, mode: 'zero-shot' });
    const output = page.locator('.detail-body > .output');
    expect((await output.textContent())?.length).toBeLessThan(10_000);
    await expect.poll(() => output.locator('mark').last().textContent()).toBe('12');
    await expect.poll(() => output.textContent()).toContain('characters are left out');
    await output.locator('vscode-button', { hasText: 'Show all 1,000,007 characters' }).click();
    expect(await output.locator('.text-block').count()).toBeGreaterThan(50);
    expect((await output.textContent())?.startsWith('x'.repeat(999_999))).toBe(true);
    await page.context().close();
  });

  it('show controls, overrides and markup of an output as text', async () => {
    const all = data();
    const [{ run } = { run: { id: '' } }] = all.view.columns;
    const record = all.items[run.id]?.find(({ index }) => index === 3);
    if (record) {
      record.output = '\u001b[31mred\u0000 \u202eabc <img src=x onerror="window.hacked=1">';
      record.strict = { answer: '\u202e<b>12</b>', span: null };
    }
    const { page, problems } = await open(all, { index: 3, mode: 'zero-shot' });
    const text = await page.locator('.detail-body > .output').textContent();
    expect(text).toContain('␛[31mred␀ ⟨U+202E⟩abc <img');
    await expect.poll(() => page.locator('.marks-legend').textContent()).toContain('made visible');
    await expect.poll(() => page.locator('.marks-legend').textContent()).toContain('does not stand in the text');
    await page.locator('[data-key="differences"]').click();
    await expect.poll(() => page.locator('.detail img').count()).toBe(0);
    expect(await page.evaluate(() => window.hacked)).toBeUndefined();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('unfold further outputs to their whole text, with what ended them', async () => {
    const all = data();
    const run = all.view.columns[0]?.run.id;
    const entry = all.details.find(({ index }) => index === 3)?.records.find((each) => each.run === run);
    if (entry)
      entry.record = {
        ...entry.record,
        repeats: [{ output: `Second.\n${'more '.repeat(60)}`, outputTokens: 62, stop: { reason: 'length' } }],
      };
    const { page } = await open(all, { index: 3, mode: 'zero-shot' });
    await page.locator('.repeats summary', { hasText: 'Second. ⏎ more' }).click();
    const text = page.locator('.repeats .excerpt');
    await text.waitFor();
    await expect.poll(() => text.textContent()).toContain('more … token limit');
    await expect.poll(() => page.locator('.repeats').textContent()).toContain('62 tokens, cut off at the token limit');
    await page.context().close();
  });

  it('have the other runs beside each other, as they are or as what differs', async () => {
    const { page } = await open(data(), { index: 3, mode: 'zero-shot' });
    const cards = page.locator('.other');
    await expect.poll(() => cards.count()).toBe(2);
    await expect.poll(() => cards.first().locator('.excerpt').textContent()).toContain('In few-shot the answer');
    await page.locator('[data-key="differences"]').click();
    await expect.poll(() => page.locator('[data-key="differences"]').getAttribute('aria-pressed')).toBe('true');
    await expect.poll(() => cards.first().locator('ins').allTextContents()).toEqual(['few']);
    await expect.poll(() => cards.first().locator('del').allTextContents()).toEqual(['zero']);
    // The button keeps the focus although the pane was drawn anew.
    await expect
      .poll(() => page.evaluate(() => (document.activeElement as HTMLElement).dataset.key))
      .toBe('differences');
    await cards.first().locator('.other-head').click();
    await page.locator('.detail h3', { hasText: 'few-shot' }).waitFor();
    await page.context().close();
  });

  it('are reached part by part from the keyboard', async () => {
    const { page } = await open(data(), { index: 3, mode: 'zero-shot' });
    await page.locator('.detail-contents button', { hasText: 'Prompt' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Prompt');
    await page.context().close();
  });

  it('copy as Markdown has segments, spans, scores and the mark', async () => {
    const { page } = await open(data(), { index: 3, mode: 'few-shot' });
    await page.keyboard.press('m');
    await page.locator('.mark-form textarea').fill('it is 13');
    await page.keyboard.press('Control+Enter');
    await page.locator('.mark-banner').waitFor();
    await page.locator('[data-key="copy"]').click();
    const [{ text }] = (await calls(page, 'copy')) as [{ text: string }];
    expect(text).toContain('Marked: bad gold. it is 13');
    expect(text).toContain('<details><summary>3 examples</summary>');
    expect(text).toMatch(/Strict reading: `12` \(characters \d+ to \d+\)/);
    await page.context().close();
  });
});

describe.skipIf(!browserPath)('tokens', () => {
  it('come when they are asked for, shaded in steps, with their figures in a table too', async () => {
    const { page } = await open(data(), { index: 3, mode: 'zero-shot' });
    await expect.poll(() => calls(page, 'tokens')).toEqual([]);
    await page.locator('[data-key="ask-tokens"]').click();
    await page.locator('.tokens .token').first().waitFor();
    const classes = await page
      .locator('.tokens .token')
      .evaluateAll((found) => found.map((token) => token.className.split(' ').slice(1).join(' ')));
    expect(classes).toEqual([
      'token-sure',
      'token-likely',
      'token-unsure token-passed',
      'token-unlikely',
      'token-surprising token-passed',
      'token-sure token-stop',
    ]);
    const title = await page.locator('.tokens .token').nth(2).getAttribute('title');
    expect(title).toContain('probability 22.3 %, log -1.500');
    expect(title).toContain('likelier: “<b>3</b>” 67.0 %');
    await expect.poll(() => page.locator('.token-legend li').count()).toBe(5);
    await page.locator('summary', { hasText: 'Tokens as a table' }).click();
    const rows = page.locator('.token-table tbody tr');
    await rows.first().waitFor();
    await expect.poll(() => rows.nth(4).textContent()).toContain('40“<b>3</b>”');
    await expect.poll(() => body(page).textContent()).toContain('The text is split into tokens anew.');
    await page.context().close();
  });

  it('of an item that is left are cancelled, and those of the next computed', async () => {
    const all = data();
    const { page } = await open(all, { index: 3, mode: 'zero-shot' });
    await page.locator('.filter-input').fill('mode:zero-shot');
    await page.evaluate(() => {
      window.scripted.hold = ['tokens'];
    });
    await page.locator('[data-key="ask-tokens"]').click();
    await page.locator('[data-key="stop-tokens"]').waitFor();
    await page.locator('.detail').press('j');
    await expect.poll(async () => (await calls(page, 'tokens')).length).toBe(2);
    await expect.poll(() => page.evaluate(() => window.scripted.cancelled)).toBe(1);
    await page.locator('[data-key="stop-tokens"]').click();
    await expect.poll(() => page.evaluate(() => window.scripted.cancelled)).toBe(2);
    await page.locator('.detail').press('j');
    await page.waitForTimeout(50);
    expect((await calls(page, 'tokens')).length).toBe(2);
    await page.context().close();
  });

  it('that cannot be computed say why', async () => {
    const { page } = await open(data(), { index: 3, mode: 'zero-shot' });
    await page.evaluate(() => {
      window.scripted.fail.tokens = 'The model of this run is not here any more.';
    });
    await page.locator('[data-key="ask-tokens"]').click();
    await page.locator('.detail .error-text', { hasText: 'not here any more' }).waitFor();
    await page.context().close();
  });
});

describe.skipIf(!browserPath)('marks', () => {
  const value = async (page: Page, row: number) => {
    const numbers = page.locator('.marked-scores tbody tr').nth(row).locator('.number');
    await numbers.first().waitFor();
    return await numbers.allTextContents();
  };

  it('are set by a key, change the scores beside those of all items, and are undone', async () => {
    const all = data();
    const { page } = await open(all, { index: 3, mode: 'zero-shot' });
    await page.locator('.grid').press('m');
    await expect.poll(() => page.evaluate(() => (document.activeElement as HTMLInputElement).value)).toBe('bad gold');
    await page.keyboard.press('ArrowDown');
    await page.locator('.mark-form textarea').fill('the reader takes the units along');
    await page.keyboard.press('Control+Enter');
    await page.locator('.mark-banner', { hasText: 'Marked: bad reader' }).waitFor();
    await expect
      .poll(() => calls(page, 'mark'))
      .toEqual([{ index: 3, mark: { kind: 'bad reader', note: 'the reader takes the units along' } }]);
    const [withAll, without] = [await value(page, 0), await value(page, 1)];
    expect(withAll[0]).toBe('40');
    expect(without[0]).toBe('39');
    // F of zero-shot: what the records say.
    const records = all.items[all.view.columns[0]?.run.id ?? ''] ?? [];
    const share = (some: typeof records): number => some.filter(({ inFormat }) => inFormat).length;
    const rest = records.filter(({ index }) => index !== 3);
    const titles = await page
      .locator('.marked-scores tbody tr')
      .nth(1)
      .locator('td[title]')
      .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title')));
    expect(titles[0]).toContain(`${share(rest)} of ${rest.length} =`);
    await expect.poll(() => page.locator('.marked-scores').textContent()).toContain('without marked');
    await page.locator('.marked-scores summary').click();
    await expect.poll(() => page.locator('.marked-scores .sentences li').count()).toBe(2);
    await page.locator('.detail [data-key="undo"]').click();
    await expect.poll(() => page.locator('.marked-scores').isVisible()).toBe(false);
    await expect.poll(() => page.locator('.mark-banner').count()).toBe(0);
    expect((await calls(page, 'mark')).at(-1)).toEqual({ index: 3, mark: null });
    await page.context().close();
  });

  it('of a kind may be counted all the same', async () => {
    const all = data();
    const time = '2026-01-01T00:00:00.000Z';
    all.view.marks = [
      { index: 3, kind: 'bad gold', note: '', time },
      { index: 5, kind: 'other', note: '', time },
    ];
    const { page } = await open(all, { index: 3, mode: 'zero-shot' });
    expect((await value(page, 1))[0]).toBe('38');
    await page.locator('[data-key="leave-out-other"]').uncheck();
    await expect.poll(async () => (await value(page, 1))[0]).toBe('39');
    // In the table: by their glyphs, and by the filter.
    await page.locator('[data-key="show-marked"]').click();
    await expect.poll(() => page.locator('.grid-body .grid-row').count()).toBe(6);
    const glyph = page.locator('.grid-body .mark-glyph').first();
    await expect.poll(() => glyph.getAttribute('aria-label')).toBe('marked: bad gold');
    await page.locator('.filter-input').fill('mark:other mode:zero-shot');
    await expect.poll(() => page.locator('.grid-body .grid-row').count()).toBe(1);
    await page.context().close();
  });

  it('that cannot be kept say why; a broken file is told', async () => {
    const all = data();
    all.view.markProblems = ['/runs/a/marks.json: The marks cannot be read.'];
    const { page } = await open(all, { index: 3, mode: 'zero-shot' });
    await page.locator('.marked-scores .banner', { hasText: 'cannot be read' }).waitFor();
    await page.evaluate(() => {
      window.scripted.fail.mark = 'The file system is read-only.';
    });
    await page.locator('[data-key="mark"]').click();
    await page.locator('.mark-form vscode-button', { hasText: 'Save' }).click();
    await page.locator('.toast', { hasText: 'read-only' }).waitFor();
    await expect.poll(() => page.locator('.mark-form').count()).toBe(1);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.mark-form').count()).toBe(0);
    await page.context().close();
  });

  it('stand in an exported page, where they cannot be changed', async () => {
    const all = data();
    all.view.marks = [{ index: 3, kind: 'bad gold', note: 'it is 13', time: '2026-01-01T00:00:00.000Z' }];
    const { page } = await session.open('results', { data: all });
    await page.locator('.marked-scores table').waitFor();
    await page.locator('.filter-input').fill('mode:zero-shot item:3');
    await page.waitForTimeout(150);
    await page.locator('.grid-body .grid-row').first().click();
    await page.locator('.mark-banner', { hasText: 'it is 13' }).waitFor();
    await expect.poll(() => page.locator('[data-key="mark"]').count()).toBe(0);
    await expect.poll(() => page.locator('[data-section="Log-probabilities"]').count()).toBe(0);
    await page.context().close();
  });
});
