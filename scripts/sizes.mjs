// What the pages are made of, minified as they are shipped: node scripts/build.mjs --sizes
import { build } from 'esbuild';
import { pageBundles } from './build.mjs';
import { root } from './setup.mjs';

/** The most that a page may take, script and style sheet together, in bytes. A page that is not listed may take the same. */
export const largestPage = 450 * 1024;

/** The package, or the folder of ours, that a file of a bundle belongs to. */
function partOf(path) {
  const [, name] = path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/) ?? [];
  return (
    name ??
    path
      .split('/')
      .slice(0, 2)
      .join('/')
      .replace(/^webview\/[^/]+\.(ts|css)$/, 'webview/*.$1')
  );
}

/** @returns per page the bytes in all and by what they are of, the largest part first; nothing is written */
export async function pageSizes() {
  const common = {
    ...{ bundle: true, absWorkingDir: root, minify: true, write: false, metafile: true },
    ...{ legalComments: 'none', logLevel: 'warning' },
  };
  const sizes = new Map();
  for (const { page, options } of pageBundles(common, root)) {
    const settings = options.stdin ? options : { ...options, entryPoints: [`webview/${page}/main.ts`] };
    const { outputFiles, metafile } = await build(settings);
    const size = sizes.get(page) ?? { page, bytes: 0, parts: new Map() };
    for (const { contents } of outputFiles) size.bytes += contents.byteLength;
    for (const { inputs } of Object.values(metafile.outputs))
      for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
        const part = partOf(path);
        size.parts.set(part, (size.parts.get(part) ?? 0) + bytesInOutput);
      }
    sizes.set(page, size);
  }
  return [...sizes.values()].map(({ page, bytes, parts }) => ({
    page,
    bytes,
    parts: [...parts].map(([name, of]) => ({ name, bytes: of })).sort((a, b) => b.bytes - a.bytes),
  }));
}

/** Prints them. @returns whether each is as small as it has to be */
export async function printSizes(log = console.log) {
  const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;
  const sizes = await pageSizes();
  for (const { page, bytes, parts } of sizes) {
    log(`${page}: ${kilobytes(bytes)} minified, script and style (at most ${kilobytes(largestPage)})`);
    for (const { name, bytes: of } of parts) if (of > 0) log(`  ${kilobytes(of).padStart(10)}  ${name}`);
  }
  const large = sizes.filter(({ bytes }) => bytes > largestPage);
  for (const { page } of large) log(`${page} is too large.`);
  return large.length === 0;
}
