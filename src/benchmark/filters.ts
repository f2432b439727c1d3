/**
 * The filters of `filter_list`: what takes an answer out of an output. One row a filter, with lm-evaluation-harness's
 * meaning; each keeps where in the raw output its text stands.
 */
import type { Reading } from '../shared/results.ts';
import { leftStrip, PythonError, rightStrip, str, strip } from './python.ts';
import { compile, escapePattern, findAll, type Match, substitute } from './python-regex.ts';

/** A text on its way through the filters. */
export interface Piece {
  text: string;
  /** Where it starts in the raw output; null where it no longer is a part of it. */
  start: number | null;
  /** A filter looked for a pattern and did not find it: `text` is the fallback. */
  missed: boolean;
}

export interface FilterContext {
  /** The item's field `choices`, which multi_choice_regex asks for. */
  choices: readonly string[] | null;
}

type Step = (piece: Piece, context: FilterContext) => Piece;

interface FilterRow {
  /** Names of the options it takes. */
  options: readonly string[];
  /** It looks for a pattern, and so defines a format. */
  pattern?: boolean;
  /** @throws PythonError where the options are wrong */
  build(options: Record<string, unknown>): Step;
}

const unchanged: Step = (piece) => piece;

const stringOption = (options: Record<string, unknown>, name: string, fallback: string): string => {
  const value = options[name] ?? fallback;
  if (typeof value !== 'string') throw new PythonError(`\`${name}\` must be a text.`);
  return value;
};

const defaultPattern = '#### (\\-?[0-9\\.\\,]+)';

/** The `index`-th match (from the end where negative), its first group with text in it, without outer spaces. */
function pick(matches: readonly Match[], index: number): { text: string; start: number } | null {
  if (matches.length === 0) return null;
  const match = matches.at(index);
  if (!match) throw new PythonError(`\`group_select: ${index}\` asks for more matches than the output has.`);
  const group = match.tuple ? match.groups.find(({ text }) => text !== '') : match.groups[0];
  return group ?? null;
}

function stripPiece(piece: Piece): Piece {
  const left = leftStrip(piece.text);
  const skipped = piece.text.length - left.length;
  return { ...piece, text: rightStrip(left), start: piece.start === null ? null : piece.start + skipped };
}

const within = (piece: Piece, found: { text: string; start: number }): Piece =>
  stripPiece({
    text: found.text,
    start: piece.start === null ? null : piece.start + found.start,
    missed: piece.missed,
  });

const fallbackPiece = (text: string): Piece => ({ text, start: null, missed: true });

function regexOptions(options: Record<string, unknown>): { pattern: string; select: number; fallback: string } {
  const select = options.group_select ?? 0;
  if (typeof select !== 'number' || !Number.isInteger(select))
    throw new PythonError('`group_select` must be a whole number.');
  const pattern = stringOption(options, 'regex_pattern', defaultPattern);
  compile(pattern);
  return { pattern, select, fallback: str(options.fallback ?? '[invalid]') };
}

/** A number of matches that group_select cannot reach: Python raises; a reading of an output says "not found". */
function safely(find: () => { text: string; start: number } | null): { text: string; start: number } | null {
  try {
    return find();
  } catch (thrown) {
    if (thrown instanceof PythonError) return null;
    throw thrown;
  }
}

function multiChoice(options: Record<string, unknown>): Step {
  const { pattern, select, fallback } = regexOptions(options);
  const ignores = Array.isArray(options.regexes_to_ignore) ? options.regexes_to_ignore.map(str) : [];
  const clean = (text: string): string => {
    let out = ignores.reduce((rest: string, ignored) => substitute(ignored, '', rest), text);
    if (options.ignore_case === true) out = out.toLowerCase();
    if (options.ignore_punctuation === true) out = out.replace(/\p{P}/gu, '');
    return out;
  };
  return (piece, { choices }) => {
    const direct = safely(() => pick(findAll(pattern, piece.text), select));
    if (direct && strip(direct.text) !== '') return within(piece, direct);
    const letters = (choices ?? []).map((_, i) => String.fromCharCode(65 + i));
    const byText = new Map((choices ?? []).map((choice, i) => [clean(strip(choice)), `(${letters[i]})`]));
    const texts = [...byText.keys()].map(escapePattern).sort((a, b) => b.length - a.length);
    const cleaned = clean(piece.text);
    const named = texts.length > 0 ? safely(() => pick(findAll(texts.join('|'), cleaned), select)) : null;
    if (named && strip(named.text) !== '') {
      const start = cleaned === piece.text && piece.start !== null ? piece.start + named.start : null;
      return { text: byText.get(strip(named.text)) ?? strip(named.text), start, missed: piece.missed };
    }
    const lettered =
      letters.length > 0 ? safely(() => pick(findAll(`:[\\s]*(${letters.join('|')})`, piece.text), select)) : null;
    if (!lettered) return fallbackPiece(fallback);
    return { ...within(piece, lettered), text: `(${strip(lettered.text)})` };
  };
}

const changeCase =
  (change: (text: string) => string): Step =>
  (piece) => {
    const text = change(piece.text);
    return { ...piece, text, start: text.length === piece.text.length ? piece.start : null };
  };

export const filterTable: ReadonlyMap<string, FilterRow> = new Map<string, FilterRow>([
  [
    'regex',
    {
      options: ['regex_pattern', 'group_select', 'fallback'],
      pattern: true,
      build(options) {
        const { pattern, select, fallback } = regexOptions(options);
        return (piece) => {
          const found = safely(() => pick(findAll(pattern, piece.text), select));
          return found ? within(piece, found) : fallbackPiece(fallback);
        };
      },
    },
  ],
  [
    'regex_pos',
    {
      options: ['regex_pattern', 'group_select', 'fallback'],
      pattern: true,
      build(options) {
        const fallback = options.fallback ?? ['invalid'];
        return (piece) => {
          const tags = findAll("\\('([^']*)', '([^']*)'\\)", piece.text).map((match) => match.groups[1]?.text ?? '');
          return tags.length > 0
            ? { text: str(tags), start: null, missed: piece.missed }
            : fallbackPiece(str(fallback));
        };
      },
    },
  ],
  [
    'multi_choice_regex',
    {
      options: ['regex_pattern', 'group_select', 'fallback', 'ignore_case', 'ignore_punctuation', 'regexes_to_ignore'],
      pattern: true,
      build: multiChoice,
    },
  ],
  // One output an item: the first, the first k and the commonest of one are that one.
  ['take_first', { options: [], build: () => unchanged }],
  ['take_first_k', { options: ['k'], build: () => unchanged }],
  ['majority_vote', { options: [], build: () => unchanged }],
  ['remove_whitespace', { options: [], build: () => stripPiece }],
  ['lowercase', { options: [], build: () => changeCase((text) => text.toLowerCase()) }],
  ['uppercase', { options: [], build: () => changeCase((text) => text.toUpperCase()) }],
  [
    'map',
    {
      options: ['mapping_dict', 'default_value'],
      build(options) {
        const mapping = options.mapping_dict ?? {};
        if (typeof mapping !== 'object' || Array.isArray(mapping))
          throw new PythonError('`mapping_dict` must be a mapping.');
        const values = new Map(Object.entries(mapping as object).map(([key, value]) => [key, str(value)]));
        return (piece) => {
          const value = values.get(piece.text);
          return value === undefined
            ? { ...piece, text: str(options.default_value ?? null), missed: true }
            : { ...piece, text: value };
        };
      },
    },
  ],
]);

/** Filters that lm-evaluation-harness has and Softbench cannot run, with the reason. */
export const refusedFilters: ReadonlyMap<string, string> = new Map([
  ['custom', 'it runs a Python function'],
  ['decontaminate', 'it needs a list of contaminated items'],
  ['format_span', 'its tables of entity names are not included'],
]);

/** One entry of `filter_list`. */
export class FilterPipeline {
  constructor(
    readonly name: string,
    private readonly steps: readonly Step[],
    /** One of the filters looks for a pattern. */
    readonly hasPattern: boolean,
    /** One of the filters needs the item's field `choices`. */
    readonly needsChoices = false,
  ) {}

  apply(output: string, context: FilterContext): Piece {
    let piece: Piece = { text: output, start: 0, missed: false };
    for (const step of this.steps) piece = step(piece, context);
    return piece;
  }

  /** What the filters take out of an output, and where it stands. The answer is null where a pattern was not found. */
  read(output: string, context: FilterContext): { reading: Reading; text: string } {
    const { text, start, missed } = this.apply(output, context);
    return {
      reading: { answer: missed ? null : text, span: missed || start === null ? null : [start, start + text.length] },
      text,
    };
  }
}
