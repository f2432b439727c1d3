/** Cases of products with weights of few bits. */
import { type Tensor, tensorOf } from '../../../src/onnx/index.ts';
import { numbers } from '../run-graph.ts';
import { type Case, float, input } from './case.ts';

const bytes = (dims: number[], seed: number): Tensor => {
  const count = dims.reduce((product, dim) => product * dim, 1);
  return tensorOf(
    'uint8',
    dims,
    numbers(count, seed).map((value) => Math.floor((value + 1) * 128)),
  );
};
const scales = (count: number): Tensor =>
  tensorOf(
    'float32',
    [count],
    numbers(count, 7).map((value) => 0.02 + 0.01 * value),
  );

/**
 * Weights of 3 columns, blocks of 16 along a depth of 32 or (the last block cut) 24 or 48 (an odd number of blocks);
 * without zero points, with packed ones, and with ones that are floats.
 */
export const quantisedCases: Record<string, Case[]> = {
  'com.microsoft.MatMulNBits': [4, 8]
    .flatMap((bits): Case[] =>
      [32, 24]
        .flatMap((depth) =>
          [false, true].flatMap((zeros) =>
            [18, 21].map((opset) => ({
              opset,
              inputs: [input([2, depth], [-1, 1])],
              arguments: [
                0,
                bytes([3, 2, 2 * bits], 3),
                scales(6),
                ...(zeros ? [bytes(bits === 4 ? [3] : [6], 5)] : []),
              ],
              // level 1: activations stay float32
              attributes: { K: depth, N: 3, bits, block_size: 16, accuracy_level: 1 },
            })),
          ),
        )
        .concat(
          [18, 21].map((opset) => ({
            opset,
            inputs: [input([2, 48], [-1, 1])],
            arguments: [0, bytes([3, 3, 2 * bits], 3), scales(9), bytes(bits === 4 ? [6] : [9], 5)],
            attributes: { K: 48, N: 3, bits, block_size: 16, accuracy_level: 1 },
          })),
        ),
    )
    .concat([
      {
        opset: 21,
        inputs: [input([1, 2, 32], [-1, 1])],
        arguments: [0, bytes([3, 2, 8], 3), scales(6), float([6], 7.5, 8, 8.25, 6, 9, 7), null, float([3], 1, 2, 3)],
        attributes: { K: 32, N: 3, bits: 4, block_size: 16, accuracy_level: 1 },
      },
      ...[false, true].map((zeros) => ({
        opset: 21,
        inputs: [input([2, 32], [-1, 1])],
        arguments: [0, bytes([3, 2, 4], 3), scales(6), ...(zeros ? [bytes([3], 5)] : [])],
        attributes: { K: 32, N: 3, bits: 2, block_size: 16, accuracy_level: 1 },
      })),
    ]),
};
