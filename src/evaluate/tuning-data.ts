/** The examples of a tuning: which are trained on, and which are held out. */
import type { Benchmark, Item } from '../benchmark/types.ts';
import { HumanError } from '../shared/errors.ts';
import { Random } from '../shared/random.ts';
import type { SoftPromptSettings } from '../shared/results.ts';
import type { LanguageModel, Tokenizer, TrainingExample } from './language-model.ts';
import { encodeExample, encodeText, prefixToken } from './text.ts';

export interface TuningData {
  training: TrainingExample[];
  /** Held out from the training split: never trained on, generated at each validation. */
  validation: { item: Item; prompt: readonly number[]; example: TrainingExample }[];
  notes: string[];
}

/**
 * The items to tune on, where there can be a tuning at all: what is wrong with data, vectors or graph is said before
 * anything is computed.
 * @throws HumanError where there are none, no room for a prompt, or no way for a gradient
 */
export async function trainingItems(
  model: LanguageModel,
  benchmark: Benchmark,
  settings: SoftPromptSettings,
): Promise<readonly Item[]> {
  const items = benchmark.trainingSplit === null ? [] : await benchmark.items('training');
  if (items.length < 2) {
    throw new HumanError(
      'bad-input',
      `The benchmark "${benchmark.task}" has ${items.length === 0 ? 'no training items' : 'only one training item'} to tune a soft prompt on; it needs two, one of them to validate with.`,
      {
        place: { file: benchmark.file },
        todo:
          benchmark.advice?.training ??
          'Name a split with data as `training_split:` (or `validation_split:`) in the benchmark file.',
      },
    );
  }
  const room = (model.contextLength ?? Number.POSITIVE_INFINITY) - settings.vectors;
  if (room < 1) {
    throw new HumanError(
      'bad-input',
      `${settings.vectors} vectors leave no room for a prompt: the model has ${model.contextLength} positions.`,
      { place: { file: benchmark.file }, todo: 'Lower `vectors` under `metadata: softbench: soft_prompt:`.' },
    );
  }
  model.checkTuning?.();
  return items;
}

/** A whole text behind the start token, as its likelihood is measured; the beginning of one that is longer than the model reads. */
function wholeText(tokenizer: Tokenizer, text: string, room: number): TrainingExample {
  const prefix = prefixToken(tokenizer);
  const ids = encodeText(tokenizer, text);
  return prefix === null
    ? { prompt: ids.slice(0, 1), answer: ids.slice(1, room) }
    : { prompt: [prefix], answer: ids.slice(0, Math.max(0, room - 1)) };
}

/**
 * The training split, shuffled by seed: a slice held out for validation, the rest to train on.
 * @throws HumanError where there is none, or nothing of it fits into the model
 */
export async function prepareExamples(
  model: LanguageModel,
  benchmark: Benchmark,
  settings: SoftPromptSettings,
): Promise<TuningData> {
  const items = await trainingItems(model, benchmark, settings);
  const notes: string[] = [];
  const shuffled = new Random(settings.seed ^ 0x5eed).shuffle(items);
  const heldOut = Math.max(1, Math.min(settings.validationItems, Math.floor(items.length / 5)));
  const room = (model.contextLength ?? Number.POSITIVE_INFINITY) - settings.vectors;
  const encode = async (item: Item): Promise<TrainingExample> => {
    if (benchmark.outputType === 'loglikelihood_rolling')
      return wholeText(model.tokenizer, benchmark.target(item).text, room);
    const { text } = await benchmark.prompt(item, 0);
    return encodeExample(model.tokenizer, text, benchmark.trainingAnswer(item));
  };

  const validation: TuningData['validation'] = [];
  const training: TrainingExample[] = [];
  let leftOut = 0;
  for (const item of shuffled) {
    if (training.length >= settings.steps * settings.batchSize) break;
    const example = await encode(item);
    if (example.answer.length === 0 || example.prompt.length + example.answer.length > room) leftOut++;
    else if (validation.length < heldOut) validation.push({ item, prompt: example.prompt, example });
    else training.push(example);
  }
  if (training.length === 0) {
    throw new HumanError(
      'bad-input',
      `None of the ${items.length} training items of "${benchmark.task}" fits into the model's ${model.contextLength} positions behind ${settings.vectors} vectors.`,
      { place: { file: benchmark.file }, todo: 'Shorten the prompt or choose a model with a longer context.' },
    );
  }
  if (leftOut > 0)
    notes.push(`${leftOut} training items were left out: longer than the model's context, or without an answer.`);
  const needed = settings.steps * settings.batchSize;
  if (training.length < needed) {
    notes.push(
      `${training.length} training items for ${needed} samples: each was seen about ${(needed / training.length).toFixed(1)} times.`,
    );
  }
  return { training, validation, notes };
}
