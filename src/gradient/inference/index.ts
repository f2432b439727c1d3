/**
 * Types and shapes of every operator's outputs, given those of its inputs; and their values, where these follow from
 * sizes and small constants (the shape arithmetic that exporters write out). One row per operator.
 */
import { attentionInference } from './attention.ts';
import { elementwiseInference } from './elementwise.ts';
import { movementInference } from './movement.ts';
import { productInference } from './product.ts';
import { quantisedInference } from './quantised.ts';
import type { InferenceRow } from './row.ts';
import { sizeInference } from './sizes.ts';

export { type SliceRange, sliceRanges, splitSizes } from './movement.ts';
export { axesOf, DependsOnData, type InferenceInput, type InferenceRow } from './row.ts';

/** Operators of the default domain by name; others as `domain.Operator`. */
export const inferenceRows: Readonly<Record<string, InferenceRow>> = {
  ...elementwiseInference,
  ...sizeInference,
  ...movementInference,
  ...productInference,
  ...attentionInference,
  ...quantisedInference,
};
