/** Runs of one benchmark compared on the items that both have: what a page and the command line say of them. */
import type { ItemRecord, Share } from '../shared/results.ts';
import { share } from './intervals.ts';
import { comparedByCounts, type PairedComparison, pairedBootstrapInterval } from './paired.ts';
import { type FormatAndKnowledge, type GainSplit, likelihoodVerdict, splitGain } from './scores.ts';
import { holm, smallestDetectableDifference } from './several.ts';

type ComparedItem = Pick<
  ItemRecord,
  'index' | 'inFormat' | 'right' | 'generated' | 'scored' | 'choices' | 'likelihoods'
>;

/** Bits of an item's code. */
const [judged, inFormat, right, likelihood, likelihoodRight] = [1, 2, 4, 8, 16];

/** The verdicts of a run, one byte an item, by the item's index. */
export type VerdictCodes = Uint8Array;

export function verdictCodes(records: Iterable<ComparedItem>): VerdictCodes {
  let codes = new Uint8Array(1024);
  for (const record of records) {
    const { index } = record;
    if (index >= codes.length) {
      const longer = new Uint8Array(Math.max(index + 1, 2 * codes.length));
      longer.set(codes);
      codes = longer;
    }
    const likely = record.scored === false ? null : likelihoodVerdict(record);
    codes[index] =
      (record.generated === false || record.scored === false
        ? 0
        : judged | (record.inFormat ? inFormat : 0) | (record.inFormat && record.right ? right : 0)) |
      (likely === null ? 0 : likelihood | (likely ? likelihoodRight : 0));
  }
  return codes;
}

/** What two runs are compared by: the score of their outputs, or that of the likelihoods where nothing was generated. */
export type ComparedBy = 'S' | 'LL';

export interface RunComparison {
  by: ComparedBy;
  paired: PairedComparison;
  /** Of the paired bootstrap; `paired` has the interval that the score test gives. */
  bootstrap: [number, number];
  /** Over the items of both, like everything here. */
  base: FormatAndKnowledge;
  other: FormatAndKnowledge;
  /** Null where likelihoods are compared: there is no format. */
  gain: GainSplit | null;
  /** As a share; null where so few items differ that even the largest difference would not be seen. */
  detectable: number | null;
}

/** @returns null where no item has a verdict in both */
export function compareRuns(base: VerdictCodes, other: VerdictCodes, by: ComparedBy): RunComparison | null {
  const [given, isRight] = by === 'S' ? [judged, right] : [likelihood, likelihoodRight];
  let [n, onlyA, onlyB, both] = [0, 0, 0, 0];
  let [formatA, formatB] = [0, 0];
  for (let i = Math.min(base.length, other.length) - 1; i >= 0; i--) {
    const [a, b] = [base[i] ?? 0, other[i] ?? 0];
    if (!(a & b & given)) continue;
    n++;
    if (a & b & isRight) both++;
    else if (a & isRight) onlyA++;
    else if (b & isRight) onlyB++;
    if (a & inFormat) formatA++;
    if (b & inFormat) formatB++;
  }
  if (n === 0) return null;
  const scores = (format: number, count: number): FormatAndKnowledge => ({
    F: share(format, n),
    S: share(count, n),
    K: share(count, format),
  });
  const [mine, theirs] = [scores(formatA, both + onlyA), scores(formatB, both + onlyB)];
  return {
    by,
    paired: comparedByCounts(n, onlyA, onlyB),
    bootstrap: pairedBootstrapInterval(onlyA, onlyB, n),
    base: mine,
    other: theirs,
    gain: by === 'S' ? splitGain(mine, theirs) : null,
    detectable: smallestDetectableDifference(n, (onlyA + onlyB) / n),
  };
}

/** A comparison among others that are looked at together. */
export interface Among {
  comparisons: number;
  /** The p-value, corrected for that (Holm). */
  corrected: number;
}

/** The comparisons that stand side by side, each with what its p-value is worth among them. */
export function together<T extends { comparison: RunComparison | null }>(
  entries: readonly T[],
): (T & { among: Among })[] {
  const compared = entries.filter(({ comparison }) => comparison !== null);
  const corrected = holm(compared.map(({ comparison }) => comparison?.paired.pValue ?? 1));
  return entries.map((entry) => ({
    ...entry,
    among: { comparisons: compared.length, corrected: corrected[compared.indexOf(entry)] ?? 1 },
  }));
}

/** L − S: right by the lenient reading, but lost to the format. Null where either is not there. */
export const lostToFormat = ({ L, S }: { L: Share; S: Share }): number | null =>
  L.value === null || S.value === null ? null : L.value - S.value;
