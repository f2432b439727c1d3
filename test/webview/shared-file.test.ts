/**
 * Runs as one HTML file: written from a store by the export, opened from disk without a network, under the file's own
 * policy. What it says of the machine that it was made on is nothing.
 */
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBenchmark } from '../../src/benchmark/index.ts';
import { exportRuns, measureResultsPage, writeResultsPage } from '../../src/exchange/index.ts';
import { type DiskRunStore, openRunStore } from '../../src/runs/index.ts';
import type { PromptMode } from '../../src/shared/modes.ts';
import { browserPath, bundlePages, violations } from './browser.ts';
import { hostile, modeResult } from './data.ts';

let folder: string;
let home: string;
let store: DiskRunStore;
let pages: string;
let task: string;

/** A finished run of a benchmark file in somebody's home folder, with outputs that are hostile. */
async function makeRun(id: string, mode: PromptMode, n: number, model: string): Promise<void> {
  const { result, records } = modeResult(mode, n);
  const benchmark = await openBenchmark(task);
  const items = await benchmark.items('evaluation');
  const run = {
    ...result.run,
    id,
    model: { ...result.run.model, name: model, folder: join(home, 'My Models', model) },
    benchmark: {
      ...result.run.benchmark,
      task: benchmark.task,
      file: task,
      digests: { ...result.run.benchmark.digests, config: benchmark.configDigest },
    },
    message: `Stopped once: cannot write ${join(home, 'My Models', 'x.bin')}.`,
    notes: [`The soft prompt comes from a file: ${join(homedir(), 'prompts', 'p.safetensors')}`],
    provider: { ...result.run.provider, reason: 'C:\\Users\\Ada\\cuda\\cudart64.dll does not load.' },
  };
  const to = join(store.folder, 'runs', id);
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, 'run.json'), JSON.stringify(run));
  writeFileSync(join(to, 'summary.json'), JSON.stringify({ ...result.summary, run: id }));
  for (const record of records.slice(0, items.length))
    appendFileSync(join(to, 'items.jsonl'), `${JSON.stringify(record)}\n`);
  if (mode === 'soft-prompt')
    for (const record of result.tuning) appendFileSync(join(to, 'tuning.jsonl'), `${JSON.stringify(record)}\n`);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-shared-'));
  home = join(folder, 'Ada Lovelace');
  pages = join(folder, 'pages');
  mkdirSync(pages);
  mkdirSync(home);
  cpSync(resolve('test/fixtures/benchmarks'), join(home, 'benchmarks'), { recursive: true });
  task = join(home, 'benchmarks', 'cities.yaml');
  const bundles = await bundlePages();
  writeFileSync(join(pages, 'results.js'), `${bundles.scripts.results.text}\n//# sourceMappingURL=results.js.map\n`);
  writeFileSync(join(pages, 'results.css'), bundles.styles.results);
  store = openRunStore(join(home, 'store'));
  await makeRun('one', 'zero-shot', 12, 'tiny');
  await makeRun('two', 'zero-shot', 12, 'small');
  await makeRun('three', 'soft-prompt', 12, 'small');
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const runsOf = (...ids: string[]) => ids.map((id) => ({ id, store }));

/** Opens the file without a network; everything that goes wrong is noted. */
async function open(
  file: string,
): Promise<{ page: Page; problems: string[]; asked: string[]; close(): Promise<void> }> {
  const browser = await chromium.launch({ executablePath: browserPath ?? '', args: ['--no-sandbox'] });
  const context = await browser.newContext({ offline: true, viewport: { width: 1200, height: 900 } });
  const page = await context.newPage();
  const problems: string[] = [];
  const asked: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  await page.locator('.grid-body .grid-row').first().waitFor();
  return { page, problems, asked, close: () => browser.close() };
}

describe.skipIf(!browserPath)('a file to share', { timeout: 120_000 }, () => {
  it('opens from disk without a network: figures, items, prompts; nothing runs that is not its own', async () => {
    const file = join(folder, 'all.html');
    const { bytes, noPrompts } = await writeResultsPage(
      file,
      runsOf('one', 'two', 'three'),
      { outputs: true, prompts: true },
      { pages },
    );
    expect(noPrompts).toBeNull();
    const html = readFileSync(file, 'utf8');
    expect(bytes).toBe(Buffer.byteLength(html));
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(html).not.toContain('sourceMappingURL');

    const { page, problems, asked, close } = await open(file);
    await expect.poll(() => page.locator('h2', { hasText: 'Runs compared' }).count()).toBe(1);
    const names = await page.locator('table.scores tbody th .mode-name').allInnerTexts();
    expect(names.slice(0, 3)).toEqual(['tiny · zero-shot', 'small · zero-shot', 'small · soft-prompt']);
    await page.locator('.grid-body .grid-row').nth(1).click();
    await page.locator('.detail .part').first().waitFor();
    await expect.poll(() => page.locator('.detail .prompt').textContent()).toContain('capital');
    const items = (await store.readItems('one')).length;
    for (const index of Object.keys(hostile).filter((each) => Number(each) < items)) {
      await page.locator('.filter-bar input').fill(`run:"tiny · zero-shot" item:${index}`);
      await page.locator('.grid-body .grid-row').first().click();
    }
    await expect.poll(() => page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(asked).toEqual([pathToFileURL(file).href]);
    expect(problems).toEqual([]);
    expect(await violations(page)).toEqual([]);
    await close();
  });

  it('says nothing of where it was made, and leaves what models wrote as it is', async () => {
    const file = join(folder, 'clean.html');
    await writeResultsPage(file, runsOf('one', 'three'), { outputs: true, prompts: true }, { pages });
    const data = readFileSync(file, 'utf8').split('id="softbench-data">')[1] ?? '';
    for (const trace of [folder, homedir(), 'Ada', 'My Models', 'C:\\\\', 'prompts/p.safetensors'])
      expect(data.includes(trace) ? data.slice(data.indexOf(trace) - 120, data.indexOf(trace) + 80) : '').toBe('');
    const json = JSON.parse(data.slice(0, data.indexOf('</script>')));
    const [first] = json.view.columns;
    expect(first.run.model.folder).toBe('tiny');
    expect(first.run.benchmark.file).toBe('cities.yaml');
    expect(first.run.message).toBe('Stopped once: cannot write x.bin.');
    expect(first.run.notes).toEqual(['The soft prompt comes from a file: p.safetensors']);
    expect(first.run.provider.reason).toBe('cudart64.dll does not load.');
    const kept = await store.readItems('one');
    expect(json.items.one).toEqual(kept);
    expect(json.prompts.of.one).toHaveLength(kept.length);
    // A text stands once, however many prompts have it.
    expect(new Set(json.prompts.texts).size).toBe(json.prompts.texts.length);
  });

  it('leaves outputs and prompts out where that is wanted, says so, and is as large as was said before', async () => {
    const [full, bare] = [join(folder, 'full.html'), join(folder, 'bare.html')];
    const runs = runsOf('one', 'two');
    const sizes = await measureResultsPage(runs, { pages });
    const { bytes } = await writeResultsPage(full, runs, { outputs: true, prompts: true }, { pages });
    const { bytes: small } = await writeResultsPage(bare, runs, { outputs: false, prompts: false }, { pages });
    expect(Math.abs(bytes / (sizes.scores + sizes.outputs + sizes.prompts) - 1)).toBeLessThan(0.05);
    expect(Math.abs(small / sizes.scores - 1)).toBeLessThan(0.05);
    expect(readFileSync(bare, 'utf8')).not.toContain('She has');
    const { page, problems, close } = await open(bare);
    await expect
      .poll(() => page.locator('header').textContent())
      .toContain('Outputs and prompts are not in this file.');
    await expect.poll(() => page.locator('.grid-body .grid-row').first().textContent()).toContain('(not in this file)');
    expect(problems).toEqual([]);
    await close();
  });

  it('is one a benchmark among the formats of an export, and the prompts of what was imported are not missed', async () => {
    const to = join(folder, 'out');
    const files = await exportRuns(store, ['one', 'two'], { format: 'html', folder: to }, { softbench: '1', pages });
    expect(files).toEqual([join(to, 'cities-2-models.html')]);
    rmSync(join(home, 'benchmarks', 'cities.yaml'));
    const { noPrompts } = await writeResultsPage(
      join(folder, 'gone.html'),
      runsOf('one'),
      { outputs: true, prompts: true },
      { pages },
    );
    expect(noPrompts).toMatch(/cities\.yaml/);
    expect(noPrompts).not.toContain(folder);
  });
});
