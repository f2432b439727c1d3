/** The worker's call for an item token by token: the model as a run had it, and the item as the run saw it. */
import { join } from 'node:path';
import {
  asRun,
  type ItemTokensOf,
  itemTokens,
  type LanguageModel,
  type RunStore,
  type SoftPrompt,
} from '../evaluate/index.ts';
import { HumanError, throwIfCancelled } from '../shared/errors.ts';
import type { ItemTokens } from '../shared/item-tokens.ts';
import { usesSoftPrompt } from '../shared/modes.ts';
import type { EngineSettings } from '../shared/protocol.ts';
import type { RunFile } from '../shared/results.ts';
import type { WorkerRooms } from './handlers.ts';
import type { ModelShelf } from './shelf.ts';

export async function tokensOfItem(
  rooms: Pick<WorkerRooms, 'openBenchmark' | 'openStore'>,
  shelf: ModelShelf,
  request: { storeFolder: string; run: string; index: number; engine: EngineSettings },
  { signal, progress }: { signal: AbortSignal; progress(message: string): void },
): Promise<ItemTokens> {
  const store = rooms.openStore(request.storeFolder);
  const { run } = await store.read(request.run);
  if (run.source)
    throw new HumanError('unsupported', 'This run was imported: the model that wrote its outputs is not here.', {
      todo: 'Evaluate the benchmark here to see log-probabilities.',
    });
  const record = await store.readItem(run.id, request.index);
  if (!record) throw new HumanError('missing', `The run has no item ${request.index} yet.`);
  progress('Reading the benchmark');
  const benchmark = asRun(run, await rooms.openBenchmark(run.benchmark.file));
  const item = (await benchmark.items('evaluation')).find(({ index }) => index === request.index);
  if (!item)
    throw new HumanError('missing', `Item ${request.index} is not in the benchmark's data any more.`, {
      place: { file: run.benchmark.file },
    });
  const softPrompt = await softPromptOf(store, run);
  throwIfCancelled(signal);
  progress('Opening the model');
  return withModel(shelf, run, request.engine, (model) => {
    throwIfCancelled(signal);
    progress('Scoring the tokens');
    const of: ItemTokensOf = { model, benchmark, item, run, record, softPrompt };
    return itemTokens(of, signal);
  });
}

async function softPromptOf(store: RunStore, run: RunFile): Promise<SoftPrompt | null> {
  if (!usesSoftPrompt(run.mode)) return null;
  const softPrompt = await store.readSoftPrompt(run.settings.softPromptFrom ?? run.id);
  if (softPrompt) return softPrompt;
  const fromFile = run.settings.softPromptDigest !== undefined;
  throw new HumanError(
    'missing',
    fromFile
      ? 'The soft prompt of this run came from a file and is not kept with the run.'
      : 'The soft prompt of this run is not there any more.',
    { todo: fromFile ? 'Evaluate again with it to see log-probabilities.' : 'Tune it again.' },
  );
}

/** The parts of a model that decide its outputs, in words. */
const parts = { graph: 'graph', weights: 'weights', tokenizer: 'tokenizer' } as const;

/** Lends the run's own model. @throws HumanError where it is not there any more, or is another one now */
async function withModel<T>(
  shelf: ModelShelf,
  { model: wanted }: RunFile,
  engine: EngineSettings,
  use: (model: LanguageModel) => Promise<T>,
): Promise<T> {
  // By its folder, as jobs open it, so that it is held once; by its file where the folder now gives another one.
  for (const path of [wanted.folder, join(wanted.folder, wanted.graphFile)]) {
    const { model, giveBack } = await shelf.borrow(path, engine).catch((thrown: unknown) => {
      throw notThere(wanted.folder, thrown);
    });
    try {
      const { identity } = model;
      if (identity.graphFile !== wanted.graphFile && path === wanted.folder) continue;
      const changed = (Object.keys(parts) as (keyof typeof parts)[]).filter(
        (part) => identity.digests[part] !== wanted.digests[part],
      );
      if (changed.length > 0)
        throw new HumanError(
          'bad-input',
          `The model in this folder is not the one of the run any more. Changed: ${changed.map((part) => parts[part]).join(', ')}.`,
          {
            place: { file: wanted.folder },
            todo: 'Evaluate again to see log-probabilities of the model as it is now.',
          },
        );
      return await use(model);
    } finally {
      await giveBack();
    }
  }
  throw new Error('A graph file that was opened by its name has another name.');
}

const notThere = (folder: string, thrown: unknown): unknown =>
  thrown instanceof HumanError && thrown.kind === 'missing'
    ? new HumanError('missing', `The model of this run is not here any more: ${folder}.`, {
        todo: 'Put it back where it was to see log-probabilities.',
        cause: thrown,
      })
    : thrown;
