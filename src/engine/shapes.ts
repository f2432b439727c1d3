/** Sizes that graphs are compiled and run for. */
import type { Provider } from './providers.ts';

type Shapes = Provider['shapes'];

/** The next power of two, `least` or more. */
export const powerOfTwo = (count: number, least: number): number =>
  Math.max(least, 2 ** Math.ceil(Math.log2(Math.max(count, 1))));

/**
 * Padded length for a row. Depends on nothing but the length: a resumed run computes what an unbroken one would.
 * `many`: sixteen steps an octave, so that padding costs a thirtieth on the whole and lengths between 64 and 512 take no
 * more than 48 graphs. `few`: powers of two from 64, four graphs for the same lengths.
 */
export function paddedLength(length: number, shapes: Shapes = 'many'): number {
  if (shapes === 'few') return powerOfTwo(length, 64);
  const step = Math.max(4, 2 ** (Math.floor(Math.log2(Math.max(length, 1))) - 4));
  return Math.ceil(length / step) * step;
}

/** Padded number of answer tokens in a batch. `many`: four steps an octave; `few`: powers of two from 32. */
export function paddedAnswers(count: number, shapes: Shapes = 'many'): number {
  if (shapes === 'few') return powerOfTwo(count, 32);
  const step = Math.max(8, 2 ** (Math.floor(Math.log2(Math.max(count, 1))) - 2));
  return Math.ceil(count / step) * step;
}
