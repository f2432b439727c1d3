/** What a case of a gradient rule is, and the parts that cases are made of. */
import type { AttributeValues, Tensor } from '../../../src/onnx/index.ts';
import { sizeOf, tensorOf } from '../../../src/onnx/index.ts';
import { numbers, type SmallGraph } from '../run-graph.ts';

export type Range = [low: number, high: number];
export type Case = Omit<SmallGraph, 'operator' | 'domain'>;

/** Distinct values spread over a range, none of them near a kink at 0 unless the range says so. */
export function input(dims: number[], range: Range = [-1.5, 1.5], seed = 1): { dims: number[]; values: number[] } {
  const count = sizeOf(dims);
  const order = numbers(count, seed)
    .map((key, at) => [key, at] as const)
    .sort(([a], [b]) => a - b)
    .map(([, at]) => at);
  const [low, high] = range;
  // evenly spread in random order: ties and points near each other cannot happen
  return { dims, values: order.map((place) => low + ((place + 0.37) / count) * (high - low)) };
}

export const unary = (range?: Range, attributes?: AttributeValues, opset = 18): Case[] =>
  [[2, 3], [4], [], [1, 2, 1, 2, 2]].map((dims) => ({
    opset,
    inputs: [input(dims, range)],
    arguments: [0],
    attributes,
  }));

/** Equal shapes, missing axes on either side, axes of 1 on either side and on both, numbers, and rank 5. */
export const broadcasts: [number[], number[]][] = [
  [
    [2, 3],
    [2, 3],
  ],
  [[2, 3], [3]],
  [[3], [2, 3]],
  [
    [2, 1],
    [1, 3],
  ],
  [[2, 3], []],
  [[], [2]],
  [[], []],
  [[2, 3], [1]],
  [
    [1, 3],
    [4, 2, 1],
  ],
  [
    [2, 1, 1, 2, 1],
    [1, 2, 1, 1, 2],
  ],
];

export const binary = (left?: Range, right?: Range, attributes?: AttributeValues): Case[] =>
  broadcasts.map(([a, b]) => ({
    opset: 18,
    inputs: [input(a, left, 1), input(b, right, 2)],
    arguments: [0, 1],
    attributes,
  }));

export const ints = (dims: number[], ...values: number[]): Tensor => tensorOf('int64', dims, values);
export const int64 = (...values: number[]): Tensor => ints([values.length], ...values);
export const float = (dims: number[], ...values: number[]): Tensor => tensorOf('float32', dims, values);
export const bool = (dims: number[], ...values: number[]): Tensor => tensorOf('bool', dims, values);
export const floatAttribute = (value: number): AttributeValues[string] => ({ type: 'float', value });

/** One differentiated input, and constants behind it. */
export const one = (
  dims: number[],
  extra: (Tensor | null)[] = [],
  attributes: AttributeValues = {},
  more: Partial<Case> = {},
): Case => ({
  opset: 18,
  inputs: [input(dims)],
  arguments: [0, ...extra],
  attributes,
  ...more,
});

/** Two differentiated inputs in [-1, 1]. */
export const products = (pairs: [number[], number[]][], attributes: AttributeValues = {}): Case[] =>
  pairs.map(([a, b]) => ({
    opset: 18,
    inputs: [input(a, [-1, 1], 1), input(b, [-1, 1], 2)],
    arguments: [0, 1],
    attributes,
  }));
