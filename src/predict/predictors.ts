/** All predictors: one row each. */
import { additivePredictor } from './additive.ts';
import { combinedPredictor } from './combined.ts';
import { factorPredictor } from './factors.ts';
import { meanPredictor } from './mean.ts';
import { studyMlp } from './mlp.ts';
import { neighbourPredictor } from './neighbours.ts';
import { ridgePredictor } from './ridge.ts';
import { boostedPredictor, extraTreesPredictor, forestPredictor } from './trees.ts';
import type { Predictor } from './types.ts';

export const predictors: readonly Predictor[] = [
  meanPredictor,
  additivePredictor,
  ridgePredictor,
  factorPredictor,
  neighbourPredictor,
  forestPredictor,
  extraTreesPredictor,
  boostedPredictor,
  studyMlp,
  combinedPredictor,
];

/** What every other one is shown beside. */
export const baseline = additivePredictor;

/** What predicts where nobody says by what. */
export const bestPredictor: Predictor = combinedPredictor;

export const predictorOf = (name: string): Predictor | undefined => predictors.find((one) => one.name === name);
