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
  wholeOutput,
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
  const asked = new Set(wordsOf(question));
  for (const match of sentence.matchAll(/\s(?:is|was|are|were|will be|would be)\s+(?=\S)/g)) {
    const subject = wordsOf(sentence.slice(0, match.index));
    const shared = subject.filter((word) => asked.has(word)).length;
    const start = match.index + match[0].length;
    const rest = sentence.slice(start);
    if (subject.length >= 2 && shared / subject.length >= 0.6 && rest !== '') return { text: rest, start };
  }
  return null;
}

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
    const line = /^\s*([^\n]*)/d.exec(part);
    const first = line?.[1] ?? '';
    const start = line?.indices?.[1]?.[0] ?? 0;
    const [sentence] = sentences(first);
    const said = sentence ? saidOf(sentence.text, context.question) : null;
    if (sentence && said) {
      const found = core(said.text, start + sentence.start + said.start);
      if (found) return found;
    }
    return core(first, start) ?? nothing;
  },
  same: (answer, gold) =>
    plainText(answer) === plainText(gold) || (plainText(gold) === '' && strip(answer) === strip(gold)),
};
