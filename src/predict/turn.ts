/** Lets timers, messages and a wish to stop come in between: long computations would keep them all waiting. */
import { throwIfCancelled } from '../shared/errors.ts';

/** Milliseconds between two turns. */
const often = 50;

/** @returns to be awaited in a loop; it returns to the loop at once most of the time, and throws CancelledError after a stop */
export function turns(signal: AbortSignal | undefined): () => Promise<void> {
  let last = performance.now();
  return async () => {
    throwIfCancelled(signal);
    if (performance.now() - last < often) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    last = performance.now();
    throwIfCancelled(signal);
  };
}
