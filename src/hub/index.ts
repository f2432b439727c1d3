/** The Hugging Face Hub: its cache on disk, what a repository holds, and downloads into that cache on consent. */
export { cachedSnapshot, filesBelow, hubCache, hubHome } from './cache.ts';
export { consentLines } from './consent.ts';
export { type FetchProgress, fetchFiles, readText } from './fetch-files.ts';
export { type HubFile, type Listing, listRepository } from './listing.ts';
export type { Kind, Repository } from './repository.ts';
export { type HubSettings, hubSettings } from './settings.ts';
