/** Reads the letter of a choice out of an output. */
import type { Reading } from '../shared/results.ts';
import { numberValue } from './number-value.ts';
import { strip } from './python.ts';
import {
  announcedAt,
  answerPart,
  boxes,
  conclusionSource,
  nothing,
  type Reader,
  type ReaderContext,
  readingAt,
  wholeOutput,
  wrapSource,
} from './readers-common.ts';
import { decide, meantOption } from './readers-mentions.ts';
import { number } from './readers-number.ts';

/** The letters in use: as many as there are options, or A to J where that is not known. */
const letterCount = (options: readonly string[]): number => Math.min(26, Math.max(2, options.length || 10));
const letterClass = (options: readonly string[], small = false): string => {
  const last = 64 + letterCount(options);
  return `[A-${String.fromCharCode(last)}${small ? `a-${String.fromCharCode(last + 32)}` : ''}]`;
};

const twins: Readonly<Record<string, string>> = {
  А: 'A',
  В: 'B',
  С: 'C',
  Е: 'E',
  Н: 'H',
  Α: 'A',
  Β: 'B',
  Ε: 'E',
  Η: 'H',
};

/** Full-width letters and brackets as plain ones, and lone Cyrillic or Greek letters that look like Latin ones: places stay. */
const plainLetters = (text: string): string =>
  text
    .replace(/[（）［］Ａ-Ｚａ-ｚ．：]/g, (one) => String.fromCharCode(one.charCodeAt(0) - 0xfee0))
    .replace(/[【】]/g, (one) => (one === '【' ? '[' : ']'))
    .replace(/(?<!\p{L})[АВСЕНΑΒΕΗ](?!\p{L})/gu, (one) => twins[one] ?? one);

interface LetterAt {
  letter: string;
  start: number;
  /** In brackets, quotes or emphasis: no article and no pronoun stands so. */
  enclosed: boolean;
}

const behindLetter = `(?![\\p{L}\\p{N}'’+#]|[-/]\\p{L}|\\^|_\\{?\\w)`;
const opened = /[([{"'“‘*_$`]\s*$|\{\s*\\(?:text|mathrm|mathbf|textbf)\s*\{\s*$/;
const closed = /^\s*[)\]}"'”’*_$`]/;
/** Words that may follow a letter that stands for an answer. */
const afterLetter =
  /^\s*(?:[.,;:!?)\]}*_"'”’$`\n\\]|$|[-–—=]\s|(?:is|was|because|since|as|which|or|and|for|seems|would|being|who|where|due|with|but|matches|represents|corresponds|states)\b|[\p{Lu}\p{N}$(])/u;

/** Does this letter stand for an answer where it stands, and is not the article "A" or the pronoun "I"? */
function isLetter(text: string, at: number, options: readonly string[]): LetterAt | null {
  const found = text[at] ?? '';
  const letter = found.toUpperCase();
  const before = text.slice(Math.max(0, at - 24), at);
  const behind = text.slice(at + 1, at + 60);
  const enclosed = opened.test(before) && closed.test(behind);
  if (enclosed) return { letter, start: at, enclosed };
  if (found !== letter)
    // A small letter counts where it is marked as one: `b)`, `b.` or at the end.
    return /^\s*(?:\)|[.:](?:\s|$)|[*_"'”’]|\n|$)/.test(behind) && !(found === 'a' && /^[.:]\s+\p{Ll}/u.test(behind))
      ? { letter, start: at, enclosed }
      : null;
  if (afterLetter.test(behind)) {
    if (letter === 'I' && /^\s+(?:is|was|would|and|because|as)\b/.test(behind)) return null;
    return { letter, start: at, enclosed };
  }
  if (letter === 'I') return null;
  // `A dog` is an article and a noun, unless it is how the choice begins: `A 12 dogs`, `B red`.
  const own = strip(options[letter.charCodeAt(0) - 65] ?? '');
  const word = /^\s*(\S{1,30})/.exec(behind)?.[1] ?? '';
  if (own !== '' && own.toLowerCase().startsWith(word.replace(/[.,;:!?]+$/, '').toLowerCase()))
    return { letter, start: at, enclosed };
  return letter === 'A' ? null : { letter, start: at, enclosed };
}

const decidesBefore =
  '(?:choose|chose|select|selected|pick|picked|go(?:ing)? (?:with|for)|went with|opt(?:ed)? for|settle on|prefer|(?:correspond|match|point|lead|belong)(?:s|es|ed|ing)?(?: (?:best|closely|exactly))?(?: to| with)?|(?:is|be) (?:represented|given|described|shown) (?:by|in)|(?:is|was|be) (?:the )?(?:option|choice|letter|answer))\\s*:?\\s*(?:(?:the|option|choice|answer|letter|correct|is)\\s+)*';
const decidesBehind =
  '[)\\]}*_"\'”’$`.,:]*\\s+(?:(?:is|was|must be|would be|should be|seems(?: to be)?|appears(?: to be)?)\\s+)(?:(?:the|a|an|most|clearly|definitely|indeed|therefore|only|thus|our|my|likely)\\s+)*(?:correct|right|true|best|answer|one|accurate|appropriate|valid|suitable|choice)';

/** Letters that the text decides for, with their places; `undecided` where it offers several in one breath. */
function decisions(text: string, options: readonly string[]): { start: number; letter: string | null }[] {
  const one = `${letterClass(options, true)}${behindLetter}`;
  const concluded = `(?:^|[.!?\\n]\\s*|[\\s*])${conclusionSource}\\s*[,:]?\\s*(?:(?:it(?:'s| is)|the|option|choice|answer|is|must be)\\s+)*${wrapSource}`;
  const places = [
    ...announcedAt(text, one).map(({ start }) => start),
    ...[`\\b${decidesBefore}${wrapSource}`, concluded].flatMap((source) =>
      [...text.matchAll(new RegExp(`${source}(?<body>${one})`, 'dgimu'))].flatMap(
        (match) => match.indices?.groups?.body?.[0] ?? [],
      ),
    ),
    ...[
      ...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])(?<body>${letterClass(options)})${decidesBehind}`, 'dgu')),
    ].flatMap((match) => match.indices?.groups?.body?.[0] ?? []),
    ...boxes(text).flatMap((box) => {
      const inner = new RegExp(
        `^[\\s($*{\\[]*(?:\\\\(?:text|mathrm|mathbf|textbf)\\s*\\{[\\s(]*)?(${letterClass(options, true)})(?=[\\s)}\\].:$*-]|$)`,
        'd',
      ).exec(box.text);
      return inner?.indices?.[1] ? [box.start + inner.indices[1][0]] : [];
    }),
  ];
  const found: { start: number; letter: string | null }[] = [];
  for (const start of [...new Set(places)].sort((a, b) => a - b)) {
    const at = isLetter(text, start, options);
    if (at) found.push({ start, letter: isOneOfSeveral(text, start, options) ? null : at.letter });
  }
  return found;
}

/** `A or B`, `(A), (B)`, `A and C`, `A/B`; not `B, and A is wrong`. */
function isOneOfSeveral(text: string, start: number, options: readonly string[]): boolean {
  const behind = text.slice(start + 1, start + 40);
  const next = new RegExp(
    `^[)\\]}*_"'”’.]*(?:\\s*(?:,|/|&|;)\\s*(?:(?:or|and)\\s+)?|\\s+(?:or|and|and/or|oder|ou|o)\\s+)(?:(?:option|choice)\\s+)?[(\\[*_"'“]*(${letterClass(options)})(?![\\p{L}\\p{N}'’])(?![)\\]}*_"'”’]*\\s+(?:is|was|cannot|can|would|are)\\b)`,
    'u',
  ).exec(behind);
  return next !== null && next[1] !== text[start]?.toUpperCase();
}

/** How a list's line begins: `A.`, `(A)`, `A)`, `- A:`. */
const label = /(?:^|\n)[ \t]*(?:[-*•>]\s*)?\**\(?([A-Z])\)?[).:]\**[ \t]/g;

/** Does the text go through the options again, as the question lists them? Where that list ends; 0 where there is none. */
export function listEnd(text: string, options: readonly string[]): number {
  let [expected, end, count] = [0, 0, 0];
  for (const match of text.matchAll(label)) {
    const place = (match[1] ?? '').charCodeAt(0) - 65;
    if (place === expected || (count === 0 && place <= 1)) {
      expected = place + 1;
      count++;
      const own = strip(options[place] ?? '');
      const after = text.slice(match.index + match[0].length);
      const shown = own !== '' && after.startsWith(own) ? own.length : (/^[^\n]*/.exec(after)?.[0].length ?? 0);
      if (count >= Math.min(3, Math.max(2, options.length))) end = match.index + match[0].length + shown;
    }
  }
  return end;
}

function readLetter(text: string, options: readonly string[], context: ReaderContext): Reading {
  const decided = decisions(text, options).at(-1);
  if (decided) return decided.letter === null ? nothing : readingAt(decided.letter, decided.start, 1);
  const listed = listEnd(text, options);
  const rest = ' '.repeat(listed) + text.slice(listed);
  // At its beginning, the letter of the answer.
  const head = new RegExp(
    `^[\\s*_$\`"'“([{>#-]*(?:(?:option|choice|answer|letter)\\s+[*_"'(\\[]*)?(${letterClass(options, true)})${behindLetter}`,
    'diu',
  ).exec(rest);
  const start = head?.indices?.[1]?.[0];
  if (listed === 0 && start !== undefined) {
    const at = isLetter(text, start, options);
    if (at) return isOneOfSeveral(text, start, options) ? nothing : readingAt(at.letter, start, 1);
  }
  const marked = [
    ...rest.matchAll(
      new RegExp(
        `(?:[(\\[]|\\*\\*|\\b(?:option|choice|letter) ["'(*]*)(${letterClass(options)})(?![\\p{L}\\p{N}'’])`,
        'dgiu',
      ),
    ),
  ].flatMap((match) => {
    const place = match.indices?.[1]?.[0] ?? 0;
    return /[A-Z]/.test(text[place] ?? '') && (isLetter(text, place, options) ?? false) ? [place] : [];
  });
  // What an output mentions on its way, when it broke off, is no answer yet.
  if (marked.length > 0 && context.stop === 'length') return nothing;
  const letters = new Set(marked.map((place) => text[place]));
  if (letters.size > 1) return nothing;
  const [only] = marked;
  if (only !== undefined) return readingAt(text[only] ?? '', only, 1);
  const named = options.some((option) => /[\p{L}\p{N}]/u.test(option)) ? decide(rest, options, context.stop) : null;
  return byText(rest, options, named, context);
}

/** The letter of the choice whose text the output gives. */
function byText(
  text: string,
  options: readonly string[],
  named: ReturnType<typeof decide>,
  context: ReaderContext,
): Reading {
  if (named === 'undecided') return nothing;
  if (named) {
    const place = options.indexOf(named.option);
    return place < 0 ? nothing : readingAt(String.fromCharCode(65 + place), named.start, named.length);
  }
  const line = /^\s*([^\n]*\S)/d.exec(text);
  const meant = line ? options.indexOf(meantOption(line[1] ?? '', options) ?? '') : -1;
  if (meant >= 0) return { answer: String.fromCharCode(65 + meant), span: line?.indices?.[1] ?? null };
  // A result that is the value of just one choice.
  const values = options.map((option) => optionValue(option));
  if (values.filter((value) => value !== null).length < 2) return nothing;
  const read = number.lenient(text, { ...context, options: [] });
  const value = read.answer === null ? null : numberValue(read.answer);
  const places = values.flatMap((one, i) =>
    one !== null && value !== null && Math.abs(one - value) < 1e-9 ? [i] : [],
  );
  return places.length === 1 && read.span
    ? readingAt(String.fromCharCode(65 + (places[0] ?? 0)), read.span[0], read.span[1] - read.span[0])
    : nothing;
}

/** The value of an option that is a number, alone or with its unit. */
function optionValue(option: string): number | null {
  const whole = numberValue(option);
  if (whole !== null) return whole;
  const match = /^(?:rs\.?\s*|[$€£₹]\s*)?([-−]?[\d.,/]+)\s*(?:%|[a-z]+\.?(?:\s[a-z]+)?)?$/i.exec(strip(option));
  return match ? numberValue(match[1] ?? '') : null;
}

export const letter: Reader = {
  strict: (output, { options }) => {
    const found = wholeOutput(output, new RegExp(`^(?:${letterClass(options)}|\\(${letterClass(options)}\\))$`));
    return found.answer === null ? found : { ...found, answer: found.answer.replace(/[()]/g, '') };
  },
  lenient(output, context) {
    return readLetter(plainLetters(answerPart(output, context)), context.options, context);
  },
  same: (answer, gold) =>
    strip(answer).replace(/[().]/g, '').toUpperCase() === strip(gold).replace(/[().]/g, '').toUpperCase(),
};

/** Letters that an output offers as answers; for the cause. */
export function letterCandidates(output: string): Set<string> {
  const found = output.matchAll(/(?<![\p{L}\p{N}'’])\(?([A-J])(?:\)|(?=\s*(?:,|\.|:|or\b|and\b|\/|$)))/gmu);
  return new Set([...found].map((match) => match[1] ?? ''));
}
