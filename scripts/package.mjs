// npm run package: makes the extension's VSIX for one platform, with the ONNX Runtime of that platform only.
//
//   npm run package                                for this machine's platform
//   npm run package -- --target win32-x64          for another one
//   npm run package -- --target all --out FOLDER
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { installDependencies, isMain, packageFile, root } from './setup.mjs';

/**
 * The platforms that there are packages for. `runtime`: folder of onnxruntime-node's binaries; `skip`: files of it that
 * are there twice or that a CPU installation does without.
 */
export const targets = {
  'linux-x64': { runtime: 'linux/x64', skip: [] },
  'linux-arm64': { runtime: 'linux/arm64', skip: [] },
  // libonnxruntime.1.dylib is what the binding links against; the other name is a copy of the same file.
  'darwin-arm64': { runtime: 'darwin/arm64', skip: [/^libonnxruntime\.\d+\.\d+\.\d+\.dylib$/] },
  'win32-x64': { runtime: 'win32/x64', skip: [] },
  'win32-arm64': { runtime: 'win32/arm64', skip: [] },
};

/** This machine's target. */
export function hostTarget() {
  const name = `${process.platform}-${process.arch}`;
  if (!(name in targets))
    throw new Error(
      `There is no package for ${name}: ONNX Runtime has no build for it. There are ${Object.keys(targets).join(', ')}.`,
    );
  return name;
}

/** Files at the top that go into every package. */
const documents = ['README.md', 'CHANGELOG.md', 'LICENSE', 'NOTICE', '.vscodeignore'];

/** Who holds the copyright of MIT-licensed packages that publish no licence file with their files. */
const unpublished = {
  'onnxruntime-node': 'Microsoft Corporation',
  'onnxruntime-common': 'Microsoft Corporation',
  '@microsoft/fast-element': 'Microsoft Corporation',
  '@microsoft/fast-foundation': 'Microsoft Corporation',
  '@microsoft/fast-web-utilities': 'Microsoft Corporation',
  '@cfworker/json-schema': 'Jeremy Danyow',
  // Part of @huggingface/xetchunk-wasm, which carries its licence.
  'gearhash-jit': 'Hugging Face',
};
const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Folders of the packages that the bundles contain, from esbuild's lists of inputs. */
function bundledPackages(metafiles) {
  const folders = new Set();
  for (const { inputs } of metafiles)
    for (const input of Object.keys(inputs)) {
      const match = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input);
      if (match) folders.add(match[0]);
    }
  return [...folders].sort();
}

/** The notices of everything that is not ours in a package. Throws where a licence cannot be found. */
export function thirdPartyNotices(metafiles) {
  const folders = [...bundledPackages(metafiles), 'node_modules/onnxruntime-node', 'node_modules/onnxruntime-common'];
  const sections = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const files = readdirSync(join(root, folder)).filter((file) =>
      /^(licen[cs]e|copying|notices?)(\..*)?$/i.test(file),
    );
    const texts = files.map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
    if (texts.length === 0) {
      if (!(name in unpublished) || license !== 'MIT')
        throw new Error(`${folder} (${license}) carries no licence file: see "unpublished" in scripts/package.mjs.`);
      texts.push(`MIT License\n\nCopyright (c) ${unpublished[name]}\n\n${mit}`);
    }
    return `${name} ${version} (${license})\n\n${texts.join('\n\n')}`;
  });
  const rule = '-'.repeat(100);
  return `Softbench contains the following packages.\n\n${rule}\n${sections.join(`\n\n${rule}\n`)}\n`;
}

/** Copies what runs of an onnxruntime package, and one platform's binaries. */
function copyRuntime(to, { runtime, skip }) {
  const runs = (file) => !/\.(map|d\.ts|md)$/.test(file);
  for (const name of ['onnxruntime-node', 'onnxruntime-common']) {
    mkdirSync(join(to, name), { recursive: true });
    cpSync(packageFile(name, 'package.json'), join(to, name, 'package.json'));
    cpSync(packageFile(name, 'dist'), join(to, name, 'dist'), { recursive: true, filter: runs });
  }
  const napi = readdirSync(packageFile('onnxruntime-node', 'bin')).find((folder) => folder.startsWith('napi-'));
  const binaries = packageFile('onnxruntime-node', 'bin', napi ?? '', ...runtime.split('/'));
  if (!napi || !existsSync(binaries)) throw new Error(`onnxruntime-node has no binaries for ${runtime} (${binaries}).`);
  cpSync(binaries, join(to, 'onnxruntime-node', 'bin', napi, ...runtime.split('/')), {
    recursive: true,
    filter: (file) => !skip.some((pattern) => pattern.test(basename(file))),
  });
}

/** Builds for production and packs; returns the VSIX and its size. */
export async function makePackage({ target = hostTarget(), folder = root, log = console.log } = {}) {
  const platform = targets[target];
  if (!platform) throw new Error(`Unknown target ${target}. There are ${Object.keys(targets).join(', ')}.`);
  const { build } = await import('./build.mjs');
  const { createVSIX } = await import('@vscode/vsce');
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const stage = mkdtempSync(join(tmpdir(), 'softbench-package-'));
  try {
    const results = await build({ production: true, outdir: join(stage, 'dist'), log: () => {} });
    copyRuntime(join(stage, 'dist', 'node_modules'), platform);
    for (const name of documents) if (existsSync(join(root, name))) cpSync(join(root, name), join(stage, name));
    // Runs that someone has made there, and weights of the bundled model that only PyTorch reads, stay behind.
    const ships = (path) => basename(path) !== '.softbench' && !path.endsWith('.safetensors');
    for (const name of ['media', 'examples'])
      if (existsSync(join(root, name))) cpSync(join(root, name), join(stage, name), { recursive: true, filter: ships });
    writeFileSync(join(stage, 'THIRD-PARTY-NOTICES'), thirdPartyNotices(results.map(({ metafile }) => metafile)));
    // What only a checkout needs would make VS Code's users no wiser.
    const { scripts, devDependencies, dependencies, private: _, ...published } = manifest;
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${manifest.name}-${target}-${manifest.version}.vsix`);
    rmSync(file, { force: true });
    const cwd = process.cwd();
    await createVSIX({
      cwd: stage,
      packagePath: file,
      target,
      dependencies: false,
      allowMissingRepository: true,
      rewriteRelativeLinks: false,
    });
    process.chdir(cwd);
    log(`${file}  ${(statSync(file).size / 1e6).toFixed(1)} MB`);
    return { file, bytes: statSync(file).size };
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

async function main(args) {
  let target;
  let folder = root;
  for (let at = 0; at < args.length; at++) {
    if (args[at] === '--target') target = args[++at];
    else if (args[at] === '--out') folder = resolve(args[++at] ?? '');
    else
      throw new Error(
        `Unknown option ${args[at]}. There are --target ${[...Object.keys(targets), 'all'].join('|')} and --out FOLDER.`,
      );
  }
  await installDependencies();
  const wanted = target === 'all' ? Object.keys(targets) : [target ?? hostTarget()];
  for (const name of wanted) await makePackage({ target: name, folder });
}

if (isMain(import.meta.url))
  main(process.argv.slice(2)).catch((error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
