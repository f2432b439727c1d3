/**
 * Compares prompts of the lm-eval package's tasks with ours: `node scripts/check-lm-eval-prompts.mjs RENDERED.jsonl …`
 * (made by scripts/render-lm-eval.py). Prints counts and what differs; fails where anything does.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(root, 'node_modules', '.softbench-parity-'));
try {
  const outfile = join(folder, 'rendered.mjs');
  await build({
    entryPoints: [join(root, 'test/parity/rendered.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  const { compareFile } = await import(pathToFileURL(outfile).href);
  const counts = {};
  const reasons = new Map();
  for (const file of process.argv.slice(2))
    for await (const verdict of compareFile(file)) {
      counts[verdict.kind] = (counts[verdict.kind] ?? 0) + 1;
      if (verdict.kind === 'refused') {
        const reason = verdict.message.replace(/Item \d+/, 'Item N').slice(0, 110);
        reasons.set(reason, [...(reasons.get(reason) ?? []), verdict.name]);
      } else if (verdict.kind !== 'equal') console.log(JSON.stringify(verdict, null, 1).slice(0, 3000));
    }
  for (const [reason, names] of [...reasons].sort((a, b) => b[1].length - a[1].length))
    console.log(`refused ${names.length}: ${reason} (${names.slice(0, 3).join(', ')})`);
  console.log(JSON.stringify(counts));
  process.exitCode = counts.different || counts.crashed ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
