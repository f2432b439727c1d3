/** The model's tokenizer, by @huggingface/tokenizers; loaded at its first use only. */

import type { Tokenizer } from '../evaluate/language-model.ts';
import { HumanError } from '../shared/errors.ts';
import { tokenText } from './chat-template.ts';
import { type ModelFolder, tokenIdsOf } from './folder.ts';
import { integerOf, isObject, type JsonObject, readJsonFile } from './json.ts';

export interface ModelTokenizer extends Tokenizer {
  /** Id of a token's exact text (special tokens too); null where it is not one token of the vocabulary. */
  idOf(token: string): number | null;
  /** Special tokens: left out of decoded text. */
  isSpecial(id: number): boolean;
  /** Id → text. */
  readonly specialTokens: ReadonlyMap<number, string>;
}

/**
 * Reads tokenizer.json. Ids agree with the Python tokenizer's: `special: true` adds what the post-processor adds.
 * Throws HumanError('bad-input') where the file cannot be used.
 */
export async function loadTokenizer(folder: ModelFolder): Promise<ModelTokenizer> {
  const json = readJsonFile(folder.tokenizerFile) ?? {};
  const broken = (what: string, cause?: unknown): HumanError =>
    new HumanError('bad-input', `This tokenizer cannot be used: ${what}.`, {
      place: { file: folder.tokenizerFile },
      todo: 'Copy tokenizer.json again from the model that was exported.',
      cause,
    });
  if (!isObject(json.model)) throw broken('it has no "model"');
  const { Tokenizer: HuggingFaceTokenizer } = await import('@huggingface/tokenizers');
  // transformers leaves decoded text as it is unless the configuration asks for the clean-up; the library's default is
  // the other way round.
  const config: JsonObject = { clean_up_tokenization_spaces: false, ...folder.tokenizerConfig };
  let inner: InstanceType<typeof HuggingFaceTokenizer>;
  let vocabularySize: number;
  const specialTokens = new Map<number, string>();
  try {
    inner = new HuggingFaceTokenizer(json, config);
    vocabularySize = 0;
    for (const id of inner.get_vocab(true).values()) vocabularySize = Math.max(vocabularySize, id + 1);
    for (const [id, token] of inner.get_added_tokens_decoder()) if (token.special) specialTokens.set(id, token.content);
  } catch (error) {
    throw broken((error as Error).message, error);
  }
  const idOf = (token: string): number | null => inner.token_to_id(token) ?? null;
  const special = (key: string): number | null => {
    const text = tokenText(folder.tokenizerConfig[key]);
    return text === null ? null : idOf(text);
  };
  const declared = tokenIdsOf(folder.generationConfig, 'eos_token_id');
  const eos = new Set(declared.length ? declared : tokenIdsOf(folder.config, 'eos_token_id'));
  // lm-evaluation-harness also stops at the tokenizer's own end token.
  const own = special('eos_token');
  if (own !== null) eos.add(own);
  const pad =
    special('pad_token') ??
    integerOf(folder.generationConfig, 'pad_token_id') ??
    integerOf(folder.config, 'pad_token_id') ??
    [...eos][0] ??
    0;
  return {
    // Ids outside the vocabulary (-1 in some configurations) must not reach the embedding's Gather.
    padTokenId: pad >= 0 && pad < vocabularySize ? pad : 0,
    bosTokenId: special('bos_token') ?? integerOf(folder.config, 'bos_token_id'),
    eosTokenIds: [...eos],
    vocabularySize,
    specialTokens,
    encode: (text, options = {}) => inner.encode(text, { add_special_tokens: options.special ?? false }).ids,
    decode: (ids, options = {}) =>
      ids.length ? inner.decode([...ids], { skip_special_tokens: !(options.special ?? false) }) : '',
    idOf,
    isSpecial: (id) => specialTokens.has(id),
  };
}
