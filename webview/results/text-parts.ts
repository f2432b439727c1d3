/** Which parts of long texts are shown, and in what pieces. */

export type Span = readonly [number, number];
export interface Spans {
  strict: Span | null;
  lenient: Span | null;
}

/** Characters shown at first. */
export const firstCharacters = 6_000;
/** Characters around a span that lies behind them, and of such a span. */
const around = 200;
const longestSpan = 2_000;
/** Characters of a block of a whole text; blocks end at line breaks where there are any near. */
const block = 16_000;

/** The ranges that are shown of a long text. */
export function shownRanges(
  length: number,
  { strict, lenient }: Spans,
  limit: number = firstCharacters,
): [number, number][] {
  const ranges: [number, number][] = [[0, Math.min(length, limit)]];
  // Where the text itself was left out (exported without outputs) spans are of nothing.
  const spans = [strict, lenient]
    .flatMap((span) => (span && span[0] < length ? [span] : []))
    .sort((a, b) => a[0] - b[0]);
  for (const [start, end] of spans) {
    const from = Math.max(0, start - around);
    const to = Math.min(length, Math.min(end, start + longestSpan) + around);
    const last = ranges.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else ranges.push([from, to]);
  }
  return ranges;
}

/** Ends of the blocks of a text, the last included. */
export function blockEnds(text: string): number[] {
  const ends: number[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + block);
    const line = text.lastIndexOf('\n', end - 1);
    if (end < text.length && line > at + block / 2) end = line + 1;
    // Not through the middle of a character of two units.
    else if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? '')) end--;
    ends.push(end);
    at = end;
  }
  return ends;
}
