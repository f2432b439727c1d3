/** How much the cache takes on disk: looking, making room, clearing. */
import { readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { aboutFile, listContexts, listShards, responsesFolder, type ShardFile } from './shards.ts';

export interface CacheStatus {
  folder: string;
  bytes: number;
  files: number;
  /** One entry for each model × engine, the largest first. */
  contexts: { folder: string; model: string | null; provider: string | null; bytes: number; used: string | null }[];
}

/** What a store's response cache holds. */
export function cacheStatus(storeFolder: string): CacheStatus {
  const folder = join(storeFolder, responsesFolder);
  const contexts = listContexts(folder).map((context) => {
    const shards = listShards(context);
    const about = aboutOf(context);
    const word = (value: unknown): string | null => (typeof value === 'string' ? value : null);
    const used = Math.max(0, ...shards.map((shard) => shard.used));
    return {
      folder: context,
      model: word(about.model),
      provider: word(about.provider),
      bytes: sum(shards),
      files: shards.length,
      used: used > 0 ? new Date(used).toISOString() : null,
    };
  });
  return {
    folder,
    bytes: contexts.reduce((total, { bytes }) => total + bytes, 0),
    files: contexts.reduce((total, { files }) => total + files, 0),
    contexts: contexts.map(({ files: _, ...rest }) => rest).sort((a, b) => b.bytes - a.bytes),
  };
}

function aboutOf(context: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(join(context, aboutFile), 'utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Removes all that nobody is writing to.
 * @returns bytes freed; files that are in use and stay; files that could not be removed (no permission, or held open)
 */
export function clearCache(storeFolder: string): { freed: number; inUse: number; failed: number } {
  const contexts = listContexts(join(storeFolder, responsesFolder));
  const shards = contexts.flatMap(listShards);
  const freed = shards
    .filter(({ live }) => !live)
    .reduce((total, shard) => total + (remove(shard) ? shard.bytes : 0), 0);
  contexts.forEach(tidy);
  const left = contexts.flatMap(listShards);
  const inUse = left.filter(({ live }) => live).length;
  return { freed, inUse, failed: left.length - inUse };
}

/** Removes what was longest unused until all shards together take at most `limitBytes`. */
export function makeRoom(storeFolder: string, limitBytes: number): void {
  const contexts = listContexts(join(storeFolder, responsesFolder));
  const shards = contexts.flatMap(listShards).sort((a, b) => a.used - b.used);
  let total = sum(shards);
  const emptied = total > limitBytes;
  for (const shard of shards) {
    if (total <= limitBytes) break;
    if (!shard.live && remove(shard)) total -= shard.bytes;
  }
  if (emptied) contexts.forEach(tidy);
}

const sum = (shards: readonly ShardFile[]): number => shards.reduce((total, { bytes }) => total + bytes, 0);

/** Not where the system keeps an open file from being removed. */
function remove({ path }: ShardFile): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A context without responses leaves no folder behind. */
function tidy(context: string): void {
  if (listShards(context).length > 0) return;
  try {
    rmSync(join(context, aboutFile), { force: true });
    rmdirSync(context);
  } catch {
    // Something else lies in it, or a process has just begun to write.
  }
}
