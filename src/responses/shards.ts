/**
 * The files that responses are kept in: `<store>/responses/<context>/<name>.jsonl`. Each is written by one process, which
 * has it under the name `<name>.<machine>-<process>.open` as long as it writes; everybody may read all of them.
 * A line is `<key> <checksum> <JSON>`. What a crash leaves behind is half a line at the end, which nobody reads and which
 * the next writer cuts off.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, readdirSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive, sha256 } from '../system/index.ts';

export const responsesFolder = 'responses';
export const aboutFile = 'context.json';

const ending = /\.jsonl$/;
const openEnding = /\.([0-9a-f]{8})-(\d+)\.open$/;
/** A file that is held open and was not written for so long belongs to a process that is gone, whoever has its number now. */
const silentMilliseconds = 24 * 3_600_000;
const machine = sha256(hostname()).slice(0, 8);
/** Shards that this process writes to. */
const held = new Set<string>();

export interface ShardFile {
  path: string;
  bytes: number;
  /** When it was last written or used, in milliseconds: what was longest unused goes first. */
  used: number;
  /** A living process writes to it. */
  live: boolean;
}

/** The shards of one context's folder; none where there is no such folder. */
export function listShards(folder: string): ShardFile[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const open = openEnding.exec(name);
    if (!open && !ending.test(name)) return [];
    const path = join(folder, name);
    const info = statSync(path, { throwIfNoEntry: false });
    if (!info) return [];
    const live = open !== null && isHeld(path, open[1] ?? '', Number(open[2]), info.mtimeMs);
    return [{ path, bytes: info.size, used: info.mtimeMs, live }];
  });
}

function isHeld(path: string, host: string, pid: number, written: number): boolean {
  if (host === machine && pid === process.pid) return held.has(path);
  if (Date.now() - written > silentMilliseconds) return false;
  return host !== machine || isProcessAlive(pid);
}

/** The folders of all contexts below a store's `responses/`. */
export function listContexts(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}

/**
 * Takes a shard for writing: one that nobody holds and that has room, else a new one. Renaming is what decides between two
 * processes that want the same one. @returns its path and descriptor
 */
export function takeShard(folder: string, roomBytes: number): { path: string; handle: number } {
  const suffix = `.${machine}-${process.pid}.open`;
  const free = listShards(folder).filter(({ live, bytes }) => !live && bytes < roomBytes);
  for (const { path } of free.sort((a, b) => b.used - a.used)) {
    const mine = `${path.replace(openEnding, '').replace(ending, '')}${suffix}`;
    try {
      if (mine !== path) renameSync(path, mine);
      held.add(mine);
      return { path: mine, handle: openSync(mine, 'r+') };
    } catch {
      // Somebody else was faster, or has it open on a system that then forbids renaming.
      held.delete(mine);
    }
  }
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  const path = join(folder, `${stamp}-${randomBytes(4).toString('hex')}${suffix}`);
  const handle = openSync(path, 'wx+');
  held.add(path);
  return { path, handle };
}

/** Lets others write to it; an empty one is removed. */
export function giveBackShard({ path, handle }: { path: string; handle: number }): void {
  const { size } = fstatSync(handle);
  closeSync(handle);
  held.delete(path);
  if (size === 0) rmSync(path, { force: true });
  else renameSync(path, path.replace(openEnding, '.jsonl'));
}

/** Bytes read at a time: what memory the reading of a large file takes. */
const blockBytes = 1 << 20;
const newline = 0x0a;

/** Calls back for each whole line from `start` on. @returns where the last whole line ends */
export function scanLines(handle: number, start: number, onLine: (line: Buffer, offset: number) => void): number {
  let block = Buffer.allocUnsafe(blockBytes);
  let filled = 0;
  let at = start;
  for (;;) {
    // A line longer than the block: make it larger.
    if (filled === block.length) block = Buffer.concat([block, Buffer.allocUnsafe(block.length)]);
    const read = readSync(handle, block, filled, block.length - filled, at + filled);
    if (read === 0) return at;
    filled += read;
    let from = 0;
    for (let end = block.indexOf(newline, from); end >= 0 && end < filled; end = block.indexOf(newline, from)) {
      onLine(block.subarray(from, end), at + from);
      from = end + 1;
    }
    block.copyWithin(0, from, filled);
    filled -= from;
    at += from;
  }
}
