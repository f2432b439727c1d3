/** `softbench import` and `softbench export` as a person types them. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Outcome, runProgram, scriptedProgram } from './run-program.ts';

const real = resolve('test/fixtures/exchange/lm-eval');
const built = scriptedProgram();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softbench-cli-exchange-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const softbench = (...args: string[]): Promise<Outcome> => runProgram({ ...built, folder }, args);

describe('results of lm-eval', { timeout: 120_000 }, () => {
  it('are imported with a table of their scores, listed as imported, ranked, and exported again', async () => {
    const first = await softbench('import', join(real, '3'));
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/^task +model +mode +items +F +S +K +L +LL +run$/m);
    expect(first.stdout).toMatch(/^exchange_group \(group\) +softbench\/stories260k +few-shot +means only/m);
    expect(first.stdout).toMatch(/^exchange_aqua +softbench\/stories260k +few-shot +4 /m);

    const again = await softbench('import', join(real, '3'));
    expect(again.stderr).toContain('is in the store already, as ');
    expect(again.stderr).toContain('Nothing was imported.');

    const list = JSON.parse((await softbench('runs', 'list', '--json')).stdout);
    expect(list.runs).toHaveLength(5);
    expect(list.runs[0].source).toMatchObject({ tool: 'lm-eval', version: '0.4.13' });
    expect((await softbench('runs', 'list')).stdout).toMatch(/ imported /);
    const ranks = await softbench('leaderboard', '--mode', 'few-shot', '--metric', 'LL');
    expect(ranks.stdout).toContain('imported from lm-evaluation-harness 0.4.13');

    const aqua = list.runs.find(({ benchmark }: { benchmark: string }) => benchmark === 'exchange_aqua').run;
    expect((await softbench('runs', 'show', aqua)).stdout).toContain('· imported from lm-evaluation-harness 0.4.13');
    const csv = await softbench('export', aqua, '--format', 'csv', '--out', 'tables');
    expect(csv.code).toBe(0);
    expect((await readFile(join(folder, 'tables', 'items.csv'), 'utf8')).split('\r\n')).toHaveLength(6);
    const harness = await softbench('export', aqua, '--format', 'lm-eval', '--out', 'harness');
    expect(harness.stderr).toContain('was imported: its prompts and documents are not here. They are in ');
    // As all that is asked for and not supported: another try ends alike.
    expect(harness.code).toBe(2);
  });

  it('that are wrong, and options that are, are explained', async () => {
    await writeFile(join(folder, 'broken.json'), '{"results": {\n');
    const before = await readdir(join(folder, '.softbench', 'runs'));
    const broken = await softbench('import', 'broken.json', join(real, '1'));
    expect(broken.code).toBe(2);
    expect(broken.stderr).toMatch(/broken\.json:2: The file is not valid JSON/);
    expect(await readdir(join(folder, '.softbench', 'runs'))).toEqual(before);
    expect((await softbench('import')).stderr).toContain('FILE|DIR is missing.');
    expect((await softbench('export', 'x', '--out', 'y')).stderr).toContain('The format is missing');
    expect((await softbench('export', 'x', '--format', 'csv', '--out', 'y')).stderr).toContain(
      'There is no run or job "x"',
    );
    expect((await softbench('export', '--help')).stdout).toMatch(/every-eval-ever +one JSON file a run/);
  });
});
