/**
 * Opens, inspects, scores with and tunes damaged copies of a small model, one after another, in a process of its own: a
 * crash of native code would end it. Each line of the output is one copy: said before it is tried, and how it went.
 *
 *     node BUNDLE FOLDER FIRST_SEED LAST_SEED
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspectModel, openLanguageModel } from '../../src/engine/index.ts';
import { trainingForward, trainingGraph } from '../../src/gradient/index.ts';
import { encodeOnnx, readOnnxFile } from '../../src/onnx/index.ts';
import { HumanError } from '../../src/shared/errors.ts';
import { tinyDecoder, tinySizes } from '../gradient/tiny-decoder.ts';
import { withFlippedBytes, withWrongGraph } from './damage.ts';

export type Line =
  | { kind: 'trying'; seed: number; what: string }
  | { kind: 'ran'; seed: number }
  | { kind: 'refused'; seed: number; stage: string; message: string }
  | { kind: 'error'; seed: number; stage: string; stack: string };

const say = (line: Line): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

async function use(folder: string, stage: (name: string) => void): Promise<void> {
  stage('inspect');
  await inspectModel(folder);
  stage('training graph');
  trainingGraph(trainingForward(readOnnxFile(join(folder, 'model.onnx'))), {
    batch: 2,
    length: 6,
    vectors: 2,
    answers: 4,
  });
  stage('open');
  const model = await openLanguageModel(folder, { executionProvider: 'cpu', threads: 1 });
  try {
    stage('score');
    const requests = [
      { index: 0, context: [5, 6, 7], continuation: [3, 4] },
      { index: 1, context: [5, 6], continuation: [3, 4] },
    ];
    await model.logLikelihood(requests, { batchSize: 2, softPrompt: null }, { onResult: () => {} });
    stage('tune');
    const training = await model.openTraining({ vectors: 2, batchSize: 2 });
    const { hidden } = tinySizes;
    await training.step(
      [
        { prompt: [1, 2], answer: [3, 4] },
        { prompt: [1, 2, 5], answer: [3] },
      ],
      { vectors: 2, hiddenSize: hidden, data: new Float32Array(2 * hidden).fill(0.1) },
    );
    await training.close();
  } finally {
    await model.close();
  }
}

const [folder = '', first = '0', last = '0'] = process.argv.slice(2);
const whole = encodeOnnx(tinyDecoder());
for (let seed = Number(first); seed <= Number(last); seed++) {
  // By turns the file's bytes and its graph.
  const { bytes, what } = (seed % 2 === 0 ? withFlippedBytes : withWrongGraph)(whole, seed);
  writeFileSync(join(folder, 'model.onnx'), bytes);
  say({ kind: 'trying', seed, what });
  let stage = '';
  try {
    await use(folder, (name) => {
      stage = name;
    });
    say({ kind: 'ran', seed });
  } catch (thrown) {
    if (thrown instanceof HumanError) say({ kind: 'refused', seed, stage, message: thrown.sentence });
    else say({ kind: 'error', seed, stage, stack: thrown instanceof Error ? (thrown.stack ?? '') : String(thrown) });
  }
}
process.exit(0);
