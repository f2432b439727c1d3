/** The memory that a process takes for itself, and what is free for it. */
import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';

/**
 * Bytes of a process's memory that no file holds, from the text of Linux's /proc/self/status; null where it does not say.
 * Weights that are mapped from a file are resident too, once for each session that maps them, but they are the file's:
 * the system shares them and takes them back at will.
 */
export function ownBytes(status: string): number | null {
  const parts = ['RssAnon', 'RssShmem'].map((key) => new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return parts.every((part) => part !== undefined) ? parts.reduce((sum, part) => sum + 1024 * Number(part), 0) : null;
}

const interval = 250;

/** The peak of it, looked at a few times a second while nothing else runs, and where it is asked for. */
export class MemoryPeak {
  #peak: number | null = null;
  /** The system's own count of a peak is of the whole life of the process: it says nothing of what began later. */
  #restarted = false;
  readonly #timer = setInterval(() => this.#look(), interval).unref();

  constructor() {
    this.#look();
  }

  #look(): void {
    try {
      const bytes = ownBytes(readFileSync('/proc/self/status', 'utf8'));
      if (bytes !== null) this.#peak = Math.max(this.#peak ?? 0, bytes);
    } catch {
      // Not Linux.
      if (this.#restarted) this.#peak = Math.max(this.#peak ?? 0, process.memoryUsage.rss());
    }
  }

  /** From now on the peak is of what comes. */
  restart(): void {
    this.#restarted = true;
    this.#peak = null;
    this.#look();
  }

  /** Bytes. Where the system does not tell a file's pages from others, all that were ever resident. */
  get bytes(): number {
    this.#look();
    // Node gives kilobytes on every system.
    return this.#peak ?? process.resourceUsage().maxRSS * 1024;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** Files of Linux that say what is free: read one; null where it is not there. */
export type SystemFile = (path: string) => string | null;

function systemFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

const bytesIn = (text: string | null): number | null =>
  text !== null && /^\d+$/.test(text.trim()) ? Number(text) : null;

/**
 * What a control group still grants, by its files (version 2, then 1): its limit without what is in use. Pages of files
 * count as in use but are given back on demand. Null where it has no limit.
 */
function groupBytes(read: SystemFile): number | null {
  const own = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup') ?? '')?.[1] ?? '/';
  const versions = [
    { folder: `/sys/fs/cgroup${own === '/' ? '' : own}`, limit: 'memory.max', used: 'memory.current' },
    { folder: '/sys/fs/cgroup', limit: 'memory.max', used: 'memory.current' },
    { folder: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', used: 'memory.usage_in_bytes' },
  ];
  for (const { folder, limit, used } of versions) {
    const most = bytesIn(read(`${folder}/${limit}`));
    const now = bytesIn(read(`${folder}/${used}`));
    if (most === null || now === null) continue;
    const statistics = read(`${folder}/memory.stat`) ?? '';
    const pages = ['inactive_file', 'active_file'].map((key) =>
      Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(statistics)?.[1] ?? 0),
    );
    return Math.max(0, most - now + pages.reduce((sum, bytes) => sum + bytes, 0));
  }
  return null;
}

/** Bytes that this process may still take: of the system's and of its control group's, the smaller. */
export function freeBytes(read: SystemFile = systemFile): number {
  const available = /^MemAvailable:\s+(\d+) kB/m.exec(read('/proc/meminfo') ?? '')?.[1];
  const system = available === undefined ? freemem() : 1024 * Number(available);
  return Math.min(system, groupBytes(read) ?? Number.POSITIVE_INFINITY);
}
