import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leavesOf, openGroup } from '../../src/benchmark/index.ts';
import { syntheticRecords } from '../../src/predict/synthetic.ts';
import { type OnOutput, runProgram, scriptedProgram } from './run-program.ts';

const built = scriptedProgram();
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-small-bench-'));
  writeFileSync(join(folder, 'scores.csv'), csv(24));
  writeFileSync(join(folder, 'large.csv'), csv(80));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Made records with the columns of the study's tables. */
function csv(subtasks: number): string {
  const rows = syntheticRecords({ seed: 2, subtasks, missing: 0 }).records.map((record) => [
    record.task,
    record.subtask.replace(':', '_'),
    record.family,
    record.model,
    record.parameters.nonEmbedding,
    record.parameters.flopMatched,
    record.parameters.total,
    record.shots,
    record.metric,
    1,
    record.score,
  ]);
  const columns =
    'task,subtask,model_family,model_name,non_embedding_params,flop_matched_non_embedding_params,total_params,n_shot,metric_name,is_preferred_metric,score';
  return [columns, ...rows.map((row) => row.join(','))].join('\n');
}

const run = (args: string[], onOutput?: OnOutput) =>
  runProgram({ ...built, folder }, ['small-bench', ...args], onOutput);

describe('softbench small-bench', () => {
  it('prints lists of subtasks and what they recover, beside random ones', async () => {
    const { code, stdout, stderr } = await run([
      ...['--records', 'scores.csv', '--budgets', '3,6', '--search', 'greedy,kmeans', '--random-subsets', '20'],
    ]);
    expect(stderr).toContain('205 models and settings × 24 subtasks');
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^budget +search +subtasks +R² of the rest +as random of +τ +ρ$/);
    expect(lines.filter((line) => /^[36] +greedy +[36] +0\.\d+ ± 0\.\d+/.test(line))).toHaveLength(2);
    expect(
      lines.filter((line) => /^[36] +random \(20 subsets\) +[36] +0\.\d+ \[0\.\d+, 0\.\d+\]/.test(line)),
    ).toHaveLength(2);
    expect(lines.find((line) => line.startsWith('greedy, 3: '))?.split(', ')).toHaveLength(4);
  });

  it('gives the same as JSON, and writes a group that the reader of groups finds the benchmarks of', async () => {
    const { code, lastLine } = await run([
      ...['--records', 'scores.csv', '--budgets', '4', '--search', 'greedy', '--random-subsets', '20', '--json'],
      ...['--export-group', 'bench/small.yaml', '--quiet'],
    ]);
    expect(code).toBe(0);
    const found = JSON.parse(lastLine) as {
      curves: { search: string; points: { subtasks: string[]; recovery: { mean: number } }[] }[];
      random: { median: number }[];
      ended: string;
      exported: { subtasks: string[] };
    };
    const point = found.curves[0]?.points[0];
    expect(found.ended).toBe('done');
    expect(point?.subtasks).toHaveLength(4);
    expect(found.exported.subtasks).toEqual(point?.subtasks);
    for (const task of point?.subtasks ?? [])
      writeFileSync(
        join(folder, 'bench', `${task}.yaml`),
        `task: ${task}\ndataset_path: json\ndataset_kwargs: {data_files: {test: data.json}}\ntest_split: test\ndoc_to_text: '{{question}}'\ndoc_to_target: answer\n`,
      );
    const file = join(folder, 'bench', 'small.yaml');
    expect(readFileSync(file, 'utf8')).toMatch(
      /^# A small bench of softbench: 4 of 24 subtasks, budget 4, found by greedy\./,
    );
    const group = await openGroup(file);
    expect(group?.name).toBe('small');
    expect(group && leavesOf(group).map(({ name }) => name)).toEqual(point?.subtasks);
  });

  it('stopped, prints the best so far and says that it was stopped', async () => {
    let stopped = false;
    const { code, lastLine } = await run(
      ['--records', 'large.csv', '--budgets', '8,16', '--search', 'random', '--evaluations', '100000', '--json'],
      (stderr, child) => {
        if (stopped || !stderr.includes('% best of random subsets, 8')) return;
        stopped = true;
        child.kill('SIGINT');
      },
    );
    expect(code).toBe(130);
    const found = JSON.parse(lastLine) as { ended: string; curves: { points: { subtasks: string[] }[] }[] };
    expect(found.ended).toBe('stopped');
    expect(found.curves[0]?.points[0]?.subtasks).toHaveLength(8);
  });

  it('stops after the seconds given', async () => {
    const { code, stdout, stderr } = await run([
      ...[
        '--records',
        'large.csv',
        '--budgets',
        '8',
        '--search',
        'random',
        '--evaluations',
        '10000000',
        '--seconds',
        '2',
      ],
    ]);
    expect(code).toBe(0);
    expect(stderr).toContain('The time was over');
    expect(stdout).toMatch(/^8 +best of random subsets \(not finished\) +8/m);
  });

  it.each([
    [[], 'There are no records to predict from.'],
    [['--records', 'scores.csv', '--search', 'gredy'], 'There is no search "gredy".'],
    [['--records', 'scores.csv', '--budgets', '4,x'], '"x" is none'],
    [['--records', 'scores.csv', '--budgets', '24'], 'nothing is left to foretell'],
    [['--records', 'scores.csv', '--minutes', '30'], 'No run says how long a benchmark takes'],
    [['--records', 'scores.csv', '--minutes', '30', '--budgets', '4'], 'two ways'],
    [['--records', 'scores.csv', '--predictor', 'oracle'], 'There is no predictor "oracle".'],
    [['--records', 'scores.csv', '--export-group', 'list.txt'], 'ends with .yaml'],
    [['--records', 'nothing.csv'], 'nothing.csv'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await run(args as string[]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});
