/** The two loops that everything is for: tune() learns a soft prompt, evaluate() puts items to a model; runJob() joins them. */
export { chatSettingsOf } from './chat.ts';
export * from './evaluate.ts';
export { type ItemTokensOf, itemTokens } from './item-tokens.ts';
export * from './job.ts';
export type * from './language-model.ts';
export { formulaLearningRate } from './learning-rate.ts';
export { rescore } from './rescore.ts';
export type * from './response-cache.ts';
export type * from './run-store.ts';
export * from './tune.ts';
export { asRun } from './wanted-run.ts';
