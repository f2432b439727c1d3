/** What a file's weights say, in float32: the function that tuning differentiates. */
import { type OnnxModel, raiseOpset } from '../onnx/index.ts';
import { inFloat32, isHalfPrecision } from './lowerings/half.ts';
import { quantisesActivations, withoutActivationQuantisation } from './lowerings/quantised.ts';

/** Opset whose DequantizeLinear decodes weights block by block. */
const blockwise = 21;

/**
 * The model with activations that are neither quantised nor rounded to 16 bits; weights stay as the file has them.
 * @param keepInputs inputs that are 16-bit floats stay so
 */
export function exactArithmetic(model: OnnxModel, { keepInputs = false } = {}): OnnxModel {
  const exact = withoutActivationQuantisation(inFloat32(model, { keepInputs }));
  if (!exact.graph.nodes.some(({ fullOperator }) => fullOperator === 'com.microsoft.MatMulNBits')) return exact;
  const raised = raiseOpset(exact, blockwise);
  // Four-bit types came with IR version 10.
  return raised ? { ...raised, irVersion: Math.max(raised.irVersion, 10) } : exact;
}

/** In words, how {@link exactArithmetic} differs from what the file itself computes; empty where it does not. */
export function arithmeticNotes({ graph }: OnnxModel): string[] {
  const notes: string[] = [];
  if (graph.nodes.some(quantisesActivations))
    notes.push(
      'The file quantises activations as it runs. Tuning takes them as they are, in the forward pass too, and treats quantisation as the identity in the backward pass (straight-through); evaluation runs the file as it is.',
    );
  if (isHalfPrecision(graph))
    notes.push(
      'The file computes in half precision. Tuning widens its weights where they are used and computes in float32, so no loss scale is needed; evaluation runs the file as it is.',
    );
  return notes;
}
