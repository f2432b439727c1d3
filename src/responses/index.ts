/** Responses of models on disk, so that none is computed twice: looked up by what determines them. */
export { openResponseCache, type ResponseCacheSettings } from './cached-model.ts';
export { DiskCache } from './disk-cache.ts';
export { contextOf, type EngineVersions, generationKeys, logLikelihoodKeys } from './key.ts';
export { type CacheStatus, cacheStatus, clearCache, makeRoom } from './limits.ts';
