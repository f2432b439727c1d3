/** A model folder in Hugging Face layout: which files it has, what its graph takes and gives, its tokenizer, its identity. */
export { type ModelPlan, planModel } from './download.ts';
export {
  contextLengthOf,
  hiddenSizeOf,
  readModelFolder,
} from './folder.ts';
export { integerOf, isObject, type JsonObject, readJsonFile, stringOf } from './json.ts';
export { identify, type ModelFiles, openModelFiles } from './model-files.ts';
export { type CacheSignature, type CacheTensor, type ModelSignature, readSignature } from './signature.ts';
export { loadTokenizer, type ModelTokenizer } from './tokenizer.ts';
