/** The MLP's forward and backward passes and Adam: against PyTorch with the same weights, and against finite differences. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Encoded } from '../../../src/predict/learn/features.ts';
import { Network } from '../../../src/predict/learn/network.ts';
import { Random } from '../../../src/shared/random.ts';

interface Table {
  weights: number[][];
  bias: number[];
}

const oracle = JSON.parse(readFileSync(join(import.meta.dirname, 'network.json'), 'utf8')) as {
  columns: number;
  hidden: number[];
  names: number[][];
  numbers: number[][];
  targets: number[];
  initial: Table[];
  gradients: Table[];
  losses: { order: number[]; loss: number }[];
  final: Table[];
  predictions: number[];
};
const numbers = oracle.numbers[0]?.length ?? 0;
const padded = Math.ceil(numbers / 4) * 4;
const inputs: Encoded = {
  count: oracle.names.length,
  names: Int32Array.from(oracle.names.flat()),
  numbers: Float32Array.from(oracle.numbers.flat()),
};
const targets = Float32Array.from(oracle.targets);
const shape = {
  columns: oracle.columns,
  names: oracle.names[0]?.length ?? 0,
  numbers,
  hidden: oracle.hidden,
  batch: 20,
};

/** Rows of the one-hot columns stand behind the padding of the numbers. */
const place = (layer: number, row: number): number => (layer === 0 && row >= numbers ? row + padded - numbers : row);

function withWeights(tables: readonly Table[]): Network {
  const network = new Network(shape);
  for (const [layer, { weights, bias }] of network.weights().entries()) {
    const table = tables[layer] as Table;
    for (const [row, values] of table.weights.entries()) weights.set(values, place(layer, row) * values.length);
    bias.set(table.bias);
  }
  return network;
}

function expectTables(found: { weights: Float32Array; bias: Float32Array }[], tables: readonly Table[]): void {
  for (const [layer, { weights, bias }] of found.entries()) {
    const table = tables[layer] as Table;
    for (const [row, values] of table.weights.entries())
      for (const [column, value] of values.entries())
        expect(weights[place(layer, row) * values.length + column]).toBeCloseTo(value, 5);
    for (const [column, value] of table.bias.entries()) expect(bias[column]).toBeCloseTo(value, 5);
  }
}

describe('the network', () => {
  it('has the losses, gradients, weights and predictions of PyTorch over 5 steps of Adam', () => {
    const network = withWeights(oracle.initial);
    const out = new Float64Array(20);
    for (const [step, { order, loss }] of oracle.losses.entries()) {
      const rows = Int32Array.from(order);
      network.forward(inputs, rows, 0, rows.length, out, 0);
      const found = network.backward(inputs, rows, 0, rows.length, out, targets);
      expect(Math.abs(found - loss)).toBeLessThan(1e-5);
      if (step === 0) expectTables(network.gradient(), oracle.gradients);
      network.step({ learningRate: 1e-2, weightDecay: 1e-2 });
    }
    expectTables(network.weights(), oracle.final);
    const all = Int32Array.from({ length: inputs.count }, (_, at) => at);
    const predicted = new Float64Array(inputs.count);
    for (let from = 0; from < inputs.count; from += 20)
      network.forward(inputs, all, from, Math.min(20, inputs.count - from), predicted, from);
    for (const [at, value] of oracle.predictions.entries()) expect(predicted[at]).toBeCloseTo(value, 5);
  });

  it('has gradients that are the differences of its loss', () => {
    const network = new Network(shape);
    network.initialise(new Random(5));
    const rows = Int32Array.from({ length: 18 }, (_, at) => at);
    const out = new Float64Array(20);
    network.forward(inputs, rows, 0, rows.length, out, 0);
    network.backward(inputs, rows, 0, rows.length, out, targets);
    const loss = (): number => {
      network.forward(inputs, rows, 0, rows.length, out, 0);
      return (
        rows.reduce((sum, row, at) => sum + ((out[at] as number) - (targets[row] as number)) ** 2, 0) / rows.length
      );
    };
    const gradient = network.gradient();
    for (const [layer, { weights, bias }] of network.weights().entries())
      for (const [values, slopes] of [
        [weights, gradient[layer]?.weights],
        [bias, gradient[layer]?.bias],
      ] as const)
        for (let i = 0; i < values.length; i += 3) {
          // float32: steps below this drown in rounding.
          const step = 4e-3;
          const kept = values[i] as number;
          values[i] = kept + step;
          const above = loss();
          values[i] = kept - step;
          const below = loss();
          values[i] = kept;
          expect((above - below) / (2 * step)).toBeCloseTo(slopes?.[i] as number, 2);
        }
  });

  it('has no weight near the smallest numbers of float32, with which processors are slow', () => {
    const network = new Network(shape);
    network.initialise(new Random(7));
    const weights = network.weights();
    // Nothing reaches the outputs: only the decay moves the weights, which without an end would become subnormal.
    for (const { bias } of weights) bias.fill(-10);
    const rows = Int32Array.from({ length: 18 }, (_, at) => at);
    const out = new Float64Array(20);
    for (let step = 0; step < 3000; step++) {
      network.forward(inputs, rows, 0, rows.length, out, 0);
      network.backward(inputs, rows, 0, rows.length, out, targets);
      network.step({ learningRate: 1e-3, weightDecay: 1e-5 });
    }
    const sizes = weights.flatMap((layer) => [...layer.weights]).map(Math.abs);
    expect(sizes.filter((size) => size > 0 && size < 1e-12)).toEqual([]);
    expect(sizes.filter((size) => size < 1e-9).length).toBeGreaterThan(sizes.length / 2);
  });

  it('refuses shapes that its kernels do not take', () => {
    expect(() => new Network({ ...shape, hidden: [12] })).toThrow('multiples of 8');
    expect(() => new Network({ ...shape, batch: 18 })).toThrow('multiple of 4');
  });
});
