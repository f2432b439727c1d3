// The results page with many items, as its reader meets it, in Chromium: how long until rows stand, from a key in the filter
// to its rows, and how evenly the table scrolls, by Chromium's own trace. And what the host's side takes, in a process of
// its own. node bench/results-page.mjs CHROMIUM ITEMS [MODE,MODE]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { nodeModule } from '../scripts/build.mjs';
import { makeRuns } from './make-run.mjs';
import { categories, framesOf, quantile, readTrace, waitFor } from './page-trace.mjs';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');

/** The page's script, and one that stands for the editor: it has the items and hands them over as messages are, copied. */
async function bundle(items, modes) {
  const script = async (options) => {
    const { outputFiles } = await build({ absWorkingDir: root, bundle: true, write: false, ...options });
    return outputFiles[0].text;
  };
  const page = await script({
    entryPoints: ['webview/results/main.ts'],
    minify: true,
    format: 'iife',
    target: 'es2022',
  });
  const style = await script({
    stdin: {
      contents: "@import './style.css'; @import './results/page.css';",
      resolveDir: join(root, 'webview'),
      loader: 'css',
    },
  });
  const host = await script({
    format: 'iife',
    stdin: {
      resolveDir: join(root, 'bench'),
      loader: 'ts',
      contents: `
        import { largeRun } from './large-run.ts';
        import { packRows, rowOf } from '../src/shared/item-rows.ts';
        import { detail, resultsData } from '../test/webview/data.ts';
        const runs = ${JSON.stringify(modes)}.map((mode) => largeRun(mode, ${items}));
        const rows = new Map(runs.map(({ result, records }) => [result.run.id, records.map(rowOf)]));
        const view = { ...resultsData(0, []).view, columns: runs.map(({ result }) => ({ ...result, label: result.run.mode })) };
        // A message holds at most 8 MB of items.jsonl, as in src/views/results-panels.ts.
        const answers = {
          view: () => view,
          items: ({ run, from, limit }) => packRows(rows.get(run).slice(from, from + Math.min(limit, 8500))),
          detail: ({ index }) => detail(index, runs),
        };
        // In a thread of its own, as the editor's host is: what it does takes no time from the page.
        self.onmessage = ({ data: { rpc, id, method, argument } }) => {
          if (rpc === 'call') self.postMessage({ rpc: 'result', id, value: answers[method]?.(argument) ?? null });
        };
        self.postMessage('ready');
      `,
    },
  });
  const shim = `
        const host = new Worker(URL.createObjectURL(new Blob([${JSON.stringify('HOST')}], { type: 'text/javascript' })));
        window.hostReady = new Promise((ready) => {
          host.onmessage = ({ data }) => {
            if (data === 'ready') ready();
            else window.dispatchEvent(new MessageEvent('message', { data }));
          };
        });
        window.acquireVsCodeApi = () => ({ postMessage: (message) => host.postMessage(message) });
        document.documentElement.classList.add('softbench-standalone');
        window.heap = () => performance.memory?.usedJSHeapSize ?? null;
      `;
  return { page, style, host: shim.replace('"HOST"', () => JSON.stringify(host)) };
}

const typed = ['cause:"ran on" sheep', 'sheep in Seattle', 'tokens>150 -mode:few-shot dozen', '/three \\w+ apples/'];

/**
 * @param executablePath a Chromium
 * @returns milliseconds until the first and until all rows stand, per key of filters, frames of a scroll, and the heap
 */
export async function resultsPage(executablePath, items, modes = ['soft-prompt']) {
  const folder = mkdtempSync(join(tmpdir(), 'softbench-results-bench-'));
  const { page: script, style, host } = await bundle(items, modes);
  for (const [name, text] of [
    ['page.js', script],
    ['page.css', style],
    ['host.js', host],
    [
      'index.html',
      '<!DOCTYPE html><html lang="en"><head><link rel="stylesheet" href="page.css"><script src="host.js"></script></head><body></body></html>',
    ],
  ])
    writeFileSync(join(folder, name), text);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--enable-precise-memory-info'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    page.setDefaultTimeout(120_000);
    await page.goto(pathToFileURL(join(folder, 'index.html')).href);
    await page.evaluate(`window.waitFor = ${waitFor}`);
    await page.evaluate('window.hostReady');
    const heapBefore = await page.evaluate('window.heap()');
    await browser.startTracing(page, { categories });
    const opened = await page.evaluate(`(async () => {
      performance.mark('open-start');
      const from = performance.now();
      const script = document.createElement('script');
      script.src = 'page.js';
      document.body.append(script);
      const text = () => document.querySelector('.count')?.textContent ?? '';
      const first = await waitFor(() => document.querySelector('.grid-body .grid-row'), from);
      const all = await waitFor(() => text().replace(/\\D/g, '') === '${items * modes.length}', from);
      performance.mark('open-end');
      return { first, all };
    })()`);
    opened.work = readTrace(await browser.stopTracing())
      .work('open')
      .reduce((sum, each) => sum + each, 0);
    const heapAfter = await page.evaluate('window.heap()');
    await page.waitForTimeout(1000);
    const keys = [];
    await browser.startTracing(page, { categories });
    for (const whole of typed)
      for (let length = 1; length <= whole.length; length++) {
        const text = whole.slice(0, length);
        keys.push({
          text,
          ...(await page.evaluate(`(async () => {
            const field = document.querySelector('.filter-input');
            const body = document.querySelector('.grid-body');
            performance.mark('key${keys.length}-start');
            const from = performance.now();
            field.value = ${JSON.stringify(text)};
            field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
            const handled = performance.now() - from;
            // The page says which filter its rows are of.
            const milliseconds = await waitFor(() => body.parentElement.dataset.filter === field.value, from);
            performance.mark('key${keys.length}-end');
            return { handled, milliseconds };
          })()`)),
        });
      }
    const typing = readTrace(await browser.stopTracing());
    // The waiting for the frame behind it polls: the work of a key is what the tasks of some length did.
    for (const [at, key] of keys.entries())
      key.work = typing
        .work(`key${at}`)
        .filter((each) => each > 0.5)
        .reduce((sum, each) => sum + each, 0);
    await page.evaluate(`(async () => {
      const field = document.querySelector('.filter-input');
      field.value = '';
      field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
      document.querySelector('.grid').scrollIntoView({ block: 'center' });
    })()`);
    await page.waitForTimeout(500);
    const session = await page.context().newCDPSession(page);
    const box = await page.locator('.grid').boundingBox();
    await browser.startTracing(page, { categories });
    await page.evaluate("performance.mark('scroll-start')");
    // As fast as somebody turns a wheel, down and up: 4000 pixels a second are 154 rows a second.
    await session.send('Input.synthesizeScrollGesture', {
      ...{ x: box.x + box.width / 2, y: box.y + box.height / 2, yDistance: -12_000, speed: 4000 },
      ...{ gestureSourceType: 'mouse', repeatCount: 0 },
    });
    await page.evaluate("performance.mark('scroll-end')");
    const scroll = framesOf(readTrace(await browser.stopTracing()), 'scroll');
    const scrolled = await page.evaluate("document.querySelector('.grid').scrollTop");
    return { opened, keys, scroll, scrolled, heapBytes: heapAfter === null ? null : heapAfter - heapBefore };
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the host's side of the page takes: a run of so many items on disk, read and handed over by the product's code. */
export async function resultsHost(items, modes = ['soft-prompt']) {
  const folder = mkdtempSync(join(tmpdir(), 'softbench-results-host-'));
  try {
    const made = await makeRuns(folder, items, modes);
    const program = join(folder, 'host.mjs');
    await build({ ...nodeModule, entryPoints: ['bench/results-host.ts'], outfile: program });
    const output = execFileSync(process.execPath, ['--expose-gc', program, folder], { encoding: 'utf8' });
    return { bytes: made.reduce((sum, { bytes }) => sum + bytes, 0), ...JSON.parse(output) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Both, as lines of a bench. @param row prints a name, a value and a note */
export async function resultsBench({ executablePath, items, modes, row, results }) {
  const ms = (value) => `${value.toFixed(0)} ms`;
  const host = await resultsHost(items, modes);
  row(
    'results page: host memory',
    `${(host.growthBytes / 1e6).toFixed(0)} MB at most`,
    `${host.items.toLocaleString('en-US')} items, ${(host.bytes / 1e6).toFixed(0)} MB on disk; kept ${(host.keptBytes / 1e6).toFixed(1)} MB; limit 150 MB`,
  );
  results.resultsHost = host;
  if (!executablePath) {
    row('results page: in Chromium', 'not measured', 'there is no Chromium: CHROMIUM names one');
    return;
  }
  const { opened, keys, scroll, heapBytes } = await resultsPage(executablePath, items, modes);
  const times = keys.map(({ milliseconds }) => milliseconds);
  const work = keys.map(({ work: each }) => each);
  const slowest = keys.reduce((a, b) => (b.milliseconds > a.milliseconds ? b : a));
  row(
    'results page: opens',
    `${ms(opened.all)} to the last row`,
    `${ms(opened.first)} to the first; ${ms(opened.work)} on the processor; heap ${heapBytes === null ? '?' : (heapBytes / 1e6).toFixed(0)} MB; limit 1000 ms`,
  );
  row(
    'results page: key in the filter to its rows',
    `median ${ms(quantile(times, 0.5))}`,
    `95 %: ${ms(quantile(times, 0.95))}, most ${ms(slowest.milliseconds)} (${slowest.text}), ${keys.length} keys; on the processor ${ms(quantile(work, 0.5))}, 95 % ${ms(quantile(work, 0.95))}, most ${ms(Math.max(...work))}; limit 100 ms`,
  );
  row(
    'results page: scrolling, time of a frame',
    `95 %: ${quantile(scroll.intervals, 0.95).toFixed(1)} ms`,
    `median ${quantile(scroll.intervals, 0.5).toFixed(1)} ms, ${scroll.frames} frames, ${scroll.dropped} of ${scroll.reported} dropped; the page's thread works ${scroll.workPerFrame.toFixed(1)} ms a frame, ${scroll.longestTask.toFixed(1)} ms at most at a time`,
  );
  results.resultsPage = { opened, keys, scroll, heapBytes };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , executablePath, items, modes] = process.argv;
  const results = {};
  await resultsBench({
    ...{ executablePath, items: Number(items ?? 100_000), modes: (modes ?? 'soft-prompt').split(','), results },
    row: (...parts) => console.log(parts.join('  ')),
  });
  if (process.env.SOFTBENCH_BENCH_KEYS)
    for (const { text, handled, milliseconds, work } of results.resultsPage?.keys ?? [])
      console.log(text.padEnd(36), handled.toFixed(0), milliseconds.toFixed(0), work.toFixed(1));
}
