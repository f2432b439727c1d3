/** Reads a short text out of an output. */
import { strip } from './python.ts';
import {
  announcedAt,
  answerPart,
  boxes,
  nothing,
  type Reader,
  readingAt,
  sentences,
  stemOf,
  wholeOutput,
  wholeSentences,
  wordsOf,
} from './readers-common.ts';

const folded = (text: string): string => strip(text).replace(/\s+/g, ' ').replace(/[.!]$/, '').toLowerCase();

/** A text without quotes, emphasis and a final full stop around it. */
const unwrapped = /^[\s*_`"'“”‘’«»[(]*(.*?)[\s*_`"'“”‘’«»\])]*[.!]?[\s*_`"'“”‘’«»\])]*$/s;

const plainText = (text: string): string =>
  folded(text)
    .normalize('NFKC')
    .replace(/[!-/:-@[-`{-~“”‘’]/g, ' ')
    .replace(/\b(?:a|an|the)\b/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/**
 * What a sentence says of the thing asked for: "The capital of Spain is Madrid." Its subject repeats the question's words,
 * and the answer stands behind the verb.
 */
function saidOf(sentence: string, question: string): { text: string; start: number } | null {
  // The words of what is asked, not of all that is told before.
  const lines = sentences(stemOf(question));
  const asks = lines.findLast(({ text: line }) => line.includes('?')) ?? lines.at(-1);
  const asked = new Set(wordsOf(asks?.text ?? question));
  for (const match of sentence.matchAll(/\s(?:is|was|are|were|will be|would be)\s+(?=\S)/g)) {
    const subject = wordsOf(sentence.slice(0, match.index));
    const shared = subject.filter((word) => asked.has(word)).length;
    const start = match.index + match[0].length;
    const rest = sentence.slice(start);
    if (/^(?:which|that|it|this)$/.test(subject.at(-1) ?? '')) continue;
    if (subject.length >= 2 && shared / subject.length >= 0.6 && rest !== '') return { text: rest, start };
  }
  return null;
}

/** Four words or more that the question has in this order: said again, not answered. */
function isFromQuestion(sentence: string, question: string): boolean {
  const said = wordsOf(sentence);
  return said.length >= 4 && ` ${wordsOf(question).join(' ')} `.includes(` ${said.join(' ')} `);
}

const aims = /^\W*(?:to\s+\w+|let|let's|let us|first|we need)\b/i;

export const text: Reader = {
  strict: (output) => wholeOutput(output, /^[^\n]+$/),
  lenient(output, context) {
    const part = answerPart(output, context);
    const core = (raw: string, start: number) => {
      const inner = unwrapped.exec(raw)?.[1] ?? raw;
      return inner === '' ? null : readingAt(inner, start + raw.indexOf(inner));
    };
    const boxed = boxes(part).at(-1);
    if (boxed) return core(boxed.text.replace(/^\\text\{(.*)\}$/s, '$1'), boxed.start) ?? nothing;
    const cued = announcedAt(part, '[^\\s*_$`"\'“”‘’(\\[{][^\\n]*?(?=[*_$`"”’\\])}]*[.!]?\\s*(?:\\n|$))').at(-1);
    if (cued) {
      const sentence = sentences(cued.text)[0]?.text ?? cued.text;
      const found = core(sentence, cued.start);
      if (found) return found;
    }
    const all = sentences(part).filter(({ text: sentence }) => !isFromQuestion(sentence, context.question));
    const unfinished = context.stop === 'length' && part.trimEnd().length === output.trimEnd().length;
    const whole = unfinished ? wholeSentences(part).filter(({ start }) => all.some((one) => one.start === start)) : all;
    for (const { text: sentence, start } of whole) {
      const said = saidOf(sentence, context.question);
      const found = said && core(said.text, start + said.start);
      if (found) return found;
    }
    const line = /^\s*([^\n]*)/d.exec(part);
    const first = line?.[1] ?? '';
    if (isFromQuestion(first, context.question)) return nothing;
    // What broke off in its first line, or announced what it would do, has not answered yet.
    if (unfinished && (!/\n/.test(part.trimStart()) || wordsOf(first).length > 8 || aims.test(first))) return nothing;
    return core(first, line?.indices?.[1]?.[0] ?? 0) ?? nothing;
  },
  same: (answer, gold) =>
    plainText(answer) === plainText(gold) || (plainText(gold) === '' && strip(answer) === strip(gold)),
};
