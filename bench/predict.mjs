// How long the study's MLP trains on a table of the study's size, beside PyTorch doing the same; how long greedy search takes
// in one; and how long the prediction process keeps messages waiting. `npm run bench -- --only predict` takes about 3 minutes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { nodeModule } from '../scripts/build.mjs';
import { alternate, median, ratio, startChild } from './children.mjs';
import { predictProduct, smallBenchBench } from './predict-small.mjs';

/** As the study's records: about 600 one-hot columns of tasks, subtasks, families, models and metrics. */
const shape = { records: 50_000, names: [200, 313, 6, 75, 3], numbers: 8, epochs: 30 };

export async function predictBench(given) {
  await mlpBench(given);
  await smallBenchBench({ ...given, rounds: 1 });
  await turnsBench(given);
}

async function mlpBench({ root, threads, python, rounds, row, times, results, progress }) {
  const bundle = join(root, 'dist', 'bench', 'mlp.mjs');
  mkdirSync(dirname(bundle), { recursive: true });
  await build({ ...nodeModule, absWorkingDir: root, entryPoints: ['src/predict/mlp.ts'], outfile: bundle });
  const children = { softbench: await startChild(process.execPath, [join(root, 'bench', 'mlp-child.mjs'), bundle]) };
  if (python) children.pytorch = await startChild(python, [join(root, 'bench', 'mlp_child.py'), threads]);
  const answers = await alternate(
    Object.fromEntries(
      Object.entries(children).map(([name, child]) => [name, () => child.ask({ do: 'train', ...shape })]),
    ),
    { rounds, warmUps: 0, onRound: (done) => progress(`MLP: ${done} of ${rounds}`) },
  );
  for (const child of Object.values(children)) await child.stop();
  progress('');
  const taken = (name, key = 'seconds') => answers[name].map((one) => one[key]);
  results.mlp = { ...shape, seconds: { softbench: taken('softbench') } };
  const columns = shape.numbers + shape.names.reduce((sum, count) => sum + count, 0);
  row(
    `MLP 128-64-32-16, ${shape.epochs} epochs of ${shape.records.toLocaleString('en-US')} records × ${columns} features`,
    `${median(taken('softbench')).toFixed(1)} s`,
    `${median(taken('softbench', 'cpuSeconds')).toFixed(1)} s of processor time, one thread`,
  );
  if (!python) return;
  results.mlp.seconds.pytorch = taken('pytorch');
  results.mlp.over_pytorch = ratio(taken('softbench'), taken('pytorch'));
  row(
    '  time, of PyTorch training the same network',
    times(results.mlp.over_pytorch),
    `${median(taken('pytorch')).toFixed(1)} s, ${median(taken('pytorch', 'cpuSeconds')).toFixed(1)} s of processor time`,
  );
}

/** What the predictor page asks for, each for at most so many seconds; then it is cancelled. */
const calls = { records: 30, fit: 8, 'task map': 8, 'small bench': 8, 'next benchmark': 8 };

/** How long messages (progress, cancel) wait for a turn while the prediction process works. */
async function turnsBench({ root, row, results, progress }) {
  const bundle = join(root, 'dist', 'bench', 'prediction.mjs');
  await build({ ...nodeModule, absWorkingDir: root, entryPoints: ['src/worker/prediction.ts'], outfile: bundle });
  const made = join(root, 'dist', 'bench', 'made-records.csv');
  const { records } = (await predictProduct()).syntheticRecords();
  writeFileSync(made, csvOf(records));
  results.predictionTurns = {};
  for (const [name, file] of [
    ['BIG-bench Hard by 73 models (3,942 records)', join(root, 'examples', 'predictions', 'obs-scaling-bbh.yaml')],
    [`made records of the study's shape (${records.length.toLocaleString('en-US')})`, made],
  ]) {
    const longest = {};
    let cancelled = 0;
    for (const [call, seconds] of Object.entries(calls)) {
      progress(`turns: ${name}, ${call}`);
      // A process each: code that runs for the first time is slowest.
      const child = await startChild(process.execPath, [join(root, 'bench', 'prediction-turns.mjs'), bundle]);
      const answer = await child.ask({ file, call, seconds });
      await child.stop();
      if (answer.problem) throw new Error(`${call}: ${answer.problem}`);
      longest[call] = answer.longest[0];
      cancelled = Math.max(cancelled, answer.cancelled ?? 0);
    }
    progress('');
    results.predictionTurns[name] = { longest, cancelled };
    const most = Math.max(...Object.values(longest));
    row(
      `longest that messages wait: ${name}`,
      `${most.toFixed(0)} ms`,
      `${Object.entries(longest)
        .map(([call, milliseconds]) => `${call} ${milliseconds.toFixed(0)}`)
        .join(', ')}; cancelled within ${cancelled.toFixed(0)} ms`,
    );
  }
}

/** In the study's columns. */
const csvOf = (records) =>
  [
    'task,subtask,model_family,model_name,non_embedding_params,flop_matched_non_embedding_params,total_params,n_shot,metric_name,score,n_items',
    ...records.map(({ task, subtask, family, model, parameters, shots, metric, score, n }) =>
      [
        ...[task, subtask, family, model, parameters.nonEmbedding, parameters.flopMatched, parameters.total],
        ...[shots, metric, score, n],
      ].join(','),
    ),
    '',
  ].join('\n');
