/** Merged decoders: one If on an input `use_cache_branch` holds a graph that reads a cache and one that does not. */
import { inlineBranches, type OnnxModel } from '../onnx/index.ts';

export const cacheBranchInput = 'use_cache_branch';

/** The graph for calls with a cache (or without one); a graph that has no such choice is given back as it is. */
export const withCacheBranch = <Model extends OnnxModel>(model: Model, cached: boolean): Model =>
  model.graph.inputs.some(({ name }) => name === cacheBranchInput)
    ? inlineBranches(model, new Map([[cacheBranchInput, cached]]))
    : model;
