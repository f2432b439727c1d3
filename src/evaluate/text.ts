/** From rendered text to token ids: prompts, and the split of prompt + answer that the loss and likelihoods need. */
import { createHash } from 'node:crypto';
import type { Tokenizer, TrainingExample } from './language-model.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Token ids of a prompt and of what follows it, tokenised together and cut where the prompt ends, so that the answer's
 * tokens are those that the model would have to generate (the way of lm-evaluation-harness's `_encode_pair`: spaces at
 * the end of the prompt belong to the continuation).
 */
export function encodePair(
  tokenizer: Tokenizer,
  prompt: string,
  continuation: string,
): { prompt: number[]; continuation: number[] } {
  const trimmed = prompt.trimEnd();
  const spaces = prompt.slice(trimmed.length);
  const context = tokenizer.encode(trimmed, { special: true });
  const whole = tokenizer.encode(trimmed + spaces + continuation, { special: true });
  return { prompt: whole.slice(0, context.length), continuation: whole.slice(context.length) };
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
  const promptIds = tokenizer.encode(prompt, { special: true });
  const whole = tokenizer.encode(prompt + answer.text, { special: true });
  const agrees = promptIds.every((id, i) => whole[i] === id);
  const ids = agrees ? whole.slice(promptIds.length) : tokenizer.encode(answer.text, { special: false });
  const eos = tokenizer.eosTokenIds[0];
  return { prompt: promptIds, answer: answer.endsWithEos && eos !== undefined ? [...ids, eos] : ids };
}
