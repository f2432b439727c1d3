/** Scores that nobody ran: records of past evaluations, predictors that learn from them, and small sets of benchmarks that stand for all. */
export type {
  Configuration,
  FitOptions,
  FittedPredictor,
  LeftOut,
  ParameterCounts,
  Prediction,
  Predictor,
  RecordSource,
  RecordTable,
  ScoreRecord,
} from './types.ts';
