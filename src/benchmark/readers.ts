/**
 * Built-in readers, one row for each kind of answer: the exact form (strict), the answer wherever it stands (lenient),
 * and when two answers are the same. They never look at the right answer.
 */
import type { Reading } from '../shared/results.ts';
import { strip } from './python.ts';
import type { AnswerKind } from './types.ts';

/** What a reader may know of the item. */
export interface ReaderContext {
  /** Candidate answers as texts; empty where there are none. For letters: the texts behind the letters, where the prompt lists them. */
  options: readonly string[];
  /** The question, to see where an output goes on to a next one. */
  question: string;
}

export interface Reader {
  /** The answer where the output, up to the stop and without outer spaces, is exactly in the form; else null. */
  strict(output: string, context: ReaderContext): Reading;
  lenient(output: string, context: ReaderContext): Reading;
  same(answer: string, gold: string): boolean;
}

export const nothing: Reading = { answer: null, span: null };

const reading = (answer: string, start: number, length = answer.length): Reading => ({
  answer,
  span: [start, start + length],
});

/** The whole output without outer spaces, where it fits the pattern. */
function wholeOutput(output: string, pattern: RegExp): Reading {
  const text = strip(output);
  return pattern.test(text) ? reading(text, output.indexOf(text)) : nothing;
}

const questionCue =
  /\n\s*(?:(?:Question|Problem|Exercise|Passage|Context|Input|Instruction|Human|User)\b[^\n:]{0,20}:|Q\s*\d*\s*[:.])/;

/** How the question begins, as `Question:`; a next one begins so too. */
function ownCue(question: string): string | null {
  return /^\s*([A-Z][\w ]{0,24}:)/.exec(question)?.[1] ?? null;
}

/** Where an output goes on to a next question; its length where it does not. */
export function runOnAt(output: string, question: string): number {
  // The first line may repeat the cue of its own question; a next question stands on a later line.
  const start = Math.max(0, output.search(/\S/));
  const places = [questionCue.exec(output.slice(start))?.index ?? -1];
  const cue = ownCue(question);
  if (cue) {
    const at = output.indexOf(cue, start + 1);
    places.push(at < 0 ? -1 : at - start);
  }
  const found = places.filter((at) => at > 0);
  return found.length > 0 ? start + Math.min(...found) : output.length;
}

const cueSource =
  '(?:(?:final |correct |right |best )*(?:answer|option|choice|result|solution)(?: to [^.\\n]{0,60})?\\s*(?:is|are|:|=|would be|should be)+|####)';
const wrapSource = '[\\s:*_$`"\'“”‘’(\\[{]*(?:\\\\(?:boxed|text|mathrm|mathbf)\\s*\\{\\s*)*[*_$`"\'“”‘’(\\[{]*';

/** The last match of `body` behind words such as "the answer is", or inside of `\boxed{}`. */
function behindCue(text: string, body: string, flags = 'giu'): Reading | null {
  let last: Reading | null = null;
  for (const source of [
    `${cueSource}${wrapSource}(${body})`,
    `\\\\boxed\\s*\\{\\s*(?:\\\\text\\s*\\{)?[$(\\s]*(${body})`,
  ])
    for (const match of text.matchAll(new RegExp(source, `d${flags}`))) {
      const span = match.indices?.[1];
      if (span && (!last?.span || span[0] >= last.span[0])) last = { answer: match[1] ?? '', span: [span[0], span[1]] };
    }
  return last;
}

// Digits of any script; thousands with commas, or with points where a decimal comma follows (`1.000,5`).
const numberSource =
  '[-−+]?\\s?[$€£]?\\s?(?:\\p{Nd}{1,3}(?:\\.\\p{Nd}{3})+,\\p{Nd}+|\\p{Nd}{1,3}(?:,\\p{Nd}{3})+(?:\\.\\p{Nd}+)?|\\p{Nd}+(?:\\.\\p{Nd}+)?|\\.\\p{Nd}+)(?:/\\p{Nd}+)?';

/** Decimal digits of every script as 0 to 9: the ten of a script stand together (five sets in a row in mathematics). */
function asciiDigits(text: string): string {
  return text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    if (code >= 0x1d7ce && code <= 0x1d7ff) return String((code - 0x1d7ce) % 10);
    let value = 0;
    while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++;
    return String(value);
  });
}

/** The value of a number as people write it; null where it is none. */
export function numberValue(text: string): number | null {
  const plain = asciiDigits(strip(text))
    .replace(
      /^([-+−]?\s*[$€£]?\s*)(\d{1,3}(?:\.\d{3})+),(\d+)/,
      (_, sign, whole, rest) => `${sign}${whole.replaceAll('.', '')}.${rest}`,
    )
    .replace(/[−–]/g, '-')
    .replace(/^([-+]?)\s*[$€£]\s*/, '$1')
    .replace(/^[$€£]\s*/, '')
    .replace(/\s*(?:%|[$€£])$/, '')
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, '')
    .replace(/^([-+])\s+/, '$1')
    .replace(/\.$/, '');
  const fraction = /^([-+]?\d+)\/(\d+)$/.exec(plain);
  if (fraction) return Number(fraction[2]) === 0 ? null : Number(fraction[1]) / Number(fraction[2]);
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(plain) ? Number(plain) : null;
}

const number: Reader = {
  strict: (output) => wholeOutput(output, /^-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/),
  lenient(output, { question }) {
    const text = output.slice(0, runOnAt(output, question));
    const cued = behindCue(text, numberSource);
    if (cued) return tidyNumber(cued);
    const all = [...text.matchAll(new RegExp(numberSource, 'gu'))];
    // A first line that is a number is the whole answer; else working is shown and the last number is the result.
    const firstLine = /^\s*([^\n]*)/.exec(text)?.[1] ?? '';
    const direct = numberValue(firstLine.replace(/[.!]$/, '')) !== null;
    const match = direct ? all[0] : all.at(-1);
    return match ? tidyNumber(reading(match[0], match.index)) : nothing;
  },
  same(answer, gold) {
    const [a, b] = [numberValue(answer), numberValue(gold)];
    return a !== null && b !== null
      ? Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b))
      : strip(answer) === strip(gold);
  },
};

function tidyNumber({ answer, span }: Reading): Reading {
  const text = answer ?? '';
  const skipped = text.length - text.trimStart().length;
  return span ? { answer: text.trim(), span: [span[0] + skipped, span[1]] } : { answer: text.trim(), span };
}

/** The letters in use: as many as there are options, or A to J where that is not known. */
const letterClass = (options: readonly string[]): string =>
  `[A-${String.fromCharCode(64 + Math.min(26, Math.max(2, options.length || 10)))}]`;

const letter: Reader = {
  strict: (output, { options }) => {
    const found = wholeOutput(output, new RegExp(`^\\(?${letterClass(options)}\\)?$`));
    return found.answer === null ? found : { ...found, answer: found.answer.replace(/[()]/g, '') };
  },
  lenient(output, { options, question }) {
    const text = output.slice(0, runOnAt(output, question));
    const one = `${letterClass(options)}(?![\\p{L}\\p{N}'’])`;
    const cued =
      behindCue(text, one, 'gu') ??
      behindCue(
        text.replace(/\b(?:Answer|ANSWER|Final|The|Correct)\b/g, (word) => word.toLowerCase()),
        one,
        'gu',
      );
    if (cued) return cued;
    // `A capital …` begins with an article, not with a letter.
    const first = new RegExp(`^[\\s*_$\`"'(\\[]*(${one})(?!(?<=^\\s*[AI])\\s+(?!(?:or|and)\\b)\\p{Ll})`, 'du').exec(
      text,
    );
    if (first?.indices?.[1]) return reading(first[1] ?? '', first.indices[1][0]);
    const alone = [...text.matchAll(new RegExp(`(?:\\(|\\*\\*|\\b(?:option|choice) )(${one})`, 'dgiu'))].filter(
      (match) => /[A-Z]/.test(match[1] ?? ''),
    );
    if (new Set(alone.map((match) => match[1])).size === 1) {
      const at = alone[0]?.indices?.[1]?.[0] ?? 0;
      return reading(alone[0]?.[1] ?? '', at);
    }
    const named = lenientChoice(text, options);
    const place = named.answer === null ? -1 : options.indexOf(named.answer);
    return place < 0 ? nothing : { answer: String.fromCharCode(65 + place), span: named.span };
  },
  same: (answer, gold) =>
    strip(answer).replace(/[().]/g, '').toUpperCase() === strip(gold).replace(/[().]/g, '').toUpperCase(),
};

const escapeSource = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/** Mentions of whole choices in a text, longest first, none inside of another. */
export function mentions(
  text: string,
  options: readonly string[],
): { option: string; start: number; length: number }[] {
  const usable = options.map(strip).filter((option) => option !== '');
  if (usable.length === 0) return [];
  const sorted = [...new Set(usable)].sort((a, b) => b.length - a.length);
  const edge = '[\\p{L}\\p{N}]';
  const source = sorted
    .map(
      (option) =>
        `${/^[\p{L}\p{N}]/u.test(option) ? `(?<!${edge})` : ''}${escapeSource(option)}${/[\p{L}\p{N}]$/u.test(option) ? `(?!${edge})` : ''}`,
    )
    .join('|');
  return [...text.matchAll(new RegExp(source, 'giu'))].map((match) => ({
    option: options.find((option) => strip(option).toLowerCase() === match[0].toLowerCase()) ?? match[0],
    start: match.index,
    length: match[0].length,
  }));
}

/** The choice that a text decides for: at its start, behind "the answer is", or the only one that it names. */
function lenientChoice(text: string, options: readonly string[]): Reading {
  const all = mentions(text, options);
  const first = all[0];
  if (!first) return nothing;
  const body = [...options]
    .map(strip)
    .filter(Boolean)
    .sort((a, b) => b.length - a.length)
    .map(escapeSource)
    .join('|');
  const cued = behindCue(text, `(?:${body})(?![\\p{L}\\p{N}])`);
  if (cued?.span) {
    const answer = options.find((option) => strip(option).toLowerCase() === cued.answer?.toLowerCase()) ?? cued.answer;
    return { answer, span: cued.span };
  }
  const atStart = /^[\s*_$`"'([]*$/.test(text.slice(0, first.start));
  const alone = new Set(all.map(({ option }) => option)).size === 1;
  return atStart || alone ? reading(first.option, first.start, first.length) : nothing;
}

const folded = (text: string): string => strip(text).replace(/\s+/g, ' ').replace(/[.!]$/, '').toLowerCase();

const choice: Reader = {
  strict(output, { options }) {
    const text = strip(output);
    return options.some((option) => strip(option) === text) ? reading(text, output.indexOf(text)) : nothing;
  },
  lenient(output, { options, question }) {
    const text = output.slice(0, runOnAt(output, question));
    const found = lenientChoice(text, options);
    if (found.answer !== null) return found;
    // A letter in place of the text.
    const lettered = letter.lenient(text, { options, question });
    const option = options[(lettered.answer?.charCodeAt(0) ?? 0) - 65];
    return lettered.answer !== null && option !== undefined ? { answer: option, span: lettered.span } : nothing;
  },
  same: (answer, gold) => folded(answer) === folded(gold),
};

const truths: Record<string, string> = { yes: 'yes', true: 'yes', no: 'no', false: 'no' };
const words = ['yes', 'no', 'true', 'false'];
const truthOf = (text: string): string => truths[folded(text)] ?? folded(text);

const yesNo: Reader = {
  strict: (output, { options }) =>
    options.length > 0
      ? choice.strict(output, { options, question: '' })
      : wholeOutput(output, /^(?:yes|no|true|false)$/i),
  lenient: (output, { options, question }) =>
    lenientChoice(output.slice(0, runOnAt(output, question)), [...new Set([...options, ...words])]),
  same: (answer, gold) => truthOf(answer) === truthOf(gold),
};

/** A text without quotes, emphasis and a final full stop around it. */
const unwrapped = /^[\s*_`"'“”‘’[(]*(.*?)[\s*_`"'“”‘’\])]*[.!]?[\s*_`"'“”‘’\])]*$/;

const plainText = (text: string): string =>
  folded(text)
    .normalize('NFKC')
    .replace(/[!-/:-@[-`{-~“”‘’]/g, ' ')
    .replace(/\b(?:a|an|the)\b/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

const textReader: Reader = {
  strict: (output) => wholeOutput(output, /^[^\n]+$/),
  lenient(output, { question }) {
    const text = output.slice(0, runOnAt(output, question));
    const cued = behindCue(text, '[^\\n]+?(?=[*_$`"”’\\])}]*[.!]?\\s*(?:\\n|$))');
    const line = /^\s*([^\n]*)/d.exec(text);
    const [answer, start] = cued?.span
      ? [cued.answer ?? '', cued.span[0]]
      : [line?.[1] ?? '', line?.indices?.[1]?.[0] ?? 0];
    const core = unwrapped.exec(answer)?.[1] ?? answer;
    return core === '' ? nothing : reading(core, start + answer.indexOf(core));
  },
  same: (answer, gold) =>
    plainText(answer) === plainText(gold) || (plainText(gold) === '' && strip(answer) === strip(gold)),
};

/** The value of a JSON text, or undefined. */
export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The first balanced `{…}` or `[…]`. */
function jsonBlock(output: string): Reading {
  const start = output.search(/[{[]/);
  if (start < 0) return nothing;
  let [depth, quoted] = [0, false];
  for (let at = start; at < output.length; at++) {
    const character = output[at] ?? '';
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if ('{['.includes(character)) depth++;
    else if ('}]'.includes(character) && --depth === 0) {
      const block = output.slice(start, at + 1);
      return jsonValue(block) === undefined ? nothing : reading(block, start);
    }
  }
  return nothing;
}

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join(',')}}`;
};

const json: Reader = {
  strict(output) {
    const text = strip(output);
    return text !== '' && jsonValue(text) !== undefined ? reading(text, output.indexOf(text)) : nothing;
  },
  lenient: (output) => jsonBlock(output),
  same(answer, gold) {
    const [a, b] = [jsonValue(answer), jsonValue(gold)];
    return a !== undefined && b !== undefined ? canonical(a) === canonical(b) : strip(answer) === strip(gold);
  },
};

export const readers: Readonly<Record<AnswerKind, Reader>> = {
  number,
  letter,
  choice,
  'yes-no': yesNo,
  text: textReader,
  json,
};

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
