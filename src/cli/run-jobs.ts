/**
 * Runs the jobs of one command: one, or one for each benchmark and model. Several go on behind one that fails, and can be
 * resumed together.
 */
import { basename, join, resolve } from 'node:path';
import type { Group } from '../benchmark/index.ts';
import { openRunStore, type RunFolder } from '../runs/index.ts';
import { asError, HumanError, sentenceOf } from '../shared/errors.ts';
import type { JobRequest } from '../shared/protocol.ts';
import type { RunFile, RunSummary } from '../shared/results.ts';
import { resumableGroup } from '../study/index.ts';
import type { Given } from './arguments.ts';
import { exitCodes, storeFolder } from './command.ts';
import { groupScoresOf, printGroups } from './groups.ts';
import { type DefaultModes, jobOptions, newGroup, requestOf, type Subject, subjectsOf } from './job.ts';
import { type Shown, showOutcomes } from './outcomes.ts';
import { ProgressLine } from './progress.ts';
import type { Terminal } from './terminal.ts';

export async function runJobs(
  args: Given,
  terminal: Terminal,
  defaultModes: DefaultModes,
  name: string,
): Promise<number> {
  const { subjects, groups } = await subjectsOf(args);
  const [only, ...others] = subjects;
  if (only && others.length === 0) {
    const request = await resumed(args, await requestOf(args, only, newGroup(), defaultModes, terminal));
    const shown = await runOne(request, args, terminal, resumeCommand(name, args, request.group));
    const scores = await groupScoresOf(groups, runsOf([shown]), request.storeFolder);
    if (terminal.json) terminal.printJson(scores.length > 0 ? { ...shown, groups: scores } : shown);
    else printGroups(terminal, scores);
    return exitCodes.done;
  }
  if (args.text('report') !== undefined)
    throw new HumanError('bad-input', '--report writes the results of one benchmark and one model.', {
      todo: 'Leave it out here, and use "softbench runs show JOB --report FILE" afterwards.',
    });
  return runMany({ subjects, groups }, args, terminal, defaultModes, name);
}

/** Runs a job and shows its results. */
async function runOne(request: JobRequest, args: Given, terminal: Terminal, toResume: string): Promise<Shown> {
  const { signal, worker } = terminal.surroundings;
  const progress = new ProgressLine(terminal);
  const runs = new Map<string, RunFile>();
  let summaries: RunSummary[];
  try {
    summaries = await worker.call.runJob(request, {
      signal,
      onProgress: (event) => {
        if (event.kind === 'run') runs.set(event.run.id, event.run);
        progress.show(event);
      },
    });
  } catch (thrown) {
    progress.clear();
    const stopped = isStop(thrown);
    if (runs.size && (stopped || (thrown instanceof HumanError && thrown.kind !== 'bad-input')))
      terminal.note(`${stopped ? 'Stopped; resume' : 'To resume'}: ${toResume}`);
    throw thrown;
  }
  progress.clear();
  const report = args.text('report');
  return showOutcomes(
    terminal,
    openRunStore(request.storeFolder),
    summaries.map(({ run }) => run),
    request.group,
    report === undefined ? undefined : resolve(report),
  );
}

const isStop = (thrown: unknown): boolean => thrown instanceof HumanError && thrown.kind === 'cancelled';

/** All subjects in order. @returns the exit code: failed where one of them did */
async function runMany(
  { subjects, groups }: { subjects: readonly Subject[]; groups: readonly Group[] },
  args: Given,
  terminal: Terminal,
  defaultModes: DefaultModes,
  name: string,
): Promise<number> {
  const { base, groupOf } = await groupsOf(args, subjects);
  const toResume = resumeCommand(name, args, base);
  const done: (Subject & { shown: Shown })[] = [];
  const failed: (Subject & { error: Error })[] = [];
  for (const [number, subject] of subjects.entries()) {
    terminal.note(`[${number + 1}/${subjects.length}] ${nameOf(subject)}`);
    try {
      const request = await requestOf(args, subject, groupOf(subject, number), defaultModes, terminal);
      done.push({ ...subject, shown: await runOne(request, args, terminal, toResume) });
      terminal.note('');
    } catch (thrown) {
      if (isStop(thrown) || terminal.surroundings.signal.aborted) {
        const left = subjects.length - done.length - failed.length;
        terminal.note(`${done.length} of ${subjects.length} done, ${left} left. Resume all: ${toResume}`);
        throw thrown;
      }
      const error = asError(thrown);
      failed.push({ ...subject, error });
      terminal.note(`Failed: ${nameOf(subject)}: ${sentenceOf(error)}\n`);
    }
  }
  const scores = await groupScoresOf(groups, runsOf(done.map(({ shown }) => shown)), storeFolder(args));
  if (!terminal.json) printGroups(terminal, scores);
  if (terminal.json)
    terminal.printJson({
      group: base,
      ...(scores.length > 0 && { groups: scores }),
      jobs: done.map(({ shown }) => shown),
      failed: failed.map(({ benchmarkFile, modelFolder, error }) => ({
        benchmark: benchmarkFile,
        model: modelFolder,
        error: { kind: error instanceof HumanError ? error.kind : 'internal', message: sentenceOf(error) },
      })),
    });
  else if (failed.length > 0) {
    terminal.print(`${done.length} of ${subjects.length} done; failed:`);
    for (const one of failed) terminal.print(`  ${nameOf(one)}: ${sentenceOf(one.error)}`);
  } else terminal.note(`All ${subjects.length} done.`);
  if (failed.length === 0) return exitCodes.done;
  terminal.note(`Run what failed again: ${toResume}`);
  return exitCodes.failed;
}

/** The runs shown: one that was finished before, and is taken again, belongs to the job that made it. */
const runsOf = (shown: readonly Shown[]): Set<string> =>
  new Set(shown.flatMap(({ modes }) => modes.map(({ run }) => String(run))));

const nameOf = ({ benchmarkFile, modelFolder }: Subject): string =>
  `${basename(benchmarkFile)} on ${basename(modelFolder)}`;

/** Finds the job to go on with, where --resume asks for it. */
async function resumed(args: Given, request: JobRequest): Promise<JobRequest> {
  const asked = args.text('resume');
  if (asked === undefined) return request;
  const { runs } = await openRunStore(request.storeFolder).list();
  if (asked === 'last') {
    const group = resumableGroup(runs, request);
    if (group === null) throw nothingToResume([request], request.storeFolder, ` in ${request.modes.join(', ')} mode`);
    return { ...request, group };
  }
  const ofJob = runs.filter(({ run }) => baseOf(run.group) === baseOf(asked));
  const found = ofJob.find(({ run }) => run.group === asked) ?? ofJob.find((folder) => isOf(folder, request));
  if (found) return { ...request, group: found.run.group };
  throw noJob(asked, runs, request.storeFolder);
}

/**
 * The groups of the jobs of one command: `<base>.1`, `<base>.2` … A command that is resumed finds each job by its benchmark
 * and model, so that more of either may be named.
 */
async function groupsOf(
  args: Given,
  subjects: readonly Subject[],
): Promise<{ base: string; groupOf(subject: Subject, number: number): string }> {
  const asked = args.text('resume');
  if (asked === undefined) {
    const base = newGroup();
    return { base, groupOf: (_, number) => `${base}.${number + 1}` };
  }
  const folder = storeFolder(args);
  const { runs } = await openRunStore(folder).list();
  const base = asked === 'last' ? lastBase(runs, subjects) : baseOf(asked);
  if (base === null) throw nothingToResume(subjects, folder);
  const before = runs.filter(({ run }) => baseOf(run.group) === base);
  if (asked !== 'last' && before.length === 0) throw noJob(asked, runs, folder);
  const taken = new Set(before.map(({ run }) => run.group));
  return {
    base,
    groupOf: (subject) => {
      const own = before.find((one) => isOf(one, subject))?.run.group;
      if (own !== undefined) return own;
      let number = 1;
      while (taken.has(`${base}.${number}`)) number++;
      taken.add(`${base}.${number}`);
      return `${base}.${number}`;
    },
  };
}

/** Of the newest job with something left to do: a run that is not finished, or one of several jobs that did not begin. */
function lastBase(runs: readonly RunFolder[], subjects: readonly Subject[]): string | null {
  const own = runs.filter((one) => subjects.some((subject) => isOf(one, subject)));
  const unfinished = own.find(({ run }) => run.status !== 'finished');
  if (unfinished) return baseOf(unfinished.run.group);
  const base = own.map(({ run }) => run.group).find((group) => baseOf(group) !== group);
  const begun = own.filter(({ run }) => base !== undefined && baseOf(run.group) === baseOf(base));
  return base !== undefined && subjects.some((subject) => !begun.some((one) => isOf(one, subject)))
    ? baseOf(base)
    : null;
}

function nothingToResume(subjects: readonly Subject[], folder: string, where = ''): HumanError {
  const [only] = subjects;
  const what = only && subjects.length === 1 ? nameOf(only) : 'these benchmarks and models';
  return new HumanError(
    'bad-input',
    `There is nothing to resume: no run of ${what}${where} in ${folder} is unfinished.`,
    {
      todo: 'Leave --resume out: what is finished is not run again.',
    },
  );
}

const baseOf = (group: string): string => group.replace(/\.\d+$/, '');

const isOf = ({ run }: RunFolder, { benchmarkFile, modelFolder }: Subject): boolean =>
  run.benchmark.file === benchmarkFile &&
  // A model may be given as one graph of its folder.
  (run.model.folder === modelFolder || join(run.model.folder, run.model.graphFile) === modelFolder);

function noJob(name: string, runs: readonly RunFolder[], folder: string): HumanError {
  const groups = [...new Set(runs.filter(({ run }) => run.status !== 'finished').map(({ run }) => run.group))];
  return new HumanError('bad-input', `There is no job "${name}" in ${folder}.`, {
    todo: groups.length
      ? `Unfinished jobs: ${groups.join(', ')}.`
      : 'It has no unfinished jobs. See "softbench runs list".',
  });
}

/** The command line that goes on where this one stopped. */
function resumeCommand(name: string, args: Given, group: string): string {
  const words = [...args.positionals];
  for (const [option, { type }] of Object.entries(jobOptions)) {
    if (option === 'resume' || option === 'fresh') continue;
    if (type === 'texts') {
      words.push(...args.texts(option).flatMap((value) => [`--${option}`, value]));
      continue;
    }
    const value = type === 'whole' ? args.number(option) : args.text(option);
    if (type === 'flag' ? args.flag(option) : value !== undefined)
      words.push(`--${option}`, ...(type === 'flag' || value === '' ? [] : [String(value)]));
  }
  const quoted = words.map((word) => (/^[\w./:=,+@%-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`));
  return ['softbench', name, ...quoted, '--resume', group].join(' ');
}
