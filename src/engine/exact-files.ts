/** A model as its weights say, computed in float32: what tuning differentiates, and what references are made from. */
import { exactArithmetic } from '../gradient/index.ts';
import { type ModelFiles, readSignature } from '../model/index.ts';
import type { Graph } from '../onnx/index.ts';

/** The files with a graph that neither quantises activations nor rounds to 16 bits; inputs and outputs are float32 too. */
export function exactFiles(files: ModelFiles): ModelFiles {
  const file = { ...files.file, ...exactArithmetic(files.file) };
  return { ...files, file, signature: readSignature(files.folder.graphPath, file.graph.inputs, file.graph.outputs) };
}

/** Whether a graph, or one inside it, holds bfloat16, for which ONNX Runtime's CPU provider has next to no kernels. */
export const holdsBfloat16 = (graph: Graph): boolean =>
  [...graph.inputs, ...graph.outputs, ...graph.initializers.values()].some(({ dtype }) => dtype === 'bfloat16');
