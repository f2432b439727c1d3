import assert from 'node:assert/strict';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/wait.ts';
import {
  bundledModel,
  computed,
  copyOf,
  example,
  jsonLines,
  project,
  runsIn,
  softbench,
  start,
  stepsOf,
  temporaryFolder,
} from './program.ts';

interface Figures {
  value: number;
  low: number;
  high: number;
}
interface Comparison {
  model: string;
  benchmark: string;
  report?: string;
  modes: { mode: string; n: number; F: Figures; S: Figures; K: Figures; L: Figures; seconds: number; run: string }[];
}

describe('softbench on the command line', () => {
  const { folder, remove } = temporaryFolder();
  after(remove);
  const items = 40;
  const tune = (store: string, ...more: string[]): string[] => [
    'tune',
    example('stories-who'),
    ...['--model', bundledModel, '--store', store, '--limit', String(items), '--steps', '40', '--threads', '1'],
    ...more,
  ];

  it('has a version, a help, and exit code 2 for what it does not know', async () => {
    const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string };
    const said = await softbench('--version');
    assert.equal(said.code, 0);
    assert.equal(said.stdout.trim(), version);
    const help = await softbench('--help');
    assert.equal(help.code, 0);
    for (const command of ['tune', 'evaluate', 'compare', 'models inspect', 'models verify'])
      assert.match(help.stdout, new RegExp(`^ +${command} `, 'm'));
    const wrong = await softbench('tun');
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /tune/);
    const option = await softbench('tune', example('stories-who'), '--model', bundledModel, '--stepz', '3');
    assert.equal(option.code, 2);
    assert.match(option.stderr, /--stepz.*--steps/s);
  });

  it('describes the bundled model', async () => {
    const { code, json } = await softbench('models', 'inspect', bundledModel, '--json');
    assert.equal(code, 0);
    const report = json() as Record<string, unknown>;
    assert.equal(report.ok, true);
    assert.equal(report.hiddenSize, 64);
    assert.equal(report.layers, 5);
    assert.equal(report.vocabularySize, 512);
    assert.equal(report.contextLength, 512);
    assert.deepEqual(report.missing, []);
  });

  it('compares three prompt modes, ends with one JSON object, and writes a page', async () => {
    const store = join(folder, 'compare');
    const page = join(folder, 'page.html');
    const { code, json, stderr } = await softbench(
      'compare',
      example('stories-who'),
      ...['--model', bundledModel, '--store', store, '--limit', String(items), '--report', page, '--json'],
    );
    assert.equal(code, 0, stderr);
    const result = json() as Comparison;
    assert.equal(result.model, 'stories260k');
    assert.equal(result.benchmark, 'stories_who');
    assert.deepEqual(
      result.modes.map(({ mode }) => mode),
      ['zero-shot', 'few-shot', 'soft-prompt'],
    );
    for (const { n, F, S, K, L, seconds } of result.modes) {
      assert.equal(n, items);
      assert.ok(seconds > 0);
      for (const share of [F, S, L]) assert.ok(share.low <= share.value && share.value <= share.high);
      // S = F × K, by definition.
      if (K.value !== null) assert.ok(Math.abs(F.value * K.value - S.value) < 1e-9);
    }
    const [zero, , soft] = result.modes;
    assert.ok(zero && soft);
    assert.ok(soft.F.value >= zero.F.value + 0.5, `F went from ${zero.F.value} to ${soft.F.value}`);
    for (const run of runsIn(store)) {
      assert.equal(run.status, 'finished');
      assert.equal(jsonLines(join(run.folder, 'items.jsonl')).length, items);
    }
    const html = readFileSync(page, 'utf8');
    assert.match(html, /stories_who/);
    assert.match(html, /Content-Security-Policy/);
    assert.doesNotMatch(html, /(src|href)="https?:/);
  });

  it('stops at Ctrl-C, and resumes to the numbers of an unbroken run', async function () {
    if (process.platform === 'win32') this.skip();
    const whole = join(folder, 'whole');
    const broken = join(folder, 'broken');
    const unbroken = await softbench(...tune(whole));
    assert.equal(unbroken.code, 0, unbroken.stderr);
    const first = start(...tune(broken));
    await until('some steps on disk', () => stepsOf(broken) >= 5);
    const asked = performance.now();
    first.child.kill('SIGINT');
    const stopped = await first.ended;
    assert.equal(stopped.code, 130, stopped.stderr);
    assert.ok(performance.now() - asked < 10_000, 'it took more than ten seconds to stop');
    assert.match(stopped.stderr, /resume/i);
    assert.deepEqual(
      runsIn(broken).map(({ status }) => status),
      ['stopped'],
    );
    const second = await softbench(...tune(broken, '--resume', 'last'));
    assert.equal(second.code, 0, second.stderr);
    const [a, b] = [runsIn(whole), runsIn(broken)];
    assert.equal(b.length, 1, 'resuming goes on with the same run');
    assert.ok(a[0] && b[0]);
    assert.deepEqual(computed(b[0]), computed(a[0]));
  });

  it('survives being killed at any moment, and resumes to the same numbers', async () => {
    const whole = runsIn(join(folder, 'whole'))[0];
    assert.ok(whole, 'the test before this one makes the unbroken run');
    const store = join(folder, 'killed');
    for (const steps of [3, 14]) {
      const { child, ended } = start(...tune(store, ...(steps === 3 ? [] : ['--resume', 'last'])));
      await until(`${steps} steps on disk`, () => stepsOf(store) >= steps || child.exitCode !== null);
      child.kill('SIGKILL');
      const { code, stderr } = await ended;
      assert.equal(code, null, `it ended by itself: ${stderr}`);
    }
    const last = await softbench(...tune(store, '--resume', 'last'));
    assert.equal(last.code, 0, last.stderr);
    const [run, ...others] = runsIn(store);
    assert.ok(run);
    assert.deepEqual(others, []);
    assert.equal(run.status, 'finished');
    assert.deepEqual(computed(run), computed(whole));
  });

  describe('says what is wrong, where, and what to do', () => {
    const evaluate = (benchmark: string, model: string) =>
      softbench('evaluate', benchmark, '--model', model, '--store', join(folder, 'wrong'), '--limit', '2', '--json');
    const variant = (name: string, change: (text: string) => string): string => {
      const copy = copyOf(join(project, 'examples', 'benchmarks'), join(folder, name));
      const file = join(copy, 'stories-who.yaml');
      writeFileSync(file, change(readFileSync(file, 'utf8')));
      return file;
    };
    const model = (name: string, change: (folder: string) => void): string => {
      const copy = copyOf(bundledModel, join(folder, name));
      change(copy);
      return copy;
    };

    it('of a broken YAML file', async () => {
      const file = variant('broken-yaml', (text) =>
        text.replace('output_type: generate_until', 'output_type: [generate_until'),
      );
      const { code, stderr, json } = await evaluate(file, bundledModel);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /stories-who\.yaml:\d+/);
      assert.equal((json() as { error: { kind: string } }).error.kind, 'bad-input');
    });

    it('of a data file that is not there', async () => {
      const file = variant('no-data', (text) => text.replace('data/stories-who.test.jsonl', 'data/nowhere.jsonl'));
      const { code, stderr } = await evaluate(file, bundledModel);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /nowhere\.jsonl/);
    });

    it('of a model folder without a tokenizer', async () => {
      const { code, stderr } = await evaluate(
        example('stories-who'),
        model('no-tokenizer', (copy) => rmSync(join(copy, 'tokenizer.json'))),
      );
      assert.equal(code, 2, stderr);
      assert.match(stderr, /tokenizer\.json/);
    });

    it('of a truncated model file', async () => {
      const { code, stderr } = await evaluate(
        example('stories-who'),
        model('truncated', (copy) => truncateSync(join(copy, 'model.onnx'), 100_000)),
      );
      assert.ok(code === 1 || code === 2, stderr);
      assert.match(stderr, /model\.onnx/);
      assert.doesNotMatch(stderr, /error in Softbench/);
    });

    it('of a folder that holds no model', async () => {
      const { code, stderr } = await evaluate(example('stories-who'), join(project, 'examples'));
      assert.equal(code, 2, stderr);
      assert.match(stderr, /config\.json|\.onnx/);
    });
  });
});
