/** Settings are chosen by records that were not learned from. */
import { Random } from '../shared/random.ts';
import { predictInTurns, type Turn } from './turn.ts';
import type { FittedPredictor, ScoreRecord } from './types.ts';

/**
 * Training and development records: those given, or a ninth of the training records drawn by the seed where none are given.
 */
export function withDevelopment(
  training: readonly ScoreRecord[],
  development: readonly ScoreRecord[] | undefined,
  seed: number,
): { training: readonly ScoreRecord[]; development: readonly ScoreRecord[] } {
  if (development && development.length > 0) return { training, development };
  const shuffled = new Random(seed).shuffle(training);
  const size = Math.floor(training.length / 9);
  return { training: shuffled.slice(size), development: shuffled.slice(0, size) };
}

/**
 * The candidate whose predictor, learned from the training records, is best on the development records; the first of equals,
 * and the first where no error is a number.
 * @param progress from 0 to 1, of which the last part is left for learning from all records
 */
export async function chosenByDevelopment<Candidate>(
  candidates: readonly Candidate[],
  learn: (candidate: Candidate) => FittedPredictor | Promise<FittedPredictor>,
  development: readonly ScoreRecord[],
  turn: Turn,
  progress?: (done: number) => void,
): Promise<Candidate> {
  const losses: { candidate: Candidate; loss: number }[] = [];
  for (const candidate of candidates) {
    losses.push({ candidate, loss: await squaredError(await learn(candidate), development, turn) });
    progress?.(losses.length / (candidates.length + 1));
  }
  return leastLoss(losses);
}

/** Sum of squared errors. */
async function squaredError(fitted: FittedPredictor, records: readonly ScoreRecord[], turn: Turn): Promise<number> {
  const predicted = await predictInTurns(fitted, records, turn);
  return records.reduce((sum, { score }, at) => sum + (score - (predicted[at] ?? Number.NaN)) ** 2, 0);
}

function leastLoss<Candidate>(losses: readonly { candidate: Candidate; loss: number }[]): Candidate {
  const [first, ...rest] = losses;
  if (!first) throw new Error('There is nothing to choose from.');
  let best = first;
  for (const one of rest) if (one.loss < best.loss || Number.isNaN(best.loss)) best = one;
  return best.candidate;
}
