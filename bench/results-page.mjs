// The results page with many items in Chromium, as its reader meets it: how long until the table stands, from a key in
// the filter to the rows, and how evenly it scrolls. node bench/results-page.mjs CHROMIUM ITEMS
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');

/** The page's script, and one that stands for the editor: it has the items and hands them over as messages are, copied. */
async function bundle(items) {
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
      resolveDir: join(root, 'test', 'webview'),
      loader: 'ts',
      contents: `
        import { resultsData } from './data.ts';
        const data = resultsData(${items}, ['soft-prompt']);
        const answers = {
          view: () => data.view,
          items: ({ run, from, limit }) => data.items[run].slice(from, from + limit),
          detail: ({ index }) => ({ ...data.details[0], index }),
        };
        window.started = 0;
        window.acquireVsCodeApi = () => ({
          postMessage({ rpc, id, method, argument }) {
            if (rpc !== 'call') return;
            setTimeout(() => window.postMessage({ rpc: 'result', id, value: answers[method]?.(argument) ?? null }, '*'));
          },
        });
        document.documentElement.classList.add('softbench-standalone');
        window.heap = () => performance.memory?.usedJSHeapSize ?? null;
      `,
    },
  });
  return { page, style, host };
}

/** In the page: waits until the count says what is meant, a frame after. @returns milliseconds since `from` */
const waitFor = (test, from) =>
  new Promise((done) => {
    const look = () => {
      if (test()) requestAnimationFrame(() => setTimeout(() => done(performance.now() - from)));
      else setTimeout(look, 1);
    };
    look();
  });

/**
 * @param executablePath a Chromium
 * @returns milliseconds to open, per key of a filter, per frame of a scroll, and the page's heap in bytes
 */
export async function resultsPage(executablePath, items) {
  const folder = mkdtempSync(join(tmpdir(), 'softbench-results-bench-'));
  const { page: script, style, host } = await bundle(items);
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
    await page.goto(pathToFileURL(join(folder, 'index.html')).href);
    await page.evaluate(`window.waitFor = ${waitFor}`);
    const heapBefore = await page.evaluate('window.heap()');
    const opened = await page.evaluate(`(async () => {
      const from = performance.now();
      const script = document.createElement('script');
      script.src = 'page.js';
      document.body.append(script);
      const text = () => document.querySelector('.count')?.textContent ?? '';
      return waitFor(() => text().replace(/\\D/g, '').startsWith('${items}') && document.querySelector('.grid-body .grid-row'), from);
    })()`);
    const heapAfter = await page.evaluate('window.heap()');
    await page.waitForTimeout(500);
    const keys = [];
    const typed = 'cause:"ran on" sheep';
    for (let length = 1; length <= typed.length; length++) {
      const text = typed.slice(0, length);
      keys.push({
        text,
        milliseconds: await page.evaluate(`(async () => {
          const field = document.querySelector('.filter-bar vscode-text-field');
          const count = document.querySelector('.count');
          // Even where the number stays the same the text is set anew: that is a change of the node.
          let changed = false;
          new MutationObserver((_, self) => { changed = true; self.disconnect(); }).observe(count, { childList: true, characterData: true, subtree: true });
          const from = performance.now();
          field.value = ${JSON.stringify(text)};
          field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
          return waitFor(() => changed, from);
        })()`),
      });
    }
    await page.evaluate(`(async () => {
      const field = document.querySelector('.filter-bar vscode-text-field');
      field.value = '';
      field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    })()`);
    await page.waitForTimeout(500);
    const frames = await page.evaluate(`new Promise((done) => {
      const grid = document.querySelector('.grid');
      const taken = [];
      let last = performance.now();
      const next = (now) => {
        taken.push(now - last);
        last = now;
        grid.scrollTop += 260;
        if (taken.length < 240) requestAnimationFrame(next);
        else done(taken.slice(5));
      };
      requestAnimationFrame(next);
    })`);
    return { opened, keys, frames, heapBytes: heapAfter === null ? null : heapAfter - heapBefore };
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { opened, keys, frames, heapBytes } = await resultsPage(process.argv[2], Number(process.argv[3] ?? 100_000));
  const sorted = [...frames].sort((a, b) => a - b);
  console.log('opened', Math.round(opened), 'heap MB', heapBytes && Math.round(heapBytes / 1e6));
  console.log(keys.map(({ text, milliseconds }) => `${text}: ${Math.round(milliseconds)}`).join('\n'));
  console.log(
    'frame median',
    sorted[sorted.length >> 1],
    'p95',
    sorted[Math.floor(sorted.length * 0.95)],
    'worst',
    sorted.at(-1),
  );
}
