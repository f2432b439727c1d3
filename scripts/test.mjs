// npm test: everything that has to hold, on a machine with nothing but Node and git.
//
//   npm test                          all parts
//   npm test -- --only unit,cli       some: checks, unit, vscode, e2e, cli ("unit" brings the checks along)
//   npm test -- --quick               what needs no VS Code window: checks, unit, cli
//
// Each part ends with a line of its own; the last line is the sum. What the tests leave behind (screenshots, logs, the
// VS Code they ran in) is in test/.artifacts.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, unwatchFile, watchFile } from 'node:fs';
import { join, relative } from 'node:path';
import { artifacts, binOf, installDependencies, root, runNode } from './setup.mjs';

const order = ['checks', 'unit', 'vscode', 'e2e', 'cli'];
const bundles = join(artifacts, 'bundles');
const say = (text) => console.log(text);

/** A part's outcome: how many passed and failed, and what went wrong besides. */
const outcome = (passed, failed, skipped = 0) => ({ passed, failed, skipped });

// ---------------------------------------------------------------- checks: one "test" each

async function checks() {
  const steps = [
    ['types (tsc)', () => runNode(binOf('typescript', 'tsc'), ['-p', '.'])],
    ['lint and format (biome)', () => runNode(binOf('@biomejs/biome', 'biome'), ['check', '.'])],
    ['imports between rooms', () => runNode(join('scripts', 'rooms.mjs'))],
    ['build', () => runNode(join('scripts', 'build.mjs'))],
  ];
  let failed = 0;
  for (const [name, step] of steps) {
    const started = Date.now();
    const { code } = await step();
    if (code !== 0) failed++;
    say(`${code === 0 ? '  ok   ' : '  FAIL '} ${name} (${seconds(started)})`);
  }
  return outcome(steps.length - failed, failed);
}

// ---------------------------------------------------------------- unit tests: vitest

async function unit() {
  const report = join(artifacts, 'unit.json');
  rmSync(report, { force: true });
  const { ensureBrowser } = await import('./browser.mjs');
  let browser;
  try {
    browser = await ensureBrowser({ log: say });
  } catch (error) {
    // Tests of pages are skipped; the window tests will fail for it.
    say(`  ${error.message}`);
  }
  const { code, output } = await runNode(
    binOf('vitest'),
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    { seconds: 15 * 60, env: browser ? { SOFTBENCH_TEST_CHROMIUM: browser } : {} },
  );
  if (!existsSync(report)) {
    if (/No test files found/.test(output)) return outcome(0, 0);
    return outcome(0, 1);
  }
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  // A file that does not load, or whose preparation fails, has no failed test in the report; it failed all the same.
  const broken = testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  );
  const failed = numFailedTests + broken.length;
  return outcome(numPassedTests, failed || (code === 0 ? 0 : 1), numPendingTests + numTodoTests);
}

// ---------------------------------------------------------------- mocha, in VS Code and beside it

/** Follows a report of test/vscode/report.ts while it grows, and prints its lines. */
function follow(file) {
  let read = 0;
  const count = { passed: 0, failed: 0, skipped: 0, ended: false };
  const more = () => {
    if (!existsSync(file)) return;
    const lines = readFileSync(file, 'utf8').split('\n');
    // The last piece is empty, or a line that is still being written.
    for (; read < lines.length - 1; read++) {
      const line = JSON.parse(lines[read]);
      if (line.kind === 'note') say(`        ${line.text}`);
      else if (line.kind === 'end') count.ended = true;
      else if (line.state === 'passed') {
        count.passed++;
        say(`  ok    ${line.title} (${line.milliseconds} ms)`);
      } else if (line.state === 'pending') {
        count.skipped++;
        say(`  skip  ${line.title}`);
      } else {
        count.failed++;
        say(`  FAIL  ${line.title}\n${line.error.replace(/^/gm, '        ')}`);
      }
    }
  };
  watchFile(file, { interval: 300 }, more);
  return () => {
    unwatchFile(file);
    more();
    return count;
  };
}

async function mocha(name, program, args, { env = {}, minutes = 15 } = {}) {
  const report = join(artifacts, `${name}.jsonl`);
  rmSync(report, { force: true });
  const stop = follow(report);
  const { code, late } = await runNode(program, args, {
    seconds: minutes * 60,
    env: { SOFTBENCH_TEST_RESULTS: report, SOFTBENCH_TEST: '1', ...env },
  });
  const { passed, failed, skipped, ended } = stop();
  if (!ended) say(`  FAIL  the run ${late ? `did not end within ${minutes} minutes` : 'was cut short'}`);
  // A run that ends badly with no failed test failed as a whole.
  return outcome(passed, failed + (failed === 0 && (code !== 0 || !ended) ? 1 : 0), skipped);
}

/** Test files of a folder, by their ending. */
const testFiles = (folder, ending) =>
  readdirSync(join(root, 'test', folder), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(root, 'test', folder, name));

/** Bundles test files into test/.artifacts/bundles/<name>; packages stay outside and are found in node_modules. */
async function bundle(name, entries, { format = 'cjs' } = {}) {
  const { build } = await import('esbuild');
  const outdir = join(bundles, name);
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: entries,
    entryNames: '[name]',
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    packages: 'external',
    external: ['vscode'],
    outExtension: { '.js': format === 'cjs' ? '.cjs' : '.mjs' },
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  return outdir;
}

/** The folder of the VS Code that tests run in, and the browser that shows it. */
async function window() {
  const { ensureBrowser } = await import('./browser.mjs');
  const { installServer } = await import('../test/vscode/install.mjs');
  return { CHROMIUM: await ensureBrowser({ log: say }), SOFTBENCH_VSCODE_SERVER: await installServer({ log: say }) };
}

async function vscode() {
  const host = await bundle('host', [
    join(root, 'test', 'vscode', 'host', 'index.ts'),
    ...testFiles('vscode', '.vscode-test.ts'),
  ]);
  const runner = await bundle('vscode', [join(root, 'test', 'vscode', 'run.ts')], { format: 'esm' });
  const desktop = (process.env.SOFTBENCH_TEST_VSCODE ?? '').startsWith('electron');
  return mocha('vscode', join(runner, 'run.mjs'), [host], { env: desktop ? {} : await window() });
}

async function windowTests() {
  const env = await window();
  const { makePackage, hostTarget } = await import('./package.mjs');
  const { file } = await makePackage({ target: hostTarget(), folder: artifacts, log: say });
  const runner = await bundle('e2e', [join(root, 'test', 'e2e', 'run.ts')], { format: 'esm' });
  const tests = await bundle('e2e-tests', testFiles('e2e', '.e2e-test.ts'));
  const files = readdirSync(tests)
    .filter((name) => name.endsWith('.cjs'))
    .map((name) => join(tests, name));
  return mocha('e2e', join(runner, 'run.mjs'), files, { env: { ...env, SOFTBENCH_TEST_VSIX: file }, minutes: 25 });
}

async function commandLine() {
  const runner = await bundle('cli', [join(root, 'test', 'e2e', 'run.ts')], { format: 'esm' });
  const tests = await bundle('cli-tests', testFiles('e2e', '.cli-test.ts'));
  const files = readdirSync(tests)
    .filter((name) => name.endsWith('.cjs'))
    .map((name) => join(tests, name));
  return mocha('cli', join(runner, 'run.mjs'), files);
}

// ---------------------------------------------------------------- all of it

const parts = {
  checks: { title: 'Checks', run: checks },
  unit: { title: 'Unit tests', run: unit },
  vscode: { title: 'Tests in VS Code', run: vscode },
  e2e: { title: 'Window tests', run: windowTests },
  cli: { title: 'Command line tests', run: commandLine },
};

const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

function wantedParts(args) {
  const rest = [...args];
  let wanted = new Set(order);
  while (rest.length > 0) {
    const option = rest.shift();
    if (option === '--quick') wanted = new Set(['checks', 'unit', 'cli']);
    else if (option === '--only' || option?.startsWith('--only=')) {
      const value = option === '--only' ? rest.shift() : option.slice('--only='.length);
      const names = (value ?? '').split(',').filter(Boolean);
      const unknown = names.filter((name) => !order.includes(name));
      if (names.length === 0 || unknown.length > 0)
        throw new Error(`--only takes ${order.join(', ')}${unknown.length > 0 ? `, not ${unknown.join(', ')}` : ''}.`);
      wanted = new Set(names);
      if (wanted.has('unit')) wanted.add('checks');
    } else throw new Error(`Unknown option ${option}. There are --only ${order.join('|')} and --quick.`);
  }
  return order.filter((name) => wanted.has(name));
}

async function main() {
  const started = Date.now();
  const wanted = wantedParts(process.argv.slice(2));
  await installDependencies({ log: say });
  mkdirSync(artifacts, { recursive: true });
  // The bundles that the later parts run; the checks build them otherwise.
  if (!wanted.includes('checks') && wanted.some((name) => name !== 'unit')) {
    const { code } = await runNode(join('scripts', 'build.mjs'), [], { echo: false });
    if (code !== 0) throw new Error('The build failed: npm run build shows why.');
  }
  const sum = outcome(0, 0);
  const closing = [];
  for (const name of wanted) {
    const { title, run: runPart } = parts[name];
    const begun = Date.now();
    say(`\n── ${title}`);
    let result;
    try {
      result = await runPart();
    } catch (error) {
      say(`  FAIL  ${error instanceof Error ? error.message : error}`);
      result = outcome(0, 1);
    }
    if (result.passed + result.failed === 0) say('  Nothing was run here.');
    const skipped = result.skipped > 0 ? `, ${result.skipped} skipped` : '';
    const line = `${title}: ${result.passed} passed, ${result.failed} failed${skipped} (${seconds(begun)})`;
    say(line);
    closing.push(line);
    sum.passed += result.passed;
    sum.failed += result.failed;
  }
  say(`\n── All (${seconds(started)}; screenshots and logs: ${relative(process.cwd(), artifacts) || '.'})`);
  for (const line of closing) say(line);
  say(`${sum.passed} passed, ${sum.failed} failed`);
  process.exitCode = sum.failed === 0 && sum.passed > 0 ? 0 : 1;
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
});
