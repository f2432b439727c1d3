/** What a decoder graph takes and gives, read off its own inputs and outputs: names, shapes and element types. */
import type { DataType, ValueInfo } from '../onnx/index.ts';
import { HumanError } from '../shared/errors.ts';

/** One tensor that a step takes and gives back longer. Layers may differ in their heads, keys and values in their size. */
export interface CacheTensor {
  past: string;
  present: string;
  heads: number;
  headSize: number;
}

export interface CacheSignature {
  /**
   * `separate`: [batch, heads, time, head size] for keys and for values. `stacked`: [2, batch, heads, time, head size].
   * `joined`: [batch, time, key size + value size], of one key head for all queries.
   */
  kind: 'separate' | 'stacked' | 'joined';
  tensors: CacheTensor[];
  layers: number;
  /** Those of the first tensor. */
  heads: number;
  headSize: number;
  dtype: DataType;
}

export interface ModelSignature {
  inputIds: ValueInfo;
  attentionMask: ValueInfo | null;
  /** Null: the graph counts positions itself, from the cache's length or from the mask. */
  positionIds: ValueInfo | null;
  /** Merged decoders take a boolean that says whether there is a cache. */
  useCacheBranch: ValueInfo | null;
  cache: CacheSignature | null;
  logits: ValueInfo;
  /** Last dimension of the logits where the file says it. */
  vocabularySize: number | null;
}

/** Names under which exporters write the cache: input → output. */
const cacheNames: { past: RegExp; present: (match: RegExpExecArray) => string }[] = [
  // optimum, transformers.js, genai
  { past: /^past_key_values\.(\d+)\.(key|value|key_value)$/, present: ([, layer, part]) => `present.${layer}.${part}` },
  { past: /^past_key_values_(\d+)_(key|value)$/, present: ([, layer, part]) => `present_key_values_${layer}_${part}` },
  { past: /^past_(key|value)_(\d+)$/, present: ([, part, layer]) => `present_${part}_${layer}` },
  { past: /^past_(key|value)s?\.(\d+)$/, present: ([, part, layer]) => `present_${part}.${layer}` },
  // ONNX Runtime's own GPT-2 converter
  { past: /^past_(\d+)$/, present: ([, layer]) => `present_${layer}` },
];

const take = (values: readonly ValueInfo[], ...names: string[]): ValueInfo | null =>
  values.find(({ name }) => names.includes(name)) ?? null;

/** Numbers that one layer keeps of one position, far above any model's. */
const mostPerPosition = 2 ** 20;

function readCache(
  inputs: readonly ValueInfo[],
  outputs: readonly ValueInfo[],
  refuse: (what: string, todo: string) => HumanError,
): CacheSignature | null {
  const found: { input: ValueInfo; present: string }[] = [];
  for (const input of inputs)
    for (const { past, present } of cacheNames) {
      const match = past.exec(input.name);
      if (!match) continue;
      const name = present(match);
      if (!outputs.some((output) => output.name === name))
        throw refuse(`its cache input "${input.name}" has no output "${name}"`, 'Export it again with a KV cache.');
      found.push({ input, present: name });
      break;
    }
  const kind = kindOf(found[0]?.input);
  const tensors = found.map(({ input, present }): CacheTensor => {
    const { name, dims } = input;
    const [heads, , headSize] = kind === 'joined' ? [1, ...(dims?.slice(1) ?? [])] : (dims?.slice(-3) ?? []);
    if (!kind || kindOf(input) !== kind || typeof heads !== 'number' || typeof headSize !== 'number')
      throw refuse(
        `its cache input "${name}" has the shape [${dims?.join(', ') ?? '?'}], not [batch, heads, time, head size]`,
        'Export the model with optimum-cli export onnx --task text-generation-with-past.',
      );
    // A damaged file: a cache of these sizes would be asked for.
    if (heads < 1 || headSize < 1 || heads * headSize > mostPerPosition)
      throw refuse(`its cache input "${name}" has ${heads} heads of ${headSize} numbers`, 'Export the model again.');
    return { past: name, present, heads, headSize };
  });
  const [first] = tensors;
  if (!kind || !first) return null;
  const { heads, headSize } = first;
  const layers = kind === 'separate' ? tensors.length / 2 : tensors.length;
  return { kind, tensors, layers, heads, headSize, dtype: found[0]?.input.dtype ?? 'float32' };
}

function kindOf(input: ValueInfo | undefined): CacheSignature['kind'] | null {
  const rank = input?.dims?.length;
  if (rank === 3) return input?.name.endsWith('key_value') ? 'joined' : null;
  return rank === 4 ? 'separate' : rank === 5 ? 'stacked' : null;
}

/**
 * Reads a decoder's signature. Throws HumanError('unsupported') where the graph is not a causal language model whose
 * inputs Softbench can fill; `file` is used in the message.
 */
export function readSignature(
  file: string,
  inputs: readonly ValueInfo[],
  outputs: readonly ValueInfo[],
): ModelSignature {
  const refuse = (what: string, todo: string): HumanError =>
    new HumanError('unsupported', `This graph cannot be run as a language model: ${what}.`, { place: { file }, todo });
  const again = 'Export the model with optimum-cli export onnx --task text-generation-with-past.';
  const inputIds = take(inputs, 'input_ids', 'input_ids_0');
  if (!inputIds) {
    const found = inputs.map(({ name }) => name).join(', ');
    throw refuse(`it has no input "input_ids" (inputs: ${found.slice(0, 200) || 'none'})`, again);
  }
  const logits = take(outputs, 'logits') ?? (outputs.length === 1 ? (outputs[0] ?? null) : null);
  if (!logits) throw refuse('it has no output "logits"', again);
  const attentionMask = take(inputs, 'attention_mask');
  const positionIds = take(inputs, 'position_ids');
  const useCacheBranch = take(inputs, 'use_cache_branch');
  const cache = readCache(inputs, outputs, refuse);
  const known = new Set([inputIds, attentionMask, positionIds, useCacheBranch].map((value) => value?.name));
  const pasts = new Set(cache?.tensors.map(({ past }) => past));
  const extra = inputs.filter(({ name }) => !known.has(name) && !pasts.has(name));
  if (extra.length)
    throw refuse(
      `it wants inputs that a decoder of text does not have (${extra.map(({ name }) => name).join(', ')})`,
      'Only decoders of text run here; encoder-decoder and multi-modal models do not.',
    );
  const vocabulary = logits.dims?.at(-1);
  return {
    inputIds,
    attentionMask,
    positionIds,
    useCacheBranch,
    cache,
    logits,
    vocabularySize: typeof vocabulary === 'number' ? vocabulary : null,
  };
}
