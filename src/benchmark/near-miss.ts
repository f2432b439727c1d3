/** The known word that was probably meant. */

/** Edits (insert, delete, replace, swap of neighbours) between two words. */
export function distance(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, (before[j - 2] ?? 0) + 1);
      next.push(best);
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}

/** The closest of `known` to `word` where it is close enough to be a slip, else null. */
export function nearest(word: string, known: Iterable<string>): string | null {
  const plain = (text: string): string => text.toLowerCase().replace(/[-_ ]/g, '');
  let best: { name: string; edits: number } | null = null;
  for (const name of known) {
    const edits = distance(plain(word), plain(name));
    if (!best || edits < best.edits) best = { name, edits };
  }
  return best && best.edits <= Math.max(1, Math.floor(word.length / 3)) ? best.name : null;
}

/** ` Did you mean "x"?` or nothing. */
export function suggestion(word: string, known: Iterable<string>): string {
  const name = nearest(word, known);
  return name === null ? '' : ` Did you mean \`${name}\`?`;
}
