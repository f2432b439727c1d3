/** What the benches use of the product, bundled by scripts/bench.mjs. */
import {
  memoryNeed,
  type TrainingSizes,
  trainingForward,
  trainingModel,
  typedTrainingGraph,
} from '../src/gradient/index.ts';
import { encodeOnnx, readOnnxFile, weightsInPlace } from '../src/onnx/index.ts';

export { openBenchmark } from '../src/benchmark/index.ts';
export { openLanguageModel } from '../src/engine/index.ts';
export { evaluate } from '../src/evaluate/index.ts';
export { encodeOnnx, Graph, modelOf, tensorOf } from '../src/onnx/index.ts';
export { allocatorSettings } from '../src/worker/allocator.ts';

/** From a graph file to the bytes of its training graph, as a tuning run makes them. */
export function buildTrainingGraph(
  file: string,
  sizes: TrainingSizes,
): { nodes: number; bytes: number; needed: number } {
  const forward = trainingForward(weightsInPlace(readOnnxFile(file)));
  const graph = typedTrainingGraph(forward, sizes);
  const bytes = encodeOnnx(trainingModel(forward, graph)).byteLength;
  return { nodes: graph.graph.nodes.length, bytes, needed: memoryNeed(graph).peak };
}
