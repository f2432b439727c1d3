/** Arguments, messages, exit codes and output of the command line, with a scripted model behind it. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OnOutput, type Outcome, runProgram, scriptedProgram } from './run-program.ts';

const built = scriptedProgram();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-cli-'));
  await writeFile(join(folder, 'sums.yaml'), 'task: sums\n');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const softbench = (args: string[], onOutput?: OnOutput): Promise<Outcome> =>
  runProgram({ ...built, folder }, args, onOutput);

describe('arguments', () => {
  it('shots without a mode that has examples are pointed out', async () => {
    const without = await softbench(['evaluate', 'sums.yaml', '--model', 'm', '--shots', '2']);
    expect(without.stderr).toContain('Note: --shots counts in few-shot modes only, of which none is run.');
    const inMode = await softbench(['evaluate', 'sums.yaml', '--model', 'm', '--shots', '2', '--modes', 'few-shot']);
    expect(inMode.stderr).not.toContain('--shots counts');
  });

  it('help of a word that several commands begin with lists them', async () => {
    const { code, stdout } = await softbench(['cache', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Usage: softbench cache COMMAND …\n\n {2}cache status {2}say.*\n {2}cache clear {3}remove.*\n$/,
    );
  });

  it.each([
    [[], 'Usage: softbench COMMAND'],
    [['tunne', 'sums.yaml'], 'There is no command "tunne". Did you mean "tune"?'],
    [['models'], '"models" needs one more word. Use "softbench models inspect"'],
    [['models', 'eat'], '"models" needs another word.'],
    [['evaluate', '--model', 'm'], 'BENCHMARK is missing.'],
    [['evaluate', 'sums.yaml'], 'The model is missing: give its folder with --model DIR.'],
    [['evaluate', 'none.yaml', '--model', 'm'], 'There is no benchmark file'],
    [['evaluate', 'sums.yaml', 'b', '--model', 'm'], 'There is no benchmark file'],
    [['models', 'inspect', 'a', 'b'], '"b" is one argument too many.'],
    [
      ['evaluate', 'sums.yaml', '--modle', 'm'],
      'There is no option "--modle". Did you mean "--model"? See "softbench evaluate --help".',
    ],
    [
      ['evaluate', 'sums.yaml', '--model', 'm', '--modes', 'one-shot'],
      '"one-shot" is not a prompt mode. Use one or more of: zero-shot, few-shot',
    ],
    [
      ['evaluate', 'sums.yaml', '--model', 'm', '--num_fewshot', '5'],
      'There is no option "--num_fewshot" of lm-evaluation-harness here. Use --modes few-shot --shots N.',
    ],
    [['evaluate', 'sums.yaml', '--model', 'm', '--shots', '2.5'], '--shots needs a whole number, not "2.5".'],
    [
      ['tune', 'sums.yaml', '--model', 'm', '--steps', '-3'],
      '--steps needs a value. One that begins with a dash is written --steps=-1.',
    ],
    [['tune', 'sums.yaml', '--model', 'm', '--steps=-3'], '--steps must be at least 1, not -3.'],
    [['tune', 'sums.yaml', '--model'], '--model needs a value.'],
    [['evaluate', 'sums.yaml', '--model', 'm', '--batch-size', '0'], '--batch-size must be at least 1, not 0.'],
    [
      ['evaluate', 'sums.yaml', '--model', 'm', '--limit', 'few'],
      '--limit needs a whole number from 1, a share below 1 or "all"',
    ],
    [['evaluate', 'sums.yaml', '--model', 'm', '--limit', '1.5'], 'a share below 1'],
    [['tune', 'sums.yaml', '--model', 'm', '--learning-rate', '0'], '--learning-rate needs a number above 0'],
    [
      ['tune', 'sums.yaml', '--model', 'm', '--provider', 'tpu'],
      'There is no execution provider "tpu". Use one of: auto, cpu',
    ],
    [['tune', 'sums.yaml', '--model', 'm', '--threads', '99999'], '--threads is 99999; this machine runs'],
    [['tune', 'sums.yaml', '--model', 'm', '--resume', 'x', '--fresh'], '--fresh and --resume exclude each other.'],
    [['tune', 'sums.yaml', '--model', 'm', '--resume', 'never'], 'There is no job "never"'],
    [
      ['evaluate', 'sums.yaml', '--model', 'm', '--resume', 'last'],
      'There is nothing to resume: no run of sums.yaml on m in zero-shot mode in ',
    ],
    [
      ['evaluate', 'sums.yaml', '-m', 'm', '-f', '5'],
      'There is no option "-f" of lm-evaluation-harness here. Use --modes',
    ],
    [['evaluate', 'sums.yaml', '-m', 'm', '-y'], 'There is no option "-y". See'],
    [['evaluate', 'sums.yaml', '-m', 'm', '--wandb_args', 'x'], 'Leave it out: runs are sent nowhere.'],
    [['evaluate', '-t', 'sciq', '-m', 'm'], 'Give the path of a file: tasks of lm-evaluation-harness are'],
    [['runs', 'show', 'nothing'], 'There is no run or job "nothing"'],
  ])('%j is refused with exit code 2 and says why', async (args, message) => {
    const { code, stdout, stderr } = await softbench(args);
    expect(stdout + stderr).toContain(message);
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(2);
  });

  it('help and version', async () => {
    expect(await softbench(['--version'])).toMatchObject({ code: 0, stdout: '1.2.3\n' });
    for (const args of [
      ['tune', '--help'],
      ['help', 'tune'],
    ]) {
      const { code, stdout } = await softbench(args);
      expect(code).toBe(0);
      expect(stdout).toContain('Usage: softbench tune BENCHMARK… --model DIR [OPTIONS]');
      expect(stdout).toContain('--learning-rate X');
    }
  });
});

describe('a job', () => {
  it('prints a table, and the same as JSON', async () => {
    const job = ['compare', 'sums.yaml', '--model', 'm', '--modes', 'zero-shot,soft-prompt', '--steps', '20'];
    const text = await softbench(job);
    expect(text.stderr).toContain('soft-prompt tuning: 20/20 steps');
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(/zero-shot +0 % \(0–\d+ %\)/);
    expect(text.stdout).toMatch(/soft-prompt +100 % \(\d+–100 %\)/);
    expect(text.stdout).toContain('Always answering');
    expect(text.stdout).toContain('K is unreliable');
    expect(text.stdout).toMatch(/soft-prompt against zero-shot: S \+75\.0 points/);

    const { code, lastLine } = await softbench([...job, '--json', '--quiet']);
    expect(code).toBe(0);
    const result = JSON.parse(lastLine);
    expect(result).toMatchObject({ model: 'scripted', benchmark: 'sums' });
    expect(result.modes.map((mode: { mode: string; n: number }) => [mode.mode, mode.n])).toEqual([
      ['zero-shot', 12],
      ['soft-prompt', 12],
    ]);
    // The scripted model answers every fourth item wrongly once it is in the format.
    const [zero, soft] = result.modes;
    expect(zero.F.value).toBe(0);
    expect(zero.K.value).toBeNull();
    expect(soft).toMatchObject({
      F: { value: 1 },
      S: { value: 0.75, count: 9, n: 12 },
      K: { value: 0.75, unreliable: true },
    });
    for (const share of [soft.F, soft.S, soft.K, soft.L])
      expect(share.low <= share.value && share.value <= share.high).toBe(true);
    expect(typeof soft.seconds).toBe('number');
  });

  it('is reused where nothing changed, unless a fresh one is asked for', async () => {
    const job = ['evaluate', 'sums.yaml', '--model', 'm', '--json'];
    const run = async (more: string[]): Promise<string> =>
      JSON.parse((await softbench([...job, ...more])).lastLine).modes[0].run;
    const first = await run([]);
    expect(await run([])).toBe(first);
    expect(await run(['--fresh'])).not.toBe(first);
    expect(await run(['--limit', '5'])).not.toBe(first);
  });

  it('that is finished is not resumed, and no other is begun', async () => {
    const job = ['evaluate', 'sums.yaml', '--model', 'm'];
    await softbench(job);
    const { code, stderr } = await softbench([...job, '--resume', 'last']);
    expect(stderr).toContain('Leave --resume out: what is finished is not run again.');
    expect(code).toBe(2);
    expect(await readdir(join(folder, '.softbench', 'runs'))).toHaveLength(1);
  });

  it('stops at Ctrl-C with exit code 130, and resumes to the same result', async () => {
    const job = ['evaluate', 'sums.yaml', '--model', 'slow-50', '--modes', 'zero-shot'];
    let isSent = false;
    const stopped = await softbench(job, (stderr, child) => {
      if (!isSent && /evaluating: \d+\/12 items/.test(stderr)) {
        isSent = true;
        child.kill('SIGINT');
      }
    });
    expect(stopped.code).toBe(130);
    const command = /softbench (evaluate .*--resume (\S+))/.exec(stopped.stderr);
    expect(stopped.stderr).toContain('Stopped; resume: softbench evaluate');
    const [run = ''] = await readdir(join(folder, '.softbench', 'runs'));
    const items = join(folder, '.softbench', 'runs', run, 'items.jsonl');
    const before = await readFile(items, 'utf8');
    expect(before.trimEnd().split('\n').length).toBeLessThan(12);

    const list = await softbench(['runs', 'list', '--json']);
    const done = before.trimEnd().split('\n').length;
    expect(JSON.parse(list.lastLine).runs).toMatchObject([{ run, status: 'stopped', group: command?.[2], done }]);
    const resumed = await softbench([...(command?.[1]?.split(' ') ?? []), '--json']);
    expect(resumed.code).toBe(0);
    expect(JSON.parse(resumed.lastLine).modes).toMatchObject([{ run, n: 12 }]);
    expect((await readFile(items, 'utf8')).startsWith(before)).toBe(true);
    const whole = await softbench(['evaluate', 'sums.yaml', '--model', 'm', '--fresh', '--json']);
    const figures = ({ F, S, K, L }: Record<string, unknown>): unknown => ({ F, S, K, L });
    expect(figures(JSON.parse(resumed.lastLine).modes[0])).toEqual(figures(JSON.parse(whole.lastLine).modes[0]));
  });

  it('ends at once at the second Ctrl-C', async () => {
    let sent = 0;
    const { code } = await softbench(['evaluate', 'sums.yaml', '--model', 'slow-50'], (stderr, child) => {
      if (sent < 2 && /evaluating: \d+\/12 items/.test(stderr)) {
        sent = 2;
        child.kill('SIGINT');
        child.kill('SIGINT');
      }
    });
    expect(code).toBe(130);
  });

  it('that fails has exit code 1, a sentence, and an object for --json', async () => {
    const text = await softbench(['evaluate', 'sums.yaml', '--model', 'broken']);
    expect(text).toMatchObject({ code: 1, stdout: '' });
    expect(text.stderr).toContain('softbench: The graph is broken. Export it again.');
    const json = await softbench(['evaluate', 'sums.yaml', '--model', 'broken', '--json']);
    expect(JSON.parse(json.lastLine)).toEqual({
      error: { kind: 'engine', message: 'The graph is broken. Export it again.' },
    });
  });

  it('is shown and listed afterwards, and its soft prompt exported', async () => {
    const { lastLine } = await softbench(['tune', 'sums.yaml', '--model', 'm', '--json']);
    const { group, modes } = JSON.parse(lastLine);
    const list = await softbench(['runs', 'list']);
    expect(list.stdout).toContain(modes[0].run);
    const show = await softbench(['runs', 'show', group, '--items']);
    expect(show.stdout).toMatch(/soft-prompt +100 %/);
    expect(show.stdout).toContain('soft-prompt 3: wrong · gold "#9"');
    const ranks = await softbench(['leaderboard', '--mode', 'few-shot']);
    expect(ranks.stderr).toContain('in the mode few-shot. There are runs with --mode soft-prompt.');
    const metrics = await softbench(['leaderboard', '--metric', 'LL']);
    expect(metrics.stderr).toContain('ranked by LL in the mode soft-prompt. Runs of this mode have --metric F S K L.');
    const adapter = await softbench(['runs', 'export-adapter', modes[0].run, 'adapter', '--base-model', 'org/name']);
    expect(adapter.code).toBe(0);
    const config = JSON.parse(await readFile(join(folder, 'adapter', 'adapter_config.json'), 'utf8'));
    expect(config).toMatchObject({
      peft_type: 'PROMPT_TUNING',
      num_virtual_tokens: 2,
      token_dim: 4,
      base_model_name_or_path: 'org/name',
    });
    const used = await softbench(['evaluate', 'sums.yaml', '--model', 'm', '--soft-prompt', 'adapter', '--json']);
    expect(JSON.parse(used.lastLine).modes).toMatchObject([{ mode: 'soft-prompt', F: { value: 1 } }]);
  });
});
