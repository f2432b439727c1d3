/**
 * A learning rate that fits the model. A soft prompt starts at rows of the embedding table and Adam moves every entry by
 * about the rate per step, so the rate must follow the size of those entries; wider models want less per entry. Measured
 * good rates are 0.6 for a width of 64 with entries of 0.31 (root mean square) and 0.03 - 0.06 for 576 with 0.1.
 */
const peakPerScale = 15.5;

/**
 * @param embeddingScale root mean square of the embedding table's entries
 * @param hiddenSize width of the embedding
 */
export function automaticLearningRate(embeddingScale: number, hiddenSize: number): number {
  return Number(((peakPerScale * embeddingScale) / Math.sqrt(hiddenSize)).toPrecision(2));
}
