// How long the study's MLP trains on a table of the study's size, beside PyTorch doing the same.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { nodeModule } from '../scripts/build.mjs';
import { alternate, median, ratio, startChild } from './children.mjs';

/** As the study's records: about 600 one-hot columns of tasks, subtasks, families, models and metrics. */
const shape = { records: 50_000, names: [200, 313, 6, 75, 3], numbers: 8, epochs: 30 };

export async function predictBench({ root, threads, python, rounds, row, times, results, progress }) {
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
    `MLP, ${shape.epochs} epochs of ${shape.records.toLocaleString('en-US')} × ${columns}`,
    `${median(taken('softbench')).toFixed(1)} s`,
    `${median(taken('softbench', 'cpuSeconds')).toFixed(1)} s of processor time, one thread`,
  );
  if (!python) return;
  results.mlp.seconds.pytorch = taken('pytorch');
  results.mlp.over_pytorch = ratio(taken('softbench'), taken('pytorch'));
  row(
    '  time, of PyTorch',
    times(results.mlp.over_pytorch),
    `${median(taken('pytorch')).toFixed(1)} s, ${median(taken('pytorch', 'cpuSeconds')).toFixed(1)} s of processor time`,
  );
}
