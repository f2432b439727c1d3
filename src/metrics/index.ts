/** The figures of the product: shares with intervals, F S K L LL, paired comparison, and how they are written. */
export * from './aggregation.ts';
export * from './big-bench.ts';
export * from './bootstrap.ts';
export * from './format.ts';
export * from './group.ts';
export * from './intervals.ts';
export * from './metric-scores.ts';
export * from './metric-words.ts';
export * from './paired.ts';
export * from './rank-correlation.ts';
export * from './scores.ts';
export * from './several.ts';
export * from './translation/index.ts';
