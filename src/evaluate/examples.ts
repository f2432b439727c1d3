/** Which training examples go into which batch: decided by the seed and the step alone, so that a resumed tuning sees the same. */

import { Random } from '../shared/random.ts';
import type { TrainingExample } from './language-model.ts';

const lengthOf = (example: TrainingExample): number => example.prompt.length + example.answer.length;

/**
 * Batches for `steps` steps. Each pass over the data is shuffled; within a window of eight batches examples of like
 * length come together, which saves padding and leaves the order of lengths random.
 */
export function planBatches(
  examples: readonly TrainingExample[],
  batchSize: number,
  steps: number,
  seed: number,
): TrainingExample[][] {
  if (examples.length === 0) return [];
  const random = new Random(seed);
  const batches: TrainingExample[][] = [];
  let order: TrainingExample[] = [];
  while (batches.length < steps) {
    while (order.length < batchSize * 8) order = order.concat(random.shuffle(examples));
    const window = order.slice(0, batchSize * 8);
    order = order.slice(batchSize * 8);
    window.sort((a, b) => lengthOf(a) - lengthOf(b));
    const cut = Array.from({ length: 8 }, (_, i) => window.slice(i * batchSize, (i + 1) * batchSize));
    batches.push(...random.shuffle(cut));
  }
  return batches.slice(0, steps);
}
