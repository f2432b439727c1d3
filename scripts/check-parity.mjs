/**
 * The runs of lm-evaluation-harness in test/fixtures/parity again, as a table: `node scripts/check-parity.mjs [--write]`.
 * `--write` puts it into docs/lm-eval-parity.md. SOFTBENCH_SMOLLM2=FOLDER adds SmolLM2-135M-Instruct (its ONNX export).
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
process.chdir(root);
const scratch = mkdtempSync(join(root, 'node_modules', '.softbench-parity-'));
const workspace = mkdtempSync(join(tmpdir(), 'softbench-parity-'));
const kinds = ['prompts', 'tokens', 'likelihoods', 'outputs', 'verdicts', 'scores'];

/** Sums of comparisons, by a name. */
class Table {
  rows = new Map();

  add(name, found) {
    const row = this.rows.get(name) ?? {
      runs: 0,
      worst: 0,
      ties: 0,
      ...Object.fromEntries(kinds.map((kind) => [kind, [0, 0]])),
    };
    row.runs++;
    row.worst = Math.max(row.worst, found.likelihoods.worst);
    row.ties += found.outputs.nearTies.length + found.verdicts.nearTies.length;
    for (const kind of kinds) {
      row[kind][0] += found[kind].of - found[kind].different.length;
      row[kind][1] += found[kind].of;
    }
    this.rows.set(name, row);
  }

  lines(title) {
    const share = ([equal, of]) => (of === 0 ? '–' : equal === of ? `${of}` : `**${equal} of ${of}**`);
    return [
      `| ${title} | runs | prompts | token counts and ids | log-likelihoods | furthest apart | outputs | verdicts | scores | near-ties |`,
      `|---|${'---:|'.repeat(9)}`,
      ...[...this.rows].map(
        ([name, row]) =>
          `| ${name} | ${row.runs} | ${share(row.prompts)} | ${share(row.tokens)} | ${share(row.likelihoods)} | ${row.likelihoods[1] ? row.worst.toExponential(0) : '–'} | ${share(row.outputs)} | ${share(row.verdicts)} | ${share(row.scores)} | ${row.ties || '–'} |`,
      ),
    ];
  }
}

let model = null;
try {
  const outfile = join(scratch, 'parity.mjs');
  await build({
    stdin: {
      contents: `export { compareRun } from './test/parity/compare.ts';
export * from './test/parity/runs.ts';
export { openBenchmark } from './src/benchmark/index.ts';
export { openLanguageModel } from './src/engine/index.ts';
export { openRunStore } from './src/runs/index.ts';`,
      resolveDir: root,
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  const parity = await import(pathToFileURL(outfile).href);
  const byTask = new Table();
  const byModel = new Table();
  const ties = [];
  let different = 0;
  const smollm2 = process.env.SOFTBENCH_SMOLLM2;
  const models = [
    ...Object.keys(parity.models).map((name) => ({
      name,
      folder: parity.modelFolder(name, workspace),
      runs: parity.harnessRuns(name),
    })),
    ...(smollm2 ? [{ name: 'smollm2-135m', folder: smollm2, runs: parity.digestRuns('smollm2-135m') }] : []),
  ];
  for (const { name, folder, runs } of models) {
    model = await parity.openLanguageModel(folder, { executionProvider: 'cpu', threads: smollm2 ? 0 : 1 });
    for (const run of runs) {
      const found = await parity.compareRun(run, {
        model,
        workspace,
        openBenchmark: parity.openBenchmark,
        openStore: parity.openRunStore,
        readSoftPromptFile: async () => {
          throw new Error('no soft prompt is asked for');
        },
        versions: { softbench: 'parity', onnxruntime: '' },
      });
      const where = `${name}, ${run.setting}, ${run.task}`;
      byTask.add(`\`${run.task}\``, found);
      byModel.add(`${name}, ${run.setting}`, found);
      for (const kind of kinds)
        for (const difference of found[kind].different) {
          different++;
          console.error(`${where}, ${kind}: ${difference}`);
        }
      for (const tie of [...found.outputs.nearTies, ...found.verdicts.nearTies]) ties.push(`${where}: ${tie}`);
    }
    await model.close();
    model = null;
  }
  const tables = [
    ...byTask.lines('task'),
    '',
    ...byModel.lines('model, setting'),
    '',
    ties.length ? 'Near-ties:' : 'No near-tie was decided otherwise.',
    '',
    ...ties.map((tie) => `- ${tie}`),
  ];
  console.log(tables.join('\n'));
  if (process.argv.includes('--write')) {
    const file = join(root, 'docs', 'lm-eval-parity.md');
    const [before] = readFileSync(file, 'utf8').split('<!-- made by scripts/check-parity.mjs -->');
    writeFileSync(file, `${before}<!-- made by scripts/check-parity.mjs -->\n\n${tables.join('\n').trim()}\n`);
  }
  process.exitCode = different > 0 ? 1 : 0;
} finally {
  await model?.close();
  rmSync(scratch, { recursive: true, force: true });
  rmSync(workspace, { recursive: true, force: true });
}
