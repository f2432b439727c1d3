/** How well predictors predict what they have not seen: k folds, RMSE and R², by task and by family. */
import { type Fit, fitOf, type MeanAndSd, meanAndSd } from './fit.ts';
import { ceilingSteps } from './noise.ts';
import { type Split, type SplitName, type SplitOptions, splitSteps } from './splits.ts';
import { inTurns, predictInTurns, type Steps, stepwise, turns } from './turn.ts';
import type { Predictor, ScoreRecord } from './types.ts';

/** A record that was held out, and what was predicted for it. */
export interface HeldOut {
  /** Position among the records. */
  record: number;
  /** Position among the folds. */
  fold: number;
  predicted: number;
}

export interface PredictorEvaluation {
  predictor: string;
  title: string;
  /** In the order of the split's folds. */
  folds: Fit[];
  r2: MeanAndSd;
  rmse: MeanAndSd;
  /** All held-out records of all folds together. */
  pooled: Fit;
  perTask: Map<string, Fit>;
  perFamily: Map<string, Fit>;
  heldOut: HeldOut[];
  /** Wall-clock seconds of fitting, all folds. */
  seconds: number;
}

export interface Evaluation {
  split: Split;
  /** The highest R² that the binomial noise of the held-out scores allows, over folds; null where items are not known. */
  ceiling: MeanAndSd;
  predictors: PredictorEvaluation[];
}

export interface EvaluationOptions extends SplitOptions {
  /** Of what is random in predictors. Default: 0. */
  fitSeed?: number;
  signal?: AbortSignal;
  /** From 0 to 1. */
  progress?(done: number): void;
}

/** Measures each predictor on the same folds. */
export async function evaluatePredictors(
  records: readonly ScoreRecord[],
  predictors: readonly Predictor[],
  name: SplitName,
  { folds, seed, fitSeed = 0, signal, progress }: EvaluationOptions = {},
): Promise<Evaluation> {
  const turn = turns(signal);
  const split = await inTurns(
    splitSteps(records, name, { ...(folds !== undefined && { folds }), ...(seed !== undefined && { seed }) }),
    turn,
  );
  const evaluations: PredictorEvaluation[] = [];
  const parts = split.folds.length * predictors.length;
  for (const predictor of predictors) {
    const heldOut: HeldOut[] = [];
    let seconds = 0;
    for (const [fold, { train, development, test }] of split.folds.entries()) {
      await turn();
      const done = evaluations.length * split.folds.length + fold;
      const begun = performance.now();
      const fitted = await predictor.fit(pick(records, train), {
        seed: fitSeed,
        development: pick(records, development),
        ...(signal && { signal }),
        ...(progress && { progress: (share: number) => progress((done + share) / parts) }),
      });
      seconds += (performance.now() - begun) / 1000;
      const predicted = await predictInTurns(fitted, pick(records, test), turn);
      for (const [at, record] of test.entries()) heldOut.push({ record, fold, predicted: predicted[at] ?? Number.NaN });
      progress?.((done + 1) / parts);
    }
    evaluations.push(await inTurns(summarised(records, predictor, split, heldOut, seconds), turn));
  }
  const ceilings: (number | null)[] = [];
  for (const { test } of split.folds) ceilings.push(await inTurns(ceilingSteps(pick(records, test)), turn));
  return {
    split,
    ceiling: meanAndSd(ceilings),
    predictors: evaluations,
  };
}

function* summarised(
  records: readonly ScoreRecord[],
  { name, title }: Predictor,
  split: Split,
  heldOut: HeldOut[],
  seconds: number,
): Steps<PredictorEvaluation> {
  const measured = (some: readonly HeldOut[]): Fit =>
    fitOf(
      some.map(({ record }) => records[record]?.score ?? Number.NaN),
      some.map(({ predicted }) => predicted),
    );
  function* by<Key>(key: (record: ScoreRecord, one: HeldOut) => Key): Steps<Map<Key, Fit>> {
    const groups = new Map<Key, HeldOut[]>();
    yield* stepwise(heldOut, (one) => {
      const record = records[one.record];
      if (!record) return;
      const name = key(record, one);
      const group = groups.get(name);
      if (group) group.push(one);
      else groups.set(name, [one]);
    });
    const fits = new Map<Key, Fit>();
    for (const [name, members] of groups) {
      fits.set(name, measured(members));
      yield;
    }
    return fits;
  }
  const byFold = yield* by((_, { fold }) => fold);
  const folds = split.folds.map((_, fold) => byFold.get(fold) ?? measured([]));
  return {
    predictor: name,
    title,
    folds,
    r2: meanAndSd(folds.map(({ r2 }) => r2)),
    rmse: meanAndSd(folds.map(({ rmse }) => rmse)),
    pooled: measured(heldOut),
    perTask: yield* by(({ subtask }) => subtask),
    perFamily: yield* by(({ family }) => family),
    heldOut,
    seconds,
  };
}

const pick = (records: readonly ScoreRecord[], at: Int32Array): ScoreRecord[] =>
  Array.from(at, (index) => records[index] as ScoreRecord);
