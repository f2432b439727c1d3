/** What a run is to be, and what must be equal for two runs to have the same numbers. */
import { createHash } from 'node:crypto';
import { chatOf } from '../benchmark/chat.ts';
import { configurationDigests } from '../benchmark/configuration-digests.ts';
import type { Benchmark } from '../benchmark/types.ts';
import { HumanError } from '../shared/errors.ts';
import { type PromptMode, usesExamples, usesSoftPrompt } from '../shared/modes.ts';
import type { ChatSettings, RunFile } from '../shared/results.ts';
import { positionOf, suffixNote } from '../shared/soft-prompt-words.ts';
import { chatDeterminant, chatSettingsOf, dateNote } from './chat.ts';
import type { Job } from './job.ts';
import type { SoftPrompt } from './language-model.ts';
import { predictOnlyNote } from './predict-only.ts';
import type { RunFolder } from './run-store.ts';

export type WantedRun = Omit<RunFile, 'id' | 'created' | 'updated' | 'status'>;

/** The benchmark with what the run asked for differently from its file, and with the run's own way of writing conversations. */
export function asRun({ settings }: RunFile, benchmark: Benchmark): Benchmark {
  const asked = settings.generates === false ? (benchmark.withoutGeneration?.() ?? benchmark) : benchmark;
  return asked.withChat(chatOf(settings.chat));
}

/** What a run says of its benchmark; of the training split's data only where a run uses it. */
export async function benchmarkOfRun(
  benchmark: Benchmark,
  items: number,
  usesTraining = false,
): Promise<RunFile['benchmark']> {
  return {
    task: benchmark.task,
    file: benchmark.file,
    digests: {
      config: benchmark.configDigest,
      data: await benchmark.dataDigest('evaluation'),
      ...(usesTraining && { training: await benchmark.dataDigest('training') }),
      ...(benchmark.configuration && configurationDigests(benchmark.configuration)),
    },
    items,
    split: benchmark.evaluationSplit,
  };
}

/** A limit below 1 is a share of the items, rounded up, as lm-evaluation-harness reads it. */
const itemLimit = (limit: number | null, all: number): number | null =>
  limit !== null && limit < 1 ? Math.ceil(all * limit) : limit;

/** The run of one mode of a job, as its run.json will say. */
export async function describeRun(job: Job, mode: PromptMode): Promise<WantedRun> {
  const { benchmark, model, request, rooms } = job;
  const { overrides } = request;
  const all = (await benchmark.items('evaluation')).length;
  const limit = itemLimit(overrides.limit === undefined ? benchmark.limit : overrides.limit, all);
  const tuned = usesSoftPrompt(mode) && !overrides.softPromptFile;
  const tunedElsewhere =
    mode === 'few-shot+soft-prompt'
      ? (job.known.find(
          ({ run }) => run.group === request.group && run.mode === 'soft-prompt' && run.status === 'finished',
        )?.run.id ?? null)
      : null;
  const notes = [...model.notes, ...benchmark.notes];
  if (overrides.softPromptFile) notes.push(`The soft prompt comes from a file: ${overrides.softPromptFile}`);
  const usesTraining = benchmark.trainingSplit !== null && (usesExamples(mode) || tuned);
  const softPrompt = tuned ? { ...benchmark.softPrompt, ...overrides.softPrompt } : null;
  const fromFile = usesSoftPrompt(mode) && overrides.softPromptFile ? await softPromptOfFile(job) : null;
  const position = usesSoftPrompt(mode) ? (softPrompt?.position ?? fromFile?.position ?? 'prefix') : null;
  if (position === 'suffix') notes.push(suffixNote);
  if (request.predictOnly) notes.push(predictOnlyNote);
  const chat = chatOfJob(job);
  const dated = dateNote(chat);
  if (dated !== null) notes.push(dated);
  return {
    schema: 1,
    softbench: rooms.versions.softbench,
    onnxruntime: rooms.versions.onnxruntime,
    group: request.group,
    mode,
    model: model.identity,
    benchmark: await benchmarkOfRun(benchmark, limit === null ? all : Math.min(limit, all), usesTraining),
    settings: {
      limit,
      shots: usesExamples(mode) ? (overrides.shots ?? benchmark.shots) : 0,
      fewShotSeed: benchmark.fewShotSeed,
      batchSize: overrides.batchSize ?? 'auto',
      generation: benchmark.generation,
      softPrompt,
      softPromptFrom: tunedElsewhere,
      ...(fromFile && { softPromptDigest: digestOf(fromFile) }),
      ...(position && { softPromptPosition: position }),
      ...(chat && { chat }),
      ...(benchmark.generates === false && { generates: false as const }),
      ...((benchmark.repeats ?? 1) > 1 && { repeats: benchmark.repeats }),
    },
    provider: model.provider,
    ...(request.predictOnly && { predictOnly: true as const }),
    notes,
  };
}

/**
 * The soft prompt of a file. Where it stands is what the file says, so that it stands where it was tuned to.
 * @throws HumanError where another position was asked for in so many words
 */
async function softPromptOfFile({ request, rooms }: Job): Promise<SoftPrompt> {
  const { softPromptFile = '', softPrompt: asked } = request.overrides;
  const softPrompt = await rooms.readSoftPromptFile(softPromptFile);
  const { position = 'prefix' } = softPrompt;
  if (asked?.position && asked.position !== position)
    throw new HumanError(
      'bad-input',
      `The soft prompt was tuned to stand ${position === 'suffix' ? 'behind' : 'in front of'} the text (position: ${position}); "${asked.position}" was asked for.`,
      { place: { file: softPromptFile }, todo: 'Leave the position out, or tune a soft prompt for the other one.' },
    );
  return softPrompt;
}

const digestOf = ({ vectors, hiddenSize, data }: SoftPrompt): string =>
  createHash('sha256')
    .update(`${vectors} ${hiddenSize} `)
    .update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    .digest('hex');

/**
 * What must be equal for two runs to have the same numbers. Where a run stands and when it was made do not count, nor how
 * many items are computed at a time. `optional`: what runs of earlier versions do not say is taken for equal.
 */
const determinants: { name: string; of(run: WantedRun): unknown; optional?: true }[] = [
  { name: 'model', of: ({ model }) => model.digests },
  { name: 'benchmark file', of: ({ benchmark }) => [benchmark.task, benchmark.digests.config] },
  { name: 'data', of: ({ benchmark }) => benchmark.digests.data },
  { name: 'training data', of: ({ benchmark }) => benchmark.digests.training, optional: true },
  { name: 'prompt mode', of: ({ mode }) => mode },
  {
    name: 'settings',
    of: ({ settings }) => [
      settings.limit,
      settings.shots,
      settings.fewShotSeed,
      settings.generation,
      settings.generates,
      settings.repeats,
      // The position: absent in runs of earlier versions; compared by itself. The others change no more than rounding.
      settings.softPrompt && {
        ...settings.softPrompt,
        position: undefined,
        recompute: undefined,
        microBatchSize: undefined,
      },
    ],
  },
  { name: 'soft prompt from a file', of: ({ settings }) => settings.softPromptDigest, optional: true },
  { name: 'whether outputs are scored', of: ({ predictOnly }) => predictOnly },
  { name: 'position of the soft prompt', of: positionOf },
  { name: 'chat template and system instruction', of: ({ settings }) => chatDeterminant(settings.chat) },
];

export const whatDiffers = (a: WantedRun, b: WantedRun): string[] =>
  determinants
    .filter(({ of, optional }) => {
      const [one, other] = [of(a), of(b)];
      return !(optional && (one === undefined || other === undefined)) && JSON.stringify(one) !== JSON.stringify(other);
    })
    .map(({ name }) => name);

export const sameSettings = (a: WantedRun, b: WantedRun): boolean => whatDiffers(a, b).length === 0;

/** The run, where it is finished and has the numbers that are wanted. */
export const finishedAs = (folder: RunFolder | undefined, wanted: WantedRun): RunFolder | null =>
  folder?.summary && folder.run.status === 'finished' && sameSettings(folder.run, wanted) ? folder : null;

/** How the job's prompts are written as conversations. */
export const chatOfJob = ({ request, benchmark, model }: Job): ChatSettings | null =>
  chatSettingsOf(request.overrides.chat, benchmark, {
    name: model.identity.name,
    chatTemplates: model.chatTemplates,
  });
