/**
 * Evaluation: put each item to the model in one prompt mode, read the output strictly and leniently, and say why it
 * failed the format where it did.
 */
import type { Benchmark, Item } from '../benchmark/types.ts';
import { HumanError, throwIfCancelled } from '../shared/errors.ts';
import { type PromptMode, usesExamples } from '../shared/modes.ts';
import type { ItemRecord } from '../shared/results.ts';
import type { LanguageModel, SoftPrompt } from './language-model.ts';
import type { RunWriter } from './run-store.ts';
import { encodePair, sha256 } from './text.ts';
import { turn } from './turn.ts';

export interface EvaluationSettings {
  mode: PromptMode;
  softPrompt: SoftPrompt | null;
  shots: number;
  limit: number | null;
  batchSize: number;
}

export interface EvaluationHooks {
  signal?: AbortSignal;
  onItem?(record: ItemRecord, done: number, total: number): void;
  onPhase?(phase: 'scoring' | 'evaluating', message: string): void;
}

export interface EvaluationOutcome {
  items: readonly Item[];
  records: ItemRecord[];
}

/** Items scored and generated together: enough to share prefixes and fill batches, few enough to lose little on a stop. */
const chunkItems = 64;

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
  // A benchmark without candidates needs no scoring pass in between: one call lets the engine sort all by length.
  const scored = benchmark.outputType === 'multiple_choice';
  const size = scored ? Math.max(chunkItems, settings.batchSize * 4) : Math.max(1, pending.length);

  for (let from = 0; from < pending.length; from += size) {
    throwIfCancelled(hooks.signal);
    const chunk = await prepare(
      model,
      benchmark,
      pending.slice(from, from + size),
      shots,
      settings.softPrompt?.vectors ?? 0,
    );
    const likelihoods = scored ? await scoreChoices(model, benchmark, chunk, settings, hooks) : new Map();
    const byIndex = new Map(chunk.map((entry) => [entry.item.index, entry]));
    hooks.onPhase?.('evaluating', `${settings.mode}: generating answers`);
    await model.generate(
      chunk.map(({ item, tokens }) => ({ index: item.index, tokens })),
      { ...benchmark.generation, batchSize: settings.batchSize, softPrompt: settings.softPrompt },
      {
        signal: hooks.signal,
        onResult: async (result) => {
          const entry = byIndex.get(result.index);
          if (!entry) throw new Error(`The engine answered item ${result.index}, which was not asked.`);
          const { item, tokens, text } = entry;
          const record: ItemRecord = {
            schema: 1,
            index: item.index,
            prompt: { hash: sha256(text), tokens: tokens.length },
            output: result.text,
            outputTokens: result.tokens.length,
            stop: result.stop,
            gold: benchmark.target(item).text,
            ...benchmark.judge(item, result.text, result.stop),
            ...(likelihoods.has(item.index) ? { choices: likelihoods.get(item.index) } : {}),
          };
          await run.appendItem(record);
          records.set(item.index, record);
          hooks.onItem?.(record, records.size, items.length);
        },
      },
    );
    await turn();
  }
  return { items, records: items.flatMap((item) => records.get(item.index) ?? []) };
}

interface PreparedItem {
  item: Item;
  text: string;
  tokens: number[];
}

async function prepare(
  model: LanguageModel,
  benchmark: Benchmark,
  items: readonly Item[],
  shots: number,
  softPromptVectors: number,
): Promise<PreparedItem[]> {
  const room = model.contextLength === null ? Number.POSITIVE_INFINITY : model.contextLength - softPromptVectors;
  const prepared: PreparedItem[] = [];
  for (const item of items) {
    const { text } = await benchmark.prompt(item, shots);
    const tokens = model.tokenizer.encode(text, { special: true });
    if (tokens.length >= room) {
      throw new HumanError(
        'bad-input',
        `Item ${item.index} has ${tokens.length} prompt tokens${shots > 0 ? ` with ${shots} examples` : ''}, but the model has room for ${room}.`,
        {
          place: item.place,
          todo:
            shots > 0
              ? (benchmark.advice?.shots ?? 'Use fewer examples (`num_fewshot`).')
              : 'Shorten the prompt, or choose a model with a longer context.',
        },
      );
    }
    prepared.push({ item, text, tokens });
  }
  return prepared;
}

/** Log-likelihood of each candidate behind the prompt; `acc` and `acc_norm` (by characters) of lm-evaluation-harness. */
async function scoreChoices(
  model: LanguageModel,
  benchmark: Benchmark,
  chunk: readonly PreparedItem[],
  settings: EvaluationSettings,
  hooks: EvaluationHooks,
): Promise<Map<number, NonNullable<ItemRecord['choices']>>> {
  hooks.onPhase?.('scoring', `${settings.mode}: comparing the candidates' likelihoods`);
  const asked: { item: number; choice: number }[] = [];
  const requests = chunk.flatMap(({ item, text }) =>
    (benchmark.choices(item)?.texts ?? []).map((choice, number) => {
      asked.push({ item: item.index, choice: number });
      const pair = encodePair(model.tokenizer, text, benchmark.target(item).delimiter + choice);
      return { index: asked.length - 1, context: pair.prompt, continuation: pair.continuation };
    }),
  );
  const sums = new Map<number, number[]>();
  await model.logLikelihood(
    requests,
    { batchSize: settings.batchSize, softPrompt: settings.softPrompt },
    {
      signal: hooks.signal,
      onResult: ({ index, sum }) => {
        const place = asked[index];
        if (!place) return;
        const row = sums.get(place.item) ?? [];
        row[place.choice] = sum;
        sums.set(place.item, row);
      },
    },
  );
  return new Map(
    chunk.flatMap(({ item }) => {
      const choices = benchmark.choices(item);
      const logLikelihoods = sums.get(item.index);
      if (!choices || !logLikelihoods) return [];
      const perCharacter = logLikelihoods.map((sum, i) => sum / Math.max(1, choices.texts[i]?.length ?? 1));
      return [
        [
          item.index,
          {
            texts: choices.texts,
            logLikelihoods,
            gold: choices.gold,
            right: isBest(choices, argmax(logLikelihoods)),
            rightNormalised: isBest(choices, argmax(perCharacter)),
            ...(choices.scores && { scores: choices.scores }),
          },
        ],
      ];
    }),
  );
}

/** Is this the right choice, or one of those with the highest score where choices are graded? */
const isBest = ({ gold, scores }: { gold: number; scores?: readonly number[] }, chosen: number): boolean =>
  scores ? scores[chosen] === Math.max(...scores) : chosen === gold;

/** Index of the largest value; the first of equals, as numpy.argmax. */
function argmax(values: readonly number[]): number {
  let best = 0;
  values.forEach((value, i) => {
    if (value > (values[best] ?? Number.NEGATIVE_INFINITY)) best = i;
  });
  return best;
}
