/** Filters that look for a pattern in an output: regex, regex_pos and multi_choice_regex of lm-evaluation-harness. */
import type { Piece, Step } from './filters.ts';
import { leftStrip, PythonError, rightStrip, str, strip } from './python.ts';
import { compile, escapePattern, findAll, type Match, substitute } from './python-regex.ts';

const defaultPattern = '#### (\\-?[0-9\\.\\,]+)';

export interface RegexOptions {
  pattern: string;
  select: number;
  fallback: string;
}

/** @throws PythonError where an option is wrong or the pattern cannot be compiled */
export function regexOptions(options: Record<string, unknown>): RegexOptions {
  const select = options.group_select ?? 0;
  if (typeof select !== 'number' || !Number.isInteger(select))
    throw new PythonError('`group_select` must be a whole number.');
  const pattern = options.regex_pattern ?? defaultPattern;
  if (typeof pattern !== 'string') throw new PythonError('`regex_pattern` must be a text.');
  compile(pattern);
  return { pattern, select, fallback: str(options.fallback ?? '[invalid]') };
}

interface Found {
  text: string;
  start: number;
}

/**
 * The `index`-th match (from the end where negative), its first group with text in it. Null where there are fewer matches:
 * Python raises there, and the run would end; a reading of an output says "not found".
 */
function pick(matches: readonly Match[], index: number): Found | null {
  const match = matches.at(index);
  if (!match || (index < 0 && -index > matches.length)) return null;
  const group = match.tuple ? match.groups.find(({ text }) => text !== '') : match.groups[0];
  return group ?? null;
}

/** The found part of a piece, without outer spaces. */
function within(piece: Piece, { text, start }: Found): Piece {
  const left = leftStrip(text);
  return {
    text: rightStrip(left),
    start: piece.start === null ? null : piece.start + start + text.length - left.length,
    missed: piece.missed,
  };
}

const fallbackPiece = (text: string): Piece => ({ text, start: null, missed: true });

/** What is no text is the empty one to a pattern. */
const subject = (piece: Piece): Piece => (piece.value === undefined ? piece : { ...piece, text: '', start: null });

export function extract({ pattern, select, fallback }: RegexOptions): Step {
  return (given) => {
    const piece = subject(given);
    const found = pick(findAll(pattern, piece.text), select);
    return found ? within(piece, found) : fallbackPiece(fallback);
  };
}

/** Part-of-speech tags of a list such as `[('dog', 'NOUN')]`. */
export function tagsIn(fallback: unknown): Step {
  return (piece) => {
    const tags = findAll("\\('([^']*)', '([^']*)'\\)", piece.text).map((match) => match.groups[1]?.text ?? '');
    return tags.length > 0
      ? { text: str(tags), start: null, missed: piece.missed, value: tags }
      : { ...fallbackPiece(str(fallback)), ...(typeof fallback !== 'string' && { value: fallback }) };
  };
}

/**
 * The pattern; else a choice's text, as its letter; else a letter behind a colon. What is removed from texts is removed
 * from choices too. Of choices with equal texts the last one counts, as in the harness.
 */
export function multiChoice(options: Record<string, unknown>): Step {
  const { pattern, select, fallback } = regexOptions(options);
  const ignores = Array.isArray(options.regexes_to_ignore) ? options.regexes_to_ignore.map(str) : [];
  const clean = (text: string): string => {
    let out = ignores.reduce((rest: string, ignored) => substitute(ignored, '', rest), text);
    if (options.ignore_case === true) out = out.toLowerCase();
    if (options.ignore_punctuation === true) out = out.replace(/\p{P}/gu, '');
    return out;
  };
  return (given, { choices }) => {
    const piece = subject(given);
    const direct = pick(findAll(pattern, piece.text), select);
    if (direct && strip(direct.text) !== '') return within(piece, direct);
    const letters = (choices ?? []).map((_, i) => String.fromCharCode(65 + i));
    const texts = (choices ?? []).map((choice) => clean(strip(choice)));
    const letterOf = new Map(texts.map((text, i) => [text, `(${letters[i]})`]));
    const patterns = texts.map(escapePattern).sort((a, b) => b.length - a.length);
    const cleaned = clean(piece.text);
    const named = patterns.length > 0 ? pick(findAll(patterns.join('|'), cleaned), select) : null;
    if (named && strip(named.text) !== '') {
      const start = cleaned === piece.text && piece.start !== null ? piece.start + named.start : null;
      return { text: letterOf.get(strip(named.text)) ?? strip(named.text), start, missed: piece.missed };
    }
    const lettered = letters.length > 0 ? pick(findAll(`:[\\s]*(${letters.join('|')})`, piece.text), select) : null;
    if (!lettered) return fallbackPiece(fallback);
    return { ...within(piece, lettered), text: `(${strip(lettered.text)})` };
  };
}
