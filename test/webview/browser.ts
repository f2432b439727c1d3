/** Opens a page of the extension in Chromium: with embedded data like an exported file, or against a scripted host. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const artifacts = join(root, 'test/.artifacts/webview');

const pageNames = ['results', 'leaderboard', 'predictor'] as const;
export type PageName = (typeof pageNames)[number];
export interface Theme {
  name: string;
  colorScheme: 'light' | 'dark';
  contrast?: 'more';
  forcedColors?: 'active';
}
export const themes: readonly Theme[] = [
  { name: 'light', colorScheme: 'light' },
  { name: 'dark', colorScheme: 'dark' },
  { name: 'high-contrast', colorScheme: 'dark', contrast: 'more' },
  { name: 'forced-colors', colorScheme: 'dark', contrast: 'more', forcedColors: 'active' },
];

function chromiumPath(): string | null {
  const named = process.env.SOFTBENCH_TEST_CHROMIUM;
  if (named) return named;
  for (const name of ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'])
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      // not this one
    }
  return null;
}
/** Where there is no Chromium the page tests are skipped. */
export const browserPath = chromiumPath();

export interface Bundles {
  scripts: Record<PageName, { text: string; bytes: number }>;
  styles: Record<PageName, string>;
}

/** Bundles pages as scripts/build.mjs does, minified. */
export async function bundlePages(pages: readonly PageName[] = pageNames): Promise<Bundles> {
  const bundle = async (page: PageName) => {
    const script = await build({
      absWorkingDir: root,
      entryPoints: [`webview/${page}/main.ts`],
      bundle: true,
      minify: true,
      write: false,
      format: 'iife',
      target: 'es2022',
      legalComments: 'none',
    });
    const style = await build({
      absWorkingDir: root,
      stdin: {
        contents: `@import './style.css'; @import './${page}/page.css';`,
        resolveDir: join(root, 'webview'),
        loader: 'css',
      },
      bundle: true,
      write: false,
      target: 'chrome120',
    });
    const bytes = script.outputFiles[0]?.contents.byteLength ?? 0;
    return { text: script.outputFiles[0]?.text ?? '', bytes, style: style.outputFiles[0]?.text ?? '' };
  };
  const bundles = { scripts: {}, styles: {} } as Bundles;
  for (const page of pages) {
    const { style, ...script } = await bundle(page);
    bundles.scripts[page] = script;
    bundles.styles[page] = style;
  }
  return bundles;
}

export const embed = (data: unknown): string => JSON.stringify(data).replaceAll('<', '\\u003c');

/**
 * The HTML of a page. The policy is that of the editor's webview: own script by nonce, own style, nothing else. Script
 * and style stand in files beside it, as they do there.
 */
export function pageHtml(page: PageName, head: string): string {
  const policy = `default-src 'none'; script-src 'nonce-test'; style-src file:; img-src data:`;
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Softbench</title>
<link rel="stylesheet" href="${page}.css">${head}</head>
<body><script nonce="test" src="${page}.js"></script></body></html>`;
}

export interface Session {
  browser: Browser;
  /** Opens a page that reads embedded data, or (where `host` is given) that talks to a script standing for the editor. */
  open(
    page: PageName,
    options: { data?: unknown; host?: string; theme?: Theme; width?: number; height?: number },
  ): Promise<{
    page: Page;
    /** Errors of the page and refusals of its policy. */
    problems: string[];
  }>;
  /** Opens HTML as it is. */
  openFile(name: string, html: string): Promise<{ page: Page; problems: string[] }>;
  close(): Promise<void>;
}

export async function startSession(bundles: Bundles): Promise<Session> {
  if (!browserPath) throw new Error('There is no Chromium.');
  const folder = mkdtempSync(join(tmpdir(), 'softbench-pages-'));
  mkdirSync(artifacts, { recursive: true });
  for (const page of pageNames) {
    if (!bundles.scripts[page]) continue;
    writeFileSync(join(folder, `${page}.js`), bundles.scripts[page].text);
    writeFileSync(join(folder, `${page}.css`), bundles.styles[page]);
  }
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  let files = 0;
  const show = async (name: string, html: string, options: BrowserContextOptions) => {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    const file = join(folder, name);
    writeFileSync(file, html);
    await page.goto(pathToFileURL(file).href);
    return { page, problems };
  };
  return {
    browser,
    open(name, { data, host, theme = themes[0], width = 1200, height = 900 }) {
      const head = host
        ? `<script nonce="test">${host}</script>`
        : `<script type="application/json" id="softbench-data">${embed(data)}</script>`;
      return show(`${name}-${files++}.html`, pageHtml(name, head), {
        viewport: { width, height },
        colorScheme: theme?.colorScheme ?? 'light',
        contrast: theme?.contrast ?? 'no-preference',
        forcedColors: theme?.forcedColors ?? 'none',
      });
    },
    openFile: (name, html) => show(name, html, { viewport: { width: 1200, height: 900 } }),
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** axe-core as text, to be evaluated in a page (evaluation is not subject to the page's policy). */
const axeSource = (): string => {
  const path = join(root, 'node_modules/axe-core/axe.min.js');
  if (!existsSync(path)) throw new Error('axe-core is not installed.');
  return readFileSync(path, 'utf8');
};

declare global {
  interface Window {
    axe: {
      run(
        options: unknown,
      ): Promise<{ violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
    };
  }
}

/** Accessibility violations of a page as axe-core finds them; empty where there are none. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource());
  const found = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'], preload: false }));
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}\n${failureSummary}`),
  );
}
