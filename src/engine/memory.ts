/** The memory that a process takes for itself. */
import { readFileSync } from 'node:fs';

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
    }
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
