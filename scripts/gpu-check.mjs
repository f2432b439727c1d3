// What a person with a GPU runs: does a provider compute what PyTorch computes, and how fast beside the CPU?
//
//   node scripts/gpu-check.mjs --provider cuda                 the fixtures, and the bundled model for times
//   node scripts/gpu-check.mjs --provider cuda --model DIR     a model of your own for times (and parity where it has a reference)
//
// Prints a table and writes a JSON file: docs/gpu-check.md says what stands in it. From a fresh clone it installs the
// dependencies first, as the other scripts do. Fetches no provider libraries: `softbench providers install cuda` does.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, homedir, platform, release, totalmem } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { artifacts, installDependencies, isMain, root, run, runNode } from './setup.mjs';

const defaults = { batch: '8', length: '128', vectors: '10', tokens: '64', rounds: '5', threads: '0', seconds: '300' };
const help = `node scripts/gpu-check.mjs [OPTIONS]

  --provider NAME   cuda, webgpu, dml, coreml or cpu (default: cuda)
  --model DIR       model folder for the times (default: the bundled stories260k); with a reference.json also for parity
  --fixtures NAME   only fixtures whose name begins so; "none" leaves them out
  --batch N         rows of a step and of a generation (default: ${defaults.batch})
  --length N        tokens of a row (default: ${defaults.length})
  --vectors N       of the soft prompt (default: ${defaults.vectors})
  --tokens N        tokens to generate (default: ${defaults.tokens})
  --rounds N        rounds of the times; the sides take turns (default: ${defaults.rounds})
  --threads N       threads of the CPU side (default: 0, as many as physical cores)
  --seconds N       limit of each fixture (default: ${defaults.seconds})
  --out FILE        the JSON file (default: test/.artifacts/gpu-check-PROVIDER.json)`;

const schema = 1;
const round = (value, digits = 4) => (Number.isFinite(value) ? Number(value.toPrecision(digits)) : null);
const log = (text) => console.error(text);

/** Without the folders of this machine, so that the file can be passed on: they may name the user. */
function withoutPaths(json, model) {
  const quoted = (path) => JSON.stringify(path).slice(1, -1);
  let text = json;
  if (model) text = text.replaceAll(quoted(resolve(model)), basename(model));
  text = text.replaceAll(quoted(root), '.');
  const home = quoted(homedir());
  return home.length > 1 ? text.replaceAll(home, '~') : text;
}

/** What NVIDIA's own tool says of the GPUs; null where it is not there. */
async function nvidia() {
  const fields = ['name', 'driver_version', 'memory.total', 'memory.used'];
  const { code, stdout } = await run(
    'nvidia-smi',
    [`--query-gpu=${fields.join(',')}`, '--format=csv,noheader,nounits'],
    { echo: false, seconds: 20 },
  );
  if (code !== 0) return null;
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split(',').map((part) => part.trim()))
    .map(([name, driver, total, used]) => ({
      name,
      driver,
      memoryMegabytes: Number(total),
      usedMegabytes: Number(used),
    }));
}

/** One folder against its PyTorch reference, in a process of its own: a crash is a finding, not the end. */
async function verify(folder, { provider, threads, seconds, env }) {
  const started = performance.now();
  const args = [folder, '--provider', provider, '--threads', threads, '--json', '--quiet'];
  const { code, late, stdout, output } = await run(
    process.execPath,
    [join(root, 'dist', 'cli.js'), 'models', 'verify', ...args],
    { echo: false, seconds, env },
  );
  const row = { model: basename(folder), seconds: round((performance.now() - started) / 1000, 3) };
  let report;
  try {
    report = JSON.parse(stdout.trim().split('\n').at(-1));
  } catch {
    report = null;
  }
  if (late) return { ...row, ok: false, reason: `It did not finish within ${seconds} s.` };
  if (!report || report.error)
    return { ...row, ok: false, reason: report?.error?.message ?? `It ended with code ${code}: ${output.slice(-300)}` };
  return { ...row, ...report };
}

async function parity(options, env) {
  const home = join(root, 'test', 'fixtures', 'models');
  const wanted = options.fixtures ?? '';
  const folders = (wanted === 'none' || !existsSync(home) ? [] : readdirSync(home))
    .filter((name) => name.startsWith(wanted))
    .map((name) => join(home, name));
  if (options.model) folders.push(resolve(options.model));
  const rows = [];
  for (const folder of folders.filter((one) => existsSync(join(one, 'reference.json')))) {
    const row = await verify(folder, { ...options, seconds: Number(options.seconds), env });
    rows.push(row);
    log(
      `  ${row.ok ? 'ok     ' : 'differs'}  ${row.model.padEnd(28)} ${String(row.seconds).padStart(6)} s  ${row.ok ? '' : row.reason.slice(0, 160)}`,
    );
  }
  return rows;
}

const relativeL2 = (a, b) => Math.hypot(...a.map((value, index) => value - b[index])) / Math.hypot(...b);

/** Step and generation on the CPU and on the provider, taking turns; the first of each is told apart (it compiles). */
async function times(options, env) {
  const { alternate, median, ratio, startChild } = await import('../bench/children.mjs');
  const { bundleProduct } = await import('./build.mjs');
  const folder = resolve(options.model ?? join(root, 'examples', 'models', 'stories260k'));
  const bundle = join(root, 'dist', 'bench', 'gpu.mjs');
  await bundleProduct(bundle);
  const { allocatorSettings } = await import(pathToFileURL(bundle).href);
  const start = (provider) =>
    startChild(process.execPath, [join(root, 'bench', 'gpu-child.mjs'), bundle, folder, options.threads, provider], {
      env: { ...env, ...allocatorSettings },
    });
  const sides = {
    cpu: await start('cpu'),
    [options.provider === 'cpu' ? 'cpu again' : options.provider]: await start(options.provider),
  };
  const [, other] = Object.keys(sides);
  const both = async (request) =>
    Object.fromEntries(
      await Promise.all(Object.entries(sides).map(async ([name, side]) => [name, await side.ask(request)])),
    );
  // One after the other, so that neither side's first run slows the other's.
  const inTurn = async (request) => {
    const answers = {};
    for (const [name, side] of Object.entries(sides)) answers[name] = await side.ask(request);
    return answers;
  };
  const { contextLength } = sides.cpu.ready;
  const sizes = {
    batch: Number(options.batch),
    vectors: Number(options.vectors),
    length: Math.min(Number(options.length), (contextLength ?? Number.POSITIVE_INFINITY) - Number(options.vectors)),
    answer: 8,
    maxNewTokens: Math.min(Number(options.tokens), Math.floor((contextLength ?? Number.POSITIVE_INFINITY) / 2)),
  };
  const prompt = Math.min(32, Math.floor((contextLength ?? 64) / 4));
  try {
    await both({ do: 'open', vectors: sizes.vectors, batch: sizes.batch, seed: 1 });
    const first = await inTurn({ do: 'step', ...sizes, seed: 2, gradient: true });
    const gradient = relativeL2(first[other].gradient, first.cpu.gradient);
    const programs = (request) =>
      Object.fromEntries(Object.entries(sides).map(([name, side]) => [name, () => side.ask(request())]));
    let seed = 10;
    const steps = await alternate(
      programs(() => ({ do: 'step', ...sizes, seed: seed++ })),
      { rounds: Number(options.rounds) },
    );
    const memoryAfterSteps = await nvidia();
    // Lengths that a benchmark may have: a device whose arena keeps growing shows here.
    for (let length = 16; length <= sizes.length; length += 8)
      await sides[other].ask({ do: 'step', ...sizes, length, seed: seed++ });
    const memoryAfterLengths = await nvidia();
    const request = { do: 'generate', batch: sizes.batch, length: prompt, maxNewTokens: sizes.maxNewTokens, seed: 3 };
    const generations = await alternate(
      programs(() => request),
      { rounds: Number(options.rounds) },
    );
    const tokens = (answer) => answer.outputs.reduce((sum, list) => sum + list.length, 0);
    const [ours, theirs] = [generations[other][0].outputs, generations.cpu[0].outputs];
    const equal = ours.reduce(
      (sum, list, row) => sum + (list.findIndex((token, at) => token !== theirs[row][at]) + 1 || list.length + 1) - 1,
      0,
    );
    const perSide = async (name) => {
      const step = steps[name].map((answer) => answer.seconds);
      const rate = generations[name].map((answer) => tokens(answer) / answer.seconds);
      const { nodes = [], reason } = await sides[name].ask({ do: 'provider' });
      return {
        openSeconds: round(sides[name].ready.openSeconds),
        firstStepSeconds: round(first[name].seconds),
        stepSeconds: step.map((value) => round(value)),
        stepMedian: round(median(step)),
        tokensPerSecond: rate.map((value) => round(value)),
        tokensPerSecondMedian: round(median(rate)),
        nodes,
        reason,
      };
    };
    const result = {
      model: relative(root, folder).startsWith('..') ? basename(folder) : relative(root, folder),
      sizes,
      promptTokens: prompt,
      sides: { cpu: await perSide('cpu'), [other]: await perSide(other) },
      gradientRelativeL2: round(gradient, 3),
      lossDifference: round(Math.abs(first[other].loss - first.cpu.loss), 3),
      tokensEqual: { compared: tokens(generations.cpu[0]), equal },
      stepRatio: ratios(
        ratio(
          steps[other].map(({ seconds }) => seconds),
          steps.cpu.map(({ seconds }) => seconds),
        ),
      ),
      decodeRatio: ratios(
        ratio(
          generations[other].map((answer) => tokens(answer) / answer.seconds),
          generations.cpu.map((answer) => tokens(answer) / answer.seconds),
        ),
      ),
      deviceMemory: memoryAfterSteps && { afterSteps: memoryAfterSteps, afterLengths: memoryAfterLengths },
    };
    return result;
  } finally {
    for (const side of Object.values(sides)) await side.stop();
  }
}

const ratios = ({ median, smallest, largest }) => ({
  median: round(median, 3),
  smallest: round(smallest, 3),
  largest: round(largest, 3),
});

/** The environment that the product's own worker gets: where the installed libraries are. */
async function libraryEnvironment() {
  const { stdout } = await runNode(join(root, 'dist', 'cli.js'), ['providers', 'list', '--json'], {
    echo: false,
    seconds: 400,
  });
  const { providers, folder, packages } = JSON.parse(stdout.trim().split('\n').at(-1));
  const lib = packages.find(({ name }) => name === 'cuda-runtime')?.installed;
  const env = { SOFTBENCH_LIBRARIES: folder };
  if (lib) env.LD_LIBRARY_PATH = [process.env.LD_LIBRARY_PATH, lib].filter(Boolean).join(':');
  return { providers, env };
}

function print({ parity: rows, times: measured, provider }) {
  const passed = rows.filter(({ ok }) => ok).length;
  if (rows.length) console.log(`\nParity with PyTorch on ${provider}: ${passed} of ${rows.length} models.`);
  if (!measured) return;
  const { sides, sizes } = measured;
  console.log(
    `\n${measured.model}: ${sizes.batch} × ${sizes.length} tokens, ${sizes.vectors} vectors; ${sizes.maxNewTokens} new tokens × ${sizes.batch}`,
  );
  const row = (cells) =>
    console.log(cells.map((cell, at) => (at ? String(cell).padStart(14) : String(cell).padEnd(12))).join(''));
  row(['', 'open, s', 'first step, s', 'step, s', 'tokens/s', 'nodes on CPU']);
  for (const [name, side] of Object.entries(sides))
    row([
      name,
      side.openSeconds,
      side.firstStepSeconds,
      side.stepMedian,
      side.tokensPerSecondMedian,
      side.nodes.length ? side.nodes.map(({ cpuNodes, nodes }) => `${cpuNodes}/${nodes}`).join(' ') : '–',
    ]);
  const range = ({ median, smallest, largest }) => `${median} (${smallest} – ${largest})`;
  console.log(`step time ÷ CPU's: ${range(measured.stepRatio)}; tokens/s ÷ CPU's: ${range(measured.decodeRatio)}`);
  console.log(
    `gradient against the CPU's: relative L2 ${measured.gradientRelativeL2}; generated tokens equal: ${measured.tokensEqual.equal} of ${measured.tokensEqual.compared}`,
  );
}

async function main(argv) {
  const { values } = parseArgs({
    args: argv,
    options: Object.fromEntries(
      ['provider', 'model', 'fixtures', 'out', ...Object.keys(defaults)]
        .map((name) => [name, { type: 'string' }])
        .concat([['help', { type: 'boolean' }]]),
    ),
  });
  if (values.help) return console.log(help);
  const options = { provider: 'cuda', ...defaults, ...values };
  for (const name of Object.keys(defaults))
    if (!/^\d+$/.test(options[name])) throw new Error(`--${name} needs a whole number, not "${options[name]}".`);
  await installDependencies();
  const { build } = await import('./build.mjs');
  await build({ log: () => {} });
  const { providers, env } = await libraryEnvironment();
  const status = providers.find(({ name }) => name === options.provider);
  if (!status)
    throw new Error(
      `There is no provider "${options.provider}". There are ${providers.map(({ name }) => name).join(', ')}.`,
    );
  if (!status.runs) throw new Error(`${status.title} cannot run here: ${status.reason}. ${status.todo}`);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const runtime = JSON.parse(
    readFileSync(join(root, 'node_modules', 'onnxruntime-node', 'package.json'), 'utf8'),
  ).version;
  const machine = {
    system: `${platform()} ${release()} ${arch()}`,
    processor: cpus()[0]?.model ?? 'unknown',
    logicalProcessors: cpus().length,
    memoryBytes: totalmem(),
    nvidia: await nvidia(),
  };
  const report = {
    schema,
    kind: 'softbench gpu check',
    created: new Date().toISOString(),
    softbench: version,
    onnxruntime: runtime,
    provider: options.provider,
    machine,
  };
  log(`Parity with PyTorch on ${options.provider}:`);
  report.parity = await parity(options, env);
  log('Times:');
  try {
    report.times = await times(options, env);
  } catch (error) {
    // What was found so far is worth keeping.
    report.times = null;
    report.timesError = error.message;
    log(`They could not be taken: ${error.message}`);
  }
  const out = resolve(options.out ?? join(artifacts, `gpu-check-${options.provider}.json`));
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${withoutPaths(JSON.stringify(report, null, 2), options.model)}\n`);
  print(report);
  console.log(`\nWritten: ${out}`);
  if (report.parity.some(({ ok }) => !ok) || report.timesError) process.exitCode = 1;
}

if (isMain(import.meta.url))
  main(process.argv.slice(2)).catch((error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
