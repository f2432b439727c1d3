// Finds a Chromium for the window tests; installs one where this machine allows it without asking anybody.
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isMain, run } from './setup.mjs';

const names = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
  'msedge',
];

const usualPlaces = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA]
    .filter(Boolean)
    .flatMap((folder) => [
      join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe'),
      join(folder, 'Chromium', 'Application', 'chrome.exe'),
      join(folder, 'Microsoft', 'Edge', 'Application', 'msedge.exe'),
    ]),
  linux: ['/usr/lib/chromium/chromium', '/opt/google/chrome/chrome', '/snap/bin/chromium'],
};

function runnable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where Playwright keeps the browsers that it has downloaded. */
function playwrightBrowsers() {
  const folder =
    process.env.PLAYWRIGHT_BROWSERS_PATH ??
    {
      darwin: join(homedir(), 'Library', 'Caches', 'ms-playwright'),
      win32: join(process.env.LOCALAPPDATA ?? homedir(), 'ms-playwright'),
    }[process.platform] ??
    join(homedir(), '.cache', 'ms-playwright');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith('chromium-'))
    .sort()
    .reverse()
    .flatMap((name) =>
      [
        ['chrome-linux', 'chrome'],
        ['chrome-linux64', 'chrome'],
        ['chrome-mac', 'Chromium.app', 'Contents', 'MacOS', 'Chromium'],
        ['chrome-mac-arm64', 'Google Chrome for Testing.app', 'Contents', 'MacOS', 'Google Chrome for Testing'],
        ['chrome-win', 'chrome.exe'],
        ['chrome-win64', 'chrome.exe'],
      ].map((parts) => join(folder, name, ...parts)),
    );
}

/** The path of a Chromium, Chrome or Edge; null where there is none. CHROMIUM names one. */
export function findBrowser() {
  const named = process.env.CHROMIUM;
  if (named) {
    if (!runnable(named)) throw new Error(`CHROMIUM is set to ${named}, which is not a program.`);
    return named;
  }
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .flatMap((folder) => names.map((name) => join(folder, name + suffix)));
  return [...onPath, ...(usualPlaces[process.platform] ?? []), ...playwrightBrowsers()].find(runnable) ?? null;
}

const isDebian = () => {
  try {
    return /^ID(_LIKE)?=.*(debian)/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
};

/** As {@link findBrowser}; on Debian as root it installs the distribution's Chromium. Throws with advice elsewhere. */
export async function ensureBrowser({ log = console.log } = {}) {
  const found = findBrowser();
  if (found) return found;
  if (process.platform === 'linux' && process.getuid?.() === 0 && isDebian()) {
    log('Installing Chromium (apt-get install chromium) …');
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '-qq'], { env, echo: false });
    const { output } = await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], {
      env,
      echo: false,
    });
    const installed = findBrowser();
    if (installed) return installed;
    process.stderr.write(output.slice(-2000));
  }
  throw new Error(
    'No Chromium, Chrome or Edge was found for the window tests. Install one (Debian: `apt-get install chromium`; ' +
      'anywhere: `npx playwright-core install --with-deps chromium`), or set CHROMIUM to the path of its program.',
  );
}

if (isMain(import.meta.url)) console.log(await ensureBrowser());
