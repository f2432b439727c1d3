/** `softbench tune`, `evaluate` and `compare`: one benchmark × one model in one or more prompt modes. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { openRunStore } from '../runs/index.ts';
import { HumanError } from '../shared/errors.ts';
import {
  isPromptMode,
  isSoftPromptPosition,
  type PromptMode,
  promptModes,
  type SoftPromptPosition,
  softPromptPositions,
} from '../shared/modes.ts';
import type { JobRequest } from '../shared/protocol.ts';
import {
  learningRateWords,
  type Recomputation,
  type RunFile,
  type RunSummary,
  recomputations,
  type SoftPromptSettings,
} from '../shared/results.ts';
import { loadResults, resumableGroup } from '../study/index.ts';
import type { Given, Options } from './arguments.ts';
import { cacheOptions, responseCacheOf } from './cache.ts';
import { chatOptions, chatRequestOf } from './chat-options.ts';
import {
  type Command,
  commonOptions,
  engineOptions,
  engineSettings,
  exitCodes,
  operands,
  storeFolder,
  storeOption,
} from './command.ts';
import { datasetOptions, mapDatasetFolders, obtainData } from './datasets.ts';
import { modelFolderOf } from './models-download.ts';
import { ProgressLine } from './progress.ts';
import { writeReport } from './report.ts';
import { type ModeOutcome, modeJson, resultLines } from './tables.ts';
import type { Terminal } from './terminal.ts';

const jobOptions = {
  model: {
    type: 'text',
    value: 'DIR',
    short: 'm',
    help: 'model folder (Hugging Face layout with an ONNX file), or the id of a downloaded model',
  },
  modes: { type: 'text', value: 'LIST', help: `prompt modes, separated by commas: ${promptModes.join(', ')}` },
  limit: { type: 'text', value: 'N', help: 'evaluate the first N items only, or "all"' },
  shots: { type: 'whole', least: 0, help: 'examples of few-shot mode' },
  'batch-size': { type: 'whole', least: 1, help: 'items that are generated together' },
  steps: { type: 'whole', least: 1, help: 'tuning steps' },
  vectors: { type: 'whole', least: 1, help: 'vectors of the soft prompt' },
  'learning-rate': { type: 'text', value: 'X', help: 'learning rate of tuning, or "auto", "formula", "search"' },
  position: {
    type: 'text',
    value: 'PLACE',
    help: 'where the soft prompt stands: "prefix", in front of the text, or "suffix", behind it (cheaper steps)',
  },
  recompute: {
    type: 'text',
    value: 'WHAT',
    help: 'what a tuning step computes again to take less memory: "none", "attention" or "blocks"',
  },
  'micro-batch-size': {
    type: 'whole',
    least: 1,
    help: 'training items of a step that are computed at a time, their gradients accumulated (as many as memory holds)',
  },
  'tuning-batch-size': { type: 'whole', least: 1, help: 'training items per tuning step' },
  'validate-every': { type: 'whole', least: 1, help: 'tuning steps between validations' },
  seed: { type: 'whole', least: 0, help: 'seed of tuning: initial vectors and order of the training items' },
  'soft-prompt': {
    type: 'text',
    value: 'FILE',
    help: 'use this soft prompt (safetensors, run or PEFT folder), tune none',
  },
  ...chatOptions,
  ...storeOption,
  ...engineOptions,
  resume: { type: 'text', value: 'GROUP', help: 'go on with a stopped job, or with the "last" one of these arguments' },
  fresh: { type: 'flag', help: 'run again what has been run before with the same settings, without cached responses' },
  ...cacheOptions,
  report: { type: 'text', value: 'FILE', help: 'write the results page as one HTML file' },
  ...datasetOptions,
  ...commonOptions,
} as const satisfies Options;

function jobCommand(
  name: string,
  summary: string,
  details: string,
  defaultModes: (
    given: Given,
    benchmarkFile: string,
    terminal: Terminal,
  ) => Promise<readonly PromptMode[]> | readonly PromptMode[],
): Command {
  return {
    name,
    operands: 'BENCHMARK --model DIR',
    summary,
    details,
    options: jobOptions,
    run: (given, terminal) => runJobCommand(given, terminal, defaultModes, name),
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

function modesOf(text: string): PromptMode[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  const wrong = names.find((name) => !isPromptMode(name));
  if (wrong !== undefined || names.length === 0)
    throw new HumanError('bad-input', `"${wrong ?? text}" is not a prompt mode.`, {
      todo: `Use one or more of: ${promptModes.join(', ')}.`,
    });
  return promptModes.filter((mode) => names.includes(mode));
}

function limitOf(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'all') return null;
  const limit = Number(text);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new HumanError('bad-input', `--limit needs a whole number from 1 or "all", not "${text}".`);
  return limit;
}

function positionOf(text: string | undefined): SoftPromptPosition | undefined {
  if (text === undefined || isSoftPromptPosition(text)) return text;
  throw new HumanError('bad-input', `--position needs ${softPromptPositions.join(' or ')}, not "${text}".`);
}

function recomputeOf(text: string | undefined): Recomputation | undefined {
  const word = recomputations.find((one) => one === text);
  if (text === undefined || word) return word;
  throw new HumanError('bad-input', `--recompute needs ${recomputations.join(', ')}, not "${text}".`);
}

function learningRateOf(text: string | undefined): SoftPromptSettings['learningRate'] | undefined {
  const word = learningRateWords.find((one) => one === text);
  if (text === undefined || word) return word;
  const rate = Number(text);
  if (!(rate > 0) || !Number.isFinite(rate))
    throw new HumanError(
      'bad-input',
      `--learning-rate needs a number above 0, or one of ${learningRateWords.join(', ')}, not "${text}".`,
    );
  return rate;
}

/** An object without the keys whose value was not given. */
function given<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** A group's name: when it began, and a part that no other has. */
const newGroup = (): string =>
  `${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}-${randomBytes(3).toString('hex')}`;

async function requestOf(
  args: Given,
  defaultModes: Parameters<typeof jobCommand>[3],
  terminal: Terminal,
): Promise<JobRequest> {
  const [benchmark] = operands(args, ['BENCHMARK'] as const);
  const benchmarkFile = resolve(benchmark);
  const model = args.text('model');
  if (model === undefined) throw new HumanError('bad-input', 'The model is missing: give its folder with --model DIR.');
  if (!existsSync(benchmarkFile))
    throw new HumanError('missing', `There is no benchmark file ${benchmarkFile}.`, { todo: 'Check the path.' });
  if (args.flag('fresh') && args.text('resume') !== undefined)
    throw new HumanError('bad-input', '--fresh and --resume exclude each other.');
  const modelFolder = await modelFolderOf(model);
  mapDatasetFolders(args);
  await obtainData(benchmarkFile, args, terminal);
  const modesText = args.text('modes');
  const modes = [...(modesText === undefined ? await defaultModes(args, benchmarkFile, terminal) : modesOf(modesText))];
  const softPromptFile = args.text('soft-prompt');
  const softPrompt = given<Partial<SoftPromptSettings>>({
    vectors: args.number('vectors'),
    steps: args.number('steps'),
    batchSize: args.number('tuning-batch-size'),
    learningRate: learningRateOf(args.text('learning-rate')),
    position: positionOf(args.text('position')),
    recompute: recomputeOf(args.text('recompute')),
    microBatchSize: args.number('micro-batch-size'),
    validateEvery: args.number('validate-every'),
    seed: args.number('seed'),
  });
  const request: JobRequest = {
    benchmarkFile,
    modelFolder,
    modes,
    storeFolder: storeFolder(args),
    group: args.text('resume') ?? newGroup(),
    reuseFinished: !args.flag('fresh'),
    engine: engineSettings(args),
    responseCache: responseCacheOf(args),
    overrides: given({
      limit: limitOf(args.text('limit')),
      shots: args.number('shots'),
      batchSize: args.number('batch-size'),
      softPrompt: Object.keys(softPrompt).length ? softPrompt : undefined,
      softPromptFile: softPromptFile === undefined ? undefined : resolve(softPromptFile),
      chat: chatRequestOf(args),
    }),
  };
  return args.text('resume') === undefined ? request : resumed(request);
}

/** Finds the job to go on with. */
async function resumed(request: JobRequest): Promise<JobRequest> {
  const { runs } = await openRunStore(request.storeFolder).list();
  if (request.group === 'last') return { ...request, group: resumableGroup(runs, request) ?? newGroup() };
  if (runs.some(({ run }) => run.group === request.group)) return request;
  const groups = [...new Set(runs.filter(({ run }) => run.status !== 'finished').map(({ run }) => run.group))];
  throw new HumanError('bad-input', `There is no job "${request.group}" in ${request.storeFolder}.`, {
    todo: groups.length
      ? `Unfinished jobs: ${groups.join(', ')}.`
      : 'It has no unfinished jobs. See "softbench runs list".',
  });
}

async function runJobCommand(
  args: Given,
  terminal: Terminal,
  defaultModes: Parameters<typeof jobCommand>[3],
  name: string,
): Promise<number> {
  const request = await requestOf(args, defaultModes, terminal);
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
    const isStopped = thrown instanceof HumanError && thrown.kind === 'cancelled';
    if (runs.size && (isStopped || (thrown instanceof HumanError && thrown.kind !== 'bad-input')))
      terminal.note(`${isStopped ? 'Stopped; resume' : 'To resume'}: ${resumeCommand(name, args, request.group)}`);
    throw thrown;
  }
  progress.clear();
  const store = openRunStore(request.storeFolder);
  const outcomes: ModeOutcome[] = await Promise.all(
    summaries.map(async (summary) => ({
      run: (await store.read(summary.run)).run,
      summary,
      items: await store.readItems(summary.run),
    })),
  );
  const report = args.text('report');
  const reportFile = report === undefined ? undefined : resolve(report);
  if (reportFile !== undefined) {
    const view = await loadResults(store, { runs: summaries.map(({ run }) => run) });
    if (view) await writeReport(reportFile, view, store, terminal.surroundings.pages);
  }
  const first = outcomes[0];
  if (terminal.json)
    terminal.printJson({
      model: first?.run.model.name ?? null,
      benchmark: first?.run.benchmark.task ?? null,
      group: request.group,
      store: request.storeFolder,
      ...(reportFile && { report: reportFile }),
      modes: outcomes.map(modeJson),
    });
  else {
    for (const line of resultLines(outcomes)) terminal.print(line);
    const notes = new Set(outcomes.flatMap(({ run }) => run.notes));
    for (const note of notes) terminal.note(`Note: ${note}`);
    terminal.note(`Runs: ${first ? dirname(store.folderOf(first.run.id)) : request.storeFolder}`);
    if (reportFile) terminal.note(`Report: ${reportFile}`);
  }
  return exitCodes.done;
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
