/** Leaderboards for the page tests: real scores of many models, and every kind of cell. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PromptMode } from '../../src/shared/modes.ts';
import type { LeaderboardCell, LeaderboardView } from '../../src/shared/protocol.ts';
import { linkModels } from '../../src/study/index.ts';
import { sampleSummary } from '../runs/sample.ts';
import { share, uniform } from './data.ts';

export function cellOf(run: string, mode: PromptMode, value: number, n = 1000): LeaderboardCell {
  const S = share(Math.round(value * n), n);
  const summary = sampleSummary(run, mode, { right: 0, inFormat: 0, n: 0 });
  const { scores } = summary;
  return {
    run,
    status: 'finished',
    summary: {
      ...summary,
      mode,
      scores: { ...scores, n, F: share(n, n), S, K: { ...S, unreliable: false }, L: S, LL: null, commonest: null },
    },
  };
}

/** lm-harmony's models: evaluated directly as zero-shot, tuned before the test as soft-prompt. */
export function harmonyView(): LeaderboardView {
  const { models, tasks, direct, tuned } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../fixtures/lm-harmony/scores.json'), 'utf8'),
  ) as { models: string[]; tasks: string[]; direct: number[][]; tuned: number[][] };
  const named = models.map((name) => ({ name, folder: `/home/ann/models/${name}` }));
  return {
    benchmarks: tasks.map((task) => ({ task, file: `/home/ann/benchmarks/${task}.yaml` })),
    models: named,
    links: linkModels(named, {}),
    cells: tasks.flatMap((task, row) =>
      models.flatMap((model, column) =>
        (
          [
            ['zero-shot', direct],
            ['soft-prompt', tuned],
          ] as const
        ).map(([mode, values]) => ({
          model,
          task,
          mode,
          cell: cellOf(`${mode}-${row}-${column}`, mode, values[row]?.[column] ?? 0),
        })),
      ),
    ),
  };
}

/** Three benchmarks with a measured, an imported, a predicted, a running and a missing cell. */
export function mixedView(): LeaderboardView {
  const models = ['alpha-1B', 'alpha-1B-Instruct', 'beta-2B', 'gamma-3B', '<b>δ</b> مرحبا'];
  const tasks = ['gsm8k', 'mmlu_law', 'mmlu_virology'];
  const random = uniform(3);
  const cells = models.flatMap((model, at) =>
    tasks.flatMap((task) =>
      (['zero-shot', 'few-shot', 'soft-prompt'] as const).map((mode) => ({
        model,
        task,
        mode,
        cell: cellOf(`${model} ${task} ${mode}`, mode, 0.2 + 0.1 * at + 0.2 * random(), 200),
      })),
    ),
  );
  for (const { model, cell } of cells)
    if (model === 'beta-2B')
      cell.imported = {
        words: 'imported from lm-evaluation-harness 0.4.13',
        differences: ['5 examples, measured here: 8'],
      };
  return {
    benchmarks: tasks.map((task) => ({ task, file: `/benchmarks/${task}.yaml` })),
    models: models.map((name) => ({ name, folder: `/models/${name}` })),
    links: [{ base: 'alpha-1B', postTrained: 'alpha-1B-Instruct', by: 'name' }],
    cells: cells.filter(({ model, task }) => model !== 'gamma-3B' || task === 'mmlu_law'),
    running: [
      { model: 'gamma-3B', task: 'gsm8k', mode: 'soft-prompt', run: 'r', done: 40, total: 200, S: share(22, 40) },
    ],
    predicted: [
      {
        model: 'gamma-3B',
        task: 'mmlu_virology',
        mode: 'soft-prompt',
        metric: 'S',
        prediction: { value: 0.61, low: 0.5, high: 0.7, extrapolates: null },
        by: 'MLP of 412 records',
      },
    ],
    predictions: { shown: true, busy: false, note: 'Predicted scores are marked ≈ and never rank.' },
  };
}

/** As many models and benchmarks as a large study has. */
export function largeView(models = 500, benchmarks = 50): LeaderboardView {
  const random = uniform(11);
  const tasks = Array.from({ length: benchmarks }, (_, at) => `task_${at}`);
  const names = Array.from({ length: models }, (_, at) => `family${at % 23}-${at}B`);
  return {
    benchmarks: tasks.map((task) => ({ task, file: `/benchmarks/${task}.yaml` })),
    models: names.map((name) => ({ name, folder: `/models/${name}` })),
    cells: names.flatMap((model, row) =>
      tasks.map((task, column) => ({
        model,
        task,
        mode: 'zero-shot' as const,
        cell: cellOf(`${row}-${column}`, 'zero-shot', random()),
      })),
    ),
  };
}
