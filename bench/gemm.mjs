// How fast this machine multiplies: ONNX Runtime on the matrix shapes of a model. node bench/gemm.mjs BUNDLE MODEL_FOLDER THREADS
import { pathToFileURL } from 'node:url';
import * as ort from 'onnxruntime-node';
import { answerRequests } from './answer.mjs';
import { shapeOf } from './limit.mjs';

const [bundle, folder, threads] = process.argv.slice(2);
const { encodeOnnx, Graph, modelOf, tensorOf } = await import(pathToFileURL(bundle).href);
const { hidden, intermediate } = shapeOf(folder);
const rows = 1024;

async function product(inner, columns) {
  const graph = new Graph();
  graph.name = 'product';
  graph.inputs = [{ name: 'x', dtype: 'float32', dims: [rows, inner] }];
  // One number comes out: handing 6 MB over to JavaScript would cost several times the product, and a sum over it a third.
  graph.outputs = [{ name: 'corner', dtype: 'float32', dims: [1, 1] }];
  const weight = tensorOf(
    'float32',
    [inner, columns],
    Array.from({ length: inner * columns }, (_, i) => Math.sin(i)),
  );
  const y = graph.add('MatMul', ['x', graph.constant(weight, 'w')]);
  const ends = (name, values) => graph.constant(tensorOf('int64', [2], values), name);
  graph.add('Slice', [y, ends('from', [0, 0]), ends('to', [1, 1])], { outputs: ['corner'] });
  const session = await ort.InferenceSession.create(encodeOnnx(modelOf(graph, 17)), {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const x = new ort.Tensor(
    'float32',
    Float32Array.from({ length: rows * inner }, (_, i) => Math.cos(i)),
    [rows, inner],
  );
  return () => session.run({ x });
}

// The three products that most of a step is made of.
const shapes = [
  [hidden, intermediate],
  [intermediate, hidden],
  [hidden, hidden],
];
const products = [];
for (const [inner, columns] of shapes) products.push(await product(inner, columns));
const flops = shapes.reduce((sum, [inner, columns]) => sum + 2 * rows * inner * columns, 0);
// About a third of a second of work a reply.
const repeats = Math.max(1, Math.round(4e10 / flops));

await answerRequests({ ready: true }, async () => {
  const started = performance.now();
  for (let repeat = 0; repeat < repeats; repeat++) for (const run of products) await run();
  const seconds = (performance.now() - started) / 1000;
  return { seconds, flopsPerSecond: (repeats * flops) / seconds };
});
