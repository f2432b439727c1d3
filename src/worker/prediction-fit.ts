/** How well a predictor does, split by split, as the predictor page shows it. */
import {
  baseline,
  ceilingSteps,
  coverageSteps,
  evaluatePredictors,
  inTurns,
  type Predictor,
  type PredictorEvaluation,
  type ScoreRecord,
  type Steps,
  splitTable,
  stepwise,
  turns,
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
  const turn = turns(signal);
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
      const fits: PredictorFit[] = [];
      for (const of of evaluation.predictors) {
        const measured = await inTurns(coverageSteps(records, of.heldOut), turn);
        fits.push({
          predictor: of.predictor,
          title: of.title,
          r2: of.r2,
          rmse: of.rmse,
          coverage: measured && { share: measured.share, n: measured.n, reach: measured.halfWidth },
        });
      }
      const held = chosen.heldOut.flatMap(({ record }) => records[record] ?? []);
      const ceiling = await inTurns(ceilingSteps(held), turn);
      const heldOut = await inTurns(heldOutOf(records, chosen, seed), turn);
      await turn();
      const split: SplitFit = {
        split: name,
        title,
        words: question,
        folds: evaluation.split.folds.length,
        notes: evaluation.split.notes,
        fits,
        ceiling,
        problem: null,
        ...heldOut,
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

function* heldOutOf(
  records: readonly ScoreRecord[],
  { heldOut }: PredictorEvaluation,
  seed: number,
): Steps<Pick<SplitFit, 'points' | 'total' | 'tasks' | 'families'>> {
  const [allShots, allModes, allMetrics] = [new Set<number>(), new Set<string | null>(), new Set<string>()];
  yield* stepwise(records, ({ shots, mode, metric }) => {
    allShots.add(shots);
    allModes.add(mode);
    allMetrics.add(metric);
  });
  const [hasShots, hasModes, hasMetrics] = [allShots.size > 1, allModes.size > 1, allMetrics.size > 1];
  const points: PredictedRecord[] = [];
  yield* stepwise(heldOut, ({ record, predicted }) => {
    const one = records[record];
    if (!one) return;
    const { model, family, task, subtask, shots, mode, metric, score } = one;
    const setting = [hasModes && mode, hasShots && `${shots}-shot`, hasMetrics && metric].filter(Boolean).join(', ');
    points.push({ model, family, task, subtask, setting, actual: score, predicted });
  });
  const tasks = yield* errorsBy(points, subtaskName);
  const families = yield* errorsBy(points, ({ family }) => family);
  return {
    points: points.length <= mostPoints ? points : new Random(seed).shuffle([...points]).slice(0, mostPoints),
    total: points.length,
    tasks,
    families,
  };
}

function* errorsBy(points: readonly PredictedRecord[], key: (point: PredictedRecord) => string): Steps<GroupError[]> {
  const groups = new Map<string, PredictedRecord[]>();
  yield* stepwise(points, (point) => {
    const name = key(point);
    const group = groups.get(name);
    if (group) group.push(point);
    else groups.set(name, [point]);
  });
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
