// npm run bench: how fast and how large Softbench is, as ratios of figures that were taken in one run, in turn, on one
// machine. Absolute times are printed for orientation only; they mean nothing on another machine.
//
//   npm run bench                                               the bundled model
//   npm run bench -- --model DIR --python PYTHON [--hf DIR]     a model of yours, and PyTorch beside it
//
//   --only step,build,suffix,decode,open,batch,few-shot,activation,predict,small-bench,evaluate,results-page,leaderboard-page
//                            some of the benches; the last four only where asked for; predict is the MLP beside PyTorch
//                            (--python), greedy search and how long messages wait, in about 3 minutes; results-page takes
//                            a Chromium (CHROMIUM names one)
//   --lengths 128,64,256     tokens a row of the tuning step (rows: --batch 8)
//   --recompute blocks       the tuning step with recomputation too (attention or blocks)
//   --rounds 5               how often each program is asked
//   --threads N              default: physical cores
//   --json FILE              write the figures too
//   --python PYTHON          a Python with torch, transformers and peft; --hf: the model's PyTorch folder, default DIR
//   --data DIR               for evaluate: a folder with GSM8K, BoolQ and ARC-Easy; --python needs lm-eval for it
//   --tasks boolq_0,boolq_5  for evaluate: some of gsm8k, boolq, arc_easy with 0 and with 5 examples
//   --items N                for evaluate: at most so many items; for results-page: so many, default 100,000
//   --transformers-js DIR    a folder where @huggingface/transformers is installed, for decode and open
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { alternate, median, ratio, startChild } from '../bench/children.mjs';
import { decode, opening } from '../bench/decode.mjs';
import { evaluation } from '../bench/evaluation.mjs';
import { writeLargeModel } from '../bench/large.mjs';
import { leaderboardBench } from '../bench/leaderboard-page.mjs';
import { leastFlops, shapeOf } from '../bench/limit.mjs';
import { predictBench } from '../bench/predict.mjs';
import { smallBenchBench } from '../bench/predict-small.mjs';
import { resultsBench } from '../bench/results-page.mjs';
import { suffixStep } from '../bench/suffix.mjs';
import { fewShotPrefix, questionText, randomSource, wordProblem } from '../bench/texts.mjs';
import { findBrowser } from './browser.mjs';
import { bundleProduct, nodeModule } from './build.mjs';
import { root, run } from './setup.mjs';

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: join(root, 'examples', 'models', 'stories260k') },
    python: { type: 'string' },
    hf: { type: 'string' },
    'transformers-js': { type: 'string' },
    only: { type: 'string', default: 'step,build,suffix,decode,open,batch,few-shot,activation' },
    lengths: { type: 'string', default: '128' },
    recompute: { type: 'string' },
    batch: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string' },
    json: { type: 'string' },
    data: { type: 'string' },
    tasks: { type: 'string' },
    items: { type: 'string' },
  },
});
const folder = resolve(options.model);
const batch = Number(options.batch);
const rounds = Number(options.rounds);
const vectors = 10;
const answer = 8;
const product = join(root, 'dist', 'bench', 'product.mjs');
const host = join(root, 'dist', 'bench', 'extension.cjs');
const results = {};
const lines = [];

const gigabytes = (bytes) => (bytes === null ? '?' : `${(bytes / 1e9).toFixed(2)} GB`);
const times = ({ median: middle, smallest, largest }) =>
  `${middle.toFixed(2)} ×  (${smallest.toFixed(2)} - ${largest.toFixed(2)})`;
const seconds = (list) => {
  const value = median(list.map((entry) => entry.seconds));
  return value >= 1 ? `${value.toFixed(2)} s` : `${(value * 1000).toFixed(1)} ms`;
};
const row = (name, value, note = '') => {
  lines.push([name, value, note]);
  console.log(`  ${name.padEnd(46)} ${value.padEnd(26)} ${note}`);
};
const progress = (text) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`);
// With the allocator's settings that the product's worker runs under.
const engine = (threads) =>
  startChild(process.execPath, [join(root, 'bench', 'engine.mjs'), product, folder, threads], { env: allocator });

/** The tuning step beside PyTorch's, and beside the least time that its products take on this machine. */
async function step(threads, contextLength) {
  for (const wanted of options.lengths.split(',').map(Number)) {
    const length = Math.min(wanted, (contextLength ?? Number.POSITIVE_INFINITY) - vectors);
    const children = { softbench: await engine(threads) };
    if (options.recompute) children.recompute = await engine(threads);
    const hf = resolve(options.hf ?? folder);
    if (options.python)
      for (const variant of ['peft', 'answers'])
        children[variant] = await startChild(options.python, [
          join(root, 'bench', 'peft_step.py'),
          hf,
          variant,
          threads,
        ]);
    let limit = null;
    try {
      limit = leastFlops(shapeOf(folder), { batch, length, vectors, answer });
      children.gemm = await startChild(process.execPath, [join(root, 'bench', 'gemm.mjs'), product, folder, threads]);
    } catch (error) {
      console.error(error.message);
    }
    const opened = await children.softbench.ask({ do: 'open', batch, seed: 0 });
    await children.recompute?.ask({ do: 'open', batch, seed: 0, recompute: options.recompute });
    let seed = 0;
    const answers = await alternate(
      Object.fromEntries(
        Object.entries(children).map(([name, child]) => [
          name,
          () => child.ask({ do: 'step', batch, length, answer, seed: ++seed }),
        ]),
      ),
      // The first step of a shape makes its session: it is not a step.
      { rounds, warmUps: 2, onRound: (done) => progress(`tuning step, ${length} tokens: ${done} of ${rounds}`) },
    );
    const memory = {};
    for (const [name, child] of Object.entries(children)) memory[name] = await child.stop();
    progress('');

    const taken = (name) => answers[name].map((entry) => entry.seconds);
    const title = `tuning step, ${batch} × ${length} tokens`;
    const record = { batch, length, vectors, answer, opened: opened.seconds, seconds: {}, memory };
    for (const name of Object.keys(answers)) if (name !== 'gemm') record.seconds[name] = taken(name);
    row(
      title,
      seconds(answers.softbench),
      `peak ${gigabytes(memory.softbench.resident)} resident, ${gigabytes(memory.softbench.anonymous)} of it not file pages`,
    );
    for (const [name, label] of [
      ['peft', 'PEFT'],
      ['answers', 'PyTorch, logits at answers only'],
    ]) {
      if (!answers[name]) continue;
      record[`over_${name}`] = ratio(taken('softbench'), taken(name));
      record[`memory_over_${name}`] = memory.softbench.resident / memory[name].resident;
      row(`  time, of ${label}`, times(record[`over_${name}`]), seconds(answers[name]));
      row(
        `  peak memory, of ${label}`,
        `${record[`memory_over_${name}`].toFixed(2)} ×`,
        `${gigabytes(memory[name].resident)} resident, ${gigabytes(memory[name].anonymous)} of it not file pages`,
      );
    }
    if (answers.recompute) {
      record.recompute = options.recompute;
      record.over_recompute = ratio(taken('recompute'), taken('softbench'));
      const over = memory.peft && memory.recompute.resident / memory.peft.resident;
      row(
        `  with recompute: ${options.recompute}, time`,
        times(record.over_recompute),
        `peak ${gigabytes(memory.recompute.resident)} resident, ${gigabytes(memory.recompute.anonymous)} of it not file pages${over ? `: ${over.toFixed(2)} × of PEFT` : ''}`,
      );
    }
    if (answers.gemm) {
      const least = answers.gemm.map(({ flopsPerSecond }) => limit / flopsPerSecond);
      record.over_gemm = ratio(taken('softbench'), least);
      record.flopsPerSecond = median(answers.gemm.map((entry) => entry.flopsPerSecond));
      row(
        '  time, of the least that its products take',
        times(record.over_gemm),
        `${(limit / 1e9).toFixed(0)} GFLOP at ${(record.flopsPerSecond / 1e9).toFixed(0)} GFLOP/s`,
      );
    }
    results[`step_${length}`] = record;
  }
}

/** A step with the soft prompt behind the text, over one in front of it. */
async function suffix(threads, contextLength) {
  for (const length of options.lengths.split(',').map(Number)) {
    if (contextLength !== null && length + vectors > contextLength) continue;
    const onRound = (done, of) => progress(`position: suffix, ${length} tokens: ${done} of ${of}`);
    const figures = await suffixStep(engine, threads, { batch, length, answer, rounds, onRound });
    progress('');
    results[`suffix_${length}`] = figures;
    const all = (name) => figures.seconds[name].map((each) => ({ seconds: each }));
    row(`position: suffix over prefix, ${batch} × ${length} tokens`, '', `a prefix step: ${seconds(all('prefix'))}`);
    row("  step, the text's keys and values at hand", times(figures.ready), seconds(all('ready')));
    row('  step, the text read first', times(figures.whole), seconds(all('whole')));
    row(
      '  peak memory',
      `${(figures.memory.whole.resident / figures.memory.prefix.resident).toFixed(2)} ×`,
      `${gigabytes(figures.memory.whole.resident)} and ${gigabytes(figures.memory.prefix.resident)} resident`,
    );
  }
}

/** The training graph from the file: this model's, and one of 7B parameters whose weights are not there. */
async function build() {
  const large = join(root, 'dist', 'bench', 'large');
  mkdirSync(large, { recursive: true });
  writeLargeModel(large, await import(pathToFileURL(product).href));
  const own = existsSync(join(folder, 'model.onnx')) ? folder : join(folder, 'onnx');
  for (const [name, place] of [
    ['this model', own],
    ['7B, weights absent', large],
  ]) {
    const file = join(place, 'model.onnx');
    const taken = [];
    let memory;
    // A process each: what counts is the first time.
    for (let round = 0; round < rounds; round++) {
      const child = await startChild(process.execPath, [join(root, 'bench', 'build.mjs'), product, file]);
      taken.push(await child.ask({ batch, length: 144, vectors, answers: batch * answer }));
      memory = await child.stop();
    }
    results[`build, ${name}`] = { seconds: taken.map((entry) => entry.seconds), memory, ...taken[0] };
    row(
      `training graph, ${name}`,
      seconds(taken),
      `${median(taken.map((entry) => entry.cpuSeconds)).toFixed(2)} s of processor time, ${taken[0].nodes} nodes, peak ${gigabytes(memory.resident)}; a step would take ${gigabytes(taken[0].needed)} besides the weights`,
    );
  }
}

/** Sizes that fit the model: real ones, or small ones for a model with few positions. */
const sizes = (contextLength) =>
  contextLength !== null && contextLength < 2048
    ? { shots: 1, questions: 1, words: 30, newTokens: 32, items: 32 }
    : { shots: 5, questions: 1, words: Number.POSITIVE_INFINITY, newTokens: 64, items: 24 };

function problems(count, seed, words) {
  const random = randomSource(seed);
  const cut = (text) => (Number.isFinite(words) ? text.split(' ').slice(0, words).join(' ') : text);
  return Array.from({ length: count }, () => {
    const { question, answer: solution } = wordProblem(random);
    return { question: cut(question), answer: cut(solution) };
  });
}

/** Batched generation against one item at a time: the same items, the same outputs. */
async function batched(threads, contextLength) {
  const { newTokens, words } = sizes(contextLength);
  const child = await engine(threads);
  const texts = problems(16, 11, words).map(questionText);
  const ask = (batchSize) => () => child.ask({ do: 'generate', texts, prefix: '', batchSize, maxNewTokens: newTokens });
  const answers = await alternate(
    { eight: ask(8), one: ask(1) },
    { rounds: Math.max(2, Math.ceil(rounds / 2)), onRound: (done, of) => progress(`generation: ${done} of ${of}`) },
  );
  await child.stop();
  progress('');
  const rates = (name) => answers[name].map(({ items, seconds: taken }) => items / taken);
  const gain = ratio(rates('eight'), rates('one'));
  results.batch = { gain, itemsPerSecond: { eight: rates('eight'), one: rates('one') }, answers };
  const tokens = ({ outputTokens, seconds: taken }) => outputTokens / taken;
  row(
    `generation, items/s: batch 8 over batch 1`,
    times(gain),
    `${median(answers.eight.map(tokens)).toFixed(0)} and ${median(answers.one.map(tokens)).toFixed(0)} tokens/s, up to ${newTokens} new tokens`,
  );
}

/** Few-shot with one prefix for all items against zero-shot: what the examples cost an item. */
async function fewShot(threads, contextLength) {
  const { shots, newTokens, items, words } = sizes(contextLength);
  const child = await engine(threads);
  const texts = problems(items, 12, words).map(questionText);
  const prefix = fewShotPrefix(problems(shots, 13, words));
  const ask = (front) => () =>
    child.ask({ do: 'generate', texts, prefix: front, batchSize: 8, maxNewTokens: newTokens });
  const answers = await alternate(
    { few: ask(prefix), zero: ask('') },
    { rounds: Math.max(2, Math.ceil(rounds / 2)), onRound: (done, of) => progress(`few-shot: ${done} of ${of}`) },
  );
  await child.stop();
  progress('');
  // Per new token, since the two prompts may end their outputs at different places.
  const perItem = (name) => answers[name].map(({ items: count, seconds: taken }) => taken / count);
  const cost = ratio(perItem('few'), perItem('zero'));
  const mean = (name) => Math.round(answers[name][0].promptTokens / items);
  results.fewShot = { shots, cost, answers, promptTokens: { few: mean('few'), zero: mean('zero') } };
  row(
    `time an item: ${shots}-shot over zero-shot`,
    times(cost),
    `${items} items, prompts of ${mean('few')} and ${mean('zero')} tokens, ${answers.few[0].outputTokens} and ${answers.zero[0].outputTokens} new tokens`,
  );
}

/** Activation, and that it loads neither ONNX Runtime nor a tokenizer. */
async function activation() {
  const esbuild = await import('esbuild');
  const { metafile } = await esbuild.build({
    ...nodeModule,
    entryPoints: ['src/extension.ts'],
    outfile: host,
    format: 'cjs',
    banner: {},
    external: ['vscode', 'onnxruntime-node'],
    minify: true,
    metafile: true,
  });
  const taken = [];
  let last;
  for (let round = 0; round < Math.max(5, rounds); round++) {
    const { code, output } = await run(process.execPath, [join(root, 'bench', 'activation.mjs'), host, root], {
      echo: false,
    });
    if (code !== 0) throw new Error(output);
    last = JSON.parse(output.trim().split('\n').at(-1));
    taken.push(last.requireMilliseconds + last.activateMilliseconds);
  }
  const inside = Object.keys(metafile.inputs).filter((path) => path.startsWith('node_modules/'));
  const packages = [...new Set(inside.map((path) => path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)[1]))].sort();
  const forbidden = /^onnxruntime|tokenizers|transformers/;
  const heavy = [...packages, ...last.loaded, ...last.native].filter((name) => forbidden.test(name));
  results.activation = { milliseconds: taken, packages, loaded: last.loaded, native: last.native, heavy };
  row(
    'activation: load and activate()',
    `${median(taken).toFixed(0)} ms`,
    `host bundle ${(statSync(host).size / 1024).toFixed(0)} KB with ${packages.join(', ') || 'no package'}`,
  );
  row(
    '  ONNX Runtime or tokenizer loaded by it',
    heavy.length ? heavy.join(', ') : 'none',
    `native modules: ${last.native.length}`,
  );
}

// ---------------------------------------------------------------- main

const chosen = options.only.split(',');
/** What bench/decode.mjs needs. */
const beside = (bench) => (threads, contextLength) =>
  bench({
    ...{ root, product, folder, threads, allocator, rounds, contextLength, results, row, times, progress },
    transformersJs: options['transformers-js'],
  });
const known = {
  step,
  build,
  suffix,
  decode: beside(decode),
  open: beside(opening),
  batch: batched,
  'few-shot': fewShot,
  activation,
  'results-page': () =>
    resultsBench({
      ...{ executablePath: findBrowser(), items: Number(options.items ?? 100_000), modes: ['soft-prompt'] },
      ...{ row, results },
    }),
  'leaderboard-page': () => leaderboardBench({ executablePath: findBrowser(), row, results }),
  predict: (threads) =>
    predictBench({
      ...{ root, threads, python: options.python, row, times, results, progress },
      rounds: Math.max(1, Math.floor(rounds / 2)),
    }),
  'small-bench': () => smallBenchBench({ rounds: Math.max(1, Math.floor(rounds / 2)), row, times, results, progress }),
  evaluate: (threads) =>
    evaluation({
      ...{ root, product, folder, threads, allocator, batch, results, row, times, progress },
      ...{ python: options.python, hf: resolve(options.hf ?? folder), data: options.data && resolve(options.data) },
      some: options.tasks?.split(','),
      most: Number(options.items ?? Number.POSITIVE_INFINITY),
      rounds: Math.max(1, Math.floor(rounds / 5)),
    }),
};
for (const name of chosen)
  if (!(name in known)) {
    console.error(`--only: there is no bench "${name}"; there are ${Object.keys(known).join(', ')}.`);
    process.exit(2);
  }
if (options.python && !existsSync(options.python)) {
  console.error(`--python: ${options.python} is not there.`);
  process.exit(2);
}
await bundleProduct(product);
const { allocatorSettings: allocator } = await import(pathToFileURL(product).href);
let threads = options.threads ?? '0';
let contextLength = null;
let provider = null;
const withoutModel = ['activation', 'build', 'results-page', 'leaderboard-page', 'predict', 'small-bench'];
if (chosen.some((name) => !withoutModel.includes(name))) {
  const probe = await engine(threads);
  provider = probe.ready.provider;
  contextLength = probe.ready.contextLength;
  // The same number for PyTorch.
  threads = String(provider.threads);
  await probe.stop();
}
console.log(
  `\n${folder}\n${cpus()[0]?.model ?? 'unknown processor'}${provider ? `, ${threads} threads` : ''}, Node ${process.version}; medians of ratios (smallest - largest)\n`,
);
for (const name of chosen) await known[name](threads, contextLength);
if (options.json) {
  const file = resolve(options.json);
  writeFileSync(
    file,
    `${JSON.stringify({ model: folder, processor: cpus()[0]?.model, threads: Number(threads), node: process.version, provider, results }, null, 2)}\n`,
  );
  console.log(`\n${file}`);
}
