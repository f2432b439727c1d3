// ONNX Runtime by itself on the model's file: node bench/plain-session.mjs BUNDLE MODEL_FOLDER THREADS
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import ort from 'onnxruntime-node';
import { answerRequests } from './answer.mjs';

const [, folder, threads] = process.argv.slice(2);

await answerRequests({ ready: true }, async () => {
  const file = [join(folder, 'model.onnx'), join(folder, 'onnx', 'model.onnx')].find((path) => existsSync(path));
  const started = performance.now();
  await ort.InferenceSession.create(file, { intraOpNumThreads: Number(threads), interOpNumThreads: 1 });
  return { seconds: (performance.now() - started) / 1000 };
});
