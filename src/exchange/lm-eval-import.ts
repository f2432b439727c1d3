/** A task of lm-evaluation-harness, with its samples where there are any. */
import { HumanError } from '../shared/errors.ts';
import { sha256 } from '../system/index.ts';
import type { LmEvalTask } from './lm-eval-results.ts';
import { readSample } from './lm-eval-samples.ts';
import type { ReadOptions } from './rows.ts';
import { filterNames } from './sample-judge.ts';
import { openSamples } from './samples-file.ts';
import type { Foreign } from './to-run.ts';

/** Checks a task's samples, every line of them. @param samples null: means only */
export async function lmEvalForeign(
  task: LmEvalTask,
  samples: string | null,
  options: ReadOptions = {},
): Promise<Foreign> {
  const { config } = task;
  if (samples === null) return { task, config, items: null };
  const items = await openSamples(samples, { parse: readSample, order: filterNames(config), config }, options);
  if (!items) throw new HumanError('bad-input', 'The samples file has no rows.', { place: { file: samples } });
  const digest = sha256(task.source.digest + items.digest);
  return {
    task: {
      ...task,
      // Where nothing was scored the file counts no item.
      n: task.n || items.count,
      source: { ...task.source, digest },
      notes: [...task.notes, ...items.notes],
    },
    config,
    items,
  };
}
