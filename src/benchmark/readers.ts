/**
 * Built-in readers, one row for each kind of answer: the exact form (strict), the answer wherever it stands (lenient),
 * and when two answers are the same. They never look at the right answer.
 */
import { numberValue } from './number-value.ts';
import { strip } from './python.ts';
import { choice, yesNo } from './readers-choice.ts';
import type { Reader } from './readers-common.ts';
import { json } from './readers-json.ts';
import { letter } from './readers-letter.ts';
import { number } from './readers-number.ts';
import { text } from './readers-text.ts';
import { jsonValue } from './relaxed-json.ts';
import type { AnswerKind } from './types.ts';

export { nothing, type Reader, type ReaderContext } from './readers-common.ts';

export const readers: Readonly<Record<AnswerKind, Reader>> = { number, letter, choice, 'yes-no': yesNo, text, json };

/**
 * The kind of a benchmark's answers, from right answers (as the strict filter reads them) and candidates of its first
 * items.
 */
export function inferKind(golds: readonly string[], options: readonly string[] | null): AnswerKind {
  const every = (pattern: RegExp, texts = golds): boolean =>
    texts.length > 0 && texts.every((text) => pattern.test(strip(text)));
  if (options && options.length > 0) {
    if (every(/^\(?[A-J]\)?$/, options)) return 'letter';
    return every(/^(?:yes|no|true|false)$/i, options) ? 'yes-no' : 'choice';
  }
  if (every(/^(?:yes|no|true|false)$/i)) return 'yes-no';
  if (golds.length > 0 && golds.every((gold) => numberValue(gold) !== null)) return 'number';
  if (every(/^(?:\([A-Z]\)|[A-J])$/)) return 'letter';
  const isJson = (gold: string): boolean => /^[{[]/.test(strip(gold)) && jsonValue(gold) !== undefined;
  return golds.length > 0 && golds.every(isJson) ? 'json' : 'text';
}
