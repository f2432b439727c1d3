/** Means of predictors, and of what one of them learns of scores on two scales. */
import type { FitOptions, FittedPredictor, Predictor, ScoreRecord } from './types.ts';

export interface Share {
  predictor: Predictor;
  /** Of the sum of all. */
  weight: number;
}

/** What predictors have learned, and their weights, whose sum is 1. */
export type Weights = readonly { of: FittedPredictor; weight: number }[];

/** The weighted mean of what they say; those without weight are not asked. Vectors of subtasks are the first one's. */
export function meanOf(fitted: Weights): FittedPredictor {
  const taskVectors = fitted[0]?.of.taskVectors;
  return {
    predict(configurations) {
      const scores = new Float64Array(configurations.length);
      for (const { of, weight } of fitted)
        if (weight > 0)
          for (const [at, value] of of.predict(configurations).entries())
            scores[at] = (scores[at] as number) + weight * value;
      return scores;
    },
    ...(taskVectors && { taskVectors }),
  };
}

/** The weighted mean of predictors that learn from the same records. Vectors of subtasks are the first one's. */
export function blended({ name, title }: Pick<Predictor, 'name' | 'title'>, shares: readonly Share[]): Predictor {
  const whole = shares.reduce((sum, { weight }) => sum + weight, 0);
  return {
    name,
    title,
    async fit(records, options) {
      const fitted: Weights[number][] = [];
      for (const [at, { predictor, weight }] of shares.entries()) {
        const { progress, ...rest } = options;
        const settings: FitOptions = {
          ...rest,
          ...(progress && { progress: (done: number) => progress((at + done) / shares.length) }),
        };
        fitted.push({ of: await predictor.fit(records, settings), weight: weight / whole });
      }
      return meanOf(fitted);
    },
  };
}

/** 0 … 1 → 0 … 1: 2 ÷ π · arcsin √p. */
export const toAngle = (share: number): number => (Math.asin(Math.sqrt(Math.min(1, Math.max(0, share)))) * 2) / Math.PI;
/** Back. */
export const fromAngle = (angle: number): number => Math.sin((Math.min(1, Math.max(0, angle)) * Math.PI) / 2) ** 2;

/**
 * A predictor that learns 2 ÷ π · arcsin √score in place of scores: near 0 and 1, where all models can do little more, small
 * differences count for more, and what counting items adds is the same everywhere (Bartlett 1936).
 */
export function onAngles(predictor: Predictor): Predictor {
  const angles = (records: readonly ScoreRecord[]): ScoreRecord[] =>
    records.map((record) => ({ ...record, score: toAngle(record.score) }));
  return {
    ...predictor,
    async fit(records, { development, ...options }) {
      const fitted = await predictor.fit(angles(records), {
        ...options,
        ...(development && { development: angles(development) }),
      });
      return { ...fitted, predict: (configurations) => fitted.predict(configurations).map(fromAngle) };
    },
  };
}
