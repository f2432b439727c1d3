/** What token sequences have in common at their start. */

/** Length of the longest common prefix of all sequences, at most `limit`. */
export function commonPrefixLength(sequences: readonly (readonly number[])[], limit: number): number {
  const [first, ...others] = sequences;
  if (!first) return 0;
  let length = Math.min(limit, first.length);
  for (const sequence of others) {
    let same = 0;
    const end = Math.min(length, sequence.length);
    while (same < end && sequence[same] === first[same]) same++;
    length = same;
    if (length === 0) break;
  }
  return length;
}
