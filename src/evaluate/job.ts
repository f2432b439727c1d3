/**
 * A job: one benchmark × one model in one or more prompt modes, each a run on disk. Decides for every mode whether it is
 * finished, resumed, reused or begun, tunes where a soft prompt is needed, and reports progress.
 */
import { chatOf } from '../benchmark/chat.ts';
import type { Benchmark } from '../benchmark/types.ts';
import { CancelledError, HumanError, sentenceOf, throwIfCancelled } from '../shared/errors.ts';
import { type PromptMode, type SoftPromptPosition, usesExamples, usesSoftPrompt } from '../shared/modes.ts';
import type { EngineSettings, JobProgress, JobRequest } from '../shared/protocol.ts';
import { responsesNote, withResponsesNote } from '../shared/response-words.ts';
import type { ChatSettings, ItemRecord, RunFile, RunSummary } from '../shared/results.ts';
import { positionOf, suffixNote } from '../shared/soft-prompt-words.ts';
import { chatDeterminant, chatSettingsOf, dateNote } from './chat.ts';
import { evaluate } from './evaluate.ts';
import type { LanguageModel, SoftPrompt } from './language-model.ts';
import type { ResponseCache } from './response-cache.ts';
import type { RunFolder, RunStore, RunWriter } from './run-store.ts';
import { summarise } from './summarise.ts';
import { tune } from './tune.ts';
import { trainingItems } from './tuning-data.ts';

/** The other rooms, handed in: the worker gives the real ones, a test may script them. */
export interface JobRooms {
  openModel(folder: string, engine: EngineSettings): Promise<LanguageModel>;
  openBenchmark(file: string): Promise<Benchmark>;
  openStore(folder: string): RunStore;
  readSoftPromptFile(file: string): Promise<SoftPrompt>;
  versions: { softbench: string; onnxruntime: string };
  /** Puts a cache of responses in front of the model; where absent, or not asked for, all are computed. */
  openResponseCache?(
    model: LanguageModel,
    settings: { storeFolder: string; limitBytes: number; lookUp: boolean },
  ): Promise<ResponseCache>;
}

export interface JobHooks {
  signal: AbortSignal;
  progress(progress: JobProgress): void;
}

/** Runs the job's modes in order. @returns one summary a mode, in the order asked */
export async function runJob(request: JobRequest, rooms: JobRooms, hooks: JobHooks): Promise<RunSummary[]> {
  hooks.progress({ kind: 'phase', phase: 'loading', mode: null, message: 'Reading the benchmark' });
  const opened = await rooms.openBenchmark(request.benchmarkFile);
  const benchmark = request.overrides.generate === false ? (opened.withoutGeneration?.() ?? opened) : opened;
  const store = rooms.openStore(request.storeFolder);
  throwIfCancelled(hooks.signal);
  hooks.progress({ kind: 'phase', phase: 'loading', mode: null, message: 'Opening the model' });
  const model = await rooms.openModel(request.modelFolder, request.engine);
  const { storeFolder, responseCache } = request;
  const cache = (responseCache && (await rooms.openResponseCache?.(model, { storeFolder, ...responseCache }))) || null;
  try {
    return await runModes({ request, rooms, hooks, benchmark, store, model, cache, known: (await store.list()).runs });
  } finally {
    cache?.close();
  }
}

async function runModes(job: Job): Promise<RunSummary[]> {
  const { request, hooks, model } = job;
  const benchmark = job.benchmark.withChat(chatOf(chatOfJob(job)));

  const tunes = request.modes.some(usesSoftPrompt) && !request.overrides.softPromptFile;
  const tuned = job.known.some(
    ({ run }) => run.group === request.group && usesSoftPrompt(run.mode) && run.status === 'finished',
  );
  // What keeps a soft prompt from being tuned is said now, not after hours of the modes before it.
  if (tunes && !tuned)
    await trainingItems(model, benchmark, { ...benchmark.softPrompt, ...request.overrides.softPrompt });

  const summaries: RunSummary[] = [];
  for (const mode of request.modes) {
    throwIfCancelled(hooks.signal);
    const summary = await runMode(job, mode);
    summaries.push(summary);
    hooks.progress({ kind: 'summary', summary });
  }
  return summaries;
}

const chatOfJob = ({ request, benchmark, model }: Job): ChatSettings | null =>
  chatSettingsOf(request.overrides.chat, benchmark, {
    name: model.identity.name,
    chatTemplates: model.chatTemplates,
  });

interface Job {
  request: JobRequest;
  rooms: JobRooms;
  hooks: JobHooks;
  benchmark: Benchmark;
  store: RunStore;
  model: LanguageModel;
  cache: ResponseCache | null;
  /** Runs on disk when the job began, and those it has finished since. */
  known: RunFolder[];
}

async function runMode(job: Job, mode: PromptMode): Promise<RunSummary> {
  const wanted = await describeRun(job, mode);
  const mine = job.known.find(({ run }) => run.group === job.request.group && run.mode === mode);
  const finished =
    finishedAs(mine, wanted) ??
    (job.request.reuseFinished && !usesSoftPrompt(mode)
      ? job.known.map((folder) => finishedAs(folder, wanted)).find((folder) => folder !== null)
      : null);
  if (finished?.summary) {
    job.hooks.progress({ kind: 'run', run: finished.run });
    return finished.summary;
  }
  if (mine && !sameSettings(mine.run, wanted)) {
    throw new HumanError(
      'bad-input',
      `The run "${mine.run.id}" cannot be resumed. Changed since it began: ${whatChanged(mine.run, wanted)}.`,
      { todo: 'Start a new run, or undo the change.' },
    );
  }
  const writer = mine ? await job.store.reopen(mine.run.id) : await job.store.create(wanted);
  const earlier = mine?.summary ?? null;
  try {
    await writer.update({ status: 'running', message: undefined, provider: job.model.provider });
    job.hooks.progress({ kind: 'run', run: writer.run });
    // As the run says: one that is resumed keeps the date that its template wrote.
    const benchmark = job.benchmark.withChat(chatOf(writer.run.settings.chat));
    const summary = await executeRun({ ...job, benchmark }, mode, writer, earlier);
    await writer.saveSummary(summary);
    // Where graphs ran on a device it is known by now which nodes the CPU computed.
    const notes = notesOfResponses(job, writer.run.notes, summary);
    await writer.update({ status: 'finished', provider: job.model.provider, notes });
    job.known.unshift({ folder: writer.folder, run: writer.run, summary });
    return summary;
  } catch (thrown) {
    const stopped = thrown instanceof CancelledError || job.hooks.signal.aborted;
    // The first error is the one to report, even where it cannot be written down.
    await writer.update({ status: stopped ? 'stopped' : 'failed', message: sentenceOf(thrown) }).catch(() => undefined);
    throw stopped && !(thrown instanceof CancelledError) ? new CancelledError() : thrown;
  } finally {
    await writer.close();
  }
}

/**
 * The run's notes with what its cache of responses did: how many came from it, and why it could not be used; and how many
 * prompts were too long.
 */
function notesOfResponses(
  { cache, model }: Job,
  notes: readonly string[],
  { responses, truncated }: RunSummary,
): string[] {
  const all = [...withResponsesNote(notes, responsesNote(responses)), ...(cache?.problems() ?? [])];
  if (truncated)
    all.push(
      `${truncated} ${truncated === 1 ? 'item was' : 'items were'} longer than the model's context of ${model.contextLength} tokens: the beginning was left out, as in lm-evaluation-harness (room for the longest output is kept).`,
    );
  return [...new Set(all)];
}

async function executeRun(
  job: Job,
  mode: PromptMode,
  writer: RunWriter,
  earlier: RunSummary | null,
): Promise<RunSummary> {
  const { benchmark, model, cache, hooks } = job;
  const softPrompt = usesSoftPrompt(mode) ? await obtainSoftPrompt(job, mode, writer) : null;
  const started = performance.now();
  const { limit, shots, batchSize } = writer.run.settings;
  const pace = new Pace(writer.finishedItems.length);
  const asked = cache?.counts();
  const responses = (): RunSummary['responses'] => {
    const now = cache?.counts();
    if (!now || !asked) return earlier?.responses;
    const { cached = 0, computed = 0 } = earlier?.responses ?? {};
    return { cached: cached + now.cached - asked.cached, computed: computed + now.computed - asked.computed };
  };
  const flow = new RecordFlow((records, done, total) =>
    hooks.progress({
      kind: 'items',
      run: writer.run.id,
      mode,
      done,
      total,
      secondsLeft: pace.secondsLeft(done, total),
      records,
    }),
  );
  const secondsSoFar = (): number => (earlier?.seconds ?? 0) + (performance.now() - started) / 1000;
  const finish = (
    items: Awaited<ReturnType<typeof evaluate>>['items'],
    records: ItemRecord[],
    iterations?: number,
  ): RunSummary =>
    summarise(
      benchmark,
      items,
      records,
      {
        run: writer.run.id,
        mode,
        seconds: secondsSoFar(),
        tuningSeconds: softPrompt?.seconds ?? 0,
        bestStep: softPrompt?.bestStep ?? null,
        peakMemoryBytes: model.peakMemoryBytes(),
        responses: responses(),
      },
      iterations,
    );
  const seen: ItemRecord[] = [...writer.finishedItems];
  try {
    const outcome = await evaluate(
      cache?.model ?? model,
      benchmark,
      { mode, softPrompt: softPrompt?.softPrompt ?? null, shots, limit, batchSize },
      writer,
      {
        signal: hooks.signal,
        onPhase: (phase, message) => hooks.progress({ kind: 'phase', phase, mode, message }),
        onItem: (record, done, total) => {
          seen.push(record);
          if (cache?.isDelivering) pace.skip();
          flow.add(record, done, total);
        },
      },
    );
    flow.flush();
    return finish(outcome.items, outcome.records);
  } catch (thrown) {
    flow.flush();
    // A partial summary, so that the time spent is not lost and a stopped run shows what it has.
    if (seen.length > 0)
      await writer.saveSummary(finish(await benchmark.items('evaluation'), seen, 0)).catch(() => undefined);
    throw thrown;
  }
}

/** From a file, from the soft-prompt run of the same job, or tuned now in this run. */
async function obtainSoftPrompt(
  job: Job,
  mode: PromptMode,
  writer: RunWriter,
): Promise<{ softPrompt: SoftPrompt; bestStep: number | null; seconds: number }> {
  const { benchmark, hooks, model, request, rooms, store } = job;
  if (request.overrides.softPromptFile) {
    const softPrompt = await rooms.readSoftPromptFile(request.overrides.softPromptFile);
    if (softPrompt.hiddenSize !== model.hiddenSize) {
      throw new HumanError(
        'bad-input',
        `The soft prompt has vectors of width ${softPrompt.hiddenSize}; this model's embedding has ${model.hiddenSize}.`,
        {
          place: { file: request.overrides.softPromptFile },
          todo: 'Use a soft prompt that was tuned on this model.',
        },
      );
    }
    // Not refused: a folder's name is the user's own, and another export of the same model takes the same vectors.
    if (softPrompt.tunedOn !== undefined && softPrompt.tunedOn !== model.identity.name) {
      const note = `The soft prompt was tuned on the model "${softPrompt.tunedOn}", not on "${model.identity.name}".`;
      await writer.update({ notes: [...new Set([...writer.run.notes, note])] });
    }
    return { softPrompt, bestStep: null, seconds: 0 };
  }
  const { softPromptFrom, softPrompt: settings } = writer.run.settings;
  if (softPromptFrom) {
    const softPrompt = await store.readSoftPrompt(softPromptFrom);
    if (softPrompt) return { softPrompt, bestStep: null, seconds: 0 };
    throw new HumanError('missing', `The soft prompt of run "${softPromptFrom}" is not there any more.`, {
      todo: 'Tune it again.',
    });
  }
  if (!settings) throw new Error('A tuning run is written with its settings.');
  hooks.progress({ kind: 'phase', phase: 'tuning', mode, message: 'Tuning the soft prompt' });
  const outcome = await tune(model, benchmark, settings, writer, {
    signal: hooks.signal,
    onPhase: (message) => hooks.progress({ kind: 'phase', phase: 'tuning', mode, message }),
    onRecord: (record, secondsLeft) =>
      hooks.progress({ kind: 'tuning', run: writer.run.id, record, steps: settings.steps, secondsLeft }),
  });
  const notes = [...new Set([...writer.run.notes, ...outcome.notes])];
  if (notes.length > writer.run.notes.length) await writer.update({ notes });
  return outcome;
}

type WantedRun = Omit<RunFile, 'id' | 'created' | 'updated' | 'status'>;

async function describeRun(job: Job, mode: PromptMode): Promise<WantedRun> {
  const { benchmark, model, request, rooms } = job;
  const { overrides } = request;
  const limit = overrides.limit === undefined ? benchmark.limit : overrides.limit;
  const all = (await benchmark.items('evaluation')).length;
  const tuned = usesSoftPrompt(mode) && !overrides.softPromptFile;
  const tunedElsewhere =
    mode === 'few-shot+soft-prompt'
      ? (job.known.find(
          ({ run }) => run.group === request.group && run.mode === 'soft-prompt' && run.status === 'finished',
        )?.run.id ?? null)
      : null;
  const notes = [...model.notes, ...benchmark.notes];
  if (overrides.softPromptFile) notes.push(`The soft prompt comes from a file: ${overrides.softPromptFile}`);
  const softPrompt = tuned ? { ...benchmark.softPrompt, ...overrides.softPrompt } : null;
  const position = usesSoftPrompt(mode) ? (softPrompt?.position ?? (await positionOfFile(job))) : null;
  if (position === 'suffix') notes.push(suffixNote);
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
    benchmark: {
      task: benchmark.task,
      file: benchmark.file,
      digests: { config: benchmark.configDigest, data: await benchmark.dataDigest('evaluation') },
      items: limit === null ? all : Math.min(limit, all),
      split: benchmark.evaluationSplit,
    },
    settings: {
      limit,
      shots: usesExamples(mode) ? (overrides.shots ?? benchmark.shots) : 0,
      fewShotSeed: benchmark.fewShotSeed,
      batchSize: overrides.batchSize ?? 8,
      generation: benchmark.generation,
      softPrompt,
      softPromptFrom: tunedElsewhere,
      ...(position && { softPromptPosition: position }),
      ...(chat && { chat }),
      ...(benchmark.generates === false && { generates: false as const }),
      ...((benchmark.repeats ?? 1) > 1 && { repeats: benchmark.repeats }),
    },
    provider: model.provider,
    notes,
  };
}

/**
 * Where the soft prompt of a file stands: what the file says is honoured, so that it stands where it was tuned to.
 * @throws HumanError where another position was asked for in so many words
 */
async function positionOfFile({ request, rooms }: Job): Promise<SoftPromptPosition> {
  const { softPromptFile, softPrompt } = request.overrides;
  if (!softPromptFile) return 'prefix';
  const { position = 'prefix' } = await rooms.readSoftPromptFile(softPromptFile);
  if (softPrompt?.position && softPrompt.position !== position)
    throw new HumanError(
      'bad-input',
      `The soft prompt was tuned to stand ${position === 'suffix' ? 'behind' : 'in front of'} the text (position: ${position}); "${softPrompt.position}" was asked for.`,
      { place: { file: softPromptFile }, todo: 'Leave the position out, or tune a soft prompt for the other one.' },
    );
  return position;
}

/** What must be equal for two runs to have the same numbers. Where a run stands and when it was made do not count. */
const determinants: { name: string; of(run: WantedRun): unknown }[] = [
  { name: 'model', of: ({ model }) => model.digests },
  { name: 'benchmark file', of: ({ benchmark }) => [benchmark.task, benchmark.digests.config] },
  { name: 'data', of: ({ benchmark }) => benchmark.digests.data },
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
  { name: 'position of the soft prompt', of: positionOf },
  { name: 'chat template and system instruction', of: ({ settings }) => chatDeterminant(settings.chat) },
];

const whatDiffers = (a: WantedRun, b: WantedRun): string[] =>
  determinants.filter(({ of }) => JSON.stringify(of(a)) !== JSON.stringify(of(b))).map(({ name }) => name);

const sameSettings = (a: WantedRun, b: WantedRun): boolean => whatDiffers(a, b).length === 0;
const whatChanged = (a: WantedRun, b: WantedRun): string => whatDiffers(a, b).join(', ');

const finishedAs = (folder: RunFolder | undefined, wanted: WantedRun): RunFolder | null =>
  folder?.summary && folder.run.status === 'finished' && sameSettings(folder.run, wanted) ? folder : null;

/** Seconds left from the pace since this process began; what took no time does not count: items of before, or cached. */
class Pace {
  private readonly started = performance.now();
  constructor(private free: number) {}

  /** An item came without being computed. */
  skip(): void {
    this.free++;
  }

  secondsLeft(done: number, total: number): number | null {
    const own = done - this.free;
    return own < 1 ? null : ((total - done) * (performance.now() - this.started)) / 1000 / own;
  }
}

/** Sends finished items on a few times a second, not one message each. */
class RecordFlow {
  private readonly waiting: ItemRecord[] = [];
  private last = 0;
  private done = 0;
  private total = 0;
  constructor(private readonly send: (records: ItemRecord[], done: number, total: number) => void) {}

  add(record: ItemRecord, done: number, total: number): void {
    this.waiting.push(record);
    this.done = done;
    this.total = total;
    if (performance.now() - this.last > 200) this.flush();
  }

  flush(): void {
    if (this.waiting.length === 0) return;
    this.last = performance.now();
    this.send(this.waiting.splice(0), this.done, this.total);
  }
}
