// npm run demo: what Softbench shows, on the bundled model and two example benchmarks, in a terminal.
//
//   npm run demo                    the tables, and a page for each benchmark
//   npm run demo -- --seeds 3       three seeds of tuning each
//   npm run demo -- --limit 50      fewer items
//   npm run demo -- --json          the last line is the first benchmark's result as one JSON object
//
// Needs only Node and git: it installs the dependencies and builds first. Its runs are kept in .softbench/demo.
import { mkdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { installDependencies, root, runNode } from './setup.mjs';

const model = join(root, 'examples', 'models', 'stories260k');
/** The first has its knowledge in the model and hides it; the second has none, and the format saturates at chance. */
const benchmarks = ['stories-who', 'stories-yes-no'];
const store = join(root, '.softbench', 'demo');
const cli = join(root, 'dist', 'cli.js');
const shown = (path) => relative(process.cwd(), path) || '.';

function options() {
  const { values } = parseArgs({
    options: { seeds: { type: 'string', default: '1' }, limit: { type: 'string' }, json: { type: 'boolean' } },
  });
  const seeds = Number(values.seeds);
  if (!Number.isInteger(seeds) || seeds < 1)
    throw new Error(`--seeds needs a whole number from 1, not "${values.seeds}".`);
  return { seeds, limit: values.limit, json: values.json === true };
}

/** Compares the modes of one benchmark with one seed of tuning; returns the command line's JSON. */
async function compare(name, seed, limit) {
  const file = join(root, 'examples', 'benchmarks', `${name}.yaml`);
  const args = ['compare', file, '--model', model, '--store', store, '--seed', String(seed), '--json'];
  if (limit !== undefined) args.push('--limit', limit);
  const { code, stdout } = await runNode(cli, args, { echo: 'stderr' });
  if (code !== 0) throw new Error(`softbench ${args.join(' ')} ended with exit code ${code}.`);
  return { name, seed, result: JSON.parse(stdout.trimEnd().split('\n').at(-1)) };
}

/** Prints the tables of a comparison and writes its page. */
async function show({ name, seed, result }) {
  const page = join(store, seed === 0 ? `${name}.html` : `${name}-seed-${seed}.html`);
  console.log(`\n── ${name}, seed ${seed}\n`);
  // By runs, not by job: with a second seed the modes without a soft prompt are those of the first.
  const runs = result.modes.map(({ run }) => run);
  const { code } = await runNode(cli, ['runs', 'show', ...runs, '--store', store, '--report', page]);
  if (code !== 0) throw new Error(`The results of ${name} could not be shown.`);
  return page;
}

const share = ({ value, low, high }) =>
  value === null ? '–' : `${(100 * value).toFixed(1)} % (${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)})`;

/** What tuning changed, one line a benchmark and seed. */
function gains(comparisons) {
  const rows = comparisons.map(({ name, seed, result }) => {
    const of = (mode) => result.modes.find((one) => one.mode === mode);
    const zero = of('zero-shot');
    const soft = of('soft-prompt');
    return [name, String(seed), share(zero.F), share(soft.F), share(zero.S), share(soft.S), share(soft.K)];
  });
  const head = ['benchmark', 'seed', 'F zero-shot', 'F soft-prompt', 'S zero-shot', 'S soft-prompt', 'K soft-prompt'];
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column].length)));
  for (const row of all)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
}

async function main() {
  const { seeds, limit, json } = options();
  await installDependencies();
  const { build } = await import('./build.mjs');
  await build({ log: () => {} });
  const started = Date.now();
  rmSync(store, { recursive: true, force: true });
  mkdirSync(store, { recursive: true });
  const comparisons = [];
  const pages = [];
  for (const name of benchmarks)
    for (let seed = 0; seed < seeds; seed++) {
      const comparison = await compare(name, seed, limit);
      comparisons.push(comparison);
      pages.push(await show(comparison));
    }
  console.log('\n── What the soft prompt changed (95 % intervals)\n');
  gains(comparisons);
  console.log(`\nDone in ${((Date.now() - started) / 1000).toFixed(0)} s. The results as pages, for any browser:`);
  for (const page of pages) console.log(`  ${shown(page)}`);
  if (json) console.log(JSON.stringify(comparisons[0].result));
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
