// Opens a real VS Code on a copy of the examples with the extension under development, and has it run the bundled tests.
//   node run.mjs BUNDLES_FOLDER
// By default in the VS Code server and Chromium; with SOFTBENCH_TEST_VSCODE=electron in the desktop VS Code that
// @vscode/test-electron downloads (a version may follow: electron:1.96.0).
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runTests } from '@vscode/test-electron';
import { launchBrowser, openWindow } from './browser.ts';
import { copyInto, startServer } from './server.ts';

const project = process.cwd();
const bundles = resolve(process.argv[2] ?? '');
const artifacts = join(project, 'test', '.artifacts');
const results = process.env.SOFTBENCH_TEST_RESULTS ?? '';
const wanted = process.env.SOFTBENCH_TEST_VSCODE ?? 'server';
const entry = join(bundles, 'index.cjs');
const minutes = Number(process.env.SOFTBENCH_TEST_MINUTES ?? 14);

async function inServer(): Promise<number> {
  const home = process.env.SOFTBENCH_VSCODE_SERVER;
  if (!home) throw new Error('SOFTBENCH_VSCODE_SERVER is not set. `npm test` sets it.');
  mkdirSync(artifacts, { recursive: true });
  const server = await startServer({
    home,
    log: join(artifacts, 'vscode-server.log'),
    env: { SOFTBENCH_TEST: '1', SOFTBENCH_TEST_RESULTS: results, SOFTBENCH_TEST_PROJECT: project },
  });
  const browser = await launchBrowser();
  try {
    const folder = copyInto(server, join(project, 'examples'), 'examples');
    const { page, outside } = await openWindow(browser, join(artifacts, 'vscode-console.log'));
    let exit: (code: number) => void = () => {};
    const ended = new Promise<number>((done) => {
      exit = done;
    });
    // The workbench calls these when it was opened with `extensionTestsPath`, as the desktop's main process is called.
    await page.exposeFunction('codeAutomationExit', (code: number) => exit(code));
    await page.exposeFunction('codeAutomationLog', () => {});
    const remote = (path: string): string => `vscode-remote://${server.authority}${path}`;
    const payload = JSON.stringify([
      ['extensionDevelopmentPath', remote(project)],
      ['extensionTestsPath', remote(entry)],
    ]);
    await page.goto(`${server.origin}/?folder=${encodeURIComponent(folder)}&payload=${encodeURIComponent(payload)}`);
    const timeout = new Promise<number>((done) => setTimeout(() => done(-1), minutes * 60_000).unref());
    const code = await Promise.race([ended, timeout]);
    if (code !== 0) await page.screenshot({ path: join(artifacts, 'vscode-failed.png') });
    if (code === -1) console.error(`The tests did not end within ${minutes} minutes.`);
    if (outside.size > 0) {
      console.error(`The window asked for ${[...outside].join(', ')}: nothing outside this machine may be asked.`);
      return 1;
    }
    return code;
  } finally {
    await browser.close();
    await server.stop();
  }
}

async function inElectron(): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'softbench-electron-'));
  const folder = join(scratch, 'examples');
  if (existsSync(join(project, 'examples'))) cpSync(join(project, 'examples'), folder, { recursive: true });
  try {
    return await runTests({
      version: wanted.split(':')[1],
      extensionDevelopmentPath: project,
      extensionTestsPath: entry,
      launchArgs: [
        folder,
        '--disable-extensions',
        '--disable-workspace-trust',
        '--user-data-dir',
        join(scratch, 'user'),
      ],
      extensionTestsEnv: { SOFTBENCH_TEST: '1', SOFTBENCH_TEST_RESULTS: results, SOFTBENCH_TEST_PROJECT: project },
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

const code = await (wanted.startsWith('electron') ? inElectron() : inServer());
process.exit(code === 0 ? 0 : 1);
