/** From rendered text to token ids: prompts, and the split of prompt + answer that the loss and likelihoods need. */
import { rightStrip } from '../benchmark/python.ts';
import type { Tokenizer, TrainingExample } from './language-model.ts';

/** What a text without a beginning is read behind, as in lm-evaluation-harness: BOS, else EOS. */
export const prefixToken = ({ bosTokenId, eosTokenIds }: Tokenizer): number | null =>
  bosTokenId ?? eosTokenIds[0] ?? null;

/** The start token's text; "" where there is none. Asked for with every text, and always the same. */
const starts = new WeakMap<Tokenizer, string>();
function startText(tokenizer: Tokenizer): string {
  const known = starts.get(tokenizer);
  if (known !== undefined) return known;
  const prefix = prefixToken(tokenizer);
  const start = prefix === null ? '' : tokenizer.decode([prefix], { special: true });
  starts.set(tokenizer, start);
  return start;
}

/** Ids of a text. What begins with the start token already (a chat template writes it) gets no second one. */
export function encodeText(tokenizer: Tokenizer, text: string): number[] {
  const start = startText(tokenizer);
  return tokenizer.encode(text, { special: start === '' || !text.startsWith(start) });
}

/** A context and what is compared behind it, in tokens. */
export interface Pair {
  context: readonly number[];
  continuation: readonly number[];
}

/**
 * Token ids of a context and of what follows it, tokenised together and cut where the context ends, so that the answer's
 * tokens are those that the model would have to generate (the way of lm-evaluation-harness's `_encode_pair`: spaces at
 * the end of the context belong to the continuation; an empty context is the start of a text).
 * @param encode keeps the ids of contexts that come again
 */
export function encodePair(
  tokenizer: Tokenizer,
  context: string,
  continuation: string,
  encode: (text: string) => readonly number[] = (text) => encodeText(tokenizer, text),
): Pair {
  if (context === '') {
    const ids = tokenizer.encode(continuation, { special: false });
    const prefix = prefixToken(tokenizer);
    if (prefix === null || prefix === ids[0]) return { context: ids.slice(0, 1), continuation: ids.slice(1) };
    return { context: [prefix], continuation: ids };
  }
  const trimmed = rightStrip(context);
  const ids = encode(trimmed);
  const whole = encodeText(tokenizer, context + continuation);
  // One list for all continuations of a context, where none of its tokens reaches over the border.
  const same = ids.every((id, at) => whole[at] === id);
  return { context: same ? ids : whole.slice(0, ids.length), continuation: whole.slice(ids.length) };
}

/**
 * Windows over a text that is longer than the model reads: each token is predicted once, with at least one in front of it
 * (lm-evaluation-harness: get_rolling_token_windows with a context of 1, then make_disjoint_window).
 * @param most longest input of the model, in tokens
 */
export function rollingWindows(tokens: readonly number[], prefix: number, most: number): Pair[] {
  if (tokens.length === 0) return [];
  const first = Math.min(most, tokens.length);
  const windows: Pair[] = [{ context: [prefix], continuation: tokens.slice(0, first) }];
  for (let predicted = first; predicted < tokens.length; ) {
    const end = Math.min(tokens.length, predicted + most);
    windows.push({
      context: tokens.slice(Math.max(0, end - most - 1), predicted),
      continuation: tokens.slice(predicted, end),
    });
    predicted = end;
  }
  return windows;
}

/**
 * A training example whose prompt has exactly the tokens that generation will see: the prompt's own tokens, then those
 * that the answer adds. Where a token spans the border (the tokenizer merges across it), the answer is encoded by itself
 * behind the prompt.
 */
export function encodeExample(
  tokenizer: Tokenizer,
  prompt: string,
  answer: { text: string; endsWithEos: boolean },
): TrainingExample {
  const start = prefixToken(tokenizer);
  if (prompt === '' && start !== null) {
    const ids = tokenizer.encode(answer.text, { special: false });
    return { prompt: [start], answer: withEnd(tokenizer, ids, answer.endsWithEos) };
  }
  const promptIds = encodeText(tokenizer, prompt);
  const whole = encodeText(tokenizer, prompt + answer.text);
  const agrees = promptIds.every((id, i) => whole[i] === id);
  const ids = agrees ? whole.slice(promptIds.length) : tokenizer.encode(answer.text, { special: false });
  return { prompt: promptIds, answer: withEnd(tokenizer, ids, answer.endsWithEos) };
}

function withEnd({ eosTokenIds }: Tokenizer, ids: number[], endsWithEos: boolean): number[] {
  const eos = eosTokenIds[0];
  return endsWithEos && eos !== undefined ? [...ids, eos] : ids;
}
