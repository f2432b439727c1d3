/**
 * ROUGE (Lin 2004) as the package rouge_score computes it without stemming, the F-measure: overlap of words (rouge1) and
 * of pairs of words (rouge2), and the longest common subsequence line by line (rougeLsum). Against several references the
 * best one counts; the score of a set is the mean over its outputs.
 */
import type { CorpusMetric } from './corpus-metric.ts';
import { countRuns, overlap } from './words.ts';

/** Runs of ASCII letters and digits; everything else is between words. */
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

const fMeasure = (hits: number, length: number, reference: number): number => {
  const [precision, recall] = [hits / Math.max(1, length), hits / Math.max(1, reference)];
  return precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0;
};

function runs(output: string, reference: string, order: number): number {
  const [ours, theirs] = [wordsOf(output), wordsOf(reference)];
  const count = ({ length }: readonly string[]): number => Math.max(0, length - order + 1);
  const hits = overlap(countRuns(theirs, order, ' '), countRuns(ours, order, ' '));
  return fMeasure(hits, count(ours), count(theirs));
}

/**
 * Marks the words of `line` that are in a longest common subsequence with `other`. Of several ones that which is found from
 * the end, going back in `line` first.
 */
function markCommon(line: readonly string[], other: readonly string[], marks: boolean[]): void {
  const width = other.length + 1;
  const lengths = new Uint32Array((line.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = 1; row <= line.length; row++)
    for (let column = 1; column <= other.length; column++)
      lengths[row * width + column] =
        line[row - 1] === other[column - 1]
          ? at(row - 1, column - 1) + 1
          : Math.max(at(row - 1, column), at(row, column - 1));
  for (let row = line.length, column = other.length; row > 0 && column > 0; ) {
    if (line[row - 1] === other[column - 1]) {
      marks[row - 1] = true;
      row--;
      column--;
    } else if (at(row, column - 1) > at(row - 1, column)) column--;
    else row--;
  }
}

/** Words by line. A full stop between spaces ends a line, as T5's evaluation, which BIG-bench uses, prepares summaries. */
const linesOf = (text: string): string[][] =>
  text
    .replaceAll(' . ', ' .\n')
    .split('\n')
    .filter((line) => line !== '')
    .map(wordsOf);

/** Lin 2004, section 3.2: union of the subsequences of each reference line with all lines; no word counts twice. */
function summary(output: string, reference: string): number {
  const [ours, theirs] = [linesOf(output), linesOf(reference)];
  const left = countRuns(ours.flat(), 1, ' ');
  const leftInReference = countRuns(theirs.flat(), 1, ' ');
  let hits = 0;
  for (const line of theirs) {
    const marks = line.map(() => false);
    for (const other of ours) markCommon(line, other, marks);
    for (const [at, word] of line.entries()) {
      const [a, b] = [left.get(word) ?? 0, leftInReference.get(word) ?? 0];
      if (!marks[at] || a === 0 || b === 0) continue;
      hits++;
      left.set(word, a - 1);
      leftInReference.set(word, b - 1);
    }
  }
  return fMeasure(hits, ours.flat().length, theirs.flat().length);
}

/** Statistics: F-measure against the best reference, and one output. */
const meanOfBest = (measure: (output: string, reference: string) => number): CorpusMetric => ({
  statistics: (output, references) => [Math.max(0, ...references.map((reference) => measure(output, reference))), 1],
  score: ([sum = 0, outputs = 0]) => (outputs > 0 ? (100 * sum) / outputs : Number.NaN),
});

export const rouge1 = meanOfBest((output, reference) => runs(output, reference, 1));
export const rouge2 = meanOfBest((output, reference) => runs(output, reference, 2));
export const rougeLsum = meanOfBest(summary);
