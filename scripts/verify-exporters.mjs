// Verifies every model folder of test/fixtures/models and writes the table of docs/exporters.md from that run:
// `node scripts/verify-exporters.mjs`. Needs a build (`node scripts/build.mjs`). Ends with 1 where a folder fails.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const models = join(root, 'test', 'fixtures', 'models');
const page = join(root, 'docs', 'exporters.md');

const begun = performance.now();
const run = spawnSync(process.execPath, ['dist/cli.js', 'models', 'verify', models, '--json', '--provider', 'cpu'], {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: 64 << 20,
});
const last = run.stdout.trim().split('\n').at(-1);
if (!last) process.exit(run.status || 1);
const { ok, models: reports } = JSON.parse(last);
const seconds = Math.round((performance.now() - begun) / 1000);

const figure = (value) => (value === undefined || value === null ? '–' : value.toExponential(1));
const tokens = (generation) => (generation ? `${generation.equal} / ${generation.compared}` : '–');
const cell = (text) => String(text).replaceAll('|', '\\|');
const rows = reports.map((report) => {
  const reference = JSON.parse(readFileSync(join(report.folder, 'reference.json'), 'utf8'));
  const opset = reference.graph?.opset?.['ai.onnx'] ?? '–';
  return [
    report.name,
    report.exporter ?? '–',
    opset,
    figure(report.gradient?.relative_error),
    figure(report.losses?.max_abs),
    figure(report.logits?.max_abs),
    figure(report.log_likelihood?.max_abs),
    tokens(report.generation),
    report.as_run ? `${figure(report.as_run.logits?.max_abs)} (${figure(report.as_run.allowed)})` : '',
    report.ok ? 'yes' : `no: ${report.reason}`,
  ].map(cell);
});
const head =
  'folder|exported by|opset|gradient|losses|logits|log-likelihoods|tokens|logits as run (allowed)|holds'.split('|');
const line = (cells) => `| ${cells.join(' | ')} |`;
const versions = {
  softbench: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
  'ONNX Runtime': JSON.parse(readFileSync(join(root, 'node_modules/onnxruntime-node/package.json'), 'utf8')).version,
  Node: process.versions.node,
};
const table = [
  `${new Date().toISOString().slice(0, 10)}, ${Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(
      ', ',
    )}, ${process.platform}/${process.arch} (${cpus()[0]?.model.trim() ?? 'unknown processor'}), ${seconds} s. ` +
    `${reports.filter((report) => report.ok).length} of ${reports.length} hold.`,
  '',
  line(head),
  line(head.map((_, at) => (at >= 2 && at <= 8 ? '---:' : '---'))),
  ...rows.map(line),
].join('\n');

const [begin, end] = ['<!-- table: node scripts/verify-exporters.mjs -->', '<!-- end of table -->'];
const text = readFileSync(page, 'utf8');
const [from, to] = [text.indexOf(begin), text.indexOf(end)];
if (from < 0 || to < from) throw new Error(`${page} has no place for the table`);
writeFileSync(page, `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`);
console.log(table);
process.exit(ok ? 0 : 1);
