/** Filters that are kept by name, and those used last. */

export interface SavedFilter {
  name: string;
  text: string;
}

export interface FilterMemory {
  saved: SavedFilter[];
  /** Newest first. */
  recent: string[];
}

const mostRecent = 12;

const isSaved = (value: unknown): value is SavedFilter =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as SavedFilter).name === 'string' &&
  typeof (value as SavedFilter).text === 'string';

/** What an earlier showing kept, as far as it is what it should be. */
export function memoryOf(value: unknown): FilterMemory {
  const { saved, recent } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return {
    saved: Array.isArray(saved) ? saved.filter(isSaved).map(({ name, text }) => ({ name, text })) : [],
    recent: Array.isArray(recent) ? recent.filter((text) => typeof text === 'string').slice(0, mostRecent) : [],
  };
}

/** The filters with one more, in place of one of the same name; by name. */
export function withSaved(saved: readonly SavedFilter[], filter: SavedFilter): SavedFilter[] {
  return [...saved.filter(({ name }) => name !== filter.name), filter].sort((a, b) => a.name.localeCompare(b.name));
}

/** The filters used last with one more in front. */
export const withRecent = (recent: readonly string[], text: string): string[] =>
  [text, ...recent.filter((other) => other !== text)].slice(0, mostRecent);
