// What a person does in a VS Code window, in words: opening a file, clicking a CodeLens, finding a page.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Dialog, Frame, Locator, Page } from 'playwright-core';
import { until } from '../support/wait.ts';
import { launchBrowser, openWindow, type Window } from '../vscode/browser.ts';
import { note } from '../vscode/report.ts';
import { copyInto, type Server, startServer } from '../vscode/server.ts';

const project = process.cwd();
export const artifacts = join(project, 'test', '.artifacts');
export const screenshots = join(artifacts, 'screenshots');
const modifier = process.platform === 'darwin' ? 'Meta' : 'Control';

/** VS Code's own colour themes, one of each kind. */
export const themes = {
  light: { label: 'Light Modern', id: 'Default Light Modern', style: 'vs' },
  dark: { label: 'Dark Modern', id: 'Default Dark Modern', style: 'vs-dark' },
  'high-contrast': { label: 'Dark High Contrast', id: 'Default High Contrast', style: 'hc-black' },
} as const;

export interface WorkbenchOptions {
  /** Names the logs. */
  name: string;
  settings?: Record<string, unknown>;
  /** Of the server and of the extensions. */
  env?: Record<string, string>;
  /** Dialogs are shown. */
  dialogs?: boolean;
}

export class Workbench {
  private constructor(
    private readonly server: Server,
    private readonly browser: Browser,
    private readonly window: Window,
    /** The opened folder: a copy of the examples, which the test may change. */
    readonly folder: string,
  ) {}

  /** Opens a window with the packaged extension installed, on a copy of the examples. */
  static async open({ name, settings = {}, env = {}, dialogs = false }: WorkbenchOptions): Promise<Workbench> {
    const home = process.env.SOFTBENCH_VSCODE_SERVER;
    const vsix = process.env.SOFTBENCH_TEST_VSIX;
    if (!home || !vsix)
      throw new Error('SOFTBENCH_VSCODE_SERVER and SOFTBENCH_TEST_VSIX are not set. `npm test` sets them.');
    mkdirSync(screenshots, { recursive: true });
    const server = await startServer({
      home,
      vsix,
      log: join(artifacts, `${name}-server.log`),
      settings: { 'workbench.colorTheme': themes.light.id, 'editor.codeLens': true, ...settings },
      keybindings: [{ key: 'ctrl+alt+shift+k', command: 'softbench.test.killWorker' }],
      env: { ...env, SOFTBENCH_TEST: '1' },
      dialogs,
    });
    const browser = await launchBrowser();
    try {
      const folder = copyInto(server, join(project, 'examples'), 'examples');
      const window = await openWindow(browser, join(artifacts, `${name}-console.log`));
      const workbench = new Workbench(server, browser, window, folder);
      await workbench.load();
      return workbench;
    } catch (error) {
      await browser.close();
      await server.stop();
      throw error;
    }
  }

  get page(): Page {
    return this.window.page;
  }

  /** Loads the window, or loads it again. Returns when the extension's contributions are there. */
  async load(): Promise<void> {
    await this.page.goto(`${this.server.origin}/?folder=${encodeURIComponent(this.folder)}`);
    await this.#ready();
  }

  /**
   * Loads the window again by its command. Unlike a window that is left by its address, VS Code then writes down what is
   * open; by itself it does so once a minute, and when the focus goes elsewhere.
   * @param when what is waited for once the command needs no more than a key
   */
  async reload(when: () => Promise<unknown> = async () => {}): Promise<void> {
    await this.page.evaluate(() => document.documentElement.setAttribute('data-left', ''));
    const isLeft = async (): Promise<boolean> => (await this.page.locator('html[data-left]').count()) === 0;
    const box = this.page.locator('.quick-input-widget input.input');
    const title = 'Developer: Reload Window';
    const row = this.page.locator('.quick-input-widget .monaco-list-row.focused', { hasText: title });
    // The browser asks where something is still being written down.
    const accept = (dialog: Dialog): void => void dialog.accept().catch(() => {});
    this.page.on('dialog', accept);
    try {
      await until(
        'the window to be left',
        async () => {
          try {
            await this.page.keyboard.press('F1');
            await box.fill(`>${title}`, { timeout: 5000 });
            await row.waitFor({ timeout: 5000 });
          } catch {
            // The window may be gone already.
            return isLeft().catch(() => false);
          }
          await when();
          await box.press('Enter', { timeout: 5000 }).catch(() => {});
          return until('another window', isLeft, 15).catch(() => false);
        },
        300,
      );
    } finally {
      this.page.off('dialog', accept);
    }
    await this.#ready();
  }

  async #ready(): Promise<void> {
    await this.page.locator('.monaco-workbench').waitFor({ timeout: 60_000 });
    await this.activityIcon().waitFor({ timeout: 60_000 });
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
    assert.deepEqual([...this.window.outside], [], 'the window asked for something outside this machine');
  }

  /** Where the runs of the folder are kept. */
  get store(): string {
    return join(this.folder, '.softbench');
  }

  /** A benchmark file of the folder. */
  benchmark(name: string): string {
    return join(this.folder, 'benchmarks', `${name}.yaml`);
  }

  /** A model of the folder. */
  model(name: string): string {
    return join(this.folder, 'models', name);
  }

  /** The extension's icon in the activity bar. */
  activityIcon(): Locator {
    return this.page.locator('.activitybar .action-item a[aria-label^="Softbench"]');
  }

  async showSidePanel(): Promise<void> {
    const shown = this.page.locator('.sidebar .composite.title', { hasText: 'Softbench' });
    if (!(await shown.isVisible())) await this.activityIcon().click();
    await shown.waitFor();
  }

  /** A row of one of the extension's trees. */
  treeRow(text: string | RegExp): Locator {
    return this.page.locator('.sidebar .monaco-list-row', { hasText: text });
  }

  /** One of the extension's views in the side panel, by its heading. */
  #view(name: string): Locator {
    return this.page.locator('.sidebar .pane', { has: this.page.locator(`.pane-header[aria-label^="${name} "]`) });
  }

  async foldView(name: string): Promise<void> {
    const header = this.#view(name).locator('.pane-header');
    if ((await header.getAttribute('aria-expanded')) === 'true') await header.click();
  }

  /** A row of one view's tree. */
  viewRow(view: string, text: string | RegExp): Locator {
    return this.#view(view).locator('.monaco-list-row', { hasText: text });
  }

  /** A button that stands in a row of a view's tree while the pointer is over it. */
  rowAction(view: string, row: string | RegExp, title: string): Locator {
    return this.viewRow(view, row).locator(`.actions a[aria-label^="${title}"]`);
  }

  /** A tree that is drawn anew while it is clicked on takes the click elsewhere: then once more, as a person would. */
  async unfold(view: string, row: string | RegExp): Promise<void> {
    const found = this.viewRow(view, row);
    const isUnfolded = async (): Promise<boolean> => (await found.getAttribute('aria-expanded')) === 'true';
    await until(`${row} to be unfolded`, async () => {
      if (await isUnfolded()) return true;
      await found.locator('.monaco-tl-twistie').click();
      return until('the row', isUnfolded, 2).catch(() => false);
    });
  }

  /** The first row with a text below another row. */
  async rowBelow(view: string, above: string | RegExp, text: string): Promise<Locator> {
    const index = Number(await this.viewRow(view, above).getAttribute('data-index'));
    const rows = this.viewRow(view, text);
    for (const row of await rows.all()) {
      const at = Number(await row.getAttribute('data-index'));
      if (at > index) return this.#view(view).locator(`.monaco-list-row[data-index="${at}"]`);
    }
    throw new Error(`There is no row "${text}" below ${above}.`);
  }

  /** Opens a row's context menu and chooses from it. A menu that has only just opened takes no click: then once more. */
  async chooseFromMenu(row: Locator, entry: string): Promise<void> {
    const found = this.page.locator('.monaco-menu .action-item', { hasText: entry }).first();
    await row.click({ button: 'right' });
    await found.waitFor();
    await until(`"${entry}" to be chosen`, async () => {
      await found.click({ timeout: 2000 }).catch(() => {});
      return until('the menu to close', async () => !(await found.isVisible()), 1).catch(() => false);
    });
  }

  /** Chooses an option of one of the extension's pages. */
  async choose(page: Frame, label: string, option: string | RegExp): Promise<void> {
    await page.locator(`vscode-dropdown[aria-label="${label}"]`).click();
    await page.locator('vscode-option', { hasText: option }).first().click();
  }

  /** Accepts the place that the dialog for saving proposes (in a browser it is VS Code's own). @returns the file */
  async acceptSaveDialog(ending: string): Promise<string> {
    const box = this.page.locator('.quick-input-widget input.input');
    const file = await until('the proposed file', async () => {
      const text = await box.inputValue({ timeout: 2000 }).catch(() => '');
      return text.endsWith(ending) ? text : null;
    });
    await this.page.locator('.quick-input-widget .monaco-button', { hasText: 'OK' }).click();
    return file;
  }

  /**
   * Opens the quick input with a key, types, and clicks the entry. The input closes when something else takes the focus
   * (a page that has just loaded): then it starts again, as a person would.
   */
  private async quickInput(key: string, text: string, entry: string): Promise<void> {
    const box = this.page.locator('.quick-input-widget input.input');
    const row = this.page.locator('.quick-input-widget .monaco-list-row', { hasText: entry }).first();
    await until(
      `"${entry}" in the quick input`,
      async () => {
        try {
          await this.page.keyboard.press(key);
          await box.fill(text, { timeout: 5000 });
          await row.click({ timeout: 10_000 });
          return true;
        } catch {
          return false;
        }
      },
      120,
    );
  }

  /** Opens a file of the folder by its name, with Quick Open. */
  async openFile(name: string): Promise<void> {
    // The group that has the focus is where Quick Open opens; the results stand in the second.
    await this.page.keyboard.press(`${modifier}+Digit1`);
    await this.quickInput(`${modifier}+KeyP`, name, name);
    await this.page.locator('.editor-group-container.active .tab.active', { hasText: name }).waitFor();
  }

  async closeAllEditors(): Promise<void> {
    // A page that has the focus may take the keys for itself.
    await until('all editors to be closed', async () => {
      await this.command('View: Close All Editors');
      const tabs = this.page.locator('.editor-group-container .tab');
      return until('no tab', async () => (await tabs.count()) === 0, 3).catch(() => false);
    });
  }

  /** Runs a command from the palette by its title. */
  async command(title: string): Promise<void> {
    await this.quickInput('F1', `>${title}`, title);
  }

  /** Picks an entry of the quick pick that is open. */
  async pick(text: string | RegExp): Promise<void> {
    await this.page.locator('.quick-input-widget .monaco-list-row', { hasText: text }).first().click();
  }

  /** A CodeLens of the editor that has the focus, by (part of) its title. */
  codeLens(title: string | RegExp): Locator {
    return this.page.locator('.editor-group-container.active .codelens-decoration a', { hasText: title }).first();
  }

  /** Ticks or unticks an entry of the quick pick of several that is open. */
  async tick(text: string): Promise<void> {
    await this.page.locator('.quick-input-widget .monaco-list-row', { hasText: text }).first().click();
  }

  /** Accepts the quick pick of several. */
  async acceptPicks(): Promise<void> {
    await this.page.locator('.quick-input-widget .monaco-button', { hasText: 'OK' }).click();
  }

  /** The dialog that waits for an answer. */
  dialog(): Locator {
    return this.page.locator('.monaco-dialog-box');
  }

  /** A notification with this text. */
  notification(text: string | RegExp): Locator {
    return this.page
      .locator('.notification-toast, .notifications-list-container .monaco-list-row', { hasText: text })
      .first();
  }

  /** The extension's entry in the status bar. */
  statusBar(): Locator {
    return this.page.locator('.statusbar-item[id^="softbench"], .statusbar-item[aria-label*="Softbench"]').first();
  }

  /**
   * The webview page that shows `selector`. Webviews are frames in frames; which of them is which, only their content
   * tells. A page that does not come for so long (its frame waits for the service worker) comes when the window is loaded
   * anew by its address, which begins afresh; the command "Reload Window" brings all frames back at once, and they wait.
   */
  async webview(selector: string): Promise<Frame> {
    try {
      return await this.#shown(selector, 45);
    } catch {
      note(`loaded the window again: there was no page with ${selector} within 45 s`);
      await this.load();
      return this.#shown(selector, 90);
    }
  }

  #shown(selector: string, seconds: number): Promise<Frame> {
    const shows = async (frame: Frame): Promise<Frame> => {
      if (frame !== this.page.mainFrame() && (await frame.locator(selector).first().isVisible())) return frame;
      throw new Error(`no ${selector} in ${frame.url()}`);
    };
    return until(
      `a page with ${selector}`,
      async () => {
        // A frame that is just being loaded answers late or never: the others must not wait for it.
        const late = this.page.waitForTimeout(1000).then(() => null);
        return Promise.race([Promise.any(this.page.frames().map(shows)).catch(() => null), late]);
      },
      seconds,
    );
  }

  /** Keeps webviews empty, as a busy machine does for a while. @returns what lets them come again */
  async holdPagesUp(): Promise<() => Promise<void>> {
    const pages = /\/webview\/browser\/pre\/index\.html/;
    const context = this.page.context();
    await context.route(pages, () => {});
    return () => context.unroute(pages);
  }

  /** Ends the worker thread as a crash would. */
  async killWorker(): Promise<void> {
    await this.page.keyboard.press('Control+Alt+Shift+KeyK');
  }

  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: join(screenshots, `${name}.png`) });
  }

  /** Chooses a colour theme as a person does (the settings file is not watched in a browser window). */
  async chooseTheme(kind: keyof typeof themes): Promise<void> {
    await this.command('Preferences: Color Theme');
    const box = this.page.locator('.quick-input-widget input.input');
    await box.fill(themes[kind].label);
    const row = this.page.locator('.quick-input-widget .monaco-list-row', { hasText: themes[kind].label }).first();
    await row.waitFor();
    await row.click();
    await this.page.locator(`.monaco-workbench.${themes[kind].style}`).first().waitFor();
    await until('the list of themes to close', () => box.isHidden());
  }

  /** Takes the same picture in each theme; ends in the light one. */
  async screenshotInThemes(name: string): Promise<void> {
    for (const kind of ['high-contrast', 'dark', 'light'] as const) {
      await this.chooseTheme(kind);
      // Pages are told of the new colours one message later.
      await this.page.waitForTimeout(500);
      await this.screenshot(`${name}-${kind}`);
    }
  }
}

/** In a `describe`: a picture of the window in which a test has failed. */
export function pictureFailures(workbench: () => Workbench): void {
  afterEach(async function () {
    if (this.currentTest?.state === 'failed')
      await workbench().screenshot(`failed-${this.currentTest.title.replace(/\W+/g, '-')}`);
  });
}
