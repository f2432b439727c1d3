/** Tuning steps against PyTorch in float64 on exported models: gradient, losses and vectors of five Adam steps. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { paddedAnswers, paddedLength } from '../../src/engine/shapes.ts';
import { behindTextBatch, wholeTextBatch } from '../../src/engine/suffix-training.ts';
import { OnnxTraining } from '../../src/engine/training.ts';
import { trainingBatch } from '../../src/engine/training-batch.ts';
import type { SoftPrompt, TrainingExample } from '../../src/evaluate/language-model.ts';
import { readOnnxFile } from '../../src/onnx/index.ts';
import { decodeSafetensors } from '../../src/shared/safetensors.ts';

const models = join(import.meta.dirname, '../fixtures/models');
const provider = { asked: 'cpu', running: 'cpu', reason: 'test', threads: 1 } as const;

interface Reference {
  scalars: Record<string, number | number[]>;
  values(name: string): number[];
  shape(name: string): number[];
}

function readReference(folder: string): Reference {
  const { tensors } = decodeSafetensors(readFileSync(join(folder, 'reference.safetensors')), folder);
  const entry = (name: string) => {
    const found = tensors.get(name);
    if (!found) throw new Error(`no tensor ${name}`);
    return found;
  };
  return {
    scalars: JSON.parse(readFileSync(join(folder, 'reference.json'), 'utf8')).scalars,
    shape: (name) => entry(name).shape,
    values: (name) => {
      const { dtype, bytes } = entry(name);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const width = dtype === 'F32' ? 4 : 8;
      return Array.from({ length: bytes.byteLength / width }, (_, at) =>
        dtype === 'F64'
          ? view.getFloat64(at * width, true)
          : dtype === 'F32'
            ? view.getFloat32(at * width, true)
            : Number(view.getBigInt64(at * width, true)),
      );
    },
  };
}

/** Rows of the right-padded batch as prompt and answer: the answer is where labels stand. */
function examplesOf(reference: Reference): TrainingExample[] {
  const [rows = 0, length = 0] = reference.shape('input_ids_right');
  const ids = reference.values('input_ids_right');
  const mask = reference.values('attention_mask_right');
  const labels = reference.values('labels_right');
  return Array.from({ length: rows }, (_, row) => {
    const at = Array.from({ length }, (_, position) => row * length + position).filter((place) => mask[place] === 1);
    const split = at.findIndex((place) => labels[place] !== -100);
    const tokens = at.map((place) => ids[place] ?? 0);
    return { prompt: tokens.slice(0, split), answer: tokens.slice(split) };
  });
}

describe.each(['llama-optimum', 'gpt2-optimum', 'gptneox-optimum'])('%s', (name) => {
  const folder = join(models, name);
  const reference = readReference(folder);
  const examples = examplesOf(reference);

  it.each([5, 10])('gives the gradient and the Adam losses of PyTorch with %i vectors', async (vectors) => {
    const training = new OnnxTraining(readOnnxFile(join(folder, 'model.onnx')), {
      vectors,
      batchSize: examples.length,
      provider,
      padTokenId: 0,
    });
    const data = Float32Array.from(reference.values(`P${vectors}`));
    const softPrompt: SoftPrompt = { vectors, hiddenSize: data.length / vectors, data };
    const expected = reference.values(`dP_n${vectors}`);
    const losses = reference.scalars[`adam_losses_n${vectors}`] as number[];

    const first = new Float64Array(data.length);
    const second = new Float64Array(data.length);
    for (let step = 0; step < 5; step++) {
      const { loss, gradient, answerTokens } = await training.step(examples, softPrompt);
      expect(answerTokens).toBe(15);
      expect(Math.abs(loss - (losses[step] ?? Number.NaN))).toBeLessThan(1e-4);
      if (step === 0) {
        const error = expected.map((value, at) => value - (gradient[at] ?? Number.NaN));
        const relative = Math.hypot(...error) / Math.hypot(...expected);
        console.info(`${name}, ${vectors} vectors: relative L2 error of the gradient ${relative.toExponential(1)}`);
        const largest = Math.max(...expected.map(Math.abs));
        expect(Math.max(...error.map(Math.abs))).toBeLessThan(2e-3 * largest);
        // what float32 arithmetic leaves
        expect(relative).toBeLessThan(1e-5);
      }
      // Adam as torch.optim.Adam has it: learning rate 0.05, betas 0.9 and 0.999, epsilon 1e-8
      gradient.forEach((g, at) => {
        first[at] = 0.9 * (first[at] ?? 0) + 0.1 * g;
        second[at] = 0.999 * (second[at] ?? 0) + 0.001 * g * g;
        const mean = (first[at] ?? 0) / (1 - 0.9 ** (step + 1));
        const deviation = Math.sqrt((second[at] ?? 0) / (1 - 0.999 ** (step + 1)));
        data[at] = (data[at] ?? 0) - (0.05 * mean) / (deviation + 1e-8);
      });
    }
    const trained = reference.values(`adam_P_n${vectors}`);
    for (const [at, value] of trained.entries()) expect(Math.abs((data[at] ?? Number.NaN) - value)).toBeLessThan(2e-3);
    await training.close();
  });

  it('gives the same numbers for the same batch again, and its loss without a gradient', async () => {
    const vectors = 5;
    const training = new OnnxTraining(readOnnxFile(join(folder, 'model.onnx')), {
      vectors,
      batchSize: examples.length,
      provider,
      padTokenId: 0,
    });
    const data = Float32Array.from(reference.values('P5'));
    const softPrompt = { vectors, hiddenSize: data.length / vectors, data };
    const once = await training.step(examples, softPrompt);
    // other sizes in between: the first session is dropped and made again
    for (const count of [1, 2]) await training.step(examples.slice(0, count), softPrompt);
    const again = await training.step(examples, softPrompt);
    expect(again).toEqual(once);
    const { loss } = await training.loss(examples, softPrompt);
    expect(Math.abs(loss - once.loss)).toBeLessThan(1e-5);
    await training.close();
  });

  it('stops before a step when it is cancelled', async () => {
    const training = new OnnxTraining(readOnnxFile(join(folder, 'model.onnx')), {
      vectors: 5,
      batchSize: 3,
      provider,
      padTokenId: 0,
    });
    const data = Float32Array.from(reference.values('P5'));
    const softPrompt = { vectors: 5, hiddenSize: data.length / 5, data };
    await expect(training.step(examples, softPrompt, AbortSignal.abort())).rejects.toThrow(/Stopped/);
    await training.close();
  });
});

describe('batches', () => {
  it('pad on the right, count positions from the soft prompt on, and leave the last answer token out of the input', () => {
    const batch = trainingBatch(
      [
        { prompt: [11, 12], answer: [13, 14] },
        { prompt: [21], answer: [22] },
      ],
      2,
      9,
    );
    const length = 8;
    expect(batch.sizes).toEqual({ batch: 2, length, vectors: 2, answers: 8 });
    expect([...batch.inputIds].map(Number)).toEqual([9, 9, 11, 12, 13, 9, 9, 9, 9, 9, 21, 9, 9, 9, 9, 9]);
    expect([...batch.attentionMask].map(Number)).toEqual([1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0]);
    expect([...batch.positionIds].map(Number)).toEqual([0, 1, 2, 3, 4, 4, 4, 4, 0, 1, 2, 2, 2, 2, 2, 2]);
    expect([...batch.positions].slice(0, 6).map(Number)).toEqual([0, 3, 0, 4, 1, 2]);
    expect([...batch.labels].slice(0, 3).map(Number)).toEqual([13, 14, 22]);
    expect([...batch.weights].map((weight) => Math.round(weight * 3))).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
  });

  it('read nothing at places that the mask hides: every answer token is predicted at a place of its own text', () => {
    const examples = [
      { prompt: [11, 12, 13, 14, 15], answer: [16, 17] },
      { prompt: [21], answer: [22, 23, 24, 25, 26, 27] },
    ];
    const texts = examples.map(({ prompt }) => ({ length: prompt.length, tensors: [] }));
    for (const vectors of [1, 4])
      for (const batch of [
        trainingBatch(examples, vectors, 9, null, { shapes: 'few', rows: 4 }),
        wholeTextBatch(examples, vectors, 9),
        behindTextBatch(examples, vectors, 9, texts),
      ]) {
        const { length, past = 0 } = batch.sizes;
        const total = past + length;
        for (const slot of batch.labels.keys()) {
          const [row, place] = [batch.positions[2 * slot], batch.positions[2 * slot + 1]].map(Number);
          expect(batch.attentionMask[(row ?? 0) * total + past + (place ?? 0)]).toBe(1n);
        }
        // No row hides everything from its first place, rows that only fill up the batch included.
        for (let row = 0; row < batch.sizes.batch; row++) expect(batch.attentionMask[row * total + past]).toBe(1n);
      }
  });

  it('never reach beyond the positions that the model has', () => {
    const example = { prompt: new Array<number>(94).fill(1), answer: [2, 3] };
    expect(trainingBatch([example], 2, 0, 98).sizes.length).toBe(98);
    expect(trainingBatch([example], 2, 0, null).sizes.length).toBe(100);
    expect(() => trainingBatch([example], 2, 0, 96)).toThrow(/97 tokens/);
  });

  it('pad lengths by a sixteenth at most, beyond the shortest', () => {
    for (let length = 1; length < 3000; length++) {
      const padded = paddedLength(length);
      expect(padded).toBeGreaterThanOrEqual(length);
      if (length >= 64) expect(padded / length).toBeLessThanOrEqual(1.0625);
      expect(paddedLength(padded)).toBe(padded);
      expect(paddedAnswers(length)).toBeGreaterThanOrEqual(length);
    }
  });
});
