// The leaderboard with many models and benchmarks, as its reader meets it, in Chromium: as a grid (a tab) and as a list (the
// side panel). How long until it stands, from a sort or a letter in the search to the rows, and how evenly it scrolls, by
// Chromium's own trace. node bench/leaderboard-page.mjs CHROMIUM [MODELS] [BENCHMARKS]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { categories, framesOf, quantile, readTrace, waitFor } from './page-trace.mjs';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');

/** Scores of so many models on so many benchmarks in two modes, made up; the same each time. */
function view(models, benchmarks) {
  let state = 1;
  const random = () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
  const n = 1000;
  const share = (value) => {
    const margin = 1.96 * Math.sqrt((value * (1 - value)) / n);
    return {
      value,
      low: Math.max(0, value - margin),
      high: Math.min(1, value + margin),
      n,
      count: Math.round(value * n),
    };
  };
  const named = Array.from(
    { length: models },
    (_, at) => `model-${at}-${1 + (at % 70)}B${at % 3 === 0 ? '-Instruct' : ''}`,
  );
  const tasks = Array.from({ length: benchmarks }, (_, at) => `benchmark_${at}`);
  const summary = (mode, value) => {
    const S = share(value);
    const scores = {
      n,
      F: share(1),
      S,
      K: { ...S, unreliable: false },
      L: S,
      LL: null,
      constant: null,
      chance: null,
      commonest: null,
    };
    return { schema: 1, mode, scores: { ...scores, causes: {} }, metrics: [], cost: null };
  };
  return {
    benchmarks: tasks.map((task) => ({ task, file: `/benchmarks/${task}.yaml` })),
    models: named.map((name) => ({ name, folder: `/models/${name}` })),
    links: [],
    cells: named.flatMap((model, row) =>
      tasks.flatMap((task, column) =>
        ['zero-shot', 'soft-prompt'].map((mode) => ({
          ...{ model, task, mode },
          cell: { run: `${mode}-${row}-${column}`, status: 'finished', summary: summary(mode, 0.1 + 0.8 * random()) },
        })),
      ),
    ),
  };
}

async function pageFiles(folder, data) {
  const text = async (options) =>
    (await build({ absWorkingDir: root, bundle: true, write: false, minify: true, ...options })).outputFiles[0].text;
  const script = await text({ entryPoints: ['webview/leaderboard/main.ts'], format: 'iife', target: 'es2022' });
  const style = await text({
    stdin: {
      ...{ contents: "@import './style.css'; @import './leaderboard/page.css';", loader: 'css' },
      resolveDir: join(root, 'webview'),
    },
  });
  const html = `<!DOCTYPE html><html lang="en" class="softbench-standalone"><head><link rel="stylesheet" href="page.css"></head><body><main id="root"></main><script type="application/json" id="softbench-data">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script></body></html>`;
  for (const [name, content] of [
    ['page.js', script],
    ['page.css', style],
    ['index.html', html],
  ])
    writeFileSync(join(folder, name), content);
}

/** The two layouts, by the width of the window: what scrolls, what a row is, what is clicked to sort. */
const layouts = {
  grid: { width: 1400, scrolls: '.matrix', row: '.matrix-body .matrix-row', sorts: '.head-cell' },
  list: { width: 360, scrolls: 'html', row: '.models > li', sorts: null },
};
const searches = ['m', 'mo', 'model-4', 'model-49', 'instruct', ''];

async function measure(browser, folder, { width, scrolls, row, sorts }) {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  page.setDefaultTimeout(120_000);
  await page.goto(pathToFileURL(join(folder, 'index.html')).href);
  await page.evaluate(`window.waitFor = ${waitFor}`);
  await browser.startTracing(page, { categories });
  const first = await page.evaluate(`(async () => {
    performance.mark('open-start');
    const from = performance.now();
    const script = document.createElement('script');
    script.src = 'page.js';
    document.body.append(script);
    const first = await waitFor(() => document.querySelector(${JSON.stringify(row)}), from);
    performance.mark('open-end');
    return first;
  })()`);
  // Ranks that models could have are drawn in the background.
  await page.waitForTimeout(4000);
  const steps = [];
  /** What is done, and a mark that the page has when it is shown. */
  const step = async (name, act, shown) => {
    const mark = `step${steps.length}`;
    if (process.env.SOFTBENCH_BENCH_STEPS) console.error(name);
    const milliseconds = await page.evaluate(`(async () => {
      const from = performance.now();
      performance.mark('${mark}-start');
      ${act};
      const shown = await waitFor(() => ${shown}, from);
      performance.mark('${mark}-end');
      return shown;
    })()`);
    steps.push({ name, mark, milliseconds });
  };
  for (let column = 0; sorts && column < 6; column++)
    await step(
      `sort by column ${column}`,
      `const head = () => document.querySelectorAll('${sorts}')[${column}]; const before = head().getAttribute('aria-sort'); head().click()`,
      `head().getAttribute('aria-sort') !== before`,
    );
  for (const text of searches) {
    const words = JSON.stringify(text);
    await step(
      `search ${words}`,
      `const field = document.querySelector('vscode-text-field input'); field.value = ${words}; field.dispatchEvent(new Event('input', { bubbles: true, composed: true }))`,
      `document.querySelector('.controls').dataset.search === ${words}`,
    );
  }
  await page.waitForTimeout(500);
  const session = await page.context().newCDPSession(page);
  const box =
    scrolls === 'html' ? { x: 0, y: 100, width, height: 700 } : await page.locator(scrolls).first().boundingBox();
  await page.evaluate("performance.mark('scroll-start')");
  await session.send('Input.synthesizeScrollGesture', {
    ...{ x: box.x + box.width / 2, y: box.y + box.height / 2, yDistance: -8000, speed: 4000 },
    ...{ gestureSourceType: 'mouse', repeatCount: 0 },
  });
  await page.evaluate("performance.mark('scroll-end')");
  const scrolled = await page.evaluate(`document.querySelector('${scrolls}').scrollTop`);
  const elements = await page.evaluate("document.querySelectorAll('*').length");
  const trace = readTrace(await browser.stopTracing());
  const sum = (values) => values.reduce((total, each) => total + each, 0);
  for (const each of steps) each.work = sum(trace.work(each.mark).filter((task) => task > 0.5));
  await page.close();
  return { first, openWork: sum(trace.work('open')), steps, scroll: framesOf(trace, 'scroll'), scrolled, elements };
}

/** @returns by layout: milliseconds until rows stand, per sort and search, and frames of a scroll */
export async function leaderboardPage(executablePath, models = 500, benchmarks = 50) {
  const folder = mkdtempSync(join(tmpdir(), 'softbench-leaderboard-bench-'));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    await pageFiles(folder, { page: 'leaderboard', view: view(models, benchmarks) });
    const found = {};
    for (const [name, layout] of Object.entries(layouts)) found[name] = await measure(browser, folder, layout);
    return found;
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same as lines of a bench. @param row prints a name, a value and a note */
export async function leaderboardBench({ executablePath, models = 500, benchmarks = 50, row, results }) {
  if (!executablePath) {
    row('leaderboard page: in Chromium', 'not measured', 'there is no Chromium: CHROMIUM names one');
    return;
  }
  const found = await leaderboardPage(executablePath, models, benchmarks);
  for (const [name, { first, openWork, steps, scroll, elements }] of Object.entries(found)) {
    const times = steps.map(({ milliseconds }) => milliseconds);
    const slowest = steps.reduce((a, b) => (b.milliseconds > a.milliseconds ? b : a));
    row(
      `leaderboard page, ${name}: opens`,
      `${first.toFixed(0)} ms`,
      `${models} models × ${benchmarks} benchmarks, ${elements} elements; ${openWork.toFixed(0)} ms on the processor`,
    );
    row(
      `leaderboard page, ${name}: sort or search to its rows`,
      `median ${quantile(times, 0.5).toFixed(0)} ms`,
      `most ${slowest.milliseconds.toFixed(0)} ms (${slowest.name}); on the processor ${Math.max(...steps.map(({ work }) => work)).toFixed(0)} ms at most; limit 100 ms`,
    );
    row(
      `leaderboard page, ${name}: scrolling, time of a frame`,
      `95 %: ${quantile(scroll.intervals, 0.95).toFixed(1)} ms`,
      `median ${quantile(scroll.intervals, 0.5).toFixed(1)} ms, ${scroll.frames} frames, ${scroll.dropped} of ${scroll.reported} dropped; the page's thread works ${scroll.workPerFrame.toFixed(1)} ms a frame, ${scroll.longestTask.toFixed(1)} ms at most at a time`,
    );
  }
  results.leaderboardPage = found;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , executablePath, models, benchmarks] = process.argv;
  await leaderboardBench({
    ...{ executablePath, models: Number(models ?? 500), benchmarks: Number(benchmarks ?? 50), results: {} },
    row: (...parts) => console.log(parts.join('  ')),
  });
}
