// Bundles the host, the worker, the command line and the pages with esbuild. `--watch` rebuilds; `--production` minifies;
// `--sizes` builds nothing and says what the pages are made of, and fails where one is larger than it may be.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** A bundle that Node loads as an ES module. A bundled CommonJS package that calls require() needs one there. */
export const nodeModule = {
  bundle: true,
  absWorkingDir: root,
  logLevel: 'warning',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  external: ['onnxruntime-node'],
  banner: {
    js: "import { createRequire as softbenchRequire } from 'node:module'; const require = softbenchRequire(import.meta.url);",
  },
};

/** Bundles what the benches use of the product, apart from the bundles that tests and the editor use. */
export async function bundleProduct(outfile) {
  const esbuild = await import('esbuild');
  await esbuild.build({ ...nodeModule, entryPoints: ['bench/product.ts'], outfile });
}

/** The pages: folders of webview/ with an entry. */
export const pages = existsSync(join(root, 'webview'))
  ? readdirSync(join(root, 'webview'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && existsSync(join(root, 'webview', entry.name, 'main.ts')))
      .map((entry) => entry.name)
  : [];

/** The script and the style sheet of each page, as esbuild is to make them into a folder. */
export const pageBundles = (common, folder) => [
  ...pages.map((page) => ({
    page,
    entry: `webview/${page}/main.ts`,
    options: {
      ...common,
      platform: 'browser',
      target: 'es2022',
      format: 'iife',
      loader: { '.svg': 'text' },
      outfile: join(folder, `${page}.js`),
    },
  })),
  ...pages
    .filter((page) => existsSync(join(root, 'webview', page, 'page.css')))
    .map((page) => ({
      page,
      entry: `webview/${page}/page.css`,
      options: {
        ...common,
        // The page's own rules after those that all pages share.
        stdin: {
          contents: `@import './style.css'; @import './${page}/page.css';`,
          resolveDir: join(root, 'webview'),
          loader: 'css',
        },
        target: 'chrome120',
        outfile: join(folder, `${page}.css`),
      },
    })),
];

/** Builds every bundle whose entry is there, into `outdir`; returns them with esbuild's account of what is in each. */
export async function build({
  watch = false,
  production = false,
  outdir = join(root, 'dist'),
  log = console.log,
} = {}) {
  const esbuild = await import('esbuild');
  const common = {
    bundle: true,
    absWorkingDir: root,
    sourcemap: production ? false : 'linked',
    minify: production,
    logLevel: 'warning',
    metafile: true,
    legalComments: 'none',
  };
  const module = { ...common, ...nodeModule };
  const targets = [
    {
      entry: 'src/extension.ts',
      options: {
        ...common,
        platform: 'node',
        target: 'node20',
        format: 'cjs',
        external: ['vscode', 'onnxruntime-node'],
        outfile: join(outdir, 'extension.cjs'),
      },
    },
    { entry: 'src/worker/main.ts', options: { ...module, outfile: join(outdir, 'worker.js') } },
    { entry: 'src/worker/prediction-main.ts', options: { ...module, outfile: join(outdir, 'prediction.js') } },
    {
      entry: 'src/cli/main.ts',
      options: {
        ...module,
        banner: { js: `#!/usr/bin/env node\n${nodeModule.banner.js}` },
        outfile: join(outdir, 'cli.js'),
      },
    },
    ...pageBundles(common, join(outdir, 'webview')),
  ].filter(({ entry }) => existsSync(join(root, entry)));
  const results = [];
  for (const { entry, options } of targets) {
    const settings = options.stdin ? options : { ...options, entryPoints: [entry] };
    if (watch) await (await esbuild.context(settings)).watch();
    else {
      const { metafile } = await esbuild.build(settings);
      const { size } = statSync(options.outfile);
      results.push({ file: options.outfile, bytes: size, metafile });
      log(`${relative(root, options.outfile)}  ${(size / 1024).toFixed(0)} KB`);
    }
  }
  return results;
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv.includes('--sizes')) {
  // Not awaited: it imports this module, which has to be ready first.
  import('./sizes.mjs').then(async ({ printSizes }) => {
    if (!(await printSizes())) process.exitCode = 1;
  });
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build({ watch: process.argv.includes('--watch'), production: process.argv.includes('--production') });
}
