/**
 * The filters of `filter_list`: what takes an answer out of an output. One row a filter, with lm-evaluation-harness's
 * meaning (filters/*.py of 0.4.13); each keeps where in the raw output its text stands.
 */
import type { MetricValue, Reading } from '../shared/results.ts';
import { extract, multiChoice, regexOptions, tagsIn } from './extraction.ts';
import { formatSpan } from './format-span.ts';
import { leftStrip, PythonError, rightStrip, str } from './python.ts';

/** A text on its way through the filters. */
export interface Piece {
  text: string;
  /** Where it starts in the raw output; null where it no longer is a part of it. */
  start: number | null;
  /** A filter looked for a pattern and did not find it: `text` is the fallback. */
  missed: boolean;
  /** What it is where it is no text: `map` gives numbers and nothing, `regex_pos` lists. `text` is its printed form. */
  value?: unknown;
}

export interface FilterContext {
  /** The item's field `choices`, which multi_choice_regex asks for. */
  choices: readonly string[] | null;
}

/** What a filter makes of one output. */
export type Step = (piece: Piece, context: FilterContext) => Piece;
/** What a filter chooses among an item's outputs: some of them, or one. */
type Choose = (pieces: readonly Piece[]) => readonly Piece[] | Piece;

interface FilterRow {
  /** Names of the options it takes. */
  options: readonly string[];
  /** It looks for a pattern, and so defines a format. */
  pattern?: boolean;
  /** @throws PythonError where the options are wrong */
  build(options: Record<string, unknown>): { step: Step } | { choose: Choose };
}

/** A filter as it stands in a pipeline. */
export type Stage = ReturnType<FilterRow['build']>;

function stripPiece(piece: Piece): Piece {
  const left = leftStrip(piece.text);
  const skipped = piece.text.length - left.length;
  return { ...piece, text: rightStrip(left), start: piece.start === null ? null : piece.start + skipped };
}

const changed = (piece: Piece, text: string): Piece => ({
  ...piece,
  text,
  start: text.length === piece.text.length ? piece.start : null,
});

/** A filter that works on texts alone leaves everything else as it is. */
const ofText =
  (change: (piece: Piece) => Piece): Step =>
  (piece) =>
    piece.value === undefined ? change(piece) : piece;

function wholeNumber(options: Record<string, unknown>, name: string): number {
  const value = options[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1)
    throw new PythonError(`\`${name}\` must be a whole number from 1 on.`);
  return value;
}

const keyOf = (piece: Piece): unknown => (piece.value === undefined ? piece.text : JSON.stringify(piece.value));

/** The commonest; the first of equals, as Python's Counter. */
function commonest(pieces: readonly Piece[]): Piece[] {
  const counts = new Map<unknown, { piece: Piece; count: number }>();
  for (const piece of pieces) {
    const row = counts.get(keyOf(piece)) ?? { piece, count: 0 };
    row.count++;
    counts.set(keyOf(piece), row);
  }
  let best: { piece: Piece; count: number } | null = null;
  for (const row of counts.values()) if (!best || row.count > best.count) best = row;
  return best ? [best.piece] : [];
}

const empty: Piece = { text: '', start: null, missed: true };

export const filterTable: ReadonlyMap<string, FilterRow> = new Map<string, FilterRow>([
  [
    'regex',
    {
      options: ['regex_pattern', 'group_select', 'fallback'],
      pattern: true,
      build: (options) => ({ step: extract(regexOptions(options)) }),
    },
  ],
  [
    'regex_pos',
    {
      options: ['regex_pattern', 'group_select', 'fallback'],
      pattern: true,
      build: (options) => ({ step: tagsIn(options.fallback ?? ['invalid']) }),
    },
  ],
  [
    'multi_choice_regex',
    {
      options: ['regex_pattern', 'group_select', 'fallback', 'ignore_case', 'ignore_punctuation', 'regexes_to_ignore'],
      pattern: true,
      build: (options) => ({ step: multiChoice(options) }),
    },
  ],
  ['take_first', { options: [], build: () => ({ choose: ([first]) => first ?? empty }) }],
  [
    'take_first_k',
    {
      options: ['k'],
      build(options) {
        const k = wholeNumber(options, 'k');
        return { choose: (pieces) => pieces.slice(0, k) };
      },
    },
  ],
  ['majority_vote', { options: [], build: () => ({ choose: commonest }) }],
  ['remove_whitespace', { options: [], build: () => ({ step: ofText(stripPiece) }) }],
  ['lowercase', { options: [], build: () => ({ step: ofText((piece) => changed(piece, piece.text.toLowerCase())) }) }],
  ['uppercase', { options: [], build: () => ({ step: ofText((piece) => changed(piece, piece.text.toUpperCase())) }) }],
  [
    'map',
    {
      options: ['mapping_dict', 'default_value'],
      build(options) {
        const mapping = options.mapping_dict ?? {};
        if (typeof mapping !== 'object' || Array.isArray(mapping))
          throw new PythonError('`mapping_dict` must be a mapping.');
        const values = new Map(Object.entries(mapping as object));
        const as = (piece: Piece, value: unknown): Piece => {
          const { value: _, ...rest } = piece;
          return typeof value === 'string' ? { ...rest, text: value } : { ...rest, text: str(value), value };
        };
        return {
          step: (piece) =>
            values.has(piece.text)
              ? as(piece, values.get(piece.text) ?? null)
              : { ...as(piece, options.default_value ?? null), missed: true },
        };
      },
    },
  ],
  [
    'format_span',
    {
      options: [],
      build: () => ({ step: ofText((piece) => ({ ...piece, text: formatSpan(piece.text), start: null })) }),
    },
  ],
]);

/** Filters that lm-evaluation-harness has and Softbench cannot run, with the reason. */
export const refusedFilters: ReadonlyMap<string, string> = new Map([
  ['custom', 'it runs a Python function'],
  ['decontaminate', 'lm-evaluation-harness 0.4.13 names it, but its filter returns nothing'],
]);

/** The texts that Python walks through where a filter follows one that took a single output: its characters. */
const elements = (state: readonly Piece[] | Piece): readonly Piece[] => {
  if (Array.isArray(state)) return state;
  const { text, start, missed } = state as Piece;
  let at = 0;
  return Array.from(text, (character) => {
    const piece = { text: character, start: start === null ? null : start + at, missed };
    at += character.length;
    return piece;
  });
};

const leftValue = (piece: Piece): MetricValue =>
  piece.value === undefined ? piece.text : (JSON.parse(JSON.stringify(piece.value)) as MetricValue);

/** One entry of `filter_list`. */
export class FilterPipeline {
  constructor(
    readonly name: string,
    private readonly stages: readonly Stage[],
    /** One of the filters looks for a pattern. */
    readonly hasPattern: boolean,
    /** One of the filters needs the item's field `choices`. */
    readonly needsChoices = false,
  ) {}

  /** One output through all filters but those that choose among outputs. */
  private single(output: string, context: FilterContext): Piece {
    let piece: Piece = { text: output, start: 0, missed: false };
    for (const stage of this.stages) if ('step' in stage) piece = stage.step(piece, context);
    return piece;
  }

  /**
   * What the filters leave of an item's outputs, as lm-evaluation-harness hands it to the metrics: the value of one, or a
   * list where no filter took one. What follows `take_first` sees single characters there, and here.
   */
  apply(outputs: readonly string[], context: FilterContext): MetricValue {
    let state: readonly Piece[] | Piece = outputs.map((text) => ({ text, start: 0, missed: false }));
    for (const stage of this.stages)
      state =
        'step' in stage ? elements(state).map((piece) => stage.step(piece, context)) : stage.choose(elements(state));
    return Array.isArray(state) ? (state.map(leftValue) as MetricValue) : leftValue(state as Piece);
  }

  /** What the filters take out of an output, and where it stands. The answer is null where a pattern was not found. */
  read(output: string, context: FilterContext): { reading: Reading; text: string } {
    const { text, start, missed } = this.single(output, context);
    return {
      reading: { answer: missed ? null : text, span: missed || start === null ? null : [start, start + text.length] },
      text,
    };
  }
}

/** Where a file has no `filter_list`: the first output as it is. */
export const noFilter = new FilterPipeline('none', [{ choose: ([first]) => first ?? empty }], false);
