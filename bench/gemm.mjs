// How fast this machine multiplies: ONNX Runtime on the matrix shapes of a model. node bench/gemm.mjs BUNDLE MODEL_FOLDER THREADS
import { pathToFileURL } from 'node:url';
import * as ort from 'onnxruntime-node';
import { answerRequests } from './answer.mjs';
import { shapeOf } from './limit.mjs';

const [bundle, folder, threads] = process.argv.slice(2);
const { encodeOnnx, Graph, modelOf, tensorOf } = await import(pathToFileURL(bundle).href);
const { hidden, intermediate } = shapeOf(folder);
const rows = 1024;

// The three products that most of a step is made of, one behind the other as in a step; from the last to the first again.
const shapes = [
  [hidden, intermediate],
  [intermediate, hidden],
  [hidden, hidden],
];
const flops = shapes.reduce((sum, [inner, columns]) => sum + 2 * rows * inner * columns, 0);
// About a third of a second of work a reply, in one run: what a run costs besides is not of interest.
const repeats = Math.max(1, Math.round(6e10 / flops));

const graph = new Graph();
graph.name = 'products';
graph.inputs = [{ name: 'x', dtype: 'float32', dims: [rows, hidden] }];
// One number comes out: handing megabytes over to JavaScript would be counted too.
graph.outputs = [{ name: 'corner', dtype: 'float32', dims: [1, 1] }];
const weights = shapes.map(([inner, columns], which) =>
  graph.constant(
    tensorOf(
      'float32',
      [inner, columns],
      // Values keep their size on their way through.
      Array.from({ length: inner * columns }, (_, i) => Math.sin(i * i) * Math.sqrt(2 / inner)),
    ),
    `w${which}`,
  ),
);
let value = 'x';
for (let repeat = 0; repeat < repeats; repeat++)
  for (const weight of weights) value = graph.add('MatMul', [value, weight]);
const ends = (name, values) => graph.constant(tensorOf('int64', [2], values), name);
graph.add('Slice', [value, ends('from', [0, 0]), ends('to', [1, 1])], { outputs: ['corner'] });
const session = await ort.InferenceSession.create(encodeOnnx(modelOf(graph, 17)), {
  intraOpNumThreads: Number(threads),
  interOpNumThreads: 1,
  logSeverityLevel: 3,
});
const x = new ort.Tensor(
  'float32',
  Float32Array.from({ length: rows * hidden }, (_, i) => Math.cos(i)),
  [rows, hidden],
);

await answerRequests({ ready: true }, async () => {
  const started = performance.now();
  await session.run({ x });
  const seconds = (performance.now() - started) / 1000;
  return { seconds, flopsPerSecond: (repeats * flops) / seconds };
});
