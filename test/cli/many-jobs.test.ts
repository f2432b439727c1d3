/** Several benchmarks and models in one command, the cache of responses, scoring again: with a scripted model behind. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OnOutput, type Outcome, runProgram, scriptedProgram } from './run-program.ts';

const built = scriptedProgram();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-jobs-'));
  for (const name of ['sums', 'more', 'generous', 'broken'])
    await writeFile(join(folder, `${name}.yaml`), `task: ${name}\n`);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const softbench = (args: string[], onOutput?: OnOutput): Promise<Outcome> =>
  runProgram({ ...built, folder }, args, onOutput);

const json = async (args: string[]) => {
  const outcome = await softbench([...args, '--json']);
  return { ...outcome, value: JSON.parse(outcome.lastLine) };
};

describe('several benchmarks and models', () => {
  it('are run in order, model by model, and printed one after the other', async () => {
    const { code, stdout, stderr } = await softbench([
      'evaluate',
      'sums.yaml',
      '--tasks',
      'more.yaml',
      '--models',
      'm,n',
    ]);
    expect(code).toBe(0);
    expect(stderr.match(/^\[\d\/4\] .*/gm)).toEqual([
      '[1/4] sums.yaml on m',
      '[2/4] more.yaml on m',
      '[3/4] sums.yaml on n',
      '[4/4] more.yaml on n',
    ]);
    expect(stdout.match(/^(sums|more) · .* 12 items/gm)).toHaveLength(4);
    expect(stderr).toContain('All 4 done.');
  });

  it('go on behind one that fails, say which at the end, and end with exit code 1', async () => {
    const args = ['evaluate', '--tasks', 'broken.yaml,sums.yaml', '--models', 'broken,m'];
    const text = await softbench(args);
    expect(text.code).toBe(1);
    expect(text.stdout).toContain('1 of 4 done; failed:');
    expect(text.stdout).toMatch(/ {2}broken\.yaml on broken: .*This benchmark is broken\./);
    expect(text.stdout).toMatch(/ {2}sums\.yaml on broken: The graph is broken\./);
    expect(text.stdout).toMatch(/ {2}broken\.yaml on m: .*This benchmark is broken\./);
    const { value, code } = await json(args);
    expect(code).toBe(1);
    expect(value.jobs).toMatchObject([{ benchmark: 'sums', modes: [{ mode: 'zero-shot', n: 12 }] }]);
    expect(value.failed).toHaveLength(3);
    expect(value.failed[1]).toMatchObject({ error: { kind: 'engine' } });
  });

  it('are resumed by one command: what is finished stays, what was stopped goes on, the rest is begun', async () => {
    let isSent = false;
    const args = ['evaluate', 'sums.yaml', 'more.yaml', 'generous.yaml', '--model', 'slow-40', '--no-cache'];
    const stopped = await softbench(args, (stderr, child) => {
      if (!isSent && /\[2\/3\][\s\S]*evaluating: \d+\/12 items/.test(stderr)) {
        isSent = true;
        child.kill('SIGINT');
      }
    });
    expect(stopped.code).toBe(130);
    expect(stopped.stderr).toContain(
      '1 of 3 done, 2 left. Resume all: softbench evaluate sums.yaml more.yaml generous.yaml',
    );
    const [, command = ''] = /Resume all: softbench (.*)/.exec(stopped.stderr) ?? [];
    const before = await readdir(join(folder, '.softbench', 'runs'));
    expect(before).toHaveLength(2);
    const { value, code } = await json(command.split(' '));
    expect(code).toBe(0);
    expect(value.jobs.map(({ modes }: { modes: { n: number }[] }) => modes[0]?.n)).toEqual([12, 12, 12]);
    const runs = value.jobs.map(({ modes }: { modes: { run: string }[] }) => modes[0]?.run);
    expect(runs.slice(0, 2).sort()).toEqual(before.sort());
    expect(await readdir(join(folder, '.softbench', 'runs'))).toHaveLength(3);
    // Nothing is left: the same command again begins nothing.
    await json(command.split(' '));
    expect(await readdir(join(folder, '.softbench', 'runs'))).toHaveLength(3);
  });

  it('a group has the scores of all its benchmarks, of those too whose runs were finished before', async () => {
    await writeFile(join(folder, 'both.yaml'), 'group: both\ntask: [sums, more]\n');
    await json(['evaluate', 'sums.yaml', '--model', 'm']);
    for (const _ of ['one run is there', 'both are there']) {
      const { value, code } = await json(['evaluate', 'both.yaml', '--model', 'm']);
      expect(code).toBe(0);
      expect(value.groups).toMatchObject([{ group: 'both', benchmarks: 2, missing: [], shares: { F: { n: 24 } } }]);
    }
    expect(await readdir(join(folder, '.softbench', 'runs'))).toHaveLength(2);
    await writeFile(join(folder, 'alone.yaml'), 'group: alone\ntask: [sums]\n');
    const alone = await json(['evaluate', 'alone.yaml', '--model', 'm']);
    expect(alone.value.groups).toMatchObject([{ group: 'alone', benchmarks: 1 }]);
  });

  it('a group without a benchmark is refused', async () => {
    await writeFile(join(folder, 'none.yaml'), 'group: none\ntask: []\n');
    const { code, stderr } = await softbench(['evaluate', 'none.yaml', '--model', 'm']);
    expect(code).toBe(2);
    expect(stderr).toContain('none.yaml: This group holds no benchmark.');
  });

  it('resume the last: the jobs of the command whose run was stopped last', async () => {
    let isSent = false;
    const args = ['evaluate', 'sums.yaml', 'more.yaml', '--model', 'slow-40'];
    await softbench(args, (stderr, child) => {
      if (!isSent && /\[2\/2\][\s\S]*evaluating: \d+\/12 items/.test(stderr)) {
        isSent = true;
        child.kill('SIGINT');
      }
    });
    const { value } = await json([...args, '--resume', 'last']);
    expect(value.jobs).toHaveLength(2);
    expect(await readdir(join(folder, '.softbench', 'runs'))).toHaveLength(2);
  });

  it('resume the last: one that did not begin is left to do, and then nothing', async () => {
    const args = ['evaluate', 'sums.yaml', 'more.yaml', '--model', 'm'];
    await softbench(args);
    const runs = join(folder, '.softbench', 'runs');
    const second = (await readdir(runs)).find((name) => name.includes('more')) ?? '';
    await rm(join(runs, second), { recursive: true });
    const { value } = await json([...args, '--resume', 'last']);
    expect(value.jobs).toHaveLength(2);
    const again = await softbench([...args, '--resume', 'last']);
    expect(again.stderr).toContain('There is nothing to resume: no run of these benchmarks and models in ');
    expect(again.code).toBe(2);
  });

  it.each([
    [['--tasks', 'sums.yaml,none.yaml', '--model', 'm'], 'There is no benchmark file'],
    [['--tasks', 'sums.yaml,more.yaml', '--model', 'm', '--report', 'r.html'], '--report writes the results of one'],
    [['--tasks', 'sums.yaml,more.yaml', '--model', 'm', '--resume', 'nothing'], 'There is no job "nothing"'],
  ])('%j is refused before anything runs', async (args, message) => {
    const { code, stderr } = await softbench(['evaluate', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('[1/2]');
  });
});

describe('the cache of responses', () => {
  it('answers a run of other scoring without the model, and says so with the run; --fresh and --no-cache compute', async () => {
    await json(['evaluate', 'sums.yaml', '--model', 'm']);
    const { value, stderr } = await json(['evaluate', 'generous.yaml', '--model', 'm']);
    expect(value.modes[0]).toMatchObject({ responses: { cached: 12, computed: 0 }, S: { value: 1 } });
    expect(value.modes[0].notes.join()).toContain('12 of 12 responses came from the cache');
    expect(stderr).toContain('12/12 items, F 100 %  S 100 %, 12 from the cache');
    expect(stderr).not.toContain('items/s');
    const text = await softbench(['evaluate', 'generous.yaml', '--model', 'm']);
    expect(text.stdout).toContain('(all from the cache)');
    const fresh = await json(['evaluate', 'generous.yaml', '--model', 'm', '--fresh']);
    expect(fresh.value.modes[0].responses).toEqual({ cached: 0, computed: 12 });
    const without = await json(['evaluate', 'more.yaml', '--model', 'm', '--no-cache']);
    expect(without.value.modes[0].responses).toBeUndefined();
    expect(without.value.modes[0].notes.join()).not.toContain('cache');
  });

  it('has a status, and is cleared', async () => {
    expect((await softbench(['cache', 'status'])).stdout).toContain('The cache is empty');
    await json(['evaluate', 'sums.yaml', '--model', 'm']);
    const { value } = await json(['cache', 'status']);
    expect(value).toMatchObject({ files: 1, contexts: [{ model: 'scripted', provider: 'cpu' }] });
    expect((await softbench(['cache', 'status'])).stdout).toMatch(/scripted +cpu/);
    expect((await json(['cache', 'clear'])).value).toEqual({ freed: value.bytes, inUse: 0, failed: 0 });
    const again = await json(['evaluate', 'generous.yaml', '--model', 'm']);
    expect(again.value.modes[0].responses).toEqual({ cached: 0, computed: 12 });
  });

  it('is not needed to resume: cleared between stop and resumption, the rest is computed', async () => {
    let isSent = false;
    const stopped = await softbench(['evaluate', 'sums.yaml', '--model', 'slow-50'], (stderr, child) => {
      if (!isSent && /evaluating: \d+\/12 items/.test(stderr)) {
        isSent = true;
        child.kill('SIGINT');
      }
    });
    const [, command = ''] = /resume: softbench (.*)/.exec(stopped.stderr) ?? [];
    await softbench(['cache', 'clear']);
    const { value } = await json(command.split(' '));
    expect(value.modes[0]).toMatchObject({ n: 12, responses: { cached: 0, computed: 12 } });
  });
});

describe('rescore', () => {
  it('scores a job again by another file, as the model would have been scored', async () => {
    const { value: before } = await json(['evaluate', 'sums.yaml', '--model', 'm', '--modes', 'zero-shot,few-shot']);
    const { value, code } = await json(['rescore', before.group, '--benchmark', 'generous.yaml']);
    expect(code).toBe(0);
    expect(value.jobs).toHaveLength(1);
    const [job] = value.jobs;
    expect(job.modes.map(({ mode }: { mode: string }) => mode)).toEqual(['zero-shot', 'few-shot']);
    const { value: evaluated } = await json([
      'evaluate',
      'generous.yaml',
      '--model',
      'm',
      '--modes',
      'zero-shot,few-shot',
      '--fresh',
    ]);
    for (const [at, mode] of job.modes.entries()) {
      const { F, S, K, L, causes } = evaluated.modes[at];
      expect(mode).toMatchObject({ F, S, K, L, causes, rescoredFrom: before.modes[at].run });
      expect(mode.notes.join()).toContain('Re-scored from the run');
    }
    const text = await softbench(['rescore', before.modes[0].run, '--benchmark', 'generous.yaml']);
    expect(text.stdout).toContain('(of the run it was re-scored from)');
  });

  it('without a run takes the newest finished ones of a benchmark, of every model', async () => {
    // These two are one and the same to the store, which would use the first one's run again.
    await json(['evaluate', 'sums.yaml', '--models', 'm,n', '--fresh']);
    const { value } = await json(['rescore', '--benchmark', 'sums.yaml']);
    expect(value.jobs).toHaveLength(2);
    expect(new Set(value.jobs.map(({ group }: { group: string }) => group)).size).toBe(2);
  });

  it('scores what was only predicted', async () => {
    const { value: outputs } = await json(['evaluate', 'generous.yaml', '--model', 'm', '--predict-only']);
    expect(outputs.modes[0]).toMatchObject({ predictOnly: true, n: 0, S: { value: null } });
    const text = await softbench(['runs', 'show', outputs.group]);
    expect(text.stdout).toMatch(/zero-shot +not scored/);
    expect(text.stderr).toContain('Outputs only: nothing was scored.');
    const ranks = await softbench(['leaderboard']);
    expect(ranks.stdout).not.toMatch(/0\.0 %/);
    const { value } = await json(['rescore', outputs.modes[0].run]);
    expect(value.jobs[0].modes[0]).toMatchObject({ n: 12, S: { value: 1 } });
    expect(value.jobs[0].modes[0].notes.join()).not.toContain('Outputs only');
  });

  it.each([
    [['rescore'], 'RUN is missing: name runs or jobs, or give --benchmark FILE.'],
    [['rescore', 'nothing'], 'There is no run or job "nothing"'],
    [['rescore', '--benchmark', 'none.yaml'], 'There is no benchmark file'],
    [['rescore', '--benchmark', 'sums.yaml'], 'There is no finished run of'],
  ])('%j is refused with exit code 2', async (args, message) => {
    const { code, stderr } = await softbench(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});
