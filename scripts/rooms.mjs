// Checks the one-way imports between the rooms of src/ (docs/architecture.md, "Layout"). Part of `npm run check`.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** What each room may import, besides itself. A room that is not listed may not exist. */
const mayImport = {
  shared: [],
  // what rooms that keep files need of the machine: digests, whole replacement, living processes
  system: ['shared'],
  onnx: ['shared'],
  gradient: ['shared', 'onnx'],
  metrics: ['shared'],
  // files from the network, on consent
  download: ['shared', 'system'],
  // the Hugging Face Hub: its cache, what a repository holds, downloads into the cache
  hub: ['shared', 'system', 'download'],
  benchmark: ['shared', 'system', 'hub'],
  // provider libraries that are fetched on consent
  libraries: ['shared', 'download'],
  // evaluate sees the engine and the run store through interfaces of its own
  evaluate: ['shared', 'system', 'benchmark', 'metrics'],
  model: ['shared', 'system', 'hub', 'onnx', 'evaluate'],
  engine: ['shared', 'system', 'libraries', 'onnx', 'gradient', 'model', 'evaluate'],
  runs: ['shared', 'system', 'evaluate', 'metrics'],
  // a cache in front of the engine: it sees a model through evaluate's interface
  responses: ['shared', 'system', 'evaluate'],
  study: ['shared', 'metrics', 'runs'],
  // scores that nobody ran: plain computation over records, of runs and of others
  predict: ['shared', 'system', 'benchmark', 'metrics', 'runs', 'study'],
  // results of other tools in, and of runs out
  exchange: ['shared', 'system', 'benchmark', 'metrics', 'evaluate', 'runs', 'study'],
  worker: [
    'shared',
    'libraries',
    'onnx',
    'gradient',
    'model',
    'benchmark',
    'metrics',
    'engine',
    'evaluate',
    'runs',
    'responses',
    'study',
    'exchange',
    'predict',
  ],
  cli: [
    'shared',
    'system',
    'hub',
    'libraries',
    'model',
    'benchmark',
    'metrics',
    'evaluate',
    'runs',
    'responses',
    'study',
    'exchange',
    'predict',
    'worker',
  ],
  editor: ['shared', 'benchmark', 'metrics', 'runs', 'study', 'worker'],
  views: [
    'shared',
    'system',
    'hub',
    'libraries',
    'model',
    'benchmark',
    'metrics',
    'runs',
    'study',
    'predict',
    'worker',
    'editor',
  ],
};

/** Packages that only some rooms may import. */
const onlyIn = {
  vscode: ['editor', 'views', 'extension.ts'],
  'onnxruntime-node': ['engine'],
  'onnxruntime-common': ['engine'],
};
/** Rooms that run in a page too: nothing of Node. */
const pure = ['shared', 'metrics'];

const problems = [];
const files = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : /\.(ts|tsx|mts)$/.test(entry.name) ? [path] : [];
  });

for (const file of files(join(root, 'src'))) {
  const parts = relative(join(root, 'src'), file).split(sep);
  const room = parts.length > 1 ? parts[0] : 'extension.ts';
  if (room !== 'extension.ts' && !(room in mayImport))
    problems.push(`${relative(root, file)}: the room "${room}" is not in the table of scripts/rooms.mjs`);
  const source = readFileSync(file, 'utf8');
  for (const match of source.matchAll(/(?:\bfrom\s+|\bimport\s+|\bimport\s*\(\s*)['"]([^'"]+)['"]/g)) {
    const target = match[1];
    const line = source.slice(0, match.index).split('\n').length;
    const say = (text) => problems.push(`${relative(root, file)}:${line}: ${text}`);
    if (target.startsWith('.')) {
      const to = relative(root, resolve(dirname(file), target)).split(sep);
      if (to[0] === 'webview') say('src must not import from webview/');
      if (to[0] !== 'src' || room === 'extension.ts') continue;
      const other = to.length > 2 ? to[1] : 'extension.ts';
      if (other !== room && !(mayImport[room] ?? []).includes(other))
        say(`room "${room}" may not import room "${other}"`);
    } else {
      const name = target.startsWith('@') ? target.split('/').slice(0, 2).join('/') : target.split('/')[0];
      if (onlyIn[name] && !onlyIn[name].includes(room)) say(`only ${onlyIn[name].join(', ')} may import "${name}"`);
      if (pure.includes(room) && name.startsWith('node:'))
        say(`room "${room}" runs in pages too and may not import "${name}"`);
    }
  }
}
for (const file of files(join(root, 'webview'))) {
  const source = readFileSync(file, 'utf8');
  for (const match of source.matchAll(/(?:\bfrom\s+|\bimport\s+|\bimport\s*\(\s*)['"]([^'"]+)['"]/g)) {
    const target = match[1];
    const line = source.slice(0, match.index).split('\n').length;
    const say = (text) => problems.push(`${relative(root, file)}:${line}: ${text}`);
    if (target === 'vscode' || target.startsWith('node:')) say(`a page may not import "${target}"`);
    if (target.startsWith('.')) {
      const to = relative(root, resolve(dirname(file), target)).split(sep);
      if (to[0] === 'src' && !pure.includes(to[1]))
        say(`a page may import src/shared and src/metrics only, not src/${to[1]}`);
    }
  }
}
for (const problem of problems) console.error(problem);
if (problems.length) process.exit(1);
