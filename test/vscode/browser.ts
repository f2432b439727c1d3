// Opens pages in the Chromium that scripts/browser.mjs has found.
import { appendFileSync, writeFileSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

export function launchBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM;
  if (!executablePath) throw new Error('CHROMIUM is not set. `npm test` sets it.');
  return chromium.launch({
    executablePath,
    headless: true,
    // As root (containers) Chromium cannot make its sandbox; all pages are our own.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

export interface Window {
  page: Page;
  context: BrowserContext;
  /** Origins outside this machine that the window has asked for: nothing should. */
  outside: Set<string>;
  /** What the window's console has said. */
  consoleText(): string;
}

/** Files of a webview's page: VS Code's own service worker answers for this name, the network is never asked. */
const webviewFiles = /\.vscode-resource\.vscode-cdn\.net$/;

export async function openWindow(browser: Browser, consoleFile: string): Promise<Window> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers: 'allow' });
  const page = await context.newPage();
  const outside = new Set<string>();
  let text = '';
  writeFileSync(consoleFile, '');
  const note = (line: string): void => {
    text += `${line}\n`;
    appendFileSync(consoleFile, `${line}\n`);
  };
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (!/^(https?|wss?):$/.test(url.protocol) || /^(127\.0\.0\.1|localhost)$/.test(url.hostname)) return;
    if (!webviewFiles.test(url.hostname)) outside.add(url.origin);
  });
  page.on('console', (message) => note(`[${message.type()}] ${message.text()}`));
  page.on('pageerror', (error) => note(`[page error] ${error.stack ?? error}`));
  return { page, context, outside, consoleText: () => text };
}
