/** Responses of models on disk, so that none is computed twice: looked up by what determines them. */
export { openResponseCache, type ResponseCacheSettings } from './cached-model.ts';
export type { EngineVersions } from './key.ts';
export { type CacheStatus, cacheStatus, clearCache } from './limits.ts';
