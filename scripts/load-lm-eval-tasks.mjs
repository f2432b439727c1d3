// Opens every task file of an installed lm-evaluation-harness as a benchmark and counts what becomes of them: how many load,
// how many ask for a Python function (by key), what else is refused, and that none ends in an error of the program.
//
//   node scripts/load-lm-eval-tasks.mjs --python PYTHON            print the table
//   node scripts/load-lm-eval-tasks.mjs --python PYTHON --write    and put it into docs/lm-eval-tasks.md
//   --json FILE    one row a file: its path, what became of it, and the messages
//   --only TEXT    only files whose path holds the text
//
// A task "loads" where nothing but its data is missing: the data sets are not fetched.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { root } from './setup.mjs';

const { values: options } = parseArgs({
  options: {
    python: { type: 'string' },
    write: { type: 'boolean', default: false },
    json: { type: 'string' },
    only: { type: 'string' },
  },
});
if (!options.python) throw new Error('Give a Python that has lm-eval: --python PYTHON');
const script =
  'import lm_eval, importlib.metadata as m, os; print(os.path.dirname(lm_eval.__file__)); print(m.version("lm_eval"))';
const [packageFolder, version] = execFileSync(options.python, ['-c', script], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
})
  .trim()
  .split('\n')
  .slice(-2);
const folder = join(packageFolder, 'tasks');

const bundles = mkdtempSync(join(tmpdir(), 'softbench-load-'));
const bundle = join(bundles, 'benchmark.mjs');
await build({
  entryPoints: [join(root, 'src', 'benchmark', 'index.ts')],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
});
const { checkBenchmark } = await import(pathToFileURL(bundle).href);

/** Errors that say no more than that the data is not here. */
const dataCodes = new Set(['missing-data', 'missing-dataset', 'broken-data']);

/** The key a Python function stands under; inside of lists the list's own. */
const functionKey = ({ message }) => /^`([\w.]+)`/.exec(message)?.[1]?.replace(/\.\d+/g, '') ?? '?';

/** What becomes of a file: one word, and for refusals the reason. */
function outcomeOf(problems) {
  const errors = problems.filter(({ severity, code }) => severity === 'error' && !dataCodes.has(code));
  const functions = errors.filter(({ code }) => code === 'python-function');
  // The filter `custom` is one that holds a function.
  const inFilter = functions.some((problem) => functionKey(problem).startsWith('filter_list'));
  const others = errors.filter(
    ({ code, message }) => code !== 'python-function' && !(inFilter && /filter `custom`/.test(message)),
  );
  if (others.length > 0) return { outcome: 'refused', reasons: [...new Set(others.map(reasonOf))] };
  if (functions.length > 0) return { outcome: 'function', reasons: [...new Set(functions.map(functionKey))] };
  return { outcome: 'loads', reasons: [] };
}

/** A message without the names of its file, so that equal reasons count together. */
const reasonOf = ({ code, message }) =>
  code === 'missing-task'
    ? `${code}: a group names a benchmark that the package has not.`
    : `${code}: ${message
        .replace(/"[^"]*"/g, '"…"')
        .replace(/\/\S+/g, '…')
        .replace(/`[^`]{40,}`/g, '`…`')}`.slice(0, 160);

const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml'))
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .filter((file) => !options.only || file.includes(options.only))
  .sort();
const rows = [];
const began = performance.now();
for (const file of files) {
  const path = relative(folder, file).replaceAll('\\', '/');
  try {
    const { problems, group } = await checkBenchmark(file);
    rows.push({
      path,
      kind: group ? 'group' : 'task',
      ...outcomeOf(problems),
      messages: problems.map(({ severity, code, message }) => `${severity} ${code}: ${message}`),
    });
  } catch (thrown) {
    rows.push({
      path,
      kind: 'task',
      outcome: 'crash',
      reasons: [String(thrown?.message ?? thrown).slice(0, 160)],
      messages: [String(thrown?.stack)],
    });
  }
}
rmSync(bundles, { recursive: true });
if (options.json) writeFileSync(options.json, `${JSON.stringify(rows, null, 1)}\n`);

const of = (outcome, kind) =>
  rows.filter((row) => row.outcome === outcome && (kind === undefined || row.kind === kind));
const countReasons = (list) => {
  const counts = new Map();
  for (const { reasons } of list) for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
};
const table = (head, body) =>
  [`| ${head} | files |`, '|---|---:|', ...body.map(([name, count]) => `| ${name} | ${count} |`)].join('\n');
const kinds = [...new Set(rows.map(({ kind }) => kind))].sort();
const words = {
  loads: 'loads',
  function: 'needs a Python function',
  refused: 'refused for another reason',
  crash: 'error of the program',
};
const lines = [
  `lm-evaluation-harness ${version}: ${rows.length} YAML files.`,
  '',
  `| outcome | ${kinds.map((kind) => `${kind} files`).join(' | ')} |`,
  `|---|${kinds.map(() => '---:').join('|')}|`,
  ...Object.entries(words).map(
    ([outcome, name]) => `| ${name} | ${kinds.map((kind) => of(outcome, kind).length).join(' | ')} |`,
  ),
  '',
  'Keys that hold a Python function (a file may have several):',
  '',
  table(
    'key',
    countReasons(of('function')).map(([key, count]) => [`\`${key}\``, count]),
  ),
];
if (of('refused').length > 0)
  lines.push(
    '',
    'Other reasons:',
    '',
    table(
      'reason',
      countReasons(of('refused')).map(([reason, count]) => [reason.replaceAll('|', '\\|'), count]),
    ),
  );
console.log(lines.join('\n'));
for (const { path, reasons } of of('crash')) console.log(`CRASH ${path}: ${reasons.join('; ')}`);
console.log(`\n${((performance.now() - began) / 1000).toFixed(0)} s`);
if (options.write) {
  const target = join(root, 'docs', 'lm-eval-tasks.md');
  const marks = ['<!-- table -->', '<!-- end of table -->'];
  const text = readFileSync(target, 'utf8');
  const [from, to] = marks.map((mark) => text.indexOf(mark));
  if (from < 0 || to < from) throw new Error(`${target} has no marks for the table.`);
  mkdirSync(join(root, 'docs'), { recursive: true });
  writeFileSync(target, `${text.slice(0, from + marks[0].length)}\n\n${lines.join('\n')}\n\n${text.slice(to)}`);
}
process.exit(of('crash').length > 0 ? 1 : 0);
