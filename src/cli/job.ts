/** What `softbench tune`, `evaluate` and `compare` take: their options, and the request that they make. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Group } from '../benchmark/index.ts';
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
import { learningRateWords, type Recomputation, recomputations, type SoftPromptSettings } from '../shared/results.ts';
import type { Given, Options } from './arguments.ts';
import { cacheOptions, responseCacheOf } from './cache.ts';
import { chatOptions, chatRequestOf } from './chat-options.ts';
import { commonOptions, engineOptions, engineSettings, operands, storeFolder, storeOption } from './command.ts';
import { datasetOptions, mapDatasetFolders, obtainData } from './datasets.ts';
import { expandGroups } from './groups.ts';
import { modelFolderOf } from './models-download.ts';
import type { Terminal } from './terminal.ts';

export const jobOptions = {
  model: {
    type: 'text',
    value: 'DIR',
    short: 'm',
    help: 'model folder (Hugging Face layout with an ONNX file), or the id of a downloaded model',
  },
  tasks: {
    type: 'text',
    value: 'LIST',
    short: 't',
    help: 'more benchmark files, separated by commas; all run in order',
  },
  models: { type: 'text', value: 'LIST', help: 'more models, separated by commas; each runs every benchmark' },
  modes: { type: 'text', value: 'LIST', help: `prompt modes, separated by commas: ${promptModes.join(', ')}` },
  limit: {
    type: 'text',
    value: 'N',
    short: 'L',
    help: 'evaluate the first N items only, a share of them (0.1), or "all"',
  },
  shots: { type: 'whole', least: 0, help: 'examples of few-shot mode' },
  batch_size: {
    type: 'text',
    value: 'N|auto',
    short: 'b',
    help: 'rows that are computed together (default: auto, as many as help and memory holds); also --batch-size',
  },
  'batch-size': { type: 'text', value: 'N|auto', help: 'the same' },
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
  'no-generation': { type: 'flag', help: 'compare the likelihoods of candidates only, as lm-eval; generate nothing' },
  predict_only: {
    type: 'flag',
    short: 'x',
    help: 'keep the outputs and score nothing; "softbench rescore" scores them later',
  },
  report: { type: 'text', value: 'FILE', help: 'write the results page as one HTML file' },
  ...datasetOptions,
  ...commonOptions,
} as const satisfies Options;

/** The modes that a command runs where none are named. */
export type DefaultModes = (
  given: Given,
  benchmarkFile: string,
  terminal: Terminal,
) => Promise<readonly PromptMode[]> | readonly PromptMode[];

export interface Subject {
  benchmarkFile: string;
  modelFolder: string;
}

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
  if (!(limit > 0 && (limit < 1 || Number.isSafeInteger(limit))))
    throw new HumanError('bad-input', `--limit needs a whole number from 1, a share below 1 or "all", not "${text}".`);
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
export const newGroup = (): string =>
  `${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}-${randomBytes(3).toString('hex')}`;

/** `--batch_size`, as lm-evaluation-harness has it (`auto:N` of it too: sizes are looked at with every call), or `--batch-size`. */
function batchSizeOf(args: Given): number | 'auto' | undefined {
  const name = ['batch_size', 'batch-size'].find((one) => args.text(one) !== undefined);
  const given = name && args.text(name);
  if (given === undefined || given === '') return undefined;
  if (/^auto(:\d+)?$/.test(given)) return 'auto';
  const rows = Number(given);
  if (!Number.isSafeInteger(rows))
    throw new HumanError('bad-input', `--${name} needs a whole number or "auto", not "${given}".`);
  if (rows < 1) throw new HumanError('bad-input', `--${name} must be at least 1, not ${given}.`);
  return rows;
}

const listOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

/** The benchmarks (those of groups too) and models of a command line, each model with each benchmark: what is wrong with a path is said at once. */
export async function subjectsOf(args: Given): Promise<{ subjects: Subject[]; groups: Group[] }> {
  const given = [...args.positionals, ...listOf(args.text('tasks'))].map((file) => resolve(file));
  // Says what is missing, as of any command.
  if (given.length === 0) operands(args, ['BENCHMARK'] as const);
  const one = args.text('model');
  const models = [...(one === undefined ? [] : [one]), ...listOf(args.text('models'))];
  if (models.length === 0) throw new HumanError('bad-input', 'The model is missing: give its folder with --model DIR.');
  const { addressParts } = await import('../benchmark/index.ts');
  const absent = given.find((file) => !existsSync(addressParts(file).file));
  if (absent !== undefined)
    throw new HumanError('missing', `There is no benchmark file ${absent}.`, {
      // A name, as lm-evaluation-harness takes it.
      todo: /\.\w+(?:#|$)/.test(absent)
        ? 'Check the path.'
        : 'Give the path of a file: tasks of lm-evaluation-harness are the YAML files in the folder lm_eval/tasks of its package.',
    });
  if (args.flag('fresh') && args.text('resume') !== undefined)
    throw new HumanError('bad-input', '--fresh and --resume exclude each other.');
  const { files, groups } = await expandGroups(given);
  const folders = await Promise.all(models.map(modelFolderOf));
  const subjects = [...new Set(folders)].flatMap((modelFolder) =>
    [...new Set(files)].map((benchmarkFile) => ({ benchmarkFile, modelFolder })),
  );
  return { subjects, groups };
}

/** What a job does with one benchmark and one model. */
export async function requestOf(
  args: Given,
  { benchmarkFile, modelFolder }: Subject,
  group: string,
  defaultModes: DefaultModes,
  terminal: Terminal,
): Promise<JobRequest> {
  mapDatasetFolders(args);
  await obtainData(benchmarkFile, args, terminal);
  const modesText = args.text('modes');
  const modes = [...(modesText === undefined ? await defaultModes(args, benchmarkFile, terminal) : modesOf(modesText))];
  const softPromptFile = args.text('soft-prompt');
  if (args.number('shots') !== undefined && !modes.some((mode) => mode.includes('few-shot')))
    terminal.note('Note: --shots counts in few-shot modes only, of which none is run. Add --modes few-shot.');
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
  return {
    benchmarkFile,
    modelFolder,
    modes,
    storeFolder: storeFolder(args),
    group,
    reuseFinished: !args.flag('fresh'),
    engine: engineSettings(args),
    responseCache: responseCacheOf(args),
    overrides: given({
      limit: limitOf(args.text('limit')),
      shots: args.number('shots'),
      batchSize: batchSizeOf(args),
      softPrompt: Object.keys(softPrompt).length ? softPrompt : undefined,
      softPromptFile: softPromptFile === undefined ? undefined : resolve(softPromptFile),
      chat: chatRequestOf(args),
      generate: args.flag('no-generation') ? (false as const) : undefined,
    }),
    predictOnly: args.flag('predict_only'),
  };
}
