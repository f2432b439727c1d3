/** All predictors: one row each. */
import { additivePredictor } from './additive.ts';
import { meanPredictor } from './mean.ts';
import { ridgePredictor } from './ridge.ts';
import type { Predictor } from './types.ts';

export const predictors: readonly Predictor[] = [meanPredictor, additivePredictor, ridgePredictor];

/** What every other one is shown beside. */
export const baseline = additivePredictor;

export const predictorOf = (name: string): Predictor | undefined => predictors.find((one) => one.name === name);
