/** How alike two models are, as a Gaussian process sees it: by where their scores put them, and by family and size. */
import type { ModelState } from './parts.ts';

/**
 * Variances in the prior's, and inverse squared lengths over coordinates whose first has variance 1. They were set with the
 * ObsScaling records; where they were varied, it made about a thousandth of R².
 */
const shares = { itself: 0.02, place: 0.58, level: 0.3, family: 0.3 };
const nearness = { place: 1, level: 1, size: 0.6 };

export function modelKernel(a: ModelState, b: ModelState): number {
  const place = squaredDistance(a.place, b.place);
  const level = ((a.place[0] ?? 0) - (b.place[0] ?? 0)) ** 2;
  let value =
    shares.place * Math.exp((-nearness.place * place) / 2) + shares.level * Math.exp((-nearness.level * level) / 2);
  if (a.family === b.family)
    value += shares.family * Math.exp((-nearness.size * squaredDistance(a.sizes, b.sizes)) / 2);
  return a === b ? value + shares.itself : value;
}

function squaredDistance(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += ((a[i] as number) - (b[i] as number)) ** 2;
  return sum;
}
