/** How a run came by its learning rate, in words; pages and the command line show the same. */
import type { LearningRateChoice, LearningRateTrial } from './results.ts';

const lossText = (loss: number | null): string => (loss === null ? 'diverged' : loss.toFixed(2));

/** `0.6: held-out loss 3.81 after 6 steps` */
export const trialInWords = ({ rate, steps, loss }: LearningRateTrial): string =>
  loss === null ? `${rate}: diverged` : `${rate}: held-out loss ${lossText(loss)} after ${steps} steps`;

/** `0.6, chosen by the held-out loss after 6 steps: 0.2 → 6.41, 0.6 → 3.81, 1.8 → 4.61` */
export function learningRateInWords({ value, by, trials }: LearningRateChoice): string {
  if (by === 'setting') return String(value);
  if (by === 'formula') return `${value}, by the scale and width of the embedding`;
  const tried = trials.map(({ rate, loss }) => `${rate} → ${lossText(loss)}`).join(', ');
  const lossOf = (loss: number | null | undefined): number => loss ?? Number.POSITIVE_INFINITY;
  const chosen = lossOf(trials.find(({ rate }) => rate === value)?.loss);
  // Otherwise it would look like a mistake that another one has the lowest loss.
  const margin = trials.some(({ loss }) => lossOf(loss) < chosen)
    ? ' (one farther from what the embedding suggests has to be better by 2 %)'
    : '';
  return `${value}, chosen by the held-out loss after ${trials[0]?.steps ?? 0} steps: ${tried}${margin}`;
}
