/** How long computation goes on between two turns of the event loop. */
import { CancelledError } from '../../shared/errors.ts';

/** Milliseconds: a worker answers a cancel message within about this. */
const longest = 20;

/**
 * For loops of a long computation: lets the event loop turn when it is time, and ends the loop where the user cancelled.
 * As: `if (pace.due()) await pace.pause()`.
 */
export interface Pace {
  due(): boolean;
  /** @throws CancelledError */
  pause(): Promise<void>;
}

/** @throws CancelledError after a stop: predictions keep nothing that could be resumed */
export function throwIfStopped(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CancelledError('Stopped.');
}

export function openPace(signal?: AbortSignal): Pace {
  let last = performance.now();
  return {
    due: () => performance.now() - last >= longest,
    async pause() {
      throwIfStopped(signal);
      await new Promise<void>((resolve) => setImmediate(resolve));
      throwIfStopped(signal);
      last = performance.now();
    },
  };
}
