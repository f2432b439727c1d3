/**
 * A metric of a whole set of outputs. What is counted of one output adds up, so that a score of any subset (a bootstrap
 * sample, a group) is the score of a sum.
 */
export interface CorpusMetric {
  /** Counts of one output against its references (one or more); always of the same length. */
  statistics(output: string, references: readonly string[]): number[];
  /** The score, 0 to 100, of counts that were added up. */
  score(sum: readonly number[]): number;
}

/** The score over pairs of output and references. NaN where there are none. */
export function corpusScore(
  metric: CorpusMetric,
  pairs: readonly { output: string; references: readonly string[] }[],
): number {
  const all = pairs.map(({ output, references }) => metric.statistics(output, references));
  return all.length === 0 ? Number.NaN : metric.score(added(all));
}

/** Sums by position. */
export function added(rows: readonly (readonly number[])[]): number[] {
  const sum = new Array<number>(rows[0]?.length ?? 0).fill(0);
  for (const row of rows) for (const [at, value] of row.entries()) sum[at] = (sum[at] ?? 0) + value;
  return sum;
}
