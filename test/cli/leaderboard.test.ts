/** `softbench leaderboard` over a store: ranks with what they could be, means, correlations of base and post-trained models. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { share } from '../../src/metrics/index.ts';
import { openRunStore } from '../../src/runs/index.ts';
import { sampleItem, sampleRun, sampleSummary } from '../runs/sample.ts';
import { type Outcome, runProgram, scriptedProgram } from './run-program.ts';

const built = scriptedProgram();
let folder: string;
const softbench = (...args: string[]): Promise<Outcome> => runProgram({ ...built, folder }, args);

/** Five pairs on two benchmarks, zero-shot: the post-trained ones in the order of their bases, but for the last two on y. */
const bases = [10, 14, 18, 22, 26];
const postTrained = { x: [20, 24, 28, 32, 36], y: [20, 24, 28, 36, 32] };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-leaderboard-cli-'));
  const store = openRunStore(join(folder, '.softbench'));
  const n = 40;
  for (const task of ['x', 'y'] as const)
    for (const [at, right] of bases.entries())
      for (const [name, count] of [
        [`m${at}-7B`, right],
        [`m${at}-7B-Instruct`, postTrained[task][at] ?? 0],
      ] as const) {
        const run = sampleRun();
        const writer = await store.create({
          ...run,
          model: { ...run.model, name, folder: join(folder, name) },
          benchmark: { ...run.benchmark, task, file: join(folder, `${task}.yaml`), items: n },
        });
        for (let index = 0; index < n; index++)
          await writer.appendItem({ ...sampleItem(index), inFormat: true, right: index < count, cause: null });
        const summary = sampleSummary(writer.run.id, 'zero-shot', { right: count, inFormat: n, n });
        await writer.saveSummary({ ...summary, scores: { ...summary.scores, S: share(count, n) } });
        await writer.update({ status: 'finished' });
        await writer.close();
      }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('softbench leaderboard', () => {
  it('ranks per benchmark and by the mean, and says what the ranks in brackets are', async () => {
    const { stdout, stderr, code } = await softbench('leaderboard', '--mode', 'zero-shot');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^x · S · zero-shot\n {2}1 +m4-7B-Instruct +90 % \(77–96 %\)\n/m);
    expect(stdout).toMatch(/^mean of 2 benchmarks · S · zero-shot\n {2}1= (\(\d–\d\) )? *m3-7B-Instruct +85 %/m);
    expect(stderr).toContain('95 % of the ranks when the items are drawn again, the same for all models.');
  });

  it('correlates base with post-trained scores, per benchmark and over both', async () => {
    const { stdout } = await softbench('leaderboard', '--mode', 'zero-shot', '--correlations');
    expect(stdout).toContain('Kendall τ-b of S of base models with S of their post-trained versions (zero-shot)');
    expect(stdout).toMatch(/^ {2}x +5 +1\.00 \(/m);
    // One of ten pairs of models is the other way round.
    expect(stdout).toMatch(/^ {2}y +5 +0\.80 \(/m);
    expect(stdout).toMatch(/^ {2}mean of the benchmarks +5 +0\.90 \(/m);
    const { lastLine } = await softbench('leaderboard', '--mode', 'zero-shot', '--correlations', '--json');
    const { correlations, links, rankings, overAll } = JSON.parse(lastLine);
    expect(links).toHaveLength(5);
    expect(correlations[0].mode).toBe('zero-shot');
    expect(rankings[0]).toMatchObject({ task: 'x', drawn: 'items' });
    expect(rankings[0].models[0]).toMatchObject({ model: 'm4-7B-Instruct', rank: 1, likely: { low: 1 } });
    expect(overAll.models).toHaveLength(10);
  });

  it('takes links from a file, which may also undo guesses', async () => {
    await writeFile(
      join(folder, 'links.json'),
      '{"m0-7B-Instruct": null, "m1-7B-Instruct": null, "m2-7B-Instruct": "m0-7B"}',
    );
    const { stdout } = await softbench('leaderboard', '--mode', 'zero-shot', '--correlations', '--links', 'links.json');
    expect(stdout).toMatch(/^ {2}x +3 +too few pairs \(3\)/m);
    expect(stdout).toContain('With fewer than 4 pairs a rank correlation says nothing.');
    const none = await softbench('leaderboard', '--links', 'none.json');
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('The links none.json cannot be read');
    const target = await softbench('leaderboard', '--correlations', '--target', 'one-shot');
    expect(target.stderr).toContain('"one-shot" is not a prompt mode.');
  });

  it('exports tables by the ending of the name', async () => {
    await softbench('leaderboard', '--mode', 'zero-shot', '--export', 'all.csv');
    expect((await readFile(join(folder, 'all.csv'), 'utf8')).split('\r\n')).toHaveLength(22);
    const unknown = await softbench('leaderboard', '--export', 'all.txt');
    expect(unknown.stderr).toContain('End it with .csv, .md, .html.');
  });
});
