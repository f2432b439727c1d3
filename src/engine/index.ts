/** ONNX Runtime at work on a model folder: generation, log-likelihoods, training steps, and checks against references. */

export { inspectModel } from './inspect.ts';
export { OnnxLanguageModel, openLanguageModel } from './language-model.ts';
export { onnxRuntimeVersion, providerStatuses } from './runtime.ts';
export { verifyModel } from './verify.ts';

/**
 * Raised where a change of this room changes outputs by more than rounding: responses that were kept before it are then
 * computed anew.
 */
export const engineSchema = 2;
