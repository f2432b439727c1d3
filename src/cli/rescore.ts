/** `softbench rescore`: finished runs scored again with their benchmark file as it is now, without the model. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { openRunStore, type RunFolder } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import { byMode } from '../shared/modes.ts';
import type { RunSummary } from '../shared/results.ts';
import { newestPerMode } from '../study/index.ts';
import type { Given } from './arguments.ts';
import { type Command, commonOptions, exitCodes, storeFolder, storeOption } from './command.ts';
import { newGroup } from './job.ts';
import { type Shown, showOutcomes } from './outcomes.ts';
import { ProgressLine } from './progress.ts';
import { checkNames } from './runs.ts';

export const rescoreCommand: Command = {
  name: 'rescore',
  operands: '[RUN|JOB…]',
  summary: 'score finished runs again with their benchmark file as it is now, without the model',
  details: [
    'For changed filters, metrics, readers or answers, and for outputs of --predict_only. New runs are written beside the old',
    'ones. Items whose prompt or candidates are not the same any more are refused. Without RUN: the newest finished runs of',
    '--benchmark, of each model and mode.',
  ].join('\n'),
  options: {
    benchmark: { type: 'text', value: 'FILE', help: 'benchmark file to score by (default: the one that a run names)' },
    'skip-changed': { type: 'flag', help: 'leave out items that cannot be scored again, in place of refusing the run' },
    ...storeOption,
    ...commonOptions,
  },
  async run(given, terminal) {
    const store = openRunStore(storeFolder(given));
    const { runs } = await store.list();
    const subjects = bySubject(chosen(given, runs, store.folder));
    const benchmark = given.text('benchmark');
    const shown: Shown[] = [];
    for (const [number, folders] of subjects.entries()) {
      if (number > 0) terminal.note('');
      const group = newGroup();
      const progress = new ProgressLine(terminal);
      let summaries: RunSummary[];
      try {
        summaries = await terminal.surroundings.worker.call.rescore(
          {
            runs: folders.map(({ run }) => run.id),
            storeFolder: store.folder,
            ...(benchmark !== undefined && { benchmarkFile: resolve(benchmark) }),
            group,
            skipChanged: given.flag('skip-changed'),
          },
          { signal: terminal.surroundings.signal, onProgress: (event) => progress.show(event) },
        );
      } finally {
        progress.clear();
      }
      shown.push(
        await showOutcomes(
          terminal,
          store,
          summaries.map(({ run }) => run),
          group,
        ),
      );
    }
    if (terminal.json) terminal.printJson({ jobs: shown });
    return exitCodes.done;
  },
};

/** The runs that are named, or the newest finished ones of a benchmark. */
function chosen(given: Given, runs: readonly RunFolder[], store: string): RunFolder[] {
  const names = given.positionals;
  const benchmark = given.text('benchmark');
  const file = benchmark === undefined ? undefined : resolve(benchmark);
  if (file !== undefined && !existsSync(file))
    throw new HumanError('missing', `There is no benchmark file ${file}.`, { todo: 'Check the path.' });
  checkNames(names, runs, store);
  // Of a job, what is finished; a run that is named by itself is refused with a reason where it is not.
  if (names.length > 0)
    return runs.filter((folder) =>
      names.some((name) => folder.run.id === name || (folder.run.group === name && folder.run.status === 'finished')),
    );
  if (file === undefined)
    throw new HumanError('bad-input', 'RUN is missing: name runs or jobs, or give --benchmark FILE.', {
      todo: 'See "softbench runs list".',
    });
  const finished = runs.filter(
    ({ run, summary }) => run.status === 'finished' && summary && run.benchmark.file === file,
  );
  const newest = bySubject(finished).flatMap((folders) =>
    newestPerMode(folders, { runs: folders.map(({ run }) => run.id) }),
  );
  if (newest.length === 0)
    throw new HumanError('missing', `There is no finished run of ${file} in ${store}.`, {
      todo: 'Name runs, if it was evaluated under another path.',
    });
  return newest;
}

/** Together what one table shows: runs of one benchmark and one model, one of each mode, in the order of the modes. */
function bySubject(runs: readonly RunFolder[]): RunFolder[][] {
  const subjects = new Map<string, RunFolder[]>();
  for (const folder of runs) {
    const { benchmark, model } = folder.run;
    const key = JSON.stringify([benchmark.file, benchmark.task, model.folder, model.graphFile]);
    subjects.set(key, [...(subjects.get(key) ?? []), folder]);
  }
  return [...subjects.values()].map((folders) => folders.sort((a, b) => byMode(a.run, b.run)));
}
