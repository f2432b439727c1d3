/** What a file's weights say, in float32: the function that tuning differentiates. */
import { type OnnxModel, raiseOpset } from '../onnx/index.ts';
import { withCacheBranch } from './cache-branch.ts';
import { inFloat32, isHalfPrecision } from './lowerings/half.ts';
import { withOpenEmbedding } from './lowerings/index.ts';
import { quantisesActivations, withoutActivationQuantisation } from './lowerings/quantised.ts';

/** Opset whose DequantizeLinear decodes weights block by block. */
const blockwise = 21;

/**
 * The model with activations that are neither quantised nor rounded to 16 bits; weights stay as the file has them.
 * @param keepInputs inputs that are 16-bit floats stay so
 */
export function exactArithmetic(model: OnnxModel, { keepInputs = false } = {}): OnnxModel {
  // A look-up inside a fused operator would have its whole table widened.
  const exact = withoutActivationQuantisation(inFloat32(withOpenEmbedding(model), { keepInputs }));
  if (!exact.graph.nodes.some(({ fullOperator }) => fullOperator === 'com.microsoft.MatMulNBits')) return exact;
  const raised = raiseOpset(exact, blockwise);
  // Four-bit types came with IR version 10.
  return raised ? { ...raised, irVersion: Math.max(raised.irVersion, 10) } : exact;
}

/** How a file computes, where that is not float32 throughout. */
export interface Arithmetic {
  /** Activations are rounded to 8 bits in front of products. */
  quantisesActivations: boolean;
  /** Weights have 8 bits or fewer. */
  quantisedWeights: boolean;
  /** Values are 16-bit floats. */
  half: boolean;
}

const quantisedProducts = new Set([
  'MatMulInteger',
  'QLinearMatMul',
  'DequantizeLinear',
  'com.microsoft.MatMulNBits',
  'com.microsoft.MatMulIntegerToFloat',
  'com.microsoft.DynamicQuantizeMatMul',
  'com.microsoft.QAttention',
  'com.microsoft.GatherBlockQuantized',
]);

export function arithmeticOf(file: OnnxModel): Arithmetic {
  const { graph } = withCacheBranch(file, false);
  return {
    quantisesActivations: graph.nodes.some(quantisesActivations),
    quantisedWeights: graph.nodes.some(({ fullOperator }) => quantisedProducts.has(fullOperator)),
    half: isHalfPrecision(graph),
  };
}

/** In words for a run, how {@link exactArithmetic} differs from what the file itself computes; empty where it does not. */
export function arithmeticNotes(file: OnnxModel): string[] {
  const { quantisesActivations, half } = arithmeticOf(file);
  const notes: string[] = [];
  if (quantisesActivations)
    notes.push(
      'The file rounds activations to 8 bits as it runs; tuning leaves them as they are in the forward pass and takes the gradient straight through the rounding (straight-through estimator), while evaluation runs the file as it is.',
    );
  if (half)
    notes.push(
      'The file computes in 16-bit floats; tuning widens each weight where it is used and computes in float32, so that gradients need no loss scale, while evaluation runs the file as it is.',
    );
  return notes;
}
