// Puts a whole VS Code (the server and web workbench that the npm package code-server carries in
// lib/vscode) into a folder. Only the npm registry is needed: no install script runs and nothing is compiled.
import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { artifacts, isMain, npm, run } from '../../scripts/setup.mjs';

/** The VS Code that tests run in. Raise it together with the digest, and look at `engines.vscode` of package.json. */
const release = {
  vscode: '1.100.3',
  package: 'code-server@4.100.3',
  sha512: 'q/Fh2DOxCRNhC/WiG/6sAhSKnj7ZACTVBaeeZ+rWjol//0FCbl/qg1ln5ecZ99jYcfqMxZZAyWcN+YBIo0DgpA==',
  ripgrep: '1.18.0',
};

/** The folder that holds it; SOFTBENCH_VSCODE_CACHE lets several clones share one. */
export const serverFolder = () =>
  join(resolve(process.env.SOFTBENCH_VSCODE_CACHE ?? join(artifacts, 'vscode')), `server-${release.vscode}`);

/**
 * What is changed in the page of webviews. This package serves all of them from one origin (desktop and web VS Code give each
 * kind its own), yet has each register its service worker under an address with the webview's own id: each then takes over
 * from the last, waits for what that one has under way, and now and then for ever. So they share one; the worker itself needs
 * the id for the workers of a page only, and ours have none. And a page asks the worker for its version once, which may be
 * before the browser knows the page as one that can be answered: it asks until it is.
 */
const webviewChanges = [
  ['&id=${' + 'ID}', ''],
  [
    "\t\t\t\t\t\tcontroller.postMessage({ channel: 'version' });\n",
    `\t\t\t\t\t\tconst ask = () => controller.postMessage({ channel: 'version' });
\t\t\t\t\t\task();
\t\t\t\t\t\tconst asking = setInterval(ask, 1000);
\t\t\t\t\t\tnavigator.serviceWorker.addEventListener('message', () => clearInterval(asking), { once: true });
`,
  ],
];

/** Makes `webviewChanges` where they are not made yet, and lets the page's policy allow its script so. */
export function shareServiceWorker(folder) {
  const page = join(folder, 'out', 'vs', 'workbench', 'contrib', 'webview', 'browser', 'pre', 'index.html');
  const before = readFileSync(page, 'utf8');
  const scriptOf = (html) => /<script async type="module">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '';
  const hashOf = (html) => createHash('sha256').update(scriptOf(html)).digest('base64');
  // The browser takes the lines of a page as if they all ended with a line feed.
  const html = before.replaceAll('\r\n', '\n');
  if (!html.includes(hashOf(html)))
    throw new Error(`The script of ${page} is not the one that its policy allows. Look at shareServiceWorker().`);
  const after = webviewChanges.reduce((text, [from, to]) => text.replace(from, () => to), html);
  if (after === html) return;
  const written = after.replace(hashOf(html), hashOf(after));
  writeFileSync(`${page}.${process.pid}`, written);
  renameSync(`${page}.${process.pid}`, page);
}

async function digestOf(file) {
  const hash = createHash('sha512');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('base64');
}

async function must(step, { code, output }) {
  if (code !== 0) throw new Error(`Installing VS Code ${release.vscode} for the tests: ${step} failed.\n${output}`);
}

/** Installs it where it is not there yet, and returns its folder: `out/server-main.js` is its entry. */
export async function installServer({ log = console.log } = {}) {
  const folder = serverFolder();
  if (existsSync(join(folder, '.complete'))) {
    // One that was installed before this was done.
    shareServiceWorker(folder);
    return folder;
  }
  const started = Date.now();
  log(`Installing VS Code ${release.vscode} for the tests into ${folder} …`);
  mkdirSync(join(folder, '..'), { recursive: true });
  const temporary = mkdtempSync(join(tmpdir(), 'softbench-vscode-'));
  // Built beside its place and moved there in one go, so that an interrupted installation is never taken for a whole one.
  const building = `${folder}.${process.pid}`;
  try {
    const ripgrep = `@vscode/ripgrep-${process.platform}-${process.arch}@${release.ripgrep}`;
    await must(
      'npm pack',
      await npm(['pack', '--silent', '--pack-destination', temporary, release.package, ripgrep], { echo: false }),
    );
    const archives = readdirSync(temporary);
    const server = archives.find((name) => name.startsWith('code-server'));
    const search = archives.find((name) => name.startsWith('vscode-ripgrep'));
    if (!server || !search) throw new Error(`npm pack left ${archives.join(', ') || 'nothing'} in ${temporary}.`);
    const digest = await digestOf(join(temporary, server));
    if (digest !== release.sha512)
      throw new Error(`${release.package} is not the expected file: its SHA-512 is ${digest}, not ${release.sha512}.`);
    mkdirSync(building, { recursive: true });
    // Relative names: GNU tar takes "C:" for a host.
    await must(
      'unpacking',
      await run('tar', ['-xzf', server, '-C', building, '--strip-components=3', 'package/lib/vscode'], {
        cwd: temporary,
        echo: false,
      }),
    );
    // The shrinkwrap that the package carries pins the versions; `npm ci` refuses it, since it lacks one of them.
    await must(
      'npm install',
      await npm(['install', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: building,
        echo: false,
      }),
    );
    const bin = join(building, 'node_modules', '@vscode', 'ripgrep', 'bin');
    mkdirSync(bin, { recursive: true });
    await must(
      'unpacking ripgrep',
      await run('tar', ['-xzf', search, '-C', bin, '--strip-components=2', 'package/bin'], {
        cwd: temporary,
        echo: false,
      }),
    );
    // Packaged VS Code keeps its modules in an archive of this name, and looks for ripgrep and the grammars there.
    // (Windows' junctions are absolute, so they name the final place.)
    if (!existsSync(join(building, 'node_modules.asar')))
      symlinkSync(
        process.platform === 'win32' ? join(folder, 'node_modules') : 'node_modules',
        join(building, 'node_modules.asar'),
        'junction',
      );
    shareServiceWorker(building);
    writeFileSync(join(building, '.complete'), `${release.package}\n`);
    if (!existsSync(join(folder, '.complete'))) {
      rmSync(folder, { recursive: true, force: true });
      renameSync(building, folder);
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
    rmSync(building, { recursive: true, force: true });
  }
  log(`Installed VS Code ${release.vscode} in ${((Date.now() - started) / 1000).toFixed(0)} s.`);
  return folder;
}

if (isMain(import.meta.url)) console.log(await installServer());
