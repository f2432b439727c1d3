/** Cases of products with weights of few bits. */
import { type Tensor, tensorOf } from '../../../src/onnx/index.ts';
import { numbers } from '../run-graph.ts';
import { type Case, input } from './case.ts';

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

/** Weights of 3 columns, blocks of 16 along a depth of 32 or (the last block cut) 24; without and with zero points. */
export const quantisedCases: Record<string, Case[]> = {
  'com.microsoft.MatMulNBits': [4, 8].flatMap((bits) =>
    [32, 24].flatMap((depth) =>
      [false, true].flatMap((zeros) =>
        [18, 21].map((opset) => ({
          opset,
          inputs: [input([2, depth], [-1, 1])],
          arguments: [0, bytes([3, 2, 2 * bits], 3), scales(6), ...(zeros ? [bytes(bits === 4 ? [3] : [6], 5)] : [])],
          // level 1: activations stay float32
          attributes: { K: depth, N: 3, bits, block_size: 16, accuracy_level: 1 },
        })),
      ),
    ),
  ),
};
