/** Lets timers, messages and a wish to stop come in between: long computations would keep them all waiting. */
import { throwIfCancelled } from '../shared/errors.ts';
import type { Configuration, FittedPredictor } from './types.ts';

/** Milliseconds between two turns. */
const often = 50;

/** To be awaited in a loop: it returns to the loop at once most of the time, and throws CancelledError after a stop. */
export type Turn = () => Promise<void>;

export function turns(signal?: AbortSignal): Turn {
  let last = performance.now();
  return async () => {
    throwIfCancelled(signal);
    if (performance.now() - last < often) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    last = performance.now();
    throwIfCancelled(signal);
  };
}

/** Configurations that are predicted between two turns. */
const atOnce = 200;

/** What `predict` answers, a part at a time. */
export async function predictInTurns(
  fitted: FittedPredictor,
  configurations: readonly Configuration[],
  turn: Turn,
): Promise<Float64Array> {
  const out = new Float64Array(configurations.length);
  for (let from = 0; from < configurations.length; from += atOnce) {
    await turn();
    out.set(fitted.predict(configurations.slice(from, from + atOnce)), from);
  }
  return out;
}
