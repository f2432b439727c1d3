/** Values of a parsed document as what they should be; anything else is as if it were not there. */

export type Mapping = Record<string, unknown>;

export const mapping = (value: unknown): Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Mapping) : {};

export const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((entry) => typeof entry === 'string');

export const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
