/** The mean of all scores: what R² = 0 means. */
import type { Predictor } from './types.ts';

export const meanPredictor: Predictor = {
  name: 'mean',
  title: 'mean',
  async fit(records) {
    let sum = 0;
    for (const { score } of records) sum += score;
    const mean = records.length > 0 ? sum / records.length : 0.5;
    return { predict: (configurations) => new Float64Array(configurations.length).fill(mean) };
  },
};
