/** How many threads compute. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Cores that do arithmetic: hyper-threads share one, so they are counted once. */
export function physicalCores(): number {
  const usable = availableParallelism();
  try {
    const cores = new Set<string>();
    let socket = '0';
    for (const line of readFileSync('/proc/cpuinfo', 'utf8').split('\n')) {
      const [key, value] = line.split(':').map((part) => part.trim());
      if (key === 'physical id') socket = value ?? '0';
      if (key === 'core id') cores.add(`${socket}/${value}`);
    }
    if (cores.size) return Math.min(cores.size, usable);
  } catch {
    // Not Linux: below.
  }
  // Other systems do not say it without a native call. Apple's cores have no hyper-threads; elsewhere two are usual.
  return process.platform === 'darwin' ? usable : Math.max(1, Math.ceil(usable / 2));
}
