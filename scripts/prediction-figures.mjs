// How well predictors predict real records: writes docs/prediction-figures.md. Takes about 5 minutes on 2 free cores.
//
//   node scripts/prediction-figures.mjs                     all tables
//   node scripts/prediction-figures.mjs --folds 10 --seed 42
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { nodeModule } from './build.mjs';
import { root } from './setup.mjs';

const { values: options } = parseArgs({
  options: { folds: { type: 'string', default: '10' }, seed: { type: 'string', default: '42' } },
});
const folds = Number(options.folds);
const seed = Number(options.seed);

mkdirSync(join(root, 'dist', 'bench'), { recursive: true });
const bundle = join(root, 'dist', 'bench', 'predict.mjs');
await build({ ...nodeModule, entryPoints: ['src/predict/index.ts'], outfile: bundle });
const predict = await import(pathToFileURL(bundle).href);
const read = async (name) =>
  (await predict.readRecords({ files: [join(root, 'examples', 'predictions', `${name}.yaml`)] })).records;
const named = (...names) => names.map((name) => predict.predictorOf(name));

const number = (value, digits = 3) => (value === null || value === undefined ? '–' : value.toFixed(digits));
const figure = ({ mean, sd }) => (mean === null ? '–' : `${number(mean)} ± ${number(sd)}`);
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const table = (header, rows) =>
  [header, header.map((_, at) => (at === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

const sections = [];
const begun = performance.now();
const write = () => {
  const head = `# How well scores are predicted

Written by \`node scripts/prediction-figures.mjs\` (${folds} folds, seed ${seed}; leave-one-out splits have a fold a family). R² is the
mean over folds ± the standard deviation over folds (n − 1); *pooled* is R² of all held-out records together, which is what can
be said where folds are single families. *Coverage* is the share of held-out scores within their 90 % intervals, made of the
held-out errors of the other folds. The additive predictor (model + task) is the baseline.

*L1* holds out single records, *L3* a subtask for a whole family, *L4* a task with all its parts for a whole family (for BIG-bench
Hard: both of its prompts), *family* everything of a family. No predictor sees a held-out record, nor another reading of its
outputs, nor an average that holds it; chance-normalised twins and averages are left out of the tables altogether.
`;
  writeFileSync(join(root, 'docs', 'prediction-figures.md'), `${[head, ...sections].join('\n')}`);
};

async function measure(records, predictors, split, more = {}) {
  process.stderr.write(`${((performance.now() - begun) / 1000).toFixed(0)} s: ${split}\n`);
  return (await predict.evaluatePredictors(records, predictors, split, { folds, seed, ...more })).predictors;
}

const rowsOf = (records, split, predictors) =>
  predictors.map((of) => {
    const coverage = predict.measuredCoverage(records, of.heldOut);
    return [
      `${split}: ${of.title}`,
      figure(of.r2),
      number(of.pooled.r2),
      figure(of.rmse),
      coverage ? `${percent(coverage.share)} (± ${coverage.halfWidth.toFixed(3)})` : '–',
    ];
  });
const header = ['split: predictor', 'R²', 'pooled R²', 'RMSE', 'coverage (mean half-width)'];

async function section(title, words, records, splits, names, ceilingOf = records) {
  const ceiling = predict.noiseCeiling(ceilingOf);
  const rows = [];
  const measured = {};
  const at = sections.length;
  const models = new Set(records.map(({ model }) => model)).size;
  const textOf = () =>
    `## ${title}\n\n${words} ${records.length.toLocaleString('en-US')} records of ${models} models.${
      ceiling === null ? '' : ` Noise ceiling of R² (binomial noise of the items alone): ${number(ceiling)}.`
    }\n\n${table(header, rows)}\n`;
  for (const split of splits) {
    measured[split] = await measure(
      records,
      named(...(split === 'L1' ? names : names.slice(0, 1).concat('combined'))),
      split,
    );
    rows.push(...rowsOf(records, split, measured[split]));
    sections[at] = textOf();
    write();
  }
  return measured;
}

const all = ['additive', 'svd', 'neighbours', 'forest', 'boosted', 'mlp', 'combined'].filter((name) =>
  predict.predictorOf(name),
);
const bbh = await read('obs-scaling-bbh');
const measured = await section(
  'BIG-bench Hard, read leniently (ObsScaling)',
  '`examples/predictions/obs-scaling-bbh.yaml`: 27 tasks with two prompts each (3 examples, with and without chain of thought).',
  bbh,
  ['L1', 'L3', 'L4', 'family'],
  ['additive', 'svd', 'mlp', 'combined'],
);

// Further records of the same models: other benchmarks. Of families that are held out as a whole none are seen.
const others = (await read('obs-scaling-benchmarks')).filter(({ model }) => bbh.some((one) => one.model === model));
const combined = predict.predictorOf('combined');
const withOthers = {
  name: 'combined-others',
  title: 'combined, with 8 other benchmarks of the models',
  fit: (records, settings) => {
    const families = new Set(records.map(({ family }) => family));
    return combined.fit([...records, ...others.filter(({ family }) => families.has(family))], settings);
  },
};
const rows = [];
for (const split of ['L1', 'L3']) rows.push(...rowsOf(bbh, split, await measure(bbh, [withOthers], split)));
const [best] = measured.L1.filter(({ predictor }) => predictor === 'combined');
const mean = bbh.reduce((sum, { score }) => sum + score, 0) / bbh.length;
const variance = bbh.reduce((sum, { score }) => sum + (score - mean) ** 2, 0);
const columns = new Map();
let item = 0;
let left = 0;
for (const { record, predicted } of best.heldOut) {
  const { subtask, score, n } = bbh[record];
  const error = (score - predicted) ** 2;
  left += error;
  item += (score * (1 - score)) / (n - 1);
  columns.set(subtask, (columns.get(subtask) ?? 0) + error);
}
const hardest = [...columns].sort((a, b) => b[1] - a[1]);
const top = hardest.slice(0, 10).reduce((sum, [, error]) => sum + error, 0);
const curve = [];
for (const parts of [2, 4]) {
  const [one] = await measure(bbh, [combined], 'L1', { folds: parts });
  curve.push([percent(1 - 1 / parts), number(one.pooled.r2)]);
}
curve.push([percent(1 - 1 / folds), number(best.pooled.r2)]);
sections.push(
  `### What other benchmarks add

MMLU, ARC-C, HellaSwag, Winogrande, TruthfulQA, GSM8K, XWinograd and HumanEval of the same models
(\`obs-scaling-benchmarks.yaml\`), as further columns that are learned from and never held out.

${table(header, rows)}

### What is not predicted

Of the variance of the scores, in the random split: ${percent(1 - left / variance)} is predicted, ${percent(item / variance)} is
binomial noise of the items, which nobody can predict, and ${percent((left - item) / variance)} is neither: it belongs to models on
single tasks. Ten of the ${hardest.length} columns hold ${percent(top / left)} of the squared errors: ${hardest
    .slice(0, 10)
    .map(([name]) => `\`${name}\``)
    .join(', ')}.

How much more cells of the same models help:

${table(['share of the cells that is known', 'pooled R²'], curve)}
`,
);
write();

await section(
  'BIG-bench Hard and GSM8K, strict and lenient readings (ObsScaling)',
  '`examples/predictions/obs-scaling-readings.yaml`. Both readings of one output are records: in the random split one may be learned from where the other is held out, as in a table that has both; L4 holds out both.',
  await read('obs-scaling-readings'),
  ['L1', 'L4'],
  ['additive', 'svd', 'combined'],
);
await section(
  'lm-harmony',
  '`examples/predictions/lm-harmony.yaml`: base and post-trained models, 24 benchmarks, direct scores and scores after tuning on the benchmark.',
  await read('lm-harmony'),
  ['L1', 'L3', 'L4'],
  ['additive', 'svd', 'combined'],
);
await section('All predictors', 'The random split of the BIG-bench Hard records.', bbh, ['L1'], all);
process.stderr.write(`${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
