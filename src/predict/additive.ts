/**
 * A model's level plus a task's level: the plain baseline that everything else is measured against. Effects of family and
 * model, of subtask and metric, and of the setting within them are learned together by least squares with shrinkage (ridge),
 * so that an unknown model stands at its family's level, or at that of all models, and an unknown task at the mean.
 */
import { learnSizes } from './features.ts';
import { solveRidge } from './ridge-solver.ts';
import { inTurns, stepwise, type Turn, turns } from './turn.ts';
import type { Configuration, FittedPredictor, Predictor, ScoreRecord } from './types.ts';

/** What has an effect of its own, the general in front of the particular. */
const levels: readonly ((of: Configuration) => string)[] = [
  ({ family }) => family,
  ({ family, model }) => JSON.stringify([family, model]),
  ({ metric }) => metric,
  ({ task, metric }) => JSON.stringify([task, metric]),
  ({ task, subtask, metric }) => JSON.stringify([task, subtask, metric]),
  ({ task, subtask, metric, shots, mode }) => JSON.stringify([task, subtask, metric, shots, mode]),
];

/** How strongly effects are drawn to 0, in records. */
const additiveShrinkage = 0.5;

export const additivePredictor: Predictor = {
  name: 'additive',
  title: 'model + task',
  async fit(training, { signal, development = [] }) {
    // There is nothing to stop early and nothing to choose: it learns from both.
    return fitAdditive([...training, ...development], turns(signal));
  },
};

/** The same with slopes along the logarithms of size and training computation, so that these place a model of an unknown family. */
export const fitAdditiveBySize = (records: readonly ScoreRecord[], turn: Turn): Promise<FittedPredictor> =>
  fitAdditive(records, turn, learnSizes(records));

export async function fitAdditive(
  records: readonly ScoreRecord[],
  turn: Turn,
  sizes: ReturnType<typeof learnSizes> = [],
): Promise<FittedPredictor> {
  await turn();
  const names = levels.map(() => new Map<string, number>());
  let effects = 0;
  const indicators: Int32Array[] = [];
  for (const [at, level] of levels.entries()) {
    const known = names[at] as Map<string, number>;
    const of = new Int32Array(records.length);
    const number = (record: ScoreRecord, i: number): void => {
      const key = level(record);
      const effect = known.get(key) ?? effects++;
      known.set(key, effect);
      of[i] = effect;
    };
    await inTurns(stepwise(records, number), turn);
    indicators.push(of);
  }
  const columnOf = async (of: (record: ScoreRecord) => number): Promise<Float64Array> => {
    const column = new Float64Array(records.length);
    const fill = (record: ScoreRecord, i: number): void => {
      column[i] = of(record);
    };
    await inTurns(stepwise(records, fill), turn);
    return column;
  };
  const numbers: Float64Array[] = [];
  for (const size of sizes) numbers.push(await columnOf(size));
  const { intercept, weights } = await solveRidge(
    { effects, indicators, numbers },
    await columnOf(({ score }) => score),
    additiveShrinkage,
    turn,
  );
  return {
    predict: (configurations) =>
      Float64Array.from(configurations, (configuration) => {
        let value = intercept;
        for (const [at, level] of levels.entries()) {
          const effect = names[at]?.get(level(configuration));
          if (effect !== undefined) value += weights[effect] ?? 0;
        }
        for (const [at, size] of sizes.entries()) value += size(configuration) * (weights[effects + at] ?? 0);
        return Math.min(1, Math.max(0, value));
      }),
  };
}
