/** Reads a number out of an output. */
import type { Reading } from '../shared/results.ts';
import { eitherNumber, type NumberAt, numberSource, numbersIn, numberValue } from './number-value.ts';
import { numberWordsSource } from './number-words.ts';
import { strip } from './python.ts';
import {
  announcedAt,
  answerPart,
  boxes,
  conclusionSource,
  type Found,
  nothing,
  type Reader,
  readingAt,
  sentences,
  stemOf,
  wholeOutput,
  wholeSentences,
  wordsOf,
} from './readers-common.ts';

const taken = ({ text, start }: { text: string; start: number }): Reading => readingAt(text, start);

/** A line that is a number, alone or with what it counts: `18`, `$18.`, `18 eggs`, `about 18 dollars per day`. */
const unitWords = /^(?:[\s*_.,!%°$€£)]|\\[)\]]|(?:per|a|an|each|of|in|and|total)\s|\p{L}[\p{L}²³/.-]*\s?){0,40}$/u;

function loneNumber(whole: string): NumberAt | null {
  // What stands in brackets behind it explains it.
  const line = whole.replace(/(?<=\d.*)\s\([^()]*\)\s*[.]?\s*$/, '');
  const all = numbersIn(line, { words: true });
  const [first] = all;
  if (!first || all.length > 1) return null;
  const before = line.slice(0, first.start);
  const behind = strip(line.slice(first.end));
  const short = behind.split(/\s+/).filter(Boolean).length <= 3;
  return /^[\s*_$`"'“(\\[=~≈:{#]*(?:(?:about|approximately|roughly|only|exactly|around)\s+)?$/i.test(before) &&
    short &&
    unitWords.test(behind)
    ? first
    : null;
}

/** The result in a stretch of text: behind its last `=`, else its last number that is no part of a sum. */
function resultIn(text: string, offset: number): Found | null {
  const all = numbersIn(text).filter(({ operand }) => !operand);
  const behindEquals = all.filter(({ start }) => /(?:=|≈|\\approx)\s*[($\\£€*]*\s*$/.test(text.slice(0, start)));
  const one = behindEquals.at(-1) ?? all.at(-1);
  return one ? { text: one.text, start: one.start + offset, end: one.end + offset } : null;
}

/** The number that an announcement ends at: behind "the answer is 3 + 4 = 7" it is 7. */
function announcedNumber(text: string): Found | null {
  const body = `(?:${numberSource})|(?:${numberWordsSource})`;
  for (const { text: token, start } of announcedAt(text, body).reverse()) {
    const sentence = sentences(text.slice(start))[0]?.text ?? '';
    const first = numbersIn(text.slice(0, start + sentence.length), { words: true }).find((one) => one.start >= start);
    // What looks like a number there may be a date, or the mark of a list.
    if (!first || first.start > start + token.length) continue;
    if (!first.operand) return first;
    const result = resultIn(sentence, start);
    if (result) return result;
  }
  return null;
}

/** The number inside of the last box; behind the last `=` where a whole equation is boxed. */
function boxedNumber(text: string): Found | null {
  for (const box of boxes(text).reverse()) {
    const words = numbersIn(box.text, { words: true });
    const one = resultIn(box.text, box.start);
    if (one) return one;
    const [word] = words;
    if (word && words.length === 1)
      return { text: word.text, start: word.start + box.start, end: word.end + box.start };
  }
  return null;
}

/** `18 or 20`: is this the second of two that are offered? */
function isOneOfTwo(text: string, { start }: Found): boolean {
  const previous = numbersIn(text).findLast(({ end }) => end <= start);
  return previous !== undefined && eitherNumber.test(text.slice(previous.end, start));
}

const concludes = new RegExp(`^[\\s*_>#-]*${conclusionSource}`, 'iu');

const smallWords =
  /^(?:how|many|much|what|does|did|will|have|has|the|are|was|were|is|do|in|of|for|each|per|all|total|and|she|he|they|it|her|his|their|to|a|an|on|at|if|would|than|that)$/;

/** Does a sentence speak of what is asked: has it more than half of the question's own words? */
function isAbout(sentence: string, question: string): boolean {
  const stem = sentences(stemOf(question));
  const asks = stem.findLast(({ text }) => text.includes('?'))?.text ?? stem.at(-1)?.text ?? '';
  const asked = wordsOf(asks).filter((word) => !smallWords.test(word));
  const said = new Set(wordsOf(sentence));
  return asked.length === 0 || asked.filter((word) => said.has(word)).length > asked.length / 2;
}

/**
 * What an output says that ends in the middle of something: the number of a closing sentence after which no more working
 * comes, or of a first sentence that answers at once.
 */
function fromUnfinished(text: string, question: string): Found | null {
  const all = sentences(text);
  const complete = wholeSentences(text);
  const last = complete.findLastIndex(({ text: sentence }) => numbersIn(sentence).length > 0);
  const conclusion = complete[last];
  const rest = all.length > complete.length ? (all.at(-1)?.text ?? '') : '';
  const goesOn =
    numbersIn(rest).length > 0 || /^\W*(?:now|next|then|to|let|let's|first|second|finally|we|if)\b/i.test(rest);
  if (conclusion && concludes.test(conclusion.text) && !goesOn && isAbout(conclusion.text, question))
    return resultIn(conclusion.text, conclusion.start);
  const [first] = complete;
  if (!first || last > 0) return null;
  const numbers = numbersIn(first.text, { words: false });
  const [only] = numbers;
  const given = new Set(numbersIn(question).map(({ value }) => value));
  return only && numbers.length === 1 && !given.has(only.value)
    ? { text: only.text, start: only.start + first.start, end: only.end + first.start }
    : null;
}

export const number: Reader = {
  strict: (output) => wholeOutput(output, /^-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/),
  lenient(output, context) {
    const whole = answerPart(output, context);
    // Digits without end, until the output broke off, are no number.
    const text =
      context.stop === 'length' ? whole.replace(/\p{Nd}{16,}$/u, (digits) => ' '.repeat(digits.length)) : whole;
    const unfinished = context.stop === 'length' && whole.trimEnd().length === output.trimEnd().length;
    const stated = announcedNumber(text);
    const boxed = boxedNumber(text);
    if (stated && (!boxed || stated.start > boxed.start)) return taken(stated);
    if (boxed) return taken(boxed);
    // A first line that is a number is the whole answer; else working is shown and its result is the last number.
    const firstLine = /^\s*([^\n]*)/d.exec(text);
    const lone = loneNumber(firstLine?.[1] ?? '');
    if (lone) return readingAt(lone.text, lone.start + (firstLine?.indices?.[1]?.[0] ?? 0));
    if (unfinished) {
      const found = fromUnfinished(text, context.question);
      return found ? taken(found) : nothing;
    }
    const last = sentences(text).findLast(({ text: sentence }) => resultIn(sentence, 0) !== null);
    const result = last ? resultIn(last.text, last.start) : null;
    if (result) return isOneOfTwo(text, result) ? nothing : taken(result);
    // No digits: a number in words, where there is but one.
    const inWords = numbersIn(text, { words: true }).filter(({ operand }) => !operand);
    const [only] = inWords;
    return only && new Set(inWords.map(({ value }) => value)).size === 1 ? taken(only) : nothing;
  },
  same(answer, gold) {
    const [a, b] = [numberValue(answer), numberValue(gold)];
    if (a === null || b === null) return strip(answer) === strip(gold);
    const close = (x: number): boolean => Math.abs(x - b) <= 1e-9 * Math.max(1, Math.abs(b));
    // 50 % is 0.5, and 50 where the gold answer leaves the sign out.
    const percent = (text: string): boolean => /%\s*\.?$/.test(text);
    return close(a) || (percent(answer) && !percent(gold) && close(a / 100));
  },
};
