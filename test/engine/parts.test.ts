/** Steps in parts: the same loss and gradient as at once, and fewer examples at a time where memory is short. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inParts, saysOutOfMemory } from '../../src/engine/parts.ts';
import { OnnxTraining, type TrainingSettings } from '../../src/engine/training.ts';
import type { StepResult, TrainingExample } from '../../src/evaluate/language-model.ts';
import { readOnnxFile } from '../../src/onnx/index.ts';
import { HumanError } from '../../src/shared/errors.ts';
import { numbers } from '../gradient/run-graph.ts';

const file = join(import.meta.dirname, '../fixtures/models/llama-optimum/model.onnx');
const provider = { asked: 'cpu', running: 'cpu', reason: 'test', threads: 1 };
const hiddenSize = 64;
const softPrompt = { vectors: 4, hiddenSize, data: Float32Array.from(numbers(4 * hiddenSize, 9)) };
/** Answers of different lengths: a part counts by its answer tokens, not by its rows. */
const examples: TrainingExample[] = [3, 1, 5, 2, 4].map((answer, row) => ({
  prompt: Array.from({ length: 6 + 3 * row }, (_, at) => 3 + ((at * 5 + row) % 20)),
  answer: Array.from({ length: answer }, (_, at) => 4 + ((at + 2 * row) % 20)),
}));

async function stepped(settings: Partial<TrainingSettings>): Promise<{ result: StepResult; notes: readonly string[] }> {
  const training = new OnnxTraining(readOnnxFile(file), {
    vectors: 4,
    batchSize: examples.length,
    provider,
    padTokenId: 0,
    ...settings,
  });
  try {
    return { result: await training.step(examples, softPrompt), notes: training.notes };
  } finally {
    await training.close();
  }
}

/** ‖a − b‖ ÷ ‖b‖. Both sides are float32: each is about 8e-7 away from the same gradient in float64. */
const difference = (a: Float32Array, b: Float32Array): number =>
  Math.hypot(...a.map((value, at) => value - (b[at] ?? Number.NaN))) / Math.hypot(...b);

describe('a step in parts', () => {
  it.each([1, 2, 3, 5])('of at most %i examples equals the whole', async (microBatchSize) => {
    const whole = (await stepped({})).result;
    const { result, notes } = await stepped({ microBatchSize });
    expect(result.loss).toBeCloseTo(whole.loss, 6);
    expect(result.answerTokens).toBe(15);
    expect(difference(result.gradient, whole.gradient)).toBeLessThan(1e-6);
    // as it was asked for: nothing to note
    expect(notes).toEqual([]);
  });

  it('is combined with recomputation', async () => {
    const whole = (await stepped({})).result;
    const { result } = await stepped({ microBatchSize: 2, recompute: 'blocks' });
    expect(difference(result.gradient, whole.gradient)).toBeLessThan(1e-6);
  });

  it('follows from short memory, and the run says so', async () => {
    const whole = (await stepped({})).result;
    const { result, notes } = await stepped({ memoryBytes: 400_000 });
    expect(difference(result.gradient, whole.gradient)).toBeLessThan(1e-6);
    expect(result.batch[0]).toBe(examples.length);
    expect(notes.join()).toMatch(
      /Memory did not hold a whole batch: tuning steps were computed (one item|\d items) at/,
    );
  });

  it('is refused, with figures, where not even one example fits', async () => {
    const failed = stepped({ memoryBytes: 1000 });
    await expect(failed).rejects.toThrow(HumanError);
    await expect(failed).rejects.toThrow(/One training example needs .* GB/);
  });
});

describe('parts', () => {
  it('are of sizes that differ by one at most, in order', () => {
    for (const count of [1, 5, 8, 13])
      for (const most of [1, 2, 3, 8, Number.POSITIVE_INFINITY]) {
        const all = Array.from({ length: count }, (_, at) => at);
        const parts = inParts(all, most);
        expect(parts.flat()).toEqual(all);
        const sizes = parts.map(({ length }) => length);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(most);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }
  });

  it('follow from what allocators and drivers say', () => {
    const said = [
      'std::bad_alloc',
      'bad allocation',
      'Failed to allocate memory for requested buffer of size 1073741824',
      'CUDA failure 2: out of memory',
    ];
    for (const words of said) expect(saysOutOfMemory(new Error(words))).toBe(true);
    expect(saysOutOfMemory(new HumanError('engine', 'It failed.', { cause: new Error('std::bad_alloc') }))).toBe(true);
    expect(saysOutOfMemory(new Error('Non-zero status code returned while running Add node'))).toBe(false);
  });
});
