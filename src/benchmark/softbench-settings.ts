/** What a benchmark file says to Softbench alone, under `metadata: softbench:`, with its defaults. */
import { isPromptMode, isSoftPromptPosition, type PromptMode, promptModes } from '../shared/modes.ts';
import { type ChatRequest, learningRateWords, recomputations, type SoftPromptSettings } from '../shared/results.ts';
import type { Configuration } from './configuration.ts';
import { checkKeys, softbenchKeys, softPromptKeys } from './keys.ts';
import { suggestion } from './near-miss.ts';
import type { AnswerKind } from './types.ts';
import { mapping, number, text } from './values.ts';

export interface SoftbenchSettings {
  strict: string | null;
  lenient: string | null;
  answer: AnswerKind | null;
  /** JSON Schema that an answer must fit; checked when the configuration was read. */
  schema: object | null;
  modes: PromptMode[];
  softPrompt: SoftPromptSettings;
  limit: number | null;
  shots: number;
  fewShotSeed: number;
  /** False: likelihoods only, where there are any; null where the file does not say. */
  generate: boolean | null;
  chatRequest: ChatRequest | null;
}

const defaultSoftPrompt: SoftPromptSettings = {
  vectors: 10,
  steps: 80,
  batchSize: 8,
  learningRate: 'auto',
  init: 'vocabulary',
  seed: 0,
  position: 'prefix',
  recompute: 'none',
  validateEvery: 10,
  validationItems: 32,
};

function readChat(options: Readonly<Record<string, unknown>>): ChatRequest | null {
  const { chat_template: template, system_instruction: instruction, fewshot_as_multiturn: multiturn } = options;
  if (template === undefined && instruction === undefined) return null;
  return {
    template: typeof template === 'string' || template === true ? template : false,
    ...(typeof instruction === 'string' && { systemInstruction: instruction }),
    ...(typeof multiturn === 'boolean' && { fewshotAsMultiturn: multiturn }),
  };
}

const learningRateWord = (value: unknown): (typeof learningRateWords)[number] | null =>
  learningRateWords.find((word) => word === value) ?? null;

/** The settings under `metadata.softbench`. `keys`: those that the kind of benchmark file has. */
export function readSoftbench(configuration: Configuration, keys = softbenchKeys): SoftbenchSettings {
  const metadata = mapping(configuration.values.metadata);
  const path = ['metadata', 'softbench'];
  if (
    'softbench' in metadata &&
    metadata.softbench !== null &&
    (typeof metadata.softbench !== 'object' || Array.isArray(metadata.softbench))
  )
    configuration.add('error', 'wrong-type', '`softbench` must be a mapping.', path);
  const options = mapping(metadata.softbench);
  checkKeys(configuration, options, keys, path);
  const soft = mapping(options.soft_prompt);
  checkKeys(configuration, soft, softPromptKeys, [...path, 'soft_prompt']);
  const modes: PromptMode[] = [];
  for (const [i, mode] of (Array.isArray(options.modes) ? options.modes : []).entries()) {
    if (isPromptMode(mode)) modes.push(mode);
    else
      configuration.add(
        'error',
        'wrong-value',
        `There is no prompt mode \`${mode}\`; the modes are ${promptModes.join(', ')}.${suggestion(String(mode), promptModes)}`,
        [...path, 'modes', i],
      );
  }
  const filterNames = (Array.isArray(configuration.values.filter_list) ? configuration.values.filter_list : []).map(
    (entry) => text(mapping(entry).name) ?? '',
  );
  const known = (key: 'strict' | 'lenient'): string | null => {
    const name = text(options[key]);
    if (name === null || name === 'built-in' || filterNames.includes(name)) return name;
    configuration.add(
      'error',
      'unknown-filter',
      `There is no filter named \`${name}\`${filterNames.length > 0 ? `; \`filter_list\` has ${filterNames.map((entry) => `\`${entry}\``).join(', ')}` : ' (the file has no `filter_list`)'}.${suggestion(name, filterNames)}`,
      [...path, key],
    );
    return null;
  };
  return {
    strict: known('strict'),
    lenient: known('lenient'),
    answer: (text(options.answer) as AnswerKind | null) ?? (options.schema ? 'json' : null),
    schema: typeof options.schema === 'object' ? options.schema : null,
    modes:
      modes.length > 0 ? promptModes.filter((mode) => modes.includes(mode)) : ['zero-shot', 'few-shot', 'soft-prompt'],
    softPrompt: {
      vectors: number(soft.vectors) ?? defaultSoftPrompt.vectors,
      steps: number(soft.steps) ?? defaultSoftPrompt.steps,
      batchSize: number(soft.batch_size) ?? defaultSoftPrompt.batchSize,
      learningRate:
        number(soft.learning_rate) ?? learningRateWord(soft.learning_rate) ?? defaultSoftPrompt.learningRate,
      init: soft.init === 'random' ? 'random' : defaultSoftPrompt.init,
      seed: number(soft.seed) ?? defaultSoftPrompt.seed,
      position: isSoftPromptPosition(soft.position) ? soft.position : defaultSoftPrompt.position,
      recompute: recomputations.find((one) => one === soft.recompute) ?? defaultSoftPrompt.recompute,
      ...(number(soft.micro_batch_size) !== null && { microBatchSize: number(soft.micro_batch_size) ?? 1 }),
      validateEvery: number(soft.validate_every) ?? defaultSoftPrompt.validateEvery,
      validationItems: number(soft.validation_items) ?? defaultSoftPrompt.validationItems,
    },
    limit: number(options.limit),
    shots: number(options.shots) ?? 5,
    fewShotSeed: number(options.few_shot_seed) ?? 1234,
    generate: typeof options.generate === 'boolean' ? options.generate : null,
    chatRequest: readChat(options),
  };
}
