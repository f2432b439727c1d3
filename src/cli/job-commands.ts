/** `softbench tune`, `evaluate` and `compare`: benchmarks × models in one or more prompt modes. */
import type { Command } from './command.ts';
import { type DefaultModes, jobOptions } from './job.ts';
import { runJobs } from './run-jobs.ts';

function jobCommand(name: string, summary: string, details: string, defaultModes: DefaultModes): Command {
  return {
    name,
    operands: 'BENCHMARK… --model DIR',
    summary,
    details,
    options: jobOptions,
    run: (given, terminal) => runJobs(given, terminal, defaultModes, name),
  };
}

export const tuneCommand = jobCommand(
  'tune',
  'learn a soft prompt on the training split, and evaluate with it',
  'BENCHMARK is an lm-evaluation-harness task file. The vectors are saved in the run as soft-prompt.safetensors.',
  () => ['soft-prompt'],
);

export const evaluateCommand = jobCommand(
  'evaluate',
  'evaluate a model in one or more prompt modes (default: zero-shot)',
  'With --soft-prompt FILE the default mode is soft-prompt.',
  (given) => [given.text('soft-prompt') === undefined ? 'zero-shot' : 'soft-prompt'],
);

export const compareCommand = jobCommand(
  'compare',
  'run all prompt modes of the benchmark file side by side',
  'The modes are those of the benchmark file (default: zero-shot, few-shot, soft-prompt).',
  async (_, file, terminal) => {
    const { openBenchmark } = await import('../benchmark/index.ts');
    const { modes, trainingSplit } = await openBenchmark(file);
    if (trainingSplit === null)
      terminal.note('The benchmark has no split to tune a soft prompt on (training_split): modes without one are run.');
    return modes;
  },
);
