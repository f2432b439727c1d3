/** What the benches use of the product, bundled by scripts/bench.mjs. */
export { openLanguageModel } from '../src/engine/index.ts';
export { encodeOnnx, Graph, tensorOf } from '../src/onnx/index.ts';
