/**
 * Evaluation: put each item to the model in one prompt mode, read the output strictly and leniently and say why it failed
 * the format where it did, and measure what the benchmark file asks for.
 */
import type { Benchmark, Item } from '../benchmark/types.ts';
import { throwIfCancelled } from '../shared/errors.ts';
import { type PromptMode, usesExamples } from '../shared/modes.ts';
import type { ItemRecord } from '../shared/results.ts';
import { type PreparedItem, prepareItem, type ScoredItem, scoreItems } from './asking.ts';
import type { BatchSize, GenerationResult, LanguageModel, SoftPrompt } from './language-model.ts';
import { type Answered, promptFacts, recordOf } from './records.ts';
import type { RunWriter } from './run-store.ts';
import { turn } from './turn.ts';

export interface EvaluationSettings {
  mode: PromptMode;
  softPrompt: SoftPrompt | null;
  shots: number;
  limit: number | null;
  batchSize: BatchSize;
}

export interface EvaluationHooks {
  signal?: AbortSignal;
  onItem?(record: ItemRecord, done: number, total: number): void;
  onPhase?(phase: 'scoring' | 'evaluating', message: string): void;
  /** Rows that are computed together; `lowered`: because memory ran out. */
  onBatchSize?(of: 'outputs' | 'likelihoods', rows: number, lowered: boolean): void;
}

export interface EvaluationOutcome {
  items: readonly Item[];
  records: ItemRecord[];
}

/**
 * Items scored and generated together: enough to fill batches, few enough to lose little on a stop; what they begin with the
 * engine keeps from one call to the next.
 * Where there is one call an item, each is written as it is finished, and only memory bounds how many are prepared.
 */
const chunkItems = { both: 256, likelihoods: 1024 };

/** The first `limit` items of the evaluation split, as lm-evaluation-harness takes them. */
async function itemsToEvaluate(benchmark: Benchmark, limit: number | null): Promise<readonly Item[]> {
  const items = await benchmark.items('evaluation');
  return limit === null ? items : items.slice(0, limit);
}

/**
 * Evaluates the items that the run does not hold yet and appends each as it is finished.
 * @returns the items and all their records, in the order of the data
 */
export async function evaluate(
  model: LanguageModel,
  benchmark: Benchmark,
  settings: EvaluationSettings,
  run: RunWriter,
  hooks: EvaluationHooks = {},
): Promise<EvaluationOutcome> {
  const items = await itemsToEvaluate(benchmark, settings.limit);
  const records = new Map(run.finishedItems.map((record) => [record.index, record]));
  const pending = items.filter((item) => !records.has(item.index));
  const shots = usesExamples(settings.mode) ? settings.shots : 0;
  const reader = { model, vectors: settings.softPrompt?.vectors ?? 0 };
  const scores = benchmark.outputType !== 'generate_until';
  const generates = benchmark.generates !== false;
  const most = !scores
    ? pending.length
    : generates
      ? Math.max(chunkItems.both, typeof settings.batchSize === 'number' ? settings.batchSize * 4 : 0)
      : chunkItems.likelihoods;
  const size = Math.max(1, most);
  const asking = { model, benchmark, settings, hooks, splitSize: (await benchmark.items('evaluation')).length };

  const finish = async (prepared: PreparedItem, answered: Omit<Answered, 'prompt' | 'truncated'>): Promise<void> => {
    const { item, prompt, truncated } = prepared;
    const record = recordOf(benchmark, item, { ...answered, prompt: promptFacts(prompt), truncated });
    await run.appendItem(record);
    records.set(item.index, record);
    hooks.onItem?.(record, records.size, items.length);
  };

  for (let from = 0; from < pending.length; from += size) {
    throwIfCancelled(hooks.signal);
    const chunk: PreparedItem[] = [];
    for (const item of pending.slice(from, from + size)) chunk.push(await prepareItem(reader, benchmark, item, shots));

    const scored = new Map<PreparedItem, Pick<Answered, 'likelihoods' | 'tokens'>>();
    if (scores) {
      hooks.onPhase?.('scoring', `${settings.mode}: ${scoringWords(benchmark)}`);
      await scoreItems(
        model,
        chunk,
        settings,
        async (prepared, found: ScoredItem) => {
          if (generates) scored.set(prepared, found);
          else await finish(prepared, { ...found, outputs: [] });
        },
        {
          signal: hooks.signal,
          onBatchSize: (rows, lowered) => hooks.onBatchSize?.('likelihoods', rows, lowered),
        },
      );
    }
    if (generates) {
      hooks.onPhase?.('evaluating', `${settings.mode}: generating answers`);
      await generateItems(asking, chunk, (prepared, outputs) =>
        finish(prepared, { ...(scored.get(prepared) ?? { likelihoods: [], tokens: [] }), outputs }),
      );
    }
    await turn();
  }
  return { items, records: items.flatMap((item) => records.get(item.index) ?? []) };
}

const scoringWords = ({ outputType }: Benchmark): string =>
  outputType === 'multiple_choice' ? "comparing the candidates' likelihoods" : 'measuring likelihoods';

interface Asking {
  model: LanguageModel;
  benchmark: Benchmark;
  settings: EvaluationSettings;
  hooks: EvaluationHooks;
  /** Items of the whole split: repeats are numbered behind them, so that a limit does not change what is drawn. */
  splitSize: number;
}

/** Generates the outputs of the items, `repeats` of each; greedy ones are equal, so one is generated and copied. */
async function generateItems(
  { model, benchmark, settings, hooks, splitSize }: Asking,
  chunk: readonly PreparedItem[],
  onItem: (prepared: PreparedItem, outputs: Answered['outputs']) => Promise<void>,
): Promise<void> {
  const { generation, repeats = 1 } = benchmark;
  const drawn = generation.temperature > 0 ? repeats : 1;
  const places = new Map<number, { prepared: PreparedItem; repeat: number }>();
  const outputs = new Map<PreparedItem, (GenerationResult | undefined)[]>();
  const requests = chunk.flatMap((prepared) => {
    const request = prepared.encoded.find((encoded) => encoded.kind === 'generate');
    if (!request) return [];
    outputs.set(prepared, new Array(drawn).fill(undefined));
    return Array.from({ length: drawn }, (_, repeat) => {
      // The engine draws by this number.
      const index = repeat * splitSize + prepared.item.index;
      places.set(index, { prepared, repeat });
      return { index, tokens: request.tokens };
    });
  });
  await model.generate(
    requests,
    { ...generation, batchSize: settings.batchSize, softPrompt: settings.softPrompt },
    {
      signal: hooks.signal,
      onBatchSize: (rows, lowered) => hooks.onBatchSize?.('outputs', rows, lowered),
      onResult: async (result) => {
        const place = places.get(result.index);
        const found = place && outputs.get(place.prepared);
        if (!place || !found) throw new Error(`The engine answered request ${result.index}, which was not asked.`);
        found[place.repeat] = result;
        if (found.includes(undefined)) return;
        const all = Array.from({ length: repeats }, (_, repeat) => found[repeat] ?? found[0]);
        await onItem(
          place.prepared,
          all.flatMap((one) => (one ? [{ text: one.text, tokens: one.tokens.length, stop: one.stop }] : [])),
        );
      },
    },
  );
}
