// How well predictors predict real records: writes docs/prediction-figures.md, and what it is made of to
// docs/prediction-figures.json, where figures stay until they are measured again. Two measurements run at a time.
//
//   node scripts/prediction-figures.mjs                              all sections, one after the other
//   node scripts/prediction-figures.mjs --only readings,harmony      some: bbh, others, known, readings, harmony, predictors
//   node scripts/prediction-figures.mjs --only readings --splits L4  one split of them
//   node scripts/prediction-figures.mjs --predictors combined        some predictors of them
//   node scripts/prediction-figures.mjs --only none                  writes the page anew
//   --seed 42, --threads 2
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { nodeModule } from './build.mjs';
import { root } from './setup.mjs';

const folds = 10;
/** A section's measurements: splits × predictors; in splits other than the first only the baseline and the best one. */
const grid = (table, splits, predictors, more = {}) =>
  splits.flatMap((split, at) =>
    predictors
      .filter((name) => at === 0 || name === 'additive' || name === 'combined')
      .map((predictor) => ({ table, split, predictor, folds, ...more })),
  );
const others = 'obs-scaling-benchmarks';
const sections = {
  bbh: {
    title: 'BIG-bench Hard, read leniently (ObsScaling)',
    words:
      '`examples/predictions/obs-scaling-bbh.yaml`: 27 tasks with two prompts each (3 examples, with and without chain of thought).',
    tasks: grid('obs-scaling-bbh', ['L1', 'L3', 'L4', 'family'], ['additive', 'svd', 'mlp', 'combined']),
    render: plainSection,
  },
  others: {
    title: 'What other benchmarks add',
    level: '###',
    words: `MMLU, ARC-C, HellaSwag, Winogrande, TruthfulQA, GSM8K, XWinograd and HumanEval of the same models
(\`${others}.yaml\`), as further columns that are learned from and never held out.`,
    tasks: ['L1', 'L3'].map((split) => ({
      ...{ table: 'obs-scaling-bbh', split, predictor: 'combined', folds, columns: others },
    })),
    render: ({ title, words, figures }) =>
      `### ${title}\n\n${words}\n\n${fitTable(figures, (of) => `${of.title}, with 8 other benchmarks of the models`)}\n`,
  },
  known: {
    title: 'What is not predicted',
    tasks: [2, 4].map((parts) => ({ table: 'obs-scaling-bbh', split: 'L1', predictor: 'combined', folds: parts })),
    render: leftSection,
  },
  readings: {
    title: 'BIG-bench Hard and GSM8K, strict and lenient readings (ObsScaling)',
    words: `\`examples/predictions/obs-scaling-readings.yaml\`: each output is read strictly (what leaderboards print) and
leniently. Both readings of an output are held out together. L4 holds out all prompts of a task.`,
    tasks: grid('obs-scaling-readings', ['L1', 'L4'], ['additive', 'svd', 'mlp', 'combined'], { parts: 'readings' }),
    render: plainSection,
  },
  harmony: {
    title: 'lm-harmony',
    words: `\`examples/predictions/lm-harmony.yaml\`: base and post-trained models, each benchmark as it is (\`direct_eval\`)
and after fine-tuning on it. Both scores of a model on a benchmark are held out together; base and post-trained versions
of a model are one family.`,
    tasks: grid('lm-harmony', ['L1', 'L3', 'family'], ['additive', 'svd', 'mlp', 'combined'], { parts: 'metrics' }),
    render: plainSection,
  },
  predictors: {
    title: 'All predictors',
    words: 'The random split of the BIG-bench Hard records.',
    tasks: ['mean', 'additive', 'ridge', 'svd', 'knn', 'forest', 'extra-trees', 'boosted', 'mlp', 'combined'].map(
      (predictor) => ({ table: 'obs-scaling-bbh', split: 'L1', predictor, folds }),
    ),
    render: ({ title, words, figures }) => `## ${title}\n\n${words}\n\n${fitTable(figures)}\n`,
  },
};
const keyOf = ({ table, split, predictor, folds: parts, columns = '' }) =>
  [table, split, predictor, parts, columns].filter(Boolean).join(' ');

// ---------------------------------------------------------------- the page

const number = (value, digits = 3) =>
  value === null || value === undefined ? '–' : value.toFixed(digits).replace('-', '−');
const figure = ({ mean, sd }) => (mean === null ? '–' : `${number(mean)} ± ${number(sd)}`);
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const table = (header, rows) =>
  [header, header.map((_, at) => (at === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

function fitTable(figures, titleOf = ({ title }) => title) {
  return table(
    ['split: predictor', 'R²', 'pooled R²', 'RMSE', 'coverage (mean half-width)'],
    figures.map((of) => [
      `${of.split}: ${titleOf(of)}`,
      figure(of.r2),
      number(of.pooled),
      figure(of.rmse),
      of.coverage ? `${percent(of.coverage.share)} (± ${of.coverage.halfWidth.toFixed(3)})` : '–',
    ]),
  );
}

function plainSection({ title, words, figures }) {
  const [{ records, models, families, ceiling, parts }] = figures;
  const size = `${records.toLocaleString('en-US')} records of ${models} models in ${families} families.`;
  const limit = ceiling === null ? '' : ` Noise ceiling of R² (binomial noise of the items alone): ${number(ceiling)}.`;
  return `## ${title}\n\n${words} ${size}${limit}\n\n${fitTable(figures)}\n${parts ? `\n${partTable(figures)}\n` : ''}`;
}

/** Fewer held-out records than these have no mean to speak of. */
const leastInFold = 20;
const partFigure = ({ r2, pooled, fewest }) => (fewest < leastInFold ? `${number(pooled)} pooled` : figure(r2));

/** R² of each part by itself: about the part's own mean. */
function partTable(figures) {
  const [{ parts }] = figures;
  return `R² of each part of the records by itself, about its own mean (pooled where a fold has fewer than ${leastInFold} of them):\n\n${table(
    ['split: predictor', ...parts.map(({ part, records }) => `${part} (${records.toLocaleString('en-US')})`)],
    [
      ...figures.map((of) => [`${of.split}: ${of.title}`, ...of.parts.map(partFigure)]),
      ['noise ceiling', ...parts.map(({ ceiling }) => number(ceiling))],
    ],
  )}`;
}

function leftSection({ title, figures, measured }) {
  const best = measured[keyOf({ table: 'obs-scaling-bbh', split: 'L1', predictor: 'combined', folds })];
  if (!best) return '';
  const { predicted, items, columns, hardest, share } = best.left;
  return `### ${title}

Of the variance of the scores, in the random split: ${percent(predicted)} is predicted, ${percent(items)} is
binomial noise of the items, which nobody can predict, and ${percent(1 - predicted - items)} is neither: it belongs to models on
single tasks. Ten of the ${columns} columns hold ${percent(share)} of the squared errors: ${hardest.map((name) => `\`${name}\``).join(', ')}.

How much more cells of the same models help:

${table(
  ['share of the cells that is known', 'pooled R²'],
  [...figures, best].map((of) => [percent(1 - 1 / of.folds), number(of.pooled)]),
)}
`;
}

function page({ seed, measured }) {
  const head = `# How well scores are predicted

Written by \`node scripts/prediction-figures.mjs\` (${folds} folds, seed ${seed}; leave-one-out splits have a fold a family). R² is the
mean over folds ± the standard deviation over folds (n − 1); *pooled* is R² of all held-out records together, which is what can
be said where folds are single families. *Coverage* is the share of held-out scores within their 90 % intervals, made of the
held-out errors of the other folds. The additive predictor (model + task) is the baseline.

*L1* holds out single records, *L3* a subtask for a whole family, *L4* a task with all its parts for a whole family (for BIG-bench
Hard: both of its prompts), *family* everything of a family. No predictor sees a held-out record, nor another reading of its
outputs, nor an average that holds it; chance-normalised twins and averages are left out of the tables altogether.
`;
  const parts = Object.values(sections).map((section) => {
    const figures = section.tasks.flatMap((task) => {
      const of = measured[keyOf(task)];
      return of ? [{ ...of, split: task.split }] : [];
    });
    return figures.length > 0 ? section.render({ ...section, figures, measured }) : '';
  });
  return [head, ...parts.filter(Boolean)].join('\n');
}

// ---------------------------------------------------------------- measurements

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(sections).join(',') },
    splits: { type: 'string' },
    predictors: { type: 'string' },
    seed: { type: 'string', default: '42' },
    threads: { type: 'string', default: '2' },
  },
});
const chosen = options.only === 'none' ? [] : options.only.split(',');
const strange = chosen.find((name) => !(name in sections));
if (strange !== undefined) {
  console.error(`--only: there is no section "${strange}"; there are ${Object.keys(sections).join(', ')}.`);
  process.exit(2);
}
const seed = Number(options.seed);
const file = join(root, 'docs', 'prediction-figures.json');
const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { seed, measured: {} };
const store = before.seed === seed ? before : { seed, measured: {} };
const write = () => {
  // In the order of the sections, and without what no section has any more.
  const known = Object.values(sections).flatMap(({ tasks }) => tasks.map(keyOf));
  store.measured = Object.fromEntries(
    known.flatMap((key) => (key in store.measured ? [[key, store.measured[key]]] : [])),
  );
  writeFileSync(file, `${JSON.stringify(store, null, 1)}\n`);
  writeFileSync(join(root, 'docs', 'prediction-figures.md'), page(store));
};

const among = (list, name) => list === undefined || list.split(',').includes(name);
const queue = [
  ...new Map(
    chosen
      .flatMap((name) => sections[name].tasks)
      .filter(({ split, predictor }) => among(options.splits, split) && among(options.predictors, predictor))
      .map((task) => [keyOf(task), { ...task, key: keyOf(task) }]),
  ).values(),
];
// The longest come first, so that no thread ends with one alone.
queue.sort((a, b) => Number(b.predictor === 'combined') - Number(a.predictor === 'combined'));

if (queue.length > 0) {
  mkdirSync(join(root, 'dist', 'bench'), { recursive: true });
  const bundle = join(root, 'dist', 'bench', 'prediction-figures.mjs');
  await build({ ...nodeModule, absWorkingDir: root, entryPoints: ['src/predict/index.ts'], outfile: bundle });
  const begun = performance.now();
  const since = () => `${((performance.now() - begun) / 1000).toFixed(0)} s`;
  const workers = Math.min(Number(options.threads), queue.length);
  await Promise.all(
    Array.from(
      { length: workers },
      () =>
        new Promise((resolve, reject) => {
          const worker = new Worker(new URL('./prediction-figure.mjs', import.meta.url), {
            workerData: { bundle, root, seed },
          });
          const next = () => {
            const task = queue.shift();
            if (task) worker.postMessage(task);
            else worker.terminate().then(resolve, reject);
          };
          worker.on('error', reject);
          worker.on('message', ({ key, figures, problem, seconds }) => {
            if (problem) {
              reject(new Error(`${key}: ${problem}`));
              return;
            }
            store.measured[key] = figures;
            write();
            process.stderr.write(`${since()}: ${key}: R² ${figure(figures.r2)} (${seconds.toFixed(0)} s)\n`);
            next();
          });
          next();
        }),
    ),
  );
}
write();
