/**
 * A job: one benchmark × one model in one or more prompt modes, each a run on disk. Decides for every mode whether it is
 * finished, resumed, reused or begun, tunes where a soft prompt is needed, and reports progress.
 */
import { chatOf } from '../benchmark/chat.ts';
import type { Benchmark } from '../benchmark/types.ts';
import { missingNotes } from '../metrics/index.ts';
import { CancelledError, HumanError, sentenceOf, throwIfCancelled } from '../shared/errors.ts';
import { type PromptMode, usesSoftPrompt } from '../shared/modes.ts';
import type { EngineSettings, JobProgress, JobRequest } from '../shared/protocol.ts';
import { responsesNote, withResponsesNote } from '../shared/response-words.ts';
import type { ItemRecord, RunSummary } from '../shared/results.ts';
import { BatchRows } from './batch-rows.ts';
import { evaluate } from './evaluate.ts';
import { Pace, RecordFlow } from './item-progress.ts';
import type { LanguageModel, SoftPrompt } from './language-model.ts';
import { withoutScores, withoutScoring } from './predict-only.ts';
import type { ResponseCache } from './response-cache.ts';
import type { RunFolder, RunStore, RunWriter } from './run-store.ts';
import { scoringPause } from './scoring-pause.ts';
import { summarise } from './summarise.ts';
import { tune } from './tune.ts';
import { trainingItems } from './tuning-data.ts';
import { chatOfJob, describeRun, finishedAs, sameSettings, whatDiffers } from './wanted-run.ts';

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

export interface Job {
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
      `The run "${mine.run.id}" cannot be resumed. Changed since it began: ${whatDiffers(mine.run, wanted).join(', ')}.`,
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
 * prompts were too long; which metrics have no value.
 */
function notesOfResponses({ cache, model }: Job, notes: readonly string[], summary: RunSummary): string[] {
  const { responses, truncated } = summary;
  const all = [
    ...withResponsesNote(notes, responsesNote(responses)),
    ...(cache?.problems() ?? []),
    ...missingNotes(summary),
  ];
  if (truncated)
    all.push(
      `${truncated} ${truncated === 1 ? 'item was' : 'items were'} longer than the model's context of ${model.contextLength} tokens: the beginning was left out, as in lm-evaluation-harness (room for the longest output is kept).`,
    );
  return [...new Set(all)];
}

/** Of a run that was resumed, the larger of its parts'. */
const largest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

async function executeRun(
  job: Job,
  mode: PromptMode,
  writer: RunWriter,
  earlier: RunSummary | null,
): Promise<RunSummary> {
  const { benchmark, model, cache, hooks } = job;
  // What an earlier mode of the job took is not this one's.
  model.restartPeakMemory?.();
  const softPrompt = usesSoftPrompt(mode) ? await obtainSoftPrompt(job, mode, writer) : null;
  // Tuning judges its held-out items all the same: it has to choose a step.
  const scoring = writer.run.predictOnly ? withoutScoring(benchmark) : benchmark;
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
      ...(pace.cached > 0 && { cached: pace.cached }),
      records,
    }),
  );
  const secondsSoFar = (): number => (earlier?.seconds ?? 0) + (performance.now() - started) / 1000;
  const finish = async (
    items: Awaited<ReturnType<typeof evaluate>>['items'],
    records: ItemRecord[],
    iterations?: number,
  ): Promise<RunSummary> => {
    const summary = await summarise(
      scoring,
      items,
      records,
      {
        run: writer.run.id,
        mode,
        seconds: secondsSoFar(),
        tuningSeconds: softPrompt?.seconds ?? 0,
        bestStep: softPrompt?.bestStep ?? null,
        peakMemoryBytes: largest(model.peakMemoryBytes(), earlier?.peakMemoryBytes ?? null),
        responses: responses(),
      },
      iterations,
      scoringPause(hooks, mode),
    );
    return writer.run.predictOnly ? withoutScores(summary) : summary;
  };
  const seen: ItemRecord[] = [...writer.finishedItems];
  const batches = new BatchRows(writer);
  try {
    const outcome = await evaluate(
      cache?.model ?? model,
      scoring,
      { mode, softPrompt: softPrompt?.softPrompt ?? null, shots, limit, batchSize },
      writer,
      {
        signal: hooks.signal,
        onPhase: (phase, message) => hooks.progress({ kind: 'phase', phase, mode, message }),
        onBatchSize: (of, rows, lowered) => batches.note(of, rows, lowered),
        onItem: (record, done, total) => {
          seen.push(record);
          if (cache?.isDelivering) pace.skip();
          flow.add(record, done, total);
        },
      },
    );
    flow.flush();
    await batches.record();
    return await finish(outcome.items, outcome.records);
  } catch (thrown) {
    flow.flush();
    // A partial summary, so that the time spent is not lost and a stopped run shows what it has.
    if (seen.length > 0)
      await writer.saveSummary(await finish(await benchmark.items('evaluation'), seen, 0)).catch(() => undefined);
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
    // The run is whole without the file, which may go: its items' tokens are scored with these vectors later.
    await writer.saveSoftPrompt(softPrompt, {
      model: softPrompt.tunedOn ?? model.identity.name,
      position: softPrompt.position ?? 'prefix',
    });
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
