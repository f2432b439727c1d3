/** What the small-bench bench and figures use of the product. */
export { kendallTauB, spearmanRho } from '../src/metrics/index.ts';
export * from '../src/predict/index.ts';
export { ClosedFormObjective, prepareFold } from '../src/predict/small-bench/objective.ts';
export { runSearch } from '../src/predict/small-bench/search.ts';
export { noiseCeiling, syntheticRecords } from '../src/predict/synthetic.ts';
export { Random } from '../src/shared/random.ts';
