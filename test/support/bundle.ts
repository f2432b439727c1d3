/** Bundles a TypeScript file for a thread or a process of its own: Node 20 runs no TypeScript. */
import { mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');

/** @returns path of the bundle; it stands inside the project so that packages are found, in an ignored folder */
export async function bundle(entry: string): Promise<string> {
  const folder = mkdtempSync(join(root, 'node_modules', '.softbench-test-'));
  const outfile = join(folder, 'entry.mjs');
  await build({
    entryPoints: [resolve(root, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['onnxruntime-node'],
    logLevel: 'error',
    banner: {
      js: "import { createRequire as softbenchRequire } from 'node:module'; const require = softbenchRequire(import.meta.url);",
    },
  });
  return outfile;
}
