/** Items as the results page lists them: without what only the details of one show, and packed for messages. */
import { failureCauses } from './failure-causes.ts';
import type { ItemRow } from './protocol.ts';
import type { ItemRecord, StopReason } from './results.ts';

/** Copies what the table needs. */
export function rowOf({
  schema: _schema,
  prompt: _prompt,
  metrics: _metrics,
  repeats: _repeats,
  ...row
}: ItemRecord): ItemRow {
  return row;
}

/** What few items have. */
export type Rare = Pick<ItemRow, 'choices' | 'likelihoods' | 'truncated'>;

/** The texts of a row, in this order. */
export const textFields = ['output', 'gold', 'strict', 'lenient'] as const;
export type TextField = (typeof textFields)[number];
const fields = textFields.length;

/** Texts joined, each with a NUL behind it. */
export interface JoinedTexts {
  text: string;
  /** Where each text ends in `text`; the next begins behind the NUL. */
  ends: Uint32Array;
  /** Which texts these are, as {@link slotOf} numbers them, ascending; null: all of them. */
  slots: Uint32Array | null;
}

/**
 * Rows by columns: a message with a list of objects takes ten times as long to copy, and the page keeps the columns as they
 * come. Texts that need no more than a byte a character stand apart from the others, so that these do not make all twice as
 * long.
 */
export interface PackedRows {
  index: Int32Array;
  outputTokens: Int32Array;
  /** Bits, see {@link rowBits}, and above them the number of the stop reason. */
  flags: Uint16Array;
  /** Number of the cause in the table of causes + 1; 0: none. */
  causes: Uint8Array;
  /** Start and end of the strict reading, then of the lenient one; -1 where there is none. */
  spans: Int32Array;
  /** Texts of Latin-1 characters; the others are empty here. */
  narrow: JoinedTexts;
  wide: JoinedTexts;
  /** Markers that ended outputs, each once; by row the number of its own + 1, 0: none. */
  markers: string[];
  markerOf: Uint32Array;
  rare: { at: number; values: Rare }[];
}

export const rowBits = {
  inFormat: 1,
  right: 2,
  lenientRight: 4,
  notGenerated: 8,
  notScored: 16,
  /** There is an answer, be it empty. */
  strict: 32,
  lenient: 64,
} as const;
const stopShift = 8;
export const stopReasons: readonly StopReason[] = ['stop-string', 'eos', 'length'];

/** The stop reason of a row, by its flags. */
export const stopReasonOf = (flags: number): StopReason => stopReasons[flags >> stopShift] ?? 'eos';

/** The number of a text of a row. */
export const slotOf = (at: number, field: TextField): number => at * fields + textFields.indexOf(field);

const beyondLatin1 = /[\u0100-\uffff]/;
const end = '\u0000';

export function packRows(records: readonly ItemRow[]): PackedRows {
  const { length } = records;
  const packed = {
    index: new Int32Array(length),
    outputTokens: new Int32Array(length),
    flags: new Uint16Array(length),
    causes: new Uint8Array(length),
    spans: new Int32Array(4 * length).fill(-1),
    markerOf: new Uint32Array(length),
  };
  const markers = new Map<string, number>();
  const rare: PackedRows['rare'] = [];
  const [narrow, wide] = [joiner(), joiner()];
  for (const [at, row] of records.entries()) {
    const { strict, lenient, stop } = row;
    packed.index[at] = row.index;
    packed.outputTokens[at] = row.outputTokens;
    packed.flags[at] =
      (row.inFormat ? rowBits.inFormat : 0) |
      (row.right ? rowBits.right : 0) |
      (row.lenientRight ? rowBits.lenientRight : 0) |
      (row.generated === false ? rowBits.notGenerated : 0) |
      (row.scored === false ? rowBits.notScored : 0) |
      (strict.answer === null ? 0 : rowBits.strict) |
      (lenient.answer === null ? 0 : rowBits.lenient) |
      (Math.max(0, stopReasons.indexOf(stop.reason)) << stopShift);
    packed.causes[at] = row.cause === null ? 0 : failureCauses.indexOf(row.cause) + 1;
    if (strict.span) packed.spans.set(strict.span, 4 * at);
    if (lenient.span) packed.spans.set(lenient.span, 4 * at + 2);
    if (stop.marker !== undefined) {
      const known = markers.get(stop.marker) ?? markers.size;
      markers.set(stop.marker, known);
      packed.markerOf[at] = known + 1;
    }
    const texts = [row.output, row.gold, strict.answer ?? '', lenient.answer ?? ''];
    for (const [field, text] of texts.entries()) {
      const isWide = beyondLatin1.test(text);
      narrow.add(isWide ? '' : text);
      if (isWide) wide.add(text, at * fields + field);
    }
    const { choices, likelihoods, truncated } = row;
    if (choices || likelihoods || truncated !== undefined)
      rare.push({
        at,
        values: {
          ...(choices && { choices }),
          ...(likelihoods && { likelihoods }),
          ...(truncated !== undefined && { truncated }),
        },
      });
  }
  return {
    ...packed,
    narrow: { ...narrow.joined(), slots: null },
    wide: wide.joined(),
    markers: [...markers.keys()],
    rare,
  };
}

function joiner() {
  const texts: string[] = [];
  const ends: number[] = [];
  const slots: number[] = [];
  let length = 0;
  return {
    add(text: string, slot = 0): void {
      texts.push(text);
      slots.push(slot);
      length += text.length;
      ends.push(length);
      length += end.length;
    },
    joined: (): { text: string; ends: Uint32Array; slots: Uint32Array } => ({
      text: texts.length === 0 ? '' : texts.join(end) + end,
      ends: Uint32Array.from(ends),
      slots: Uint32Array.from(slots),
    }),
  };
}

/** Where text number `place` begins. */
export const startIn = ({ ends }: JoinedTexts, place: number): number =>
  place === 0 ? 0 : (ends[place - 1] ?? 0) + end.length;

/** A text of a row; empty where there is none. */
export function textIn({ narrow, wide }: PackedRows, at: number, field: TextField): string {
  const slot = slotOf(at, field);
  const [from, to] = [startIn(narrow, slot), narrow.ends[slot] ?? 0];
  if (to > from) return narrow.text.slice(from, to);
  const place = wide.slots === null || wide.slots.length === 0 ? -1 : placeOf(wide.slots, slot);
  return place < 0 ? '' : wide.text.slice(startIn(wide, place), wide.ends[place]);
}

/** Where a number stands among ascending ones; -1 where it does not. */
function placeOf(numbers: Uint32Array, wanted: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return numbers[low] === wanted ? low : -1;
}

/** @param rare what this row has of {@link PackedRows.rare} */
export function rowAt(packed: PackedRows, at: number, rare: Rare | undefined): ItemRow {
  const flags = packed.flags[at] ?? 0;
  const has = (bit: number): boolean => (flags & bit) !== 0;
  const spanAt = (place: number): [number, number] | null => {
    const [from = -1, to = -1] = [packed.spans[place], packed.spans[place + 1]];
    return from < 0 ? null : [from, to];
  };
  const reason = stopReasonOf(flags);
  const marker = packed.markers[(packed.markerOf[at] ?? 0) - 1];
  const row: ItemRow = {
    index: packed.index[at] ?? 0,
    output: textIn(packed, at, 'output'),
    outputTokens: packed.outputTokens[at] ?? 0,
    stop: marker === undefined ? { reason } : { reason, marker },
    gold: textIn(packed, at, 'gold'),
    strict: { answer: has(rowBits.strict) ? textIn(packed, at, 'strict') : null, span: spanAt(4 * at) },
    lenient: { answer: has(rowBits.lenient) ? textIn(packed, at, 'lenient') : null, span: spanAt(4 * at + 2) },
    inFormat: has(rowBits.inFormat),
    right: has(rowBits.right),
    lenientRight: has(rowBits.lenientRight),
    cause: failureCauses[(packed.causes[at] ?? 0) - 1] ?? null,
  };
  if (has(rowBits.notGenerated)) row.generated = false;
  if (has(rowBits.notScored)) row.scored = false;
  return rare ? Object.assign(row, rare) : row;
}

export function unpackRows(packed: PackedRows): ItemRow[] {
  const rare = new Map(packed.rare.map(({ at, values }) => [at, values]));
  return Array.from(packed.index, (_, at) => rowAt(packed, at, rare.get(at)));
}
