/** Loops of awaited steps that let timers, messages and a wish to stop come in between. */
import { openPace, throwIfStopped } from './learn/pace.ts';
import type { Configuration, FittedPredictor } from './types.ts';

/** To be awaited in a loop: it returns to the loop at once most of the time, and throws CancelledError after a stop. */
export type Turn = () => Promise<void>;

export function turns(signal?: AbortSignal): Turn {
  const pace = openPace(signal);
  return async () => {
    throwIfStopped(signal);
    if (pace.due()) await pace.pause();
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
