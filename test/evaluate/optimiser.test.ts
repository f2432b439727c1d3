// Oracle: PyTorch (float64) and an independent xoshiro128**; made by make/optimiser.py.
import { describe, expect, it } from 'vitest';
import { adamStep, cosineLearningRate, newAdamState } from '../../src/evaluate/adam.ts';
import { planBatches } from '../../src/evaluate/examples.ts';
import { Random } from '../../src/shared/random.ts';
import reference from './optimiser.json' with { type: 'json' };

describe('Adam with gradients of length 1 and cosine decay', () => {
  it('takes the steps that PyTorch takes', () => {
    const { start, peak, steps } = reference.adam;
    const parameter = Float32Array.from(start);
    const state = newAdamState(parameter.length);
    steps.forEach((expected, i) => {
      const rate = cosineLearningRate(peak, i + 1, steps.length);
      expect(rate).toBeCloseTo(expected.rate, 12);
      const norm = adamStep(parameter, Float32Array.from(expected.gradient), state, i + 1, rate);
      expect(norm).toBeCloseTo(expected.norm, 5);
      for (const [j, value] of expected.parameter.entries()) expect(parameter[j]).toBeCloseTo(value, 5);
    });
  });
});

describe('Random', () => {
  it.each(Object.entries(reference.xoshiro))('gives the numbers of xoshiro128** for seed %s', (seed, expected) => {
    const random = new Random(Number(seed));
    expect(expected.map(() => random.next())).toEqual(expected);
  });

  it('shuffles without losing or repeating anything', () => {
    const values = Array.from({ length: 100 }, (_, i) => i);
    const shuffled = new Random(7).shuffle(values);
    expect(shuffled).not.toEqual(values);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(values);
  });
});

describe('planBatches', () => {
  const examples = Array.from({ length: 100 }, (_, i) => ({ prompt: Array(1 + ((i * 37) % 50)).fill(i), answer: [i] }));
  const id = (batch: { answer: readonly number[] }[]): (number | undefined)[] => batch.map(({ answer }) => answer[0]);

  it('sees every example once before any a second time', () => {
    const seen = planBatches(examples, 5, 40, 3).flatMap(id);
    const counts = new Map<number | undefined, number>();
    for (const example of seen) counts.set(example, (counts.get(example) ?? 0) + 1);
    expect(seen).toHaveLength(200);
    expect(counts.size).toBe(100);
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(3);
  });

  it('is the same for the same seed, whatever was run before', () => {
    expect(planBatches(examples, 8, 20, 3).map(id)).toEqual(planBatches(examples, 8, 20, 3).map(id));
    expect(planBatches(examples, 8, 20, 3).map(id)).not.toEqual(planBatches(examples, 8, 20, 4).map(id));
    // A longer plan begins with the shorter one, so steps can be added.
    expect(planBatches(examples, 8, 40, 3).slice(0, 20).map(id)).toEqual(planBatches(examples, 8, 20, 3).map(id));
  });

  it('puts like lengths together: less padding than in random order', () => {
    const padding = (batches: { prompt: readonly number[] }[][]): number =>
      batches.reduce((sum, batch) => {
        const longest = Math.max(...batch.map(({ prompt }) => prompt.length));
        return sum + batch.reduce((part, { prompt }) => part + longest - prompt.length, 0);
      }, 0);
    const planned = planBatches(examples, 8, 12, 1);
    const order = new Random(1).shuffle(examples);
    const random = Array.from({ length: 12 }, (_, i) => order.slice(i * 8, i * 8 + 8));
    expect(padding(planned)).toBeLessThan(padding(random) / 2);
  });
});
