// The figures of docs/small-bench.md, as Markdown: node scripts/small-bench-figures.mjs [--only made,bbh,agreement,ceiling,speed]
//
//   --predictor NAME    the predictor that lists are measured with besides (default: mlp)
//   --subtasks N        of the made records (default: 313)
//   --searches LIST     some of the searches (default: all)
//   --budgets LIST      sizes of the lists of made records (default: 4,8,16,24,32,42)
//   --json FILE         write the figures too
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { greedyBench, predictProduct } from '../bench/predict-small.mjs';
import { root } from './setup.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'made,bbh,agreement,ceiling,speed' },
    predictor: { type: 'string', default: 'mlp' },
    subtasks: { type: 'string', default: '313' },
    searches: { type: 'string', default: 'all' },
    budgets: { type: 'string', default: '4,8,16,24,32,42' },
    json: { type: 'string' },
  },
});
const product = await predictProduct();
const chosen = options.only.split(',');
const results = {};
const number = (value, digits = 3) => (value === null || value === undefined ? '–' : value.toFixed(digits));
const line = (...cells) => console.log(`| ${cells.join(' | ')} |`);
const head = (...titles) => {
  line(...titles);
  line(...titles.map(() => '---'));
};
const searches =
  options.searches === 'all'
    ? [...product.searches]
    : product.searches.filter(({ name }) => options.searches.split(',').includes(name));
const bbh = async () =>
  (await product.readRecords({ files: [join(root, 'examples', 'predictions', 'obs-scaling-bbh.yaml')] })).records;

/** R² of lists of all searches beside random subsets. */
async function curve(name, title, records, budgets, evaluations) {
  const table = product.scoreTable(records);
  const found = await product.findSmallBenches(table, searches, product.countBudgets(table.subtasks.length, budgets), {
    evaluations,
    progress: ({ message, fraction }) =>
      process.stderr.isTTY && process.stderr.write(`\r\x1b[K${Math.round(fraction * 100)} % ${message}`),
  });
  results[name] = found;
  console.log(
    `\n${title}: ${found.rows} rows × ${found.subtasks} subtasks, ${found.groups.length} groups of ${found.heldOut}; ${found.evaluations} subsets in ${found.seconds.toFixed(0)} s. With nothing known: ${number(found.nothing.mean)}.\n`,
  );
  head('', ...budgets);
  line('random, median', ...found.random.map(({ median }) => number(median)));
  line('random, 5–95 %', ...found.random.map(({ low, high }) => `${number(low)}–${number(high)}`));
  for (const { title: search, points } of found.curves)
    line(search, ...points.map(({ recovery }) => `${number(recovery?.mean)} ± ${number(recovery?.sd)}`));
  console.log('');
  head('as many random subtasks', ...budgets);
  const largest = found.random.at(-1).size;
  for (const { title: search, points } of found.curves)
    line(
      search,
      ...points.map(({ randomSize }) => (randomSize === null ? `> ${Math.round(largest)}` : Math.round(randomSize))),
    );
  console.log('');
  head('Kendall τ of the ranking', ...budgets);
  line('random, median', ...found.random.map(({ tau }) => number(tau)));
  for (const { title: search, points } of found.curves)
    line(search, ...points.map(({ ranking }) => number(ranking?.tau)));
}

/** Whether the closed form orders subsets as a predictor that is trained does. */
async function agreement(records) {
  const table = product.scoreTable(records);
  const { groups } = product.foldGroups(table, 6);
  const all = [...table.rows.keys()];
  const objective = new product.ClosedFormObjective(
    table.subtasks.length,
    groups.map((held) => product.prepareFold(table, { held, learnFrom: all.filter((row) => !held.includes(row)) })),
  );
  const random = new product.Random(1);
  const predictor = product.predictorOf(options.predictor);
  const greedy = async (size) =>
    (
      await product.runSearch(
        product.searchOf('greedy'),
        objective,
        product.countBudget(table.subtasks.length, size),
        [],
      )
    ).subset;
  console.log(`\nClosed form against ${predictor.title}, the same folds:\n`);
  head(
    'subtasks',
    'subsets',
    'Spearman ρ',
    'closed form, random',
    `${predictor.title}, random`,
    'closed form, greedy',
    `${predictor.title}, greedy`,
  );
  const everything = { closed: [], full: [] };
  results.agreement = [];
  for (const size of [4, 8, 16]) {
    const closed = [];
    const full = [];
    const measure = async (subset) =>
      (await product.predictorRecovery(table, records, predictor, groups, () => subset, { seed: 0 })).mean;
    for (let at = 0; at < 12; at++) {
      const subset = random.shuffle([...table.subtasks.keys()]).slice(0, size);
      closed.push(objective.value(subset));
      full.push(await measure(subset));
    }
    const best = await greedy(size);
    const bestFull = await measure(best);
    const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
    const row = {
      size,
      rho: product.spearmanRho(closed, full),
      closed: mean(closed),
      full: mean(full),
      greedy: objective.value(best),
      greedyFull: bestFull,
    };
    results.agreement.push(row);
    line(
      size,
      12,
      number(row.rho, 2),
      number(row.closed),
      number(row.full),
      number(row.greedy),
      number(row.greedyFull),
    );
    everything.closed.push(...closed, row.greedy);
    everything.full.push(...full, bestFull);
  }
  console.log(
    `\nAll ${everything.full.length} subsets together: ρ = ${number(product.spearmanRho(everything.closed, everything.full), 2)}.`,
  );
}

/** How near the best predictor comes to what the noise of made records allows, on a random split. */
function ceiling() {
  return Promise.resolve(product.syntheticRecords({ subtasks: Number(options.subtasks) })).then(async (made) => {
    const { folds } = product.splitRecords(made.records, 'L1');
    const pick = (at) => Array.from(at, (index) => made.records[index]);
    const [{ train, development, test }] = folds;
    const predictor = product.predictorOf(options.predictor);
    const fitted = await predictor.fit(pick(train), { seed: 0, development: pick(development) });
    const { r2 } = product.fitOf(
      pick(test).map(({ score }) => score),
      [...fitted.predict(pick(test))],
    );
    const limit = product.noiseCeiling(made, test);
    results.ceiling = { predictor: predictor.name, r2, ceiling: limit };
    console.log(
      `\nMade records (${made.records.length}), random split, first fold: ${predictor.title} R² ${number(r2, 4)}, ceiling ${number(limit, 4)}.`,
    );
  });
}

if (chosen.includes('made'))
  await curve(
    'made',
    'Made records',
    product.syntheticRecords({ subtasks: Number(options.subtasks) }).records,
    options.budgets.split(',').map(Number),
    300,
  );
if (chosen.includes('bbh')) await curve('bbh', 'BIG-bench Hard (ObsScaling)', await bbh(), [2, 4, 8, 12, 16, 24], 300);
if (chosen.includes('agreement')) await agreement(await bbh());
if (chosen.includes('ceiling')) await ceiling();
if (chosen.includes('speed')) {
  const { greedy, folds, oneByOne, subsetMilliseconds, budget } = await greedyBench();
  results.speed = { greedy, folds, oneByOne };
  console.log(
    `\nGreedy to ${budget} of 313, 6 folds: ${greedy.cpu.toFixed(1)} s of processor time (folds: ${folds.cpu.toFixed(1)} s); each candidate by itself: ${oneByOne.cpu.toFixed(0)} s (${subsetMilliseconds.toFixed(1)} ms a subset).`,
  );
}
if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 1)}\n`);
