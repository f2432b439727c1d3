/** What the worker does for each call of the host. The rooms are handed in, so that a test can script the model. */
import { basename } from 'node:path';
import { chatOf } from '../benchmark/chat.ts';
import type { Benchmark } from '../benchmark/types.ts';
import {
  type ChatTemplates,
  chatSettingsOf,
  type JobRooms,
  type LanguageModel,
  rescore,
  runJob,
  type Tokenizer,
} from '../evaluate/index.ts';
import { encodeText } from '../evaluate/text.ts';
import { CancelledError, HumanError, throwIfCancelled } from '../shared/errors.ts';
import { usesExamples, usesSoftPrompt } from '../shared/modes.ts';
import type {
  EngineSettings,
  ExportFormat,
  ImportReport,
  ModelReport,
  PageContent,
  PageSizes,
  PromptPreview,
  ProviderStatus,
  VerifyReport,
  WorkerApi,
} from '../shared/protocol.ts';
import type { Handlers } from '../shared/rpc.ts';
import { tokensOfItem } from './score-tokens.ts';
import { ModelShelf } from './shelf.ts';

/** A run, and the store that it is in. */
export interface StoredRun {
  run: string;
  storeFolder: string;
}

export interface WorkerRooms extends Omit<JobRooms, 'versions'> {
  versions(): Promise<JobRooms['versions']>;
  inspectModel(folder: string): Promise<ModelReport>;
  verifyModel(folder: string, engine: EngineSettings, progress: (message: string) => void): Promise<VerifyReport>;
  openTokenizer(folder: string): Promise<Tokenizer>;
  readChatTemplates(folder: string): Promise<ChatTemplates>;
  importResults(
    paths: readonly string[],
    storeFolder: string,
    signal: AbortSignal,
    progress: (message: string, fraction: number | null) => void,
  ): Promise<ImportReport>;
  exportRuns(
    runs: readonly string[],
    storeFolder: string,
    to: { format: ExportFormat; folder: string },
    signal: AbortSignal,
  ): Promise<string[]>;
  measurePage(runs: readonly StoredRun[], signal: AbortSignal): Promise<PageSizes>;
  writePage(
    runs: readonly StoredRun[],
    to: { file: string; content: PageContent },
    signal: AbortSignal,
    progress: (message: string, fraction: number | null) => void,
  ): Promise<{ bytes: number; noPrompts: string | null }>;
  providers(): Promise<ProviderStatus[]>;
}

export function workerHandlers(rooms: WorkerRooms): Handlers<WorkerApi> {
  const shelf = new ModelShelf(rooms.openModel);
  const inTurn = turnstile();
  let jobs = 0;
  const asJob: typeof inTurn = async (...given) => {
    jobs++;
    return inTurn(...given).finally(() => jobs--);
  };
  return {
    runJob: (request, { signal, progress }) =>
      asJob(
        signal,
        () =>
          progress({ kind: 'phase', phase: 'loading', mode: null, message: 'Waiting for the job before it to end' }),
        async () => {
          const borrowed: (() => Promise<void>)[] = [];
          const openModel = async (folder: string, engine: EngineSettings): Promise<LanguageModel> => {
            const { model, giveBack } = await shelf.borrow(folder, engine);
            borrowed.push(giveBack);
            return model;
          };
          try {
            return await runJob(
              request,
              { ...rooms, openModel, versions: await rooms.versions() },
              { signal, progress },
            );
          } finally {
            for (const giveBack of borrowed) await giveBack();
          }
        },
      ),
    itemTokens: async (request, { signal, progress }) => {
      // A look at an item is not worth the wait for a job of hours, nor its memory beside that of the job.
      if (jobs > 0)
        throw new HumanError('bad-input', 'The model cannot be asked now: a job is on.', {
          todo: 'Ask again when it has ended, or stop it: it can be resumed.',
        });
      return inTurn(
        signal,
        () => progress({ message: 'Waiting for the item before it' }),
        () => tokensOfItem(rooms, shelf, request, { signal, progress: (message) => progress({ message }) }),
      );
    },
    rescore: async (request, hooks) => rescore(request, { ...rooms, versions: await rooms.versions() }, hooks),
    inspectModel: ({ folder }) => rooms.inspectModel(folder),
    verifyModel: ({ folder, engine }, { signal, progress }) =>
      asJob(
        signal,
        () => progress({ message: 'Waiting for the job before it to end' }),
        () => rooms.verifyModel(folder, engine, (message) => progress({ message })),
      ),
    previewPrompts: async ({ benchmarkFile, modelFolder, index, chat }) => {
      const opened = await rooms.openBenchmark(benchmarkFile);
      const tokenizer = modelFolder === null ? null : await rooms.openTokenizer(modelFolder);
      const model =
        modelFolder === null
          ? null
          : { name: basename(modelFolder), chatTemplates: await rooms.readChatTemplates(modelFolder) };
      // Without a model there is no template to show.
      const benchmark = model ? opened.withChat(chatOf(chatSettingsOf(chat, opened, model))) : opened;
      return previewPrompts(benchmark, tokenizer, index);
    },
    importResults: ({ paths, storeFolder }, { signal, progress }) =>
      rooms.importResults(paths, storeFolder, signal, (message, fraction) => progress({ message, fraction })),
    measurePage: ({ runs }, { signal }) => rooms.measurePage(runs, signal),
    writePage: ({ runs, file, content }, { signal, progress }) =>
      rooms.writePage(runs, { file, content }, signal, (message, fraction) => progress({ message, fraction })),
    exportRuns: ({ runs, storeFolder, format, folder }, { signal }) =>
      rooms.exportRuns(runs, storeFolder, { format, folder }, signal),
    providers: () => rooms.providers(),
    release: () => shelf.release(),
  };
}

async function previewPrompts(
  benchmark: Benchmark,
  tokenizer: Tokenizer | null,
  index: number,
): Promise<{ total: number; previews: PromptPreview[] }> {
  const items = await benchmark.items('evaluation');
  const item = items[index];
  if (!item)
    throw new HumanError(
      'bad-input',
      `There is no item ${index}: the split "${benchmark.evaluationSplit}" has ${items.length}.`,
      {
        place: { file: benchmark.file },
      },
    );
  const previews: PromptPreview[] = [];
  for (const mode of benchmark.modes) {
    const { text, parts } = await benchmark.prompt(item, usesExamples(mode) ? benchmark.shots : 0);
    previews.push({
      mode,
      parts,
      // Decoded one by one: a character that several tokens make up shows as replacement characters, as it is.
      tokens: tokenizer ? encodeText(tokenizer, text).map((id) => tokenizer.decode([id], { special: true })) : [],
      answer: benchmark.trainingAnswer(item).text,
      stop: benchmark.generation.until,
      softPromptVectors: usesSoftPrompt(mode) ? benchmark.softPrompt.vectors : 0,
      softPromptPosition: benchmark.softPrompt.position,
    });
  }
  return { total: items.length, previews };
}

/** Lets one job through at a time, in the order of arrival: two at once would only take each other's cores and memory. */
function turnstile() {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async <T>(signal: AbortSignal, onWait: () => void, run: () => Promise<T>): Promise<T> => {
    const before = last;
    let leave = (): void => {};
    const own = new Promise<void>((resolve) => {
      leave = resolve;
    });
    last = before.then(() => own);
    if (waiting++ > 0) onWait();
    try {
      throwIfCancelled(signal);
      let onAbort = (): void => {};
      const aborted = new Promise<never>((_, reject) => {
        onAbort = () => reject(new CancelledError());
        signal.addEventListener('abort', onAbort, { once: true });
      });
      await Promise.race([before, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
      return await run();
    } finally {
      waiting--;
      leave();
    }
  };
}
