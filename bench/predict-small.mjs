// How long it takes to find a small bench in a table of the study's size: 313 subtasks, 205 rows, 6 folds.
// npm run bench -- --only small-bench, or node bench/predict-small.mjs [BUDGET]
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { nodeModule } from '../scripts/build.mjs';
import { median, ratio } from './children.mjs';

const root = join(fileURLToPath(new URL('.', import.meta.url)), '..');

export async function predictProduct() {
  const outfile = join(root, 'dist', 'bench', 'predict-small.mjs');
  await build({ ...nodeModule, absWorkingDir: root, entryPoints: ['bench/predict-small.ts'], outfile });
  return import(pathToFileURL(outfile).href);
}

/** Wall-clock and processor seconds of a piece of work. */
async function timed(work) {
  const [begun, before] = [performance.now(), process.cpuUsage()];
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return { value, seconds: (performance.now() - begun) / 1000, cpu: (user + system) / 1e6 };
}

/**
 * Greedy search to a budget, by updates of rank one, and what the same search would take if each candidate were valued by
 * itself (one step of it is run, the others counted).
 */
export async function greedyBench(budget = 24) {
  const product = await predictProduct();
  const out = { budget };
  const table = product.scoreTable(product.syntheticRecords({ missing: 0 }).records);
  const { groups } = product.foldGroups(table, 6);
  const all = [...table.rows.keys()];
  const folds = await timed(() =>
    groups.map((held) => product.prepareFold(table, { held, learnFrom: all.filter((row) => !held.includes(row)) })),
  );
  const width = table.subtasks.length;
  const objective = new product.ClosedFormObjective(width, folds.value);
  const greedy = await timed(() =>
    product.runSearch(product.searchOf('greedy'), objective, product.countBudget(width, budget), []),
  );
  const half = greedy.value.subset.slice(0, budget / 2);
  const sample = [...Array(width).keys()].filter((k) => !half.includes(k)).slice(0, 40);
  const single = await timed(() => sample.map((k) => objective.value([...half, k])));
  return {
    ...out,
    subtasks: width,
    rows: table.rows.length,
    folds: { seconds: folds.seconds, cpu: folds.cpu },
    greedy: { seconds: greedy.seconds, cpu: greedy.cpu, value: greedy.value.value },
    // A step in the middle stands for all.
    oneByOne: { cpu: (single.cpu / sample.length) * (width - budget / 2) * budget },
    subsetMilliseconds: (single.cpu / sample.length) * 1000,
  };
}

/** Greedy to 24, against the same search with each candidate valued by itself. */
export async function smallBenchBench({ rounds, row, times, results, progress }) {
  const found = [];
  for (let round = 0; round < rounds; round++) {
    found.push(await greedyBench());
    progress(`small bench: ${round + 1} of ${rounds}`);
  }
  progress('');
  const [{ budget, subtasks, rows }] = found;
  const cpu = (key) => found.map((one) => one[key].cpu);
  results.smallBench = {
    ...{ budget, subtasks, rows },
    cpuSeconds: { folds: cpu('folds'), greedy: cpu('greedy'), oneByOne: cpu('oneByOne') },
    over_oneByOne: ratio(cpu('greedy'), cpu('oneByOne')),
  };
  row(
    `greedy to ${budget} of ${subtasks} subtasks, 6 folds of ${rows} rows`,
    `${median(cpu('greedy')).toFixed(1)} s`,
    `of processor time; folds ${median(cpu('folds')).toFixed(1)} s, once`,
  );
  row(
    '  time, of candidates valued one by one',
    times(results.smallBench.over_oneByOne),
    `${median(cpu('oneByOne')).toFixed(1)} s of processor time`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const result = await greedyBench(Number(process.argv[2] ?? 24));
  console.log(JSON.stringify(result, null, 2));
}
