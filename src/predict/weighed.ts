/** A mean of two predictors whose weights the records decide, where there are enough of them. */
import { meanOf } from './blend.ts';
import { withDevelopment } from './development.ts';
import { predictInTurns, turns } from './turn.ts';
import type { Predictor, ScoreRecord } from './types.ts';

/** Below this, a network learns worse than what sees a table as a matrix, and records are too few to set some aside. */
const leastRecords = 12_000;

/**
 * `small`, by default `main` alone, in small tables. In larger ones both learn from the training records, and the weights, from
 * 0 to 1 with sum 1, are those of the least squared error on the development records, which are a ninth of the training records
 * where none are given.
 */
export function weighed(
  main: Predictor,
  other: Predictor,
  { least = leastRecords, small = main }: { least?: number; small?: Predictor } = {},
): Predictor {
  return {
    ...main,
    async fit(records, options) {
      const { seed, development: given = [], progress, signal } = options;
      if (records.length + given.length < least) return small.fit(records, options);
      const { training, development } = withDevelopment(records, given, seed);
      const settings = (from: number) => ({
        seed,
        ...(signal && { signal }),
        ...(progress && { progress: (done: number) => progress(from + done / 2) }),
      });
      const first = await other.fit(training, { ...settings(0), development });
      const second = await main.fit(training, settings(0.5));
      const turn = turns(signal);
      const weight = shareOfFirst(
        development,
        await predictInTurns(first, development, turn),
        await predictInTurns(second, development, turn),
      );
      return meanOf([
        { of: second, weight: 1 - weight },
        { of: first, weight },
      ]);
    },
  };
}

/** The w from 0 to 1 for which w · first + (1 − w) · second has the least squared error; a half where they are the same. */
export function shareOfFirst(records: readonly ScoreRecord[], first: Float64Array, second: Float64Array): number {
  let along = 0;
  let squares = 0;
  for (const [at, { score }] of records.entries()) {
    const apart = (first[at] as number) - (second[at] as number);
    along += apart * (score - (second[at] as number));
    squares += apart * apart;
  }
  return squares > 0 ? Math.min(1, Math.max(0, along / squares)) : 0.5;
}
