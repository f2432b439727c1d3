/** Marks that people set on items: the same words in files, in pages and on the command line. */

/** What may be wrong with an item; one row each. The glyphs differ in shape. */
export const markKinds = [
  { kind: 'bad gold', glyph: '✗', sentence: 'The right answer in the data is wrong.' },
  {
    kind: 'bad reader',
    glyph: '⚙',
    sentence: 'The answer is read or compared wrongly: the benchmark judges it unfairly.',
  },
  {
    kind: 'ambiguous question',
    glyph: '?',
    sentence: 'The question cannot be answered, or has several right answers.',
  },
  { kind: 'other', glyph: '⚑', sentence: 'Something else; the note says what.' },
] as const;
export type MarkKind = (typeof markKinds)[number]['kind'];

export const isMarkKind = (value: unknown): value is MarkKind => markKinds.some(({ kind }) => kind === value);

export interface ItemMark {
  kind: MarkKind;
  /** The person's own words; may be empty. */
  note: string;
}

/** A mark as it is kept. */
export interface MarkedItem extends ItemMark {
  /** Position of the item in the split, as in the records. */
  index: number;
  /** When it was set (ISO 8601). */
  time: string;
}

/** Longest note that is kept, in characters. */
export const longestNote = 4000;

/** Marks of several runs as one list, by item: of two marks of an item the later one counts. */
export function joinedMarks(lists: readonly (readonly MarkedItem[])[]): MarkedItem[] {
  const found = new Map<number, MarkedItem>();
  for (const mark of lists.flat()) {
    const known = found.get(mark.index);
    if (!known || known.time < mark.time) found.set(mark.index, mark);
  }
  return [...found.values()].sort((a, b) => a.index - b.index);
}
