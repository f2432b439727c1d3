/** Cases of matrix products. */
import { type Case, floatAttribute, input, products } from './case.ts';

export const linalgCases: Record<string, Case[]> = {
  // Matrices, batches on either side and on both, batches that broadcast against each other, vectors.
  MatMul: products([
    [
      [2, 3],
      [3, 4],
    ],
    [
      [2, 2, 3],
      [3, 4],
    ],
    [
      [2, 2, 3],
      [2, 3, 2],
    ],
    [
      [2, 3],
      [2, 3, 2],
    ],
    [
      [2, 1, 2, 3],
      [2, 3, 2],
    ],
    [
      [1, 2, 3],
      [2, 3, 1],
    ],
    [
      [2, 2, 1, 3],
      [2, 1, 3, 2],
    ],
    [
      [1, 2, 1, 2, 2],
      [2, 1, 1, 2, 1],
    ],
    [[3], [3, 2]],
    [[3], [2, 3, 2]],
    [[2, 3], [3]],
    [[3], [3]],
    [[2, 2, 3], [3]],
    [
      [1, 1],
      [1, 1],
    ],
  ]),
  'com.microsoft.FusedMatMul': [0, 1].flatMap((transA) =>
    [0, 1].flatMap((transB) =>
      products(
        [
          [transA ? [3, 2] : [2, 3], transB ? [4, 3] : [3, 4]],
          [transA ? [2, 3, 2] : [2, 2, 3], transB ? [2, 4, 3] : [2, 3, 4]],
          [transA ? [2, 3, 2] : [2, 2, 3], transB ? [4, 3] : [3, 4]],
          [transA ? [2, 1, 3, 2] : [2, 1, 2, 3], transB ? [2, 4, 3] : [2, 3, 4]],
        ],
        { transA, transB, alpha: floatAttribute(0.5) },
      ),
    ),
  ),
  Gemm: [0, 1].flatMap((transA) =>
    [0, 1].flatMap((transB) =>
      [[4], [2, 4], [2, 1], [1, 4], [1], [], null].map((addend) => ({
        opset: addend ? 18 : 11,
        inputs: [
          input(transA ? [3, 2] : [2, 3], [-1, 1], 1),
          input(transB ? [4, 3] : [3, 4], [-1, 1], 2),
          ...(addend ? [input(addend, [-1, 1], 3)] : []),
        ],
        arguments: addend ? [0, 1, 2] : [0, 1],
        attributes: { transA, transB, alpha: floatAttribute(0.5), beta: floatAttribute(2) },
      })),
    ),
  ),
  Einsum: [
    ...products(
      [
        [
          [2, 3],
          [3, 2],
        ],
      ],
      { equation: 'ij,jk->ik' },
    ),
    ...products([[[2], [3]]], { equation: 'i,j->ij' }),
    ...products(
      [
        [
          [2, 2, 3],
          [2, 2, 3],
        ],
      ],
      { equation: 'bhd, bkd -> bhk' },
    ),
    // summed over in one operand only, and an order of its own
    ...products(
      [
        [
          [2, 3, 2],
          [3, 2],
        ],
      ],
      { equation: 'abc,bd->da' },
    ),
    // no right side: what occurs once, in the order of the alphabet
    ...products(
      [
        [
          [2, 3],
          [3, 2],
        ],
      ],
      { equation: 'zj,ja' },
    ),
    ...products(
      [
        [
          [2, 1, 2, 3],
          [1, 2, 3, 2],
        ],
      ],
      { equation: '...ij,...jk->...ik' },
    ),
    { opset: 18, inputs: [input([2, 3])], arguments: [0], attributes: { equation: 'ij->j' } },
    { opset: 12, inputs: [input([2, 3])], arguments: [0, 0], attributes: { equation: 'ij,ij->' } },
    {
      opset: 18,
      inputs: [input([2, 2], [-1, 1], 1), input([2, 3], [-1, 1], 2), input([3], [-1, 1], 3)],
      arguments: [0, 1, 2],
      attributes: { equation: 'ij,jk,k->i' },
    },
  ],
};
