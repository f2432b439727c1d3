/** The difference of two texts by words. */

export interface DifferencePart {
  /** In both, only in the first, only in the second. */
  kind: 'same' | 'first' | 'second';
  text: string;
}

/** Characters of each text that are compared: more than one reads, and few enough to take no time. */
export const mostCompared = 20_000;
/** Words that may differ before the rest counts as different as a whole. */
const mostDifferences = 1_500;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** Words, spaces and marks; of scripts without spaces the words that the browser's dictionary finds. */
export const wordsOf = (text: string): string[] =>
  [...segmenter.segment(text.slice(0, mostCompared))].map(({ segment }) => segment);

/**
 * A shortest list of parts that makes the second text out of the first (Myers 1986, "An O(ND) difference algorithm"); of
 * texts that differ in more than some 1,500 words what both begin and end with, and the rest as one.
 */
export function wordDifference(first: string, second: string): DifferencePart[] {
  const [a, b] = [wordsOf(first), wordsOf(second)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = shortestEdit(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return joined([
    { kind: 'same', text: a.slice(0, start).join('') },
    ...middle,
    { kind: 'same', text: a.slice(a.length - end).join('') },
  ]);
}

function shortestEdit(a: readonly string[], b: readonly string[]): DifferencePart[] {
  const all: DifferencePart[] = [
    { kind: 'first', text: a.join('') },
    { kind: 'second', text: b.join('') },
  ];
  if (a.length === 0 || b.length === 0) return all;
  const most = Math.min(a.length + b.length, mostDifferences);
  /** Furthest place in `a` on each diagonal, by the number of differences so far. */
  const traces: Int32Array[] = [];
  let row = new Int32Array(2 * most + 3);
  const middle = most + 1;
  for (let differences = 0; differences <= most; differences++) {
    traces.push(row.slice(middle - differences - 1, middle + differences + 2));
    const next = row.slice();
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      const [down, right] = [row[middle + diagonal + 1] ?? 0, (row[middle + diagonal - 1] ?? 0) + 1];
      const fromAbove = diagonal === -differences || (diagonal !== differences && right - 1 < down);
      let x = fromAbove ? down : right;
      let y = x - diagonal;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++;
        y++;
      }
      next[middle + diagonal] = x;
      if (x >= a.length && y >= b.length) return walkBack(traces, a, b);
    }
    row = next;
  }
  return all;
}

/** The edit that led to the end, from the last difference to the first. */
function walkBack(traces: readonly Int32Array[], a: readonly string[], b: readonly string[]): DifferencePart[] {
  const parts: DifferencePart[] = [];
  let [x, y] = [a.length, b.length];
  for (let differences = traces.length - 1; differences >= 0; differences--) {
    const trace = traces[differences];
    const at = (diagonal: number): number => trace?.[diagonal + differences + 1] ?? 0;
    const diagonal = x - y;
    const fromAbove = diagonal === -differences || (diagonal !== differences && at(diagonal - 1) < at(diagonal + 1));
    const before = differences === 0 ? 0 : fromAbove ? diagonal + 1 : diagonal - 1;
    const fromX = differences === 0 ? 0 : at(before);
    const fromY = differences === 0 ? 0 : fromX - before;
    while (x > fromX && y > fromY) {
      x--;
      y--;
      parts.push({ kind: 'same', text: a[x] ?? '' });
    }
    if (differences === 0) break;
    if (fromAbove) parts.push({ kind: 'second', text: b[--y] ?? '' });
    else parts.push({ kind: 'first', text: a[--x] ?? '' });
  }
  return parts.reverse();
}

/** Parts of one kind as one; between two differences only the first's words, then only the second's. */
function joined(parts: readonly DifferencePart[]): DifferencePart[] {
  const found: DifferencePart[] = [];
  const open = { first: '', second: '' };
  const close = (): void => {
    for (const kind of ['first', 'second'] as const) {
      if (open[kind]) found.push({ kind, text: open[kind] });
      open[kind] = '';
    }
  };
  for (const [at, { kind, text }] of parts.entries()) {
    if (text === '') continue;
    const between =
      kind === 'same' && /^\s+$/.test(text) && (open.first || open.second) && parts[at + 1]?.kind !== 'same';
    if (kind !== 'same') open[kind] += text;
    // A space between two differing words reads as part of the difference.
    else if (between && parts[at + 1]) {
      open.first += text;
      open.second += text;
    } else {
      close();
      const last = found.at(-1);
      if (last?.kind === 'same') last.text += text;
      else found.push({ kind, text });
    }
  }
  close();
  return found;
}
