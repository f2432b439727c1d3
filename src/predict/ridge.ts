/** Ridge regression over the study's features: linear in everything that it sees. */
import { chosenByDevelopment, withDevelopment } from './development.ts';
import { type EncodedFeatures, type Encoder, learnFeatures } from './features.ts';
import { product, type SparseFeatures, solveRidge } from './ridge-solver.ts';
import { type Turn, turns } from './turn.ts';
import type { FittedPredictor, Predictor, ScoreRecord } from './types.ts';

/** Penalties to choose from, by the development records. */
const penalties = [0.1, 1, 10, 100] as const;

export const ridgePredictor: Predictor = {
  name: 'ridge',
  title: 'ridge regression',
  async fit(records, { development, seed, signal, progress }) {
    const parts = withDevelopment(records, development, seed);
    const turn = turns(signal);
    const penalty = await chosenByDevelopment(
      penalties,
      (candidate) => fitRidge(parts.training, candidate, turn),
      parts.development,
      turn,
      progress,
    );
    return fitRidge([...parts.training, ...parts.development], penalty, turn);
  },
};

/** With an intercept, which is not penalised. */
export async function fitRidge(records: readonly ScoreRecord[], penalty: number, turn: Turn): Promise<FittedPredictor> {
  const encoder = learnFeatures(records);
  const { intercept, weights } = await solveRidge(
    sparse(encoder, encoder.encode(records)),
    Float64Array.from(records, ({ score }) => score),
    penalty,
    turn,
  );
  return {
    predict(configurations) {
      const values = product(sparse(encoder, encoder.encode(configurations)), weights, configurations.length);
      return values.map((value) => Math.min(1, Math.max(0, intercept + value)));
    },
  };
}

function sparse(encoder: Encoder, { categories, numbers }: EncodedFeatures): SparseFeatures {
  let effects = 0;
  const indicators = categories.map((column, at) => {
    const first = effects;
    effects += encoder.categories[at]?.values ?? 0;
    return column.map((value) => (value < 0 ? -1 : first + value));
  });
  return { effects, indicators, numbers };
}
