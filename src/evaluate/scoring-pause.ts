/** Standard errors by bootstrap take seconds to minutes: what is done of them is told, and a stop comes through. */
import { throwIfCancelled } from '../shared/errors.ts';
import type { PromptMode } from '../shared/modes.ts';
import type { JobHooks } from './job.ts';
import type { PauseIn } from './summarise.ts';
import { turn } from './turn.ts';

/** Milliseconds between two turns of the event loop. */
const atOnce = 40;
/** Nothing is told of what takes less, and of the rest a line for every tenth. */
const quick = 500;
const parts = 10;

/** @throws CancelledError out of the pause once the signal has fired */
export function scoringPause({ signal, progress }: JobHooks, mode: PromptMode): PauseIn {
  let turned = performance.now();
  const started = new Map<string, { at: number; told: number }>();
  return (what, done) => {
    const now = performance.now();
    if (now - turned < atOnce) return undefined;
    const of = started.get(what) ?? { at: now, told: -1 };
    started.set(what, of);
    const part = Math.floor(done * parts);
    if (part > of.told && now - of.at >= quick) {
      of.told = part;
      const message = `${mode}: ${what}, ${Math.floor(done * 100)} %`;
      progress({ kind: 'phase', phase: 'scoring', mode, message });
    }
    return turn().then(() => {
      throwIfCancelled(signal);
      turned = performance.now();
    });
  };
}
