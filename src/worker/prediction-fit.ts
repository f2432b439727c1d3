/** How well a predictor does, split by split, as the predictor page shows it. */
import {
  baseline,
  evaluatePredictors,
  measuredCoverage,
  noiseCeiling,
  type Predictor,
  type PredictorEvaluation,
  type ScoreRecord,
  splitTable,
} from '../predict/index.ts';
import { CancelledError, HumanError, throwIfCancelled } from '../shared/errors.ts';
import {
  type GroupError,
  type PredictedRecord,
  type PredictorFit,
  type SplitFit,
  subtaskName,
} from '../shared/predictions.ts';
import { Random } from '../shared/random.ts';

/** More points than these tell a reader nothing and make a page slow. */
const mostPoints = 4000;

export interface FitHooks {
  signal: AbortSignal;
  progress(progress: { message: string; fraction: number; done: SplitFit | null }): void;
}

/**
 * Measures the predictor and the additive baseline on every split of the study. Stopped, it returns the splits that are done.
 * @throws CancelledError where it was stopped before the first was
 */
export async function measureFit(
  records: readonly ScoreRecord[],
  predictor: Predictor,
  { folds, seed }: { folds: number; seed: number },
  { signal, progress }: FitHooks,
): Promise<SplitFit[]> {
  const measured = [predictor, ...(predictor.name === baseline.name ? [] : [baseline])].map(yielding);
  const splits: SplitFit[] = [];
  for (const [at, { name, title, question }] of splitTable.entries()) {
    const tell = (share: number, done: SplitFit | null = null): void =>
      progress({ message: `${predictor.title}: ${name}, ${title}`, fraction: (at + share) / splitTable.length, done });
    tell(0);
    try {
      const evaluation = await evaluatePredictors(records, measured, name, {
        folds,
        seed,
        fitSeed: seed,
        signal,
        progress: (share) => tell(share),
      });
      const [chosen] = evaluation.predictors;
      if (!chosen) continue;
      const split: SplitFit = {
        split: name,
        title,
        words: question,
        folds: evaluation.split.folds.length,
        notes: evaluation.split.notes,
        fits: evaluation.predictors.map((of) => ({
          predictor: of.predictor,
          title: of.title,
          r2: of.r2,
          rmse: of.rmse,
          coverage: coverage(records, of),
        })),
        ceiling: noiseCeiling(chosen.heldOut.flatMap(({ record }) => records[record] ?? [])),
        problem: null,
        ...heldOutOf(records, chosen, seed),
      };
      splits.push(split);
      tell(1, split);
    } catch (thrown) {
      if (signal.aborted && splits.length > 0) return splits;
      if (thrown instanceof CancelledError || !(thrown instanceof HumanError)) throw thrown;
      const split = withoutFigures(name, title, question, thrown.sentence);
      splits.push(split);
      tell(1, split);
    }
  }
  return splits;
}

const withoutFigures = (split: string, title: string, words: string, problem: string): SplitFit => ({
  split,
  title,
  words,
  folds: 0,
  notes: [],
  fits: [],
  ceiling: null,
  problem,
  points: [],
  total: 0,
  tasks: [],
  families: [],
});

/** A fit makes a break only after some 40 ms: signals and other calls have their turn in front of each, however short. */
export function yielding(predictor: Predictor): Predictor {
  return {
    ...predictor,
    fit: async (records, options) => {
      await new Promise((resolve) => setImmediate(resolve));
      throwIfCancelled(options.signal);
      return predictor.fit(records, options);
    },
  };
}

/** What intervals of predictions in this situation are worth; null where too few are held out. */
function coverage(records: readonly ScoreRecord[], { heldOut }: PredictorEvaluation): PredictorFit['coverage'] {
  const measured = measuredCoverage(records, heldOut);
  return measured && { share: measured.share, n: measured.n, reach: measured.halfWidth };
}

function heldOutOf(
  records: readonly ScoreRecord[],
  { heldOut }: PredictorEvaluation,
  seed: number,
): Pick<SplitFit, 'points' | 'total' | 'tasks' | 'families'> {
  const varies = (of: (record: ScoreRecord) => unknown): boolean => new Set(records.map(of)).size > 1;
  const hasShots = varies(({ shots }) => shots);
  const hasModes = varies(({ mode }) => mode);
  const hasMetrics = varies(({ metric }) => metric);
  const points = heldOut.flatMap(({ record, predicted }): PredictedRecord[] => {
    const one = records[record];
    if (!one) return [];
    const { model, family, task, subtask, shots, mode, metric, score } = one;
    const setting = [hasModes && mode, hasShots && `${shots}-shot`, hasMetrics && metric].filter(Boolean).join(', ');
    return [{ model, family, task, subtask, setting, actual: score, predicted }];
  });
  return {
    points: points.length <= mostPoints ? points : new Random(seed).shuffle([...points]).slice(0, mostPoints),
    total: points.length,
    tasks: errorsBy(points, subtaskName),
    families: errorsBy(points, ({ family }) => family),
  };
}

function errorsBy(points: readonly PredictedRecord[], key: (point: PredictedRecord) => string): GroupError[] {
  const groups = new Map<string, PredictedRecord[]>();
  for (const point of points) {
    const group = groups.get(key(point));
    if (group) group.push(point);
    else groups.set(key(point), [point]);
  }
  return [...groups]
    .map(([name, members]) => {
      let [squares, off, sum] = [0, 0, 0];
      let worst = members[0] as PredictedRecord;
      for (const point of members) {
        const difference = point.predicted - point.actual;
        squares += difference ** 2;
        off += difference;
        sum += point.actual;
        if (Math.abs(difference) > Math.abs(worst.predicted - worst.actual)) worst = point;
      }
      const n = members.length;
      return {
        name,
        n,
        rmse: Math.sqrt(squares / n),
        bias: off / n,
        mean: sum / n,
        worst: { model: worst.model, actual: worst.actual, predicted: worst.predicted },
      };
    })
    .sort((a, b) => b.rmse - a.rmse);
}
