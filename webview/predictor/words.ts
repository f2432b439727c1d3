/** Figures of the predictor page in words: as many digits as their spread supports. */
import type { Estimate } from '../../src/shared/predictions.ts';

const minus = (text: string): string => text.replace('-', '−');

/** `0.934`; `–` where it is not a number; never `−0.0`. */
export function fixed(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '–';
  const text = value.toFixed(digits);
  return minus(Number(text) === 0 ? text.replace('-', '') : text);
}

/** Decimals that a standard deviation of this size supports; three where there is none. */
const digitsFor = (mean: number, sd: number | null): number =>
  sd === null ? (Math.abs(mean) >= 1.5 ? 1 : 3) : sd >= 0.95 ? 1 : sd >= 0.0095 ? 2 : 3;

/** `0.93 ± 0.01`: mean and standard deviation over folds. */
export function estimateText({ mean, sd }: Estimate): string {
  if (mean === null || !Number.isFinite(mean)) return '–';
  const digits = digitsFor(mean, sd);
  return sd === null ? fixed(mean, digits) : `${fixed(mean, digits)} ± ${fixed(sd, digits)}`;
}

/** A score from 0 to 1 as `61.2 %`. */
export const scoreText = (score: number, digits = 1): string =>
  Number.isFinite(score) ? `${minus((100 * score).toFixed(digits))}\u202f%` : '–';

/** A root mean squared error or a difference of scores, in points: `6.1`. */
export const pointsText = (difference: number, digits = 1): string => fixed(100 * difference, digits);

/** With its sign: `+6.1`. */
export const signedPoints = (difference: number, digits = 1): string => {
  const text = pointsText(difference, digits);
  return Number(text.replace('−', '-')) > 0 ? `+${text}` : text;
};

/** `6.1 ± 0.2`, in points. */
export const pointsEstimate = ({ mean, sd }: Estimate): string =>
  estimateText({ mean: mean === null ? null : 100 * mean, sd: sd === null ? null : 100 * sd });

/** `1 record`, `3,942 records`. */
export const counted = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;
