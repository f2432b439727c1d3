import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oracle } from '../predict/oracle.ts';
import { type OnOutput, runProgram, scriptedProgram } from './run-program.ts';

const built = scriptedProgram();
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-predict-'));
  const header = 'task,subtask,model_family,model_name,total_params,n_shot,metric_name,n_items,score';
  const rows = oracle.records.map(({ task, subtask, family, model, params, shots, n, score }) =>
    [task, subtask, family, model, params, shots, 'acc', n, score].join(','),
  );
  writeFileSync(join(folder, 'scores.csv'), [header, ...rows, 'task 0,overall,Alder,Alder-6,1e6,0,acc,,x'].join('\n'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (args: string[], onOutput?: OnOutput) => runProgram({ ...built, folder }, ['predict', ...args], onOutput);
const records = ['--records', 'scores.csv'];

describe('softbench predict', () => {
  it('fails where the records are too few for every split', async () => {
    writeFileSync(join(folder, 'one.csv'), 'model,task,score\nm,t,0.5\n');
    const { code, stdout, stderr } = await run(['--records', 'one.csv', '--predictors', 'mean']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('needs at least two groups; the 1 records have 1.');
  });

  it('prints how well predictors do, always beside the additive baseline, and what was not used', async () => {
    const { code, stdout, stderr } = await run([...records, '--split', 'L1,L4', '--predictors', 'svd', '--folds', '5']);
    expect(code).toBe(0);
    expect(stderr).toContain('Left out: 1 scores that are no numbers (scores.csv:');
    expect(stderr).toContain(`${oracle.records.length} records. Models: 24, families: 4, tasks: 5, subtasks: 15`);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^L1 · random · \d+ groups, 5 folds$/);
    for (const words of ['model \\+ task', 'matrix factors \\(SVD\\)'])
      expect(
        lines.filter((line) => new RegExp(`^ +${words} +-?0\\.\\d+ ± 0\\.\\d+ +0\\.\\d+ ± 0\\.\\d+ `).test(line)),
      ).toHaveLength(2);
    expect(lines.filter((line) => /^ +noise ceiling +0\.9\d+/.test(line))).toHaveLength(2);
    // Coverage of the intervals stands beside the fit.
    expect(lines.filter((line) => / \d+\.\d % in ± 0\.\d{3} /.test(line))).toHaveLength(4);
    expect(lines.some((line) => line.startsWith('L4 · held-out (task, family)'))).toBe(true);
  });

  it('gives the same as JSON, with errors by subtask and family', async () => {
    const { code, lastLine, stdout } = await run([
      ...[...records, '--split', 'L3', '--predictors', 'additive', '--json', '--per-task', '--per-family'],
    ]);
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    const found = JSON.parse(lastLine);
    expect(found).toMatchObject({
      records: oracle.records.length,
      leftOut: [{ reason: 'scores that are no numbers', count: 1 }],
      splits: [{ split: 'L3', folds: 10, predictors: [{ predictor: 'additive' }] }],
    });
    const [fit] = found.splits[0].predictors;
    expect(Object.keys(fit.perTask)).toHaveLength(15);
    expect(Object.keys(fit.perFamily).sort()).toEqual(['Alder', 'Birch', 'Cedar', 'Dogwood']);
    expect(fit.folds).toHaveLength(10);
    expect(fit.coverage.n).toBe(oracle.records.length);
    expect(fit.coverage.share).toBeGreaterThan(0.8);
  });

  it('predicts the scores of a model on a task with intervals; what was measured stands beside', async () => {
    const { code, lastLine } = await run([
      ...[...records, '--model', 'Alder-12', '--params', '1e12', '--family', 'Alder', '--task', 'subtask 3'],
      ...['--predictor', 'svd', '--json'],
    ]);
    expect(code).toBe(0);
    const { cells } = JSON.parse(lastLine);
    expect(cells.map(({ shots }: { shots: number }) => shots).sort()).toEqual([0, 2]);
    for (const { model, family, measured, prediction } of cells) {
      expect([model, family, measured]).toEqual(['Alder-12', 'Alder', null]);
      expect(prediction.low).toBeLessThan(prediction.value);
      expect(prediction.high).toBeGreaterThan(prediction.value);
    }
    const known = await run([
      ...records,
      '--model',
      'Alder-7',
      '--task',
      'subtask 3',
      '--predictor',
      'additive',
      '--json',
    ]);
    const row = oracle.records.filter(({ model, subtask }) => model === 'Alder-7' && subtask === 'subtask 3');
    const measured = JSON.parse(known.lastLine).cells.filter(
      (cell: { measured: number | null }) => cell.measured !== null,
    );
    expect(measured.map((cell: { measured: number }) => cell.measured)).toEqual(row.map(({ score }) => score));
  });

  it('proposes what to run next of a model, by what it removes of the variance of the others, for its cost', async () => {
    const few = oracle.records.filter(({ model, subtask }) => model !== 'Alder-7' || subtask === 'subtask 3');
    writeFileSync(
      join(folder, 'few.csv'),
      [
        'task,subtask,model_family,model_name,total_params,n_shot,n_items,score',
        ...few.map(({ task, subtask, family, model, params, shots, score }) =>
          // The first subtask is ten times as long as the others.
          [task, subtask, family, model, params, shots, subtask === 'subtask 0' ? 1000 : 100, score].join(','),
        ),
      ].join('\n'),
    );
    const { code, lastLine } = await run(['--records', 'few.csv', '--next', '--model', 'alder-7', '--json']);
    expect(code).toBe(0);
    const found = JSON.parse(lastLine);
    const own = few.filter(({ model }) => model === 'Alder-7');
    expect(found).toMatchObject({ model: 'Alder-7', known: own.length, costUnit: 'items' });
    expect(found.proposals).toHaveLength(found.open);
    expect(found.proposals.some(({ subtask }: { subtask: string }) => subtask === 'subtask 3')).toBe(false);
    const worth = found.proposals.map(
      (one: { errorBefore: number; errorAfter: number; cost: number }) =>
        (one.errorBefore ** 2 - one.errorAfter ** 2) / one.cost,
    );
    expect(worth).toEqual([...worth].sort((a, b) => b - a));
    const costs = found.proposals.map(({ subtask, cost }: { subtask: string; cost: number }) => [subtask, cost]);
    for (const [subtask, cost] of costs) expect(cost).toBe(subtask === 'subtask 0' ? 1000 : 100);
    const words = await run(['--records', 'few.csv', '--next', '--model', 'Elm-7B']);
    expect(words.stdout).toContain('Elm-7B is not among the records. Taken for it: family Elm, 7 B parameters.');
    expect(words.stdout).toContain('0 benchmarks with a score');
    expect(found.caution).toBe(null);
  });

  it('says where an interval need not hold', async () => {
    const { stdout } = await run([
      ...[...records, '--model', 'Elm-7B', '--task', 'subtask 3', '--predictor', 'additive'],
    ]);
    expect(stdout).toContain('No model of the family Elm is among the records.');
    expect(stdout).toContain('Elm-7B is not among the records. Taken for it: family Elm, 7 B parameters.');
    expect(stdout).toContain('The interval need not hold.');
  });

  it.each([
    [[], 'There are no records to predict from.'],
    [[...records, '--split', 'L9'], 'There is no split "L9".'],
    [[...records, '--predictors', 'magic'], 'There is no predictor "magic".'],
    [[...records, '--task', 'subtask 99'], 'No record is of the task "subtask 99".'],
    [[...records, '--task', 'subtask 3', '--metric', 'f1'], 'No record there is of the metric "f1".'],
    [[...records, '--model', 'x', '--params', 'many'], '--params needs a number such as 7e9 or 7B, not "many".'],
    [[...records, '--next'], 'Give --model NAME with --next, and no --task.'],
    [[...records, '--metric', 'bleu'], 'No record can be used.'],
    [['--records', 'none.csv'], 'none.csv: The file cannot be read.'],
    [[...records, '--mapping', 'none.yaml'], 'none.yaml: The mapping file cannot be read.'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await run(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('stops on Ctrl-C', async () => {
    let asked = false;
    const { code } = await run(
      [...records, '--split', 'all', '--predictors', 'all', '--folds', '100'],
      (stderr, child) => {
        if (asked || !stderr.includes('records. Models')) return;
        asked = true;
        child.kill('SIGINT');
      },
    );
    expect(code).toBe(130);
  });
});
