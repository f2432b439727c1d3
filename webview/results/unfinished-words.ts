/** How far a run came that was not finished, in a sentence, and what its own message says of it. */
import type { RunColumn } from '../../src/shared/protocol.ts';
import { count } from '../format.ts';
import { visible } from '../text.ts';
import { stepsOf } from './tuning-words.ts';

export function unfinishedInWords({
  run,
  label,
  done,
  total,
  tuning,
}: Pick<RunColumn, 'run' | 'label' | 'done' | 'total' | 'tuning'>): string {
  const steps = run.settings.softPrompt?.steps ?? 0;
  const step = stepsOf(tuning).at(-1)?.step ?? 0;
  const where =
    done === 0 && step > 0 && step < steps
      ? `while its soft prompt was tuned, after step ${count(step)} of ${count(steps)}`
      : `after ${count(done)} of ${count(total)} items`;
  const what = run.status === 'failed' ? 'failed' : 'was stopped';
  // That it was stopped is said already.
  const message = run.message?.replace(/^Stopped\.\s*/, '') || 'Finished items are kept.';
  return `${visible(label)} ${what} ${where}. ${visible(message)}`;
}
