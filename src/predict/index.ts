/** Scores that nobody ran: records of past evaluations, predictors that learn from them, and small sets of benchmarks that stand for all. */
export { type IntervalOptions, predictWithIntervals } from './cell-intervals.ts';
export { type CellRequest, type WantedCell, wantedCells } from './cells.ts';
export {
  type Evaluation,
  type EvaluationOptions,
  evaluatePredictors,
  type HeldOut,
  type PredictorEvaluation,
} from './evaluate.ts';
export { type RecordFilters, studyFilters } from './filters.ts';
export { type Fit, fitOf, type MeanAndSd, meanAndSd } from './fit.ts';
export { type Coverage, coverageSteps, measuredCoverage } from './intervals.ts';
export { type Mapping, readMapping } from './mapping.ts';
export { rangeOf as metricRange } from './metric-ranges.ts';
export {
  type BenchmarkProposal,
  type BenchmarkProposals,
  type NextBenchmarkOptions,
  nextBenchmarks,
} from './next-benchmark.ts';
export { type BenchmarkCosts, benchmarkCostSteps } from './next-costs.ts';
export { binomial, ceilingSteps, noiseCeiling, simulatedCeiling } from './noise.ts';
export { baseline, bestPredictor, predictorOf, predictors } from './predictors.ts';
export { recordStamp } from './record-stamp.ts';
export { combineTables, type RecordSources, readRecordFile, readRecords } from './records.ts';
export { runRecords } from './run-records.ts';
export {
  countBudgets,
  findSmallBenches,
  type NamedBudget,
  type SmallBenchComparison,
  type SmallBenchPoint,
} from './small-bench/compare.ts';
export { type SubtaskCosts, subtaskCosts } from './small-bench/cost.ts';
export { groupYaml } from './small-bench/export.ts';
export { foldGroups } from './small-bench/fold-groups.ts';
export { type PredictorRecoveryOptions, predictorRecovery } from './small-bench/full.ts';
export { countBudget, type SubsetSearch } from './small-bench/search.ts';
export { searches, searchOf } from './small-bench/searches.ts';
export { type ScoreTable, scoreTable, scoreTableSteps } from './small-bench/table.ts';
export { learnedVectors, spectralSteps } from './small-bench/vectors.ts';
export {
  type Fold,
  isSplitName,
  type Split,
  type SplitName,
  type SplitOptions,
  splitNames,
  splitRecords,
  splitTable,
} from './splits.ts';
export { type MappedVectors, mapVectors, usualClusters } from './task-map.ts';
export { inTurns, type Steps, stepwise, type Turn, turns } from './turn.ts';
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
