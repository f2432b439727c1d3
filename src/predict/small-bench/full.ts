/** Small benches measured with any predictor, in place of the closed form that they are searched with. */
import { fitOf, type MeanAndSd, meanAndSd } from '../fit.ts';
import { throwIfStopped } from '../learn/pace.ts';
import type { Predictor, ScoreRecord } from '../types.ts';
import type { ScoreTable } from './table.ts';

export interface PredictorRecoveryOptions {
  seed?: number;
  signal?: AbortSignal;
  progress?(done: number): void;
}

/**
 * R² of a predictor on each group's subtasks outside of a subset, when it has learned from all other groups and from the
 * group's scores on the subset.
 * @param records those that the table was made of
 * @param groups rows of the table that are held out together
 * @param subsetOf the subset for each group
 */
export async function predictorRecovery(
  table: ScoreTable,
  records: readonly ScoreRecord[],
  predictor: Predictor,
  groups: readonly (readonly number[])[],
  subsetOf: (group: number) => readonly number[],
  { seed = 0, signal, progress }: PredictorRecoveryOptions = {},
): Promise<MeanAndSd & { values: (number | null)[] }> {
  const width = table.subtasks.length;
  const values: (number | null)[] = [];
  for (const [group, rows] of groups.entries()) {
    throwIfStopped(signal);
    const held = new Set(rows);
    const subset = new Set(subsetOf(group));
    const train: ScoreRecord[] = [];
    const test: ScoreRecord[] = [];
    for (const row of table.rows.keys())
      for (let k = 0; k < width; k++) {
        const record = records[table.records[row * width + k] as number];
        if (record) (held.has(row) && !subset.has(k) ? test : train).push(record);
      }
    const fitted = await predictor.fit(train, {
      seed,
      ...(signal && { signal }),
      progress: (done) => progress?.((group + done) / groups.length),
    });
    values.push(
      fitOf(
        test.map(({ score }) => score),
        [...fitted.predict(test)],
      ).r2,
    );
  }
  return { ...meanAndSd(values), values };
}
