/** Training graphs from inference graphs: the soft prompt's place, logits where they are wanted, gradient rules. */
export { answerLogitsGraph } from './answer-rows.ts';
export type { MissingRule } from './backward.ts';
export { cacheBranchInput, withCacheBranch } from './cache-branch.ts';
export { type Arithmetic, arithmeticNotes, arithmeticOf, exactArithmetic } from './exact.ts';
export { guardedSoftmax, leastFloat } from './guards.ts';
export { answerPositionsInput, inputSizes, type Sizes } from './inputs.ts';
export { withOpenEmbedding } from './lowerings/index.ts';
export { type LoweredOperator, sizedGraph, type TuningReport, tuningReport } from './report.ts';
export { type MemoryNeed, memoryNeed } from './schedule.ts';
export {
  type Embedding,
  findEmbedding,
  softPromptInput,
  softPromptPlacesInput,
  spliceSoftPrompt,
} from './splice.ts';
export {
  gradientOutput,
  labelsInput,
  lossOutput,
  missingGradientRules,
  type TrainingSizes,
  trainingForward,
  trainingGraph,
  trainingModel,
  typedTrainingGraph,
  weightsInput,
} from './training-graph.ts';
export { specialise, type TypedGraph } from './typed-graph.ts';
